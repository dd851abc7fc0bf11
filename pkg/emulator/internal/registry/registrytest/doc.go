// Package registrytest makes storages for tests: the ones of the registry, over an empty store in memory, without a
// server round them. [New] is its entry point.
package registrytest
