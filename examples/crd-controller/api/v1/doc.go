// Package v1 is the API training.example.com/v1: a TrainingRun is a driver and its workers.
//
// [TrainingRun] is the one kind, and [AddToScheme] makes a scheme know it. Its definition for API servers is in
// config/crd.yaml. The package has types only; what becomes of a TrainingRun is up to package controller.
package v1
