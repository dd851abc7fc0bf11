package controller

import (
	"fmt"
	"time"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/config"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	schedulingv1alpha2 "github.com/musterkube/muster/apis/scheduling/v1alpha2"
	trainingv1 "github.com/musterkube/muster/examples/crd-controller/api/v1"
)

// Options are the choices a manager is made with. The zero value works for one replica.
type Options struct {
	// LeaseNamespace is where replicas elect their leader, by a Lease of the name training-controller. Default: there is no
	// election.
	LeaseNamespace string
	// Metrics is an address to serve metrics on, such as 127.0.0.1:8080. Default: none.
	Metrics string
	// Logger gets what the manager and the controller have to say. Default: nobody does.
	Logger logr.Logger
}

// NewScheme returns a scheme with the kinds that a manager works with.
func NewScheme() (*runtime.Scheme, error) {
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{clientgoscheme.AddToScheme, schedulingv1alpha2.AddToScheme, trainingv1.AddToScheme} {
		if err := add(scheme); err != nil {
			return nil, err
		}
	}
	return scheme, nil
}

// NewManager returns a manager that runs TrainingRuns when it is started.
func NewManager(cfg *rest.Config, options Options) (ctrl.Manager, error) {
	scheme, err := NewScheme()
	if err != nil {
		return nil, fmt.Errorf("making a scheme: %w", err)
	}
	if options.Logger.IsZero() {
		options.Logger = logr.Discard()
	}
	if options.Metrics == "" {
		options.Metrics = "0" // off; the manager's own default is every address of the machine
	}
	cfg = rest.CopyConfig(cfg)
	cfg.UserAgent = "training-controller"
	manager, err := ctrl.NewManager(cfg, ctrl.Options{
		Scheme: scheme,
		Logger: options.Logger,
		// There are no webhooks, and health is not asked for: nothing else listens.
		Metrics:                 metricsserver.Options{BindAddress: options.Metrics},
		HealthProbeBindAddress:  "0",
		LeaderElection:          options.LeaseNamespace != "",
		LeaderElectionID:        "training-controller",
		LeaderElectionNamespace: options.LeaseNamespace,
		LeaseDuration:           new(15 * time.Second),
		RenewDeadline:           new(10 * time.Second),
		RetryPeriod:             new(2 * time.Second),
		// Names are for metrics, which are one for the process, as several managers in a test are not.
		Controller: config.Controller{SkipNameValidation: new(true)},
	})
	if err != nil {
		return nil, fmt.Errorf("making a manager: %w", err)
	}
	r := &reconciler{Client: manager.GetClient(), live: manager.GetAPIReader(), clock: clock.RealClock{}}
	err = ctrl.NewControllerManagedBy(manager).
		For(&trainingv1.TrainingRun{}).
		Owns(&corev1.Pod{}).
		Owns(&schedulingv1alpha2.Workload{}).
		Owns(&schedulingv1alpha2.PodGroup{}).
		Complete(r)
	if err != nil {
		return nil, fmt.Errorf("adding the controller of TrainingRuns: %w", err)
	}
	return manager, nil
}
