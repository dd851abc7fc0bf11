// Package transport carries HTTP requests to a handler of the same process: no socket, no goroutine between requests.
//
// [HandlerTransport] is an http.RoundTripper. It calls the handler as an HTTP/2 server would: the response streams
// while the handler runs, closing a response body cancels the request, and so does the request's own context. It uses
// only what testing/synctest can see (mutexes, channels, contexts), so client and server may live in one bubble.
//
// It does not do what needs a connection: hijacking and protocol upgrades (exec, attach, port-forward), trailers,
// server push. It does not compress.
package transport
