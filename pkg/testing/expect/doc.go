// Package expect waits for objects to become what a test expects. It watches them, so that a test goes on at once when
// they have, and one that waits in vain says what it saw last.
//
// [Eventually] is the entry point. It takes any typed client with Get and Watch, those of client-go and of this module's
// clientset among others, and returns the object as it was seen:
//
//	job := expect.Eventually(t, kube.BatchV1().Jobs("default"), "training", expect.JobIs(batchv1.JobComplete))
//	expect.Eventually(t, muster.SchedulingV1alpha2().PodGroups("default"), "workers", expect.PodGroupScheduled())
//	expect.Eventually(t, kube.CoreV1().Pods("default"), "worker-0", expect.Gone[*corev1.Pod]())
//
// [Within] does the same with a limit of the caller's, and [That] makes a condition of a function.
//
// Time is that of the runtime: in a bubble of testing/synctest the limit is one of virtual time, and costs none. There,
// clustertest.UntilIs is the better choice: it also lets everything happen that follows at once, so that the time is exact
// and the next look at the API sees it all.
//
// # What it does not do
//
// There is nothing here for what has to stay as it is: in virtual time clustertest.Cluster.Advance and an assertion say that
// exactly, and in real time nothing does. Conditions are of single objects; for those of several there is
// clustertest.Cluster.Until.
package expect
