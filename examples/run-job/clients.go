package main

import (
	"context"
	"fmt"
	"slices"

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
	cfg.WarningHandlerWithContext = warningHandler{}
	dyn, err := dynamic.NewForConfig(cfg)
	if err != nil {
		return nil, fmt.Errorf("making a dynamic client: %w", err)
	}
	mapper := restmapper.NewDeferredDiscoveryRESTMapper(memory.NewMemCacheClient(kube.Discovery()))
	return &clients{kube: kube, muster: muster, dynamic: dyn, mapper: mapper}, nil
}

// warnings gathers what the server has to say of one request, beside its answer.
type warnings struct{ texts []string }

type warningsKey struct{}

// withWarnings has the dynamic client's requests under the context gather their warnings.
func withWarnings(ctx context.Context, into *warnings) context.Context {
	return context.WithValue(ctx, warningsKey{}, into)
}

// warningHandler puts warnings where the context of the request wants them.
type warningHandler struct{}

// HandleWarningHeaderWithContext implements rest.WarningHandlerWithContext.
func (warningHandler) HandleWarningHeaderWithContext(ctx context.Context, _ int, _, text string) {
	into, ok := ctx.Value(warningsKey{}).(*warnings)
	if ok && text != "" && !slices.Contains(into.texts, text) {
		into.texts = append(into.texts, text)
	}
}
