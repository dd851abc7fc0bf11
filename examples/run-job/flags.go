package main

import (
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/spf13/pflag"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/musterkube/muster/pkg/cluster"
	"github.com/musterkube/muster/pkg/controller/job"
	"github.com/musterkube/muster/pkg/kubelet"
)

// The forms of the final report.
const (
	outputText = "text"
	outputJSON = "json"
	outputYAML = "yaml"
)

// minGrace is the shortest time after which a node may be taken for lost: a busy machine is silent for a while, too.
const minGrace = 500 * time.Millisecond

// exitCodes is the part of --help on what scripts look at.
const exitCodes = `Exit codes:
    0  every Job is Complete, or there was nothing to run
    1  a Job or Pod failed, time ran out, or the cluster failed; the last line says why
    2  wrong flags, a file that cannot be written, or a bad manifest
  130  interrupted by SIGINT or SIGTERM
`

type options struct {
	files       []string
	nodes       int
	nodeCPU     resource.Quantity
	podDuration time.Duration
	backoff     time.Duration
	failures    []kubelet.Failure
	losses      []loss
	nodeGrace   time.Duration // 0 for the cluster's own
	toleration  time.Duration // below 0 for the cluster's own
	timeline    string        // file to draw into, if any
	title       string        // of the drawing
	progress    string
	output      string
	timeout     time.Duration
	runtime     string
	logs        int
}

// When live progress is shown.
const (
	progressAuto   = "auto"
	progressAlways = "always"
	progressNever  = "never"
)

// What containers run in.
const (
	runtimeScript  = "script"
	runtimeProcess = "process"
)

// processLogs is how many lines of output are shown of each container that really runs, unless the user says.
const processLogs = 10

func parseFlags(args []string, usage io.Writer) (options, error) {
	var opts options
	var nodeCPU string
	var failures, losses []string
	flags := pflag.NewFlagSet("run-job", pflag.ContinueOnError)
	flags.SetOutput(usage)
	flags.SortFlags = false
	flags.StringArrayVarP(&opts.files, "filename", "f", nil, "manifest, folder of manifests, or - for standard input; YAML or JSON (default: a gang Job of four pods)")
	flags.IntVar(&opts.nodes, "nodes", 3, "how many nodes the cluster has")
	flags.StringVar(&nodeCPU, "node-cpu", "4", "CPUs of each node, as a quantity")
	flags.DurationVar(&opts.podDuration, "pod-duration", 500*time.Millisecond, "how long each pod runs")
	flags.DurationVar(&opts.backoff, "backoff", time.Second, "delay before the first failed pod of a Job is replaced, doubled each time (a real cluster's is 10s)")
	flags.StringArrayVar(&failures, "fail", nil, "INDEX=EXITCODE[xATTEMPTS]: the pods of that index exit with that code, in so many attempts (default 1); may be given once for each index. In a Job that is not Indexed, INDEX counts its pods from 0, replacements included")
	flags.StringArrayVar(&losses, "lose", nil, "NODE=AFTER[+FOR]: that node is cut off so long after everything was created, and back so long after that, or never; such as node-1=3s or node-1=3s+20s. May be given more than once")
	flags.DurationVar(&opts.nodeGrace, "node-grace", 0, "how long a node may be silent until it is taken for lost (default: as on a real cluster 50s; with --lose 4s, or more with many nodes)")
	flags.DurationVar(&opts.toleration, "toleration", -1, "how long pods stay on a lost node, in whole seconds, unless they say so themselves (default: as on a real cluster 5m; with --lose 3s)")
	flags.Lookup("toleration").DefValue = "0s" // the default is told in words
	flags.StringVar(&opts.timeline, "timeline", "", "file to draw what each pod did over time into, as an SVG; its name must end in .svg, such as timeline.svg")
	flags.StringVar(&opts.progress, "progress", progressAuto, "whether to show below the lines how far everything has come: auto does on a terminal, with the report as text; always or never. NO_COLOR is heeded")
	flags.StringVarP(&opts.output, "output", "o", outputText, "form of the report: text, json or yaml")
	flags.StringVar(&opts.runtime, "runtime", runtimeScript, "script plays the containers; process runs their commands on this machine, isolated from nothing")
	flags.IntVar(&opts.logs, "logs", 0, "show the last so many lines that each container of the pods that are there at the end has written (default: 10 with --runtime process)")
	flags.DurationVar(&opts.timeout, "timeout", time.Minute, "give up so long after everything was created")
	flags.Usage = func() {
		fmt.Fprintf(usage, "Runs Jobs on a cluster inside this process and shows it happening.\n\nUsage: run-job [-f FILE|FOLDER|-] [flags]\n\n%s\n%s", flags.FlagUsages(), exitCodes)
	}
	if err := flags.Parse(args); err != nil {
		return options{}, err
	}
	if extra := flags.Args(); len(extra) > 0 {
		return options{}, fmt.Errorf("unexpected argument %q: manifests are named with -f", extra[0])
	}
	opts.title = drawingTitle(args)
	var err error
	if opts.nodeCPU, err = resource.ParseQuantity(nodeCPU); err != nil || opts.nodeCPU.Sign() <= 0 {
		return options{}, fmt.Errorf("--node-cpu %q: want a quantity above 0, such as 4 or 500m", nodeCPU)
	}
	for _, text := range failures {
		f, err := kubelet.ParseFailure(text)
		if err != nil {
			return options{}, fmt.Errorf("--fail: %w", err)
		}
		if i := slices.IndexFunc(opts.failures, func(other kubelet.Failure) bool { return other.Index == f.Index }); i >= 0 {
			return options{}, fmt.Errorf("--fail %s: there is --fail %s for the same index", f, opts.failures[i])
		}
		opts.failures = append(opts.failures, f)
	}
	for _, text := range losses {
		l, err := parseLoss(text)
		if err != nil {
			return options{}, err
		}
		opts.losses = append(opts.losses, l)
	}
	if err := opts.checkTimes(flags); err != nil {
		return options{}, err
	}
	opts.completeLosses()
	if opts.runtime == runtimeProcess && !flags.Changed("logs") {
		opts.logs = processLogs
	}
	return opts, opts.check()
}

