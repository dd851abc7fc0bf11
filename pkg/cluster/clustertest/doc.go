// Package clustertest runs tests of controllers on a cluster in virtual time, where an hour of back-off takes no time and
// everything happens at a known moment.
//
// [Run] is the entry point. It opens a bubble of testing/synctest, starts a cluster in it and stops it at the end:
//
//	clustertest.Run(t, cluster.Options{Nodes: 3}, func(t *testing.T, c *clustertest.Cluster) {
//		c.Go(mycontroller.New(c.Config()).Run)
//		_, err := c.Kube.BatchV1().Jobs("default").Create(t.Context(), job, metav1.CreateOptions{})
//		require.NoError(t, err)
//		c.Advance(time.Hour)
//		assert.EqualValues(t, 1, c.Job("default/training").Status.Succeeded)
//	})
//
// Time stands still while anything can happen without it, and leaps when everything waits for it: [Cluster.Settle] lets
// everything happen, [Cluster.Advance] lets time pass, [Cluster.Until] stops it at the moment at which something is so.
// The clock starts at midnight UTC on 1 January 2000.
//
// # Tables
//
// There can be no t.Run in a bubble; testing panics at it. A table opens one bubble a case, and cases may run in parallel:
//
//	for name, tc := range cases {
//		t.Run(name, func(t *testing.T) {
//			t.Parallel()
//			clustertest.Run(t, tc.options, func(t *testing.T, c *clustertest.Cluster) { … })
//		})
//	}
//
// # What may run in a bubble
//
// Virtual time passes only when every goroutine of the bubble waits for another one of it or for time. Controllers have
// to take their clients from [Cluster.Config], which opens no socket, and their time from package time or
// k8s.io/utils/clock.RealClock, and have to end with the context that [Cluster.Go] hands them. A goroutine that waits
// for a socket, a file or another process stops the clock for as long; one that is left at the end is a failure that
// says where it is. The same goes for channels that were made outside the bubble: what a test shares with a script or a
// handler it makes inside, or guards by a mutex. What polls waits for time even where nothing else does: a manager of
// controller-runtime has its first Reconcile after [Cluster.Advance] by a second or so, not after [Cluster.Settle]; what
// else it needs, examples/crd-controller/virtual shows. To import this package takes away the second of the handlers that
// utilruntime.HandleError of apimachinery calls, if nobody has changed them: it sleeps by the process's clock, which in a
// bubble means for ever.
//
// # In real time
//
// [RunOnRealClock] runs the same function without a bubble, to see whether a controller depends on what virtual time
// guarantees. Times are then as exact as the machine. [Start] starts a cluster for a test that cannot live in a bubble, such
// as one with other processes, which find it by [Cluster.Kubeconfig].
//
// # When a test fails
//
// Its log has what the cluster's parts have logged, and the last requests to the server: who asked for what, and how it was
// answered; see pkg/emulator/emulatortest. It also says what of that which was given to [Cluster.Go] has ended early. A test
// that waits for ever fails with the goroutines that wait.
//
// # What it does not do
//
// Objects are made through the clients; pkg/testing/wrappers makes short work of them. pkg/testing/expect has conditions of
// single objects to wait for, with [UntilIs] in virtual time.
package clustertest
