// Package emulatortest starts an API server for a test: it ends with the test, writes its log to the test's, and if the
// test fails, says what the server last did.
//
// [Start] is the entry point:
//
//	server := emulatortest.Start(t, emulator.Options{})
//	client, err := kubernetes.NewForConfig(server.Config())
//
// A failed test shows, beside its own messages, who asked the server for what, how it answered, and which resource version
// each write got:
//
//	The last of 9 requests to the API server:
//	Jan  1 00:00:00.000  create  configmaps         default/settings  201  rv 12    mycontroller/v1
//	Jan  1 00:00:00.001  watch   jobs.batch         -                 200  from 12  mycontroller/v1
//	Jan  1 00:00:00.004  update  jobs.batch/status  default/training  409           mycontroller/v1  the object has been modified
//
// That comes from a [Recorder], which costs a request three small allocations, and keeps no more than some dozens of
// requests. It and [Logger] serve those who start a server in another way; pkg/cluster/clustertest is built on them.
//
// Everything works in a bubble of testing/synctest, too.
//
// # What it does not do
//
// Nothing runs beside the server but its own controllers: pkg/cluster/clustertest starts a whole cluster. Messages that the
// libraries below the server write to klog, without asking for a logger, go where klog has them go.
package emulatortest
