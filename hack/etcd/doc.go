// Package etcd holds the tests of the API server emulator on a real etcd cluster (emulator.Options.Etcd), which runs in the
// process of the tests. Those of pkg/emulator do without: there, objects are in memory.
package etcd