func (o options) check() error {
	switch {
	case o.nodes < 1 || o.nodes > cluster.MaxNodes:
		return fmt.Errorf("--nodes %d: want 1 to %d", o.nodes, cluster.MaxNodes)
	case o.podDuration < 0:
		return fmt.Errorf("--pod-duration %s: want 0 or more", o.podDuration)
	case o.backoff <= 0:
		return fmt.Errorf("--backoff %s: want more than 0", o.backoff)
	case o.timeout <= 0:
		return fmt.Errorf("--timeout %s: want more than 0", o.timeout)
	case !slices.Contains([]string{runtimeScript, runtimeProcess}, o.runtime):
		return fmt.Errorf("--runtime %q: want script or process", o.runtime)
	case o.runtime == runtimeProcess && len(o.failures) > 0:
		return fmt.Errorf("--fail %s: with --runtime process containers end as their commands do: want --runtime script, or no --fail", o.failures[0])
	case o.logs < 0:
		return fmt.Errorf("--logs %d: want 0 or more", o.logs)
	case !slices.Contains([]string{outputText, outputJSON, outputYAML}, o.output):
		return fmt.Errorf("--output %q: want text, json or yaml", o.output)
	case !slices.Contains([]string{progressAuto, progressAlways, progressNever}, o.progress):
		return fmt.Errorf("--progress %q: want auto, always or never", o.progress)
	}
	if err := checkDrawing(o.timeline); err != nil {
		return err
	}
	return o.checkLosses()
}

// checkTimes checks the times by which nodes are lost, where the user gave them.
func (o options) checkTimes(flags *pflag.FlagSet) error {
	switch {
	case flags.Changed("node-grace") && o.nodeGrace < minGrace:
		return fmt.Errorf("--node-grace %s: want at least %s", o.nodeGrace, minGrace)
	case flags.Changed("toleration") && (o.toleration < 0 || o.toleration%time.Second != 0):
		return fmt.Errorf("--toleration %s: want whole seconds, 0 or more", o.toleration)
	}
	return nil
}

// cluster is the cluster that the flags ask for.
func (o options) cluster(script kubelet.Script) cluster.Options {
	c := cluster.Options{
		Nodes:           o.nodes,
		NodeCapacity:    o.nodeCapacity(),
		Job:             job.Options{PodBackoff: o.backoff},
		NodeGracePeriod: o.nodeGrace,
	}
	if o.runtime == runtimeProcess {
		c.Runtime = kubelet.Processes(kubelet.ProcessOptions{})
	} else {
		c.Script = script
	}
	if o.toleration >= 0 {
		c.TolerationSeconds = new(int64(o.toleration / time.Second))
	}
	return c
}

// nodeCapacity is what each node offers; only the CPUs are the caller's to choose.
func (o options) nodeCapacity() corev1.ResourceList {
	return corev1.ResourceList{corev1.ResourceCPU: o.nodeCPU}
}
