// Command crd-controller runs an API of its own with gangs: a TrainingRun (training.example.com/v1) is a driver and its
// workers, which get a Workload with two templates and a PodGroup of each, so that the workers start together or not at all.
// It is built with controller-runtime, and elects a leader among its replicas.
//
// What to copy: the type and its definition (api/v1, config/crd.yaml), a controller that never runs finished work again
// (controller), and its tests, which have a whole cluster in the process, in real and in virtual time (controller/*_test.go);
// virtual has the least that a manager of yours needs to be tested in virtual time.
//
// Without flags it shows a run, on a cluster in this process, in which a worker fails once:
//
//	cd examples/crd-controller && go run .
//
// With --kubeconfig it is the controller of a cluster of yours, which needs config/crd.yaml and serves
// scheduling.k8s.io/v1alpha2; run.yaml is a run to begin with.
//
//	go run . --kubeconfig FILE --lease-namespace default
package main

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/go-logr/logr"
	"github.com/spf13/pflag"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	trainingv1 "github.com/musterkube/muster/examples/crd-controller/api/v1"
	"github.com/musterkube/muster/examples/crd-controller/controller"
	"github.com/musterkube/muster/pkg/cluster"
	"github.com/musterkube/muster/pkg/kubelet"
)

//go:embed config/crd.yaml
var definition []byte

//go:embed run.yaml
var sample []byte

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// run is the program without its process. It returns the exit code: 0, 1 for failure, 2 for wrong flags, or a file or
// address that a flag names and that cannot be used.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	kubeconfig, options, err := parseFlags(args, stdout)
	if errors.Is(err, pflag.ErrHelp) {
		return 0
	}
	switch {
	case err != nil:
		return wrongUse(stderr, err)
	case kubeconfig == "":
		err = show(ctx, options, stdout)
	default:
		err = serve(ctx, kubeconfig, options)
	}
	var wrong *flagError
	switch {
	case errors.As(err, &wrong):
		return wrongUse(stderr, err)
	case err != nil:
		fmt.Fprintf(stderr, "crd-controller: %v\n", err)
		return 1
	}
	return 0
}

func wrongUse(stderr io.Writer, err error) int {
	fmt.Fprintf(stderr, "crd-controller: %v\nSee crd-controller --help.\n", err)
	return 2
}

// flagError is a fault of a flag that shows only when the work begins.
type flagError struct{ error }

func parseFlags(args []string, usage io.Writer) (kubeconfig string, options controller.Options, err error) {
	flags := pflag.NewFlagSet("crd-controller", pflag.ContinueOnError)
	flags.SetOutput(usage)
	flags.StringVar(&kubeconfig, "kubeconfig", "", "the cluster to be the controller of; without it, a show in this process, which takes no flags")
	flags.StringVar(&options.LeaseNamespace, "lease-namespace", "default", "namespace of the Lease that replicas elect their leader by, which must exist; empty for no election")
	flags.StringVar(&options.Metrics, "metrics", "", "address to serve metrics on, such as 127.0.0.1:8080 (default: none)")
	flags.Usage = func() {
		fmt.Fprintf(usage, "Runs TrainingRuns, in a show or on a cluster.\n\nUsage: crd-controller [flags]\n\n%s\n"+
			"Exit codes: 0 when the show is over or the controller was told to stop, 1 when something failed, "+
			"2 for wrong flags, or a file or address that a flag names and that cannot be used.\n", flags.FlagUsages())
	}
	if err := flags.Parse(args); err != nil {
		return "", options, err
	}
	if flags.NArg() > 0 {
		return "", options, fmt.Errorf("unexpected argument %q", flags.Arg(0))
	}
	if kubeconfig == "" && flags.NFlag() > 0 {
		return "", options, errors.New("the show takes no flags: --kubeconfig FILE says where to run the controller")
	}
	if faults := validation.IsDNS1123Label(options.LeaseNamespace); options.LeaseNamespace != "" && len(faults) > 0 {
		return "", options, fmt.Errorf("--lease-namespace %q: want the name of a namespace that exists, such as default: %s", options.LeaseNamespace, faults[0])
	}
	if _, _, err := net.SplitHostPort(options.Metrics); options.Metrics != "" && err != nil {
		return "", options, fmt.Errorf("--metrics %q: want HOST:PORT, such as 127.0.0.1:8080", options.Metrics)
	}
	return kubeconfig, options, nil
}

// serve is the controller of a cluster until ctx ends.
func serve(ctx context.Context, kubeconfig string, options controller.Options) error {
	cfg, err := readKubeconfig(kubeconfig)
	if err != nil {
		return &flagError{fmt.Errorf("--kubeconfig %q: %w: want the kubeconfig of a cluster", kubeconfig, err)}
	}
	options.Logger = klog.Background()
	ctrl.SetLogger(options.Logger) // for what has no logger of its own
	if err := checkLeaseNamespace(ctx, cfg, options.LeaseNamespace); err != nil {
		return err
	}
	manager, err := controller.NewManager(cfg, options)
	if err != nil {
		return err
	}
	err = manager.Start(ctx)
	var unusable *net.OpError
	if errors.As(err, &unusable) && unusable.Op == "listen" {
		return &flagError{fmt.Errorf("--metrics %q: %w: name another address, such as 127.0.0.1:0 for one with a free port", options.Metrics, unusable.Err)}
	}
	return err
}

