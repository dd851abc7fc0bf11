package kubelet

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"k8s.io/utils/clock"
)

// drainGrace is how long the output of a process is read after it and its group have ended: something that left the
// group may hold the other end.
const drainGrace = 200 * time.Millisecond

// processes are those of one kubelet.
type processes struct {
	clock   clock.RealClock
	running sync.WaitGroup
	mu      sync.Mutex
	live    map[*child]bool
	stopped bool
}

func newProcesses() *processes { return &processes{live: map[*child]bool{}} }

// command is what a container runs.
type command struct {
	path string
	args []string // the first is the name by which it was called
	env  []string
	dir  string
}

// child is one process, which leads a group.
type child struct {
	of  *processes
	cmd *exec.Cmd

	mu sync.Mutex
	// told says that it was told to end; kill kills it at the deadline.
	told     bool
	deadline time.Time
	kill     clock.Timer
	// over says that it has ended, so that its number may be another's; result is how, once its output is read.
	over   bool
	result *exit
}

var _ process = (*child)(nil)

// start starts a process whose output goes to out. done is called once it has ended; ended then says how.
func (p *processes) start(c command, out *output, done func()) (process, error) {
	reader, writer, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("making a pipe: %w", err)
	}
	cmd := &exec.Cmd{
		Path: c.path, Args: c.args, Env: c.env, Dir: c.dir, Stdout: writer, Stderr: writer, SysProcAttr: ownGroup(),
	}
	child := &child{of: p, cmd: cmd}
	p.mu.Lock()
	if p.stopped {
		err = os.ErrProcessDone
	} else {
		err = cmd.Start()
	}
	if err == nil {
		p.live[child] = true
		p.running.Go(func() { child.attend(reader, out, done) })
	}
	p.mu.Unlock()
	_ = writer.Close() // the process has one of its own
	if err != nil {
		_ = reader.Close()
		return nil, err
	}
	return child, nil
}

// attend sees a process to its end.
func (c *child) attend(reader *os.File, out *output, done func()) {
	var reading sync.WaitGroup
	reading.Go(func() { copyOutput(out, reader, c.of.clock) })
	err := c.cmd.Wait()
	at := c.of.clock.Now()
	killGroup(c.cmd.Process.Pid)
	c.mu.Lock()
	c.over = true
	c.mu.Unlock()
	_ = reader.SetReadDeadline(at.Add(drainGrace)) // without deadlines it is read to its end
	reading.Wait()
	_ = reader.Close()
	out.close(at)

	c.mu.Lock()
	c.result = &exit{at: at, code: exitCode(c.cmd.ProcessState)}
	if c.cmd.ProcessState == nil && err != nil {
		c.result.message = err.Error()
	}
	if c.kill != nil {
		c.kill.Stop()
	}
	c.mu.Unlock()
	c.of.mu.Lock()
	delete(c.of.live, c)
	c.of.mu.Unlock()
	done()
}

func copyOutput(out *output, from io.Reader, clock clock.PassiveClock) {
	buffer := make([]byte, 32<<10)
	for {
		n, err := from.Read(buffer)
		out.write(clock.Now(), buffer[:n])
		if err != nil {
			return
		}
	}
}

func (c *child) ended() *exit {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.result
}

func (c *child) end(grace time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.over {
		return
	}
	pid := c.cmd.Process.Pid
	if grace <= 0 {
		killGroup(pid)
		return
	}
	if !c.told {
		c.told = true
		terminateGroup(pid)
	}
	deadline := c.of.clock.Now().Add(grace)
	if c.kill != nil && !deadline.Before(c.deadline) {
		return
	}
	if c.kill != nil {
		c.kill.Stop()
	}
	c.deadline = deadline
	c.kill = c.of.clock.AfterFunc(grace, func() { c.end(0) })
}

// stop ends all processes, kills those that have not ended after the grace, and returns when there are none.
func (p *processes) stop(grace time.Duration) {
	p.mu.Lock()
	p.stopped = true
	for child := range p.live {
		child.end(grace)
	}
	p.mu.Unlock()
	p.running.Wait()
}

// findProgram finds the file of a program as a shell would that has this PATH and this working directory.
func findProgram(name, path, dir string) (string, error) {
	if strings.ContainsRune(name, filepath.Separator) {
		if !filepath.IsAbs(name) {
			name = filepath.Join(dir, name)
		}
		found, err := exec.LookPath(name)
		if err != nil {
			return "", err
		}
		return found, nil
	}
	for _, folder := range filepath.SplitList(path) {
		if !filepath.IsAbs(folder) {
			folder = filepath.Join(dir, folder)
		}
		if found, err := exec.LookPath(filepath.Join(folder, name)); err == nil {
			return found, nil
		}
	}
	return "", fmt.Errorf("exec: %q: %w", name, exec.ErrNotFound)
}
