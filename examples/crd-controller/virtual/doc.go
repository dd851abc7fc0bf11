// Package virtual is an example of a manager of controller-runtime in virtual time, to copy: an hour of RequeueAfter takes no
// time, and ends to the second. It has nothing but a test, which is all that it takes:
//
//	cd examples/crd-controller && go test -v ./virtual
//
// What a manager needs in a bubble of testing/synctest, as pkg/cluster/clustertest opens it:
//
//   - its clients from the Config of the cluster, which opens no socket;
//   - no server of its own: metrics at "0", for the default is a socket, and no webhooks. While anything waits for a socket,
//     virtual time stands still. (Webhooks are handlers, and can be called without one: see the example of emulator.Options.)
//   - config.Controller.SkipNameValidation, for names of controllers are kept for the process, beyond one bubble;
//   - to be made in the bubble, by the test, and started by Cluster.Go, which ends it;
//   - a moment: Start polls until its caches are full, so that the first Reconcile comes after Advance, not after Settle.
//
// A Reconcile that asks for the time does so by package time or k8s.io/utils/clock.RealClock, which are the bubble's. What
// waits otherwise, for another process or a file, is to be replaced in the test.
//
// The tests of package controller beside this one do the same with leader election, gangs and managers that are killed.
package virtual
