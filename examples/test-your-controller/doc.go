// Package experiment is an example of a controller that is tested on Muster, laid out as yours may be: the controller in
// controller.go, and its tests beside it.
//
// The controller makes a gang Job of each ConfigMap with the label example.com/experiment, and writes how the Job ended on
// the ConfigMap. [New] and [Controller.Run] are all of it. What to copy are the tests:
//
//   - controller_test.go has an API server alone, in real time (pkg/emulator/emulatortest): what the controller writes, and
//     what it does when its requests fail.
//   - virtual_test.go has a whole cluster in virtual time (pkg/cluster/clustertest): pods that fail by a script, hours that
//     take no time, watches that break and start from what the server has forgotten (410), a controller that is killed and
//     started again.
//
// To run them:
//
//	go test -v ./examples/test-your-controller
package experiment
