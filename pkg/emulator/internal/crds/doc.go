// Package crds serves custom resources: CustomResourceDefinitions, and the objects of the kinds that they define.
//
// It is k8s.io/apiextensions-apiserver, put together anew. Storage and validation of definitions, the controllers that
// accept names, establish and finalize, and the handler that serves the objects of a definition are the library's;
// [Storages] and [Server] do for an embedded server what its apiserver package does for a process of its own:
//
//   - Nothing runs until the first definition is stored: no informer, no controller. [Server] starts by need.
//   - A definition is served by a handler of its own, see serving.go. The library's one handler for all waits two seconds
//     before the first create, and leaves a goroutine behind for each definition that changes.
//   - What discovery and OpenAPI say is read off the informer when it is asked for, rather than kept up by controllers that
//     lag behind: once a client sees that a definition is established, all of it is there.
//
// The entry point is [New]. Whoever embeds it installs the storages, serves [Server] for what no other handler knows, and
// merges [Server.View] into the documents that it serves itself.
package crds
