// Command bench measures what this library costs, in its own process and without sockets: how fast Jobs run to their
// end, how fast garbage is collected, what the requests of clients take, how fast gangs are placed on many nodes, and what objects take of memory.
//
//	go run ./hack/bench jobs
//	go run ./hack/bench gc
//	go run ./hack/bench api
//	go run ./hack/bench schedule
//	go run ./hack/bench memory
//
// Each benchmark starts a server of its own for every measurement. Beside rates and latencies, which depend on what else
// the machine does, it prints CPU time and counts of requests, which hardly do. With --output json it prints the same as
// JSON; --cpu-profile and --alloc-profile write profiles for go tool pprof.
//
// For comparison, the Job controller of kube-controller-manager 1.36.3 on a kube-apiserver with etcd, as its audit log
// tells: for the Jobs of the modes plain and gang, with a kubelet played as here, there were 3.3 to 3.5 writes a pod. Of
// these it sent 2.3 to 2.5: one to create the pod, 1.1 to 1.2 to take its finalizer, the rest for events and status.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime/debug"
	"strings"
	"syscall"

	"github.com/go-logr/logr"
	"github.com/spf13/pflag"
	"k8s.io/klog/v2"
)

// The exit codes of the program.
const (
	exitDone   = 0
	exitFailed = 1 // a measurement could not be taken
	exitUsage  = 2 // wrong flags, or a file that cannot be written
)

// benchmark is one of the things that can be measured.
type benchmark interface {
	// flags adds the flags that say how much is to be done.
	flags(set *pflag.FlagSet)
	// check refuses flags that make no sense.
	check() error
	// run measures, and adds what it finds to the report.
	run(ctx context.Context, r *report) error
}

// benchmarks are all of them by name, with their default sizes.
func benchmarks() map[string]benchmark {
	return map[string]benchmark{"jobs": &jobsBenchmark{}, "gc": &gcBenchmark{}, "api": &apiBenchmark{}, "schedule": &scheduleBenchmark{}, "memory": &memoryBenchmark{}}
}

func main() {
	// What the libraries below log is not for this program's users.
	klog.SetLogger(logr.Discard())
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// run is the program without its process: what main does, with everything it touches as a parameter.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	chosen, opts, err := parse(args, stdout)
	switch {
	case errors.Is(err, pflag.ErrHelp):
		return exitDone
	case err != nil:
		fmt.Fprintf(stderr, "bench: %v\nSee bench --help.\n", err)
		return exitUsage
	}
	stop, err := opts.profiles.start()
	if err != nil {
		fmt.Fprintf(stderr, "bench: %v\nSee bench --help.\n", err)
		return exitUsage
	}
	if err := errors.Join(measure(ctx, chosen, opts, stdout), stop()); err != nil {
		fmt.Fprintf(stderr, "bench: %v\n", err)
		return exitFailed
	}
	return exitDone
}

// options are the flags that every benchmark has.
type options struct {
	output         string
	profiles       profiles
	garbagePercent int
}

// parse finds out which benchmark is meant and reads its flags.
func parse(args []string, usage io.Writer) (benchmark, options, error) {
	var opts options
	var name string
	if len(args) > 0 {
		name = args[0]
	}
	chosen, found := benchmarks()[name]
	if !found {
		fmt.Fprintln(usage, "Usage: bench jobs|gc|api|schedule|memory [flags]\n\nSee bench jobs --help for its flags.")
		if name == "-h" || name == "--help" {
			return nil, opts, pflag.ErrHelp
		}
		return nil, opts, fmt.Errorf("there is no benchmark %q", name)
	}
	set := pflag.NewFlagSet("bench "+name, pflag.ContinueOnError)
	set.SetOutput(usage)
	set.SortFlags = false
	chosen.flags(set)
	set.StringVar(&opts.output, "output", "table", "how to print: table or json")
	set.IntVar(&opts.garbagePercent, "gogc", 400, "how much garbage may pile up, as GOGC says it; examples/serve has the same default, and Go 100")
	set.StringVar(&opts.profiles.cpu, "cpu-profile", "", "file to write a CPU profile to")
	set.StringVar(&opts.profiles.allocations, "alloc-profile", "", "file to write a profile of allocated memory to")
	set.Usage = func() { fmt.Fprintf(usage, "Usage: bench %s [flags]\n\n%s", name, set.FlagUsages()) }
	if err := set.Parse(args[1:]); err != nil {
		return nil, opts, err
	}
	if extra := set.Args(); len(extra) > 0 {
		return nil, opts, fmt.Errorf("unexpected argument %q", strings.Join(extra, " "))
	}
	if opts.output != "table" && opts.output != "json" {
		return nil, opts, fmt.Errorf("--output %s: want table or json", opts.output)
	}
	return chosen, opts, chosen.check()
}

// measure runs a benchmark and prints its report.
func measure(ctx context.Context, chosen benchmark, opts options, stdout io.Writer) error {
	percent := debug.SetGCPercent(opts.garbagePercent)
	defer debug.SetGCPercent(percent)
	r := &report{}
	if err := chosen.run(ctx, r); err != nil {
		return err
	}
	if opts.output == "json" {
		return r.printJSON(stdout)
	}
	return r.printTables(stdout)
}
