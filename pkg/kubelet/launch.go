package kubelet

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/musterkube/muster/pkg/internal/check"
)

// inherited are the variables of this process that containers have, too, unless they set them.
var inherited = [...]string{"HOME", "PATH"}

// startContainer starts a container, in what the options have for it. An error says that it cannot be made for now.
func (k *Kubelet) startContainer(ctx context.Context, r *run, c *container) (start, error) {
	if k.processes == nil {
		return k.playContainer(r, c)
	}
	k.history.attempt(r.pod, c.spec.Name, c.kind != mainContainer, c.restarts)
	return k.runContainer(ctx, r, c)
}

// playContainer asks how a container that is being started will fare.
func (k *Kubelet) playContainer(r *run, c *container) (start, error) {
	attempt := k.history.attempt(r.pod, c.spec.Name, c.kind != mainContainer, c.restarts)
	k.asking.Lock()
	defer k.asking.Unlock()
	outcome, err := annotate(attempt, k.options.Script.Run(attempt))
	if err == nil {
		if err = check.Error(outcome.validate(field.NewPath("Outcome"))); err != nil {
			err = fmt.Errorf("asking the script: %w", err)
		}
	}
	if err != nil {
		return start{}, err
	}
	out := newOutput(k.options.LogLimit)
	out.write(k.clock.Now(), []byte(outcome.Output))
	k.logs.keep(r.pod.UID, c.spec.Name, c.restarts, out)
	return start{outcome: outcome, output: out}, nil
}

// runContainer starts the process of a container.
func (k *Kubelet) runContainer(ctx context.Context, r *run, c *container) (start, error) {
	variables, err := k.sourcesOf(ctx, r).environment(c.spec)
	if err != nil {
		return start{retry: retryDelay}, err
	}
	out := newOutput(k.options.LogLimit)
	failed := func(reason string, err error) (start, error) {
		out.close(k.clock.Now())
		return start{failed: &exit{at: k.clock.Now(), code: exitNotStarted, reason: reason, message: err.Error()}}, nil
	}
	if len(c.spec.Command) == 0 {
		return failed(reasonCannotRun, fmt.Errorf(
			"container %q has no command: the entrypoint of its image %q is not known where containers run as local processes; set command",
			c.spec.Name, c.spec.Image))
	}
	cmd, err := commandOf(c.spec, variables, k.options.Runtime.processes.Dir)
	if err != nil {
		return failed(reasonStartError, err)
	}
	key := task{Namespace: r.pod.Namespace, Name: r.pod.Name}
	running, err := k.processes.start(cmd, out, func() { k.queue.Add(key) })
	if err != nil {
		return failed(reasonStartError, err)
	}
	k.logs.keep(r.pod.UID, c.spec.Name, c.restarts, out)
	return start{process: running, output: out, outcome: Outcome{Forever: true}}, nil
}

// commandOf returns what to run for a container.
func commandOf(spec *corev1.Container, variables map[string]string, dir string) (command, error) {
	var all []string
	for _, list := range [][]string{spec.Command, spec.Args} {
		for _, text := range list {
			all = append(all, expand(text, variables))
		}
	}
	for _, name := range inherited {
		if _, set := variables[name]; !set {
			variables[name] = os.Getenv(name)
		}
	}
	if spec.WorkingDir != "" {
		if dir = filepath.Join(dir, spec.WorkingDir); filepath.IsAbs(spec.WorkingDir) {
			dir = spec.WorkingDir
		}
	}
	if dir != "" {
		var err error
		if dir, err = filepath.Abs(dir); err != nil {
			return command{}, err
		}
		if _, err := os.Stat(dir); err != nil {
			return command{}, &os.PathError{Op: "chdir", Path: dir, Err: errors.Unwrap(err)}
		}
	}
	path, err := findProgram(all[0], variables["PATH"], dir)
	return command{path: path, args: all, env: list(variables), dir: dir}, err
}
