package main

import (
	"fmt"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/restmapper"

	"github.com/musterkube/muster/generated/clientset/versioned"
)

// clients are the ways in which the program speaks to the cluster.
type clients struct {
	kube    kubernetes.Interface
	muster  versioned.Interface
	dynamic dynamic.Interface
	mapper  meta.RESTMapper
}

func newClients(cfg *rest.Config) (*clients, error) {
	cfg = rest.CopyConfig(cfg)
	cfg.UserAgent = "run-job"
	kube, err := kubernetes.NewForConfig(cfg)
	if err != nil {
		return nil, fmt.Errorf("making a client: %w", err)
	}
	muster, err := versioned.NewForConfig(cfg)
	if err != nil {
		return nil, fmt.Errorf("making a client of scheduling.k8s.io/v1alpha2: %w", err)
	}
	dyn, err := dynamic.NewForConfig(cfg)
	if err != nil {
		return nil, fmt.Errorf("making a dynamic client: %w", err)
	}
	mapper := restmapper.NewDeferredDiscoveryRESTMapper(memory.NewMemCacheClient(kube.Discovery()))
	return &clients{kube: kube, muster: muster, dynamic: dyn, mapper: mapper}, nil
}
