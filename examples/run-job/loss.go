package main

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/musterkube/muster/examples/run-job/internal/life"
	"github.com/musterkube/muster/pkg/cluster"
)

// A real cluster takes a node for lost when it has been silent for 50 seconds, and has its pods leave it five minutes
// later. Where nodes are to be lost, nobody wants to watch that.
const (
	lossGrace      = 4 * time.Second
	lossToleration = 3 * time.Second
	// gracePerNode keeps the reports of many nodes, five in a grace period each, from being too much for the machine.
	gracePerNode = 20 * time.Millisecond
)

// loss is a node that is cut off.
type loss struct {
	text  string // as the user wrote it
	node  string
	after time.Duration // everything was created
	last  time.Duration // for how long; for good if it is zero
}

// parseLoss reads NODE=AFTER[+FOR].
func parseLoss(text string) (loss, error) {
	l := loss{text: text}
	node, times, found := strings.Cut(text, "=")
	after, last, comesBack := strings.Cut(times, "+")
	if !found || node == "" {
		return l, fmt.Errorf("--lose %q: want NODE=AFTER[+FOR], such as node-1=3s or node-1=3s+20s", text)
	}
	l.node = node
	var err error
	if l.after, err = time.ParseDuration(after); err != nil || l.after < 0 {
		return l, fmt.Errorf("--lose %q: AFTER is %q: want a duration, such as 3s", text, after)
	}
	if !comesBack {
		return l, nil
	}
	if l.last, err = time.ParseDuration(last); err != nil || l.last <= 0 {
		return l, fmt.Errorf("--lose %q: FOR is %q: want a duration above 0, such as 20s", text, last)
	}
	return l, nil
}

// checkLosses says what keeps losses from happening as they are asked for. They are sorted by time.
func (o options) checkLosses() error {
	if len(o.losses) == 0 {
		return nil
	}
	if o.nodes > cluster.MaxWatchedNodes {
		return fmt.Errorf("--lose: of %d nodes none is looked after: want --nodes of at most %d", o.nodes, cluster.MaxWatchedNodes)
	}
	before := map[string]loss{}
	for _, l := range o.losses {
		var number int
		if _, err := fmt.Sscanf(l.node, "node-%d", &number); err != nil || l.node != fmt.Sprintf("node-%d", number) || number < 1 || number > o.nodes {
			return fmt.Errorf("--lose %s: there is no node %q: have node-1 to node-%d, see --nodes", l.text, l.node, o.nodes)
		}
		if l.after >= o.timeout {
			return fmt.Errorf("--lose %s: --timeout is %s: want a longer one", l.text, o.timeout)
		}
		if earlier, ok := before[l.node]; ok && (earlier.last == 0 || earlier.after+earlier.last >= l.after) {
			return fmt.Errorf("--lose %s: the node is not back by then: see --lose %s", l.text, earlier.text)
		}
		before[l.node] = l
	}
	return nil
}

// completeLosses fills in the times by which nodes are lost, which losses shorten.
func (o *options) completeLosses() {
	slices.SortStableFunc(o.losses, func(a, b loss) int { return cmp.Compare(a.after, b.after) })
	if len(o.losses) == 0 {
		return
	}
	if o.nodeGrace == 0 {
		o.nodeGrace = max(lossGrace, time.Duration(o.nodes)*gracePerNode)
	}
	if o.toleration < 0 {
		o.toleration = lossToleration
	}
}

// lossNote says by which times nodes are lost, where they are to be.
func (o options) lossNote() string {
	if len(o.losses) == 0 {
		return ""
	}
	return fmt.Sprintf("A node is taken for lost once it is silent for %s (--node-grace; on a real cluster 50s), and pods leave it %s later (--toleration; 5m).\n",
		o.nodeGrace, o.toleration)
}

// nodeSwitch cuts nodes off and restores them, as a kubelet does.
type nodeSwitch interface {
	Lose(node string)
	Restore(node string)
}

// step is one thing to do at a time.
type step struct {
	at   time.Duration
	loss int // its place among the losses
	back bool
}

// steps returns what losses come to, in order.
func steps(losses []loss) []step {
	var list []step
	for i, l := range losses {
		list = append(list, step{at: l.after, loss: i})
		if l.last > 0 {
			list = append(list, step{at: l.after + l.last, loss: i, back: true})
		}
	}
	slices.SortStableFunc(list, func(a, b step) int { return cmp.Compare(a.at, b.at) })
	return list
}

// loseNodes has losses happen, and tells them, until ctx ends. It returns those that did not come to it.
func loseNodes(ctx context.Context, losses []loss, nodes nodeSwitch, say func(telling)) (missed []loss) {
	var passed time.Duration
	list := steps(losses)
	for i, s := range list {
		timer := time.NewTimer(s.at - passed)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			for _, left := range list[i:] {
				if !left.back {
					missed = append(missed, losses[left.loss])
				}
			}
			return missed
		}
		passed = s.at
		switch l := losses[s.loss]; {
		case s.back:
			say(telling{object: "node " + l.node, what: "back: its kubelet hears and reports again", kind: life.Note, label: l.node + " back"})
			nodes.Restore(l.node)
		default:
			say(telling{object: "node " + l.node, what: "lost: its kubelet neither hears nor reports" + forHowLong(l), kind: life.Bad, label: l.node + " lost"})
			nodes.Lose(l.node)
		}
	}
	return nil
}

func forHowLong(l loss) string {
	if l.last == 0 {
		return ""
	}
	return fmt.Sprintf(", for %s", l.last)
}

// missedLosses says which losses did not happen.
func missedLosses(missed []loss) []string {
	var texts []string
	for _, l := range missed {
		texts = append(texts, fmt.Sprintf("--lose %s never happened: the run had ended by then; see --pod-duration", l.text))
	}
	return texts
}
