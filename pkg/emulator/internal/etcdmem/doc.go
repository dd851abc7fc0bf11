// Package etcdmem lets code written for an etcd client work on an in-memory [mvcc.DB] in the same process: no server, no
// connection, no serialization.
//
// [Client] returns the client that k8s.io/apiserver's stock etcd3 store takes, so that the store's error texts, continue
// tokens, watch lists and leases are the real ones. [NewClient] takes options. The calls of clientv3.KV go through etcd's
// own client code, which turns options into requests; they are answered at that point instead of being sent. Errors are
// those of etcd's rpctypes, as a server would send them.
//
// Keys, values and events are shared with the store: as with [mvcc], nobody may change what was passed in or returned.
//
// # What it does not do
//
//   - Range requests with a sort order or with bounds on the revisions of keys, puts that keep the present value or
//     lease, conditions over a range of keys and nested transactions are refused with an error that says so.
//   - Cluster, Auth and Maintenance calls are refused as Unimplemented.
//   - Watch responses are never fragmented. A watch that falls too far behind, or whose store is set back to a snapshot,
//     is cancelled as if its revision had been compacted, so that an API server answers 410 Gone and its client lists
//     again.
//   - A lease lives as long as was asked, one second at least; etcd has a minimum that depends on its election timeout.
package etcdmem