// readKubeconfig returns what a kubeconfig says of its current context, or why no client can be made of it. The file is not
// named again.
func readKubeconfig(file string) (*rest.Config, error) {
	cfg, err := clientcmd.BuildConfigFromFlags("", file)
	if err == nil {
		_, err = rest.HTTPClientFor(cfg) // reads keys and certificates
	}
	var unreadable *fs.PathError
	switch {
	case clientcmd.IsEmptyConfig(err):
		return nil, errors.New("there is no cluster in it")
	case errors.As(err, &unreadable) && unreadable.Path == file:
		return nil, unreadable.Err
	}
	return cfg, err
}

// checkLeaseNamespace returns an error if there is no namespace for the Lease: the manager would try for ever. Whoever may
// not ask is let pass.
func checkLeaseNamespace(ctx context.Context, cfg *rest.Config, name string) error {
	if name == "" {
		return nil
	}
	namespaces, err := client.New(cfg, client.Options{})
	if err != nil {
		return fmt.Errorf("making a client: %w", err)
	}
	err = namespaces.Get(ctx, client.ObjectKey{Name: name}, &corev1.Namespace{})
	if apierrors.IsNotFound(err) {
		return fmt.Errorf("the namespace %[1]s of the Lease does not exist: make it with kubectl create namespace %[1]s, or name another one with --lease-namespace", name)
	}
	return nil // whatever else is wrong, the manager says so
}

// show runs the sample on a cluster in this process, in which the second worker fails once.
func show(ctx context.Context, options controller.Options, out io.Writer) error {
	// What the libraries below log is not for those who watch.
	klog.SetLogger(logr.Discard())
	ctrl.SetLogger(logr.Discard())
	crd := &apiextensionsv1.CustomResourceDefinition{}
	if err := yaml.UnmarshalStrict(definition, crd); err != nil {
		return err
	}
	failsOnce := kubelet.ScriptFunc(func(a kubelet.Attempt) kubelet.Outcome {
		if a.Pod.Labels["training.example.com/member"] == "worker-1" && a.Pod.Labels["training.example.com/attempt"] == "0" {
			return kubelet.Outcome{ExitCode: 1}
		}
		return kubelet.Outcome{Duration: 300 * time.Millisecond}
	})
	c, err := cluster.Start(ctx, cluster.Options{Nodes: 2, Script: failsOnce, CRDs: []*apiextensionsv1.CustomResourceDefinition{crd}})
	if err != nil {
		return err
	}
	defer c.Stop()
	manager, err := controller.NewManager(c.Config(), options)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	ended := make(chan error, 1)
	go func() { ended <- manager.Start(ctx) }()
	err = errors.Join(follow(ctx, c.Config(), out), ctx.Err())
	cancel()
	return errors.Join(err, <-ended)
}

// follow creates the sample and prints what becomes of it, until it is finished.
func follow(ctx context.Context, cfg *rest.Config, out io.Writer) error {
	scheme, err := controller.NewScheme()
	if err != nil {
		return err
	}
	runs, err := client.NewWithWatch(cfg, client.Options{Scheme: scheme})
	if err != nil {
		return err
	}
	training := &trainingv1.TrainingRun{}
	if err := yaml.UnmarshalStrict(sample, training); err != nil {
		return err
	}
	if err := runs.Create(ctx, training); err != nil {
		return err
	}
	changes, err := runs.Watch(ctx, &trainingv1.TrainingRunList{}, client.InNamespace(training.Namespace),
		&client.ListOptions{Raw: &metav1.ListOptions{ResourceVersion: training.ResourceVersion}})
	if err != nil {
		return err
	}
	defer changes.Stop()
	seen, printed := map[string]bool{}, ""
	for change := range changes.ResultChan() {
		training, ok := change.Object.(*trainingv1.TrainingRun)
		if !ok {
			break
		}
		if members := fmt.Sprintf("%+v", training.Status.Members); members != printed && len(training.Status.Members) > 0 {
			fmt.Fprintf(out, "history: %s\n", members)
			printed = members
		}
		for _, condition := range training.Status.Conditions {
			if !seen[condition.Type] {
				fmt.Fprintf(out, "%s: %s: %s\n", training.Name, condition.Type, condition.Message)
				seen[condition.Type] = true
			}
		}
		if meta.IsStatusConditionTrue(training.Status.Conditions, trainingv1.ConditionComplete) {
			return nil
		}
	}
	return errors.New("the run has not become Complete")
}
