// Package routing finds the route of a request. [New] is its entry point.
//
// k8s.io/apiserver has go-restful do it, which compares the path with that of every route of a version each time. Which
// route it is does not depend on the names in the path, so that one request for a resource tells it for the next.
// What is a route, and which one fits, stays go-restful's to say.
package routing
