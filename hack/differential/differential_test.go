package differential_test

import (
	"flag"
	"testing"

	"github.com/musterkube/muster/hack/differential/generate"
	"github.com/musterkube/muster/hack/differential/wire"
)

var (
	objects    = flag.Int("objects", 500, "how many objects of each kind and operation to compare")
	seed       = flag.Uint64("seed", 1, "which objects: others for each seed")
	only       = flag.Int("only", -1, "compare the object of this number alone")
	show       = flag.Int("show", 5, "how many differences of each kind and operation to print in full")
	oraclePath = flag.String("oracle", "", "the program oracle, built already (default: build it)")
	judgePath  = flag.String("judge", "", "the program judge, built already (default: build it)")
)

// TestSameAnswersAsKubernetes is what this module is for.
func TestSameAnswersAsKubernetes(t *testing.T) {
	t.Logf("%d objects of each kind and operation, -seed %d", *objects, *seed)
	pair := &pair{
		oracle: run(t, build(t, *oraclePath, ".", "./oracle")),
		judge:  run(t, build(t, *judgePath, "../..", "./hack/judge")),
	}
	for _, subject := range subjects() {
		t.Run(subject.kind+" "+subject.operation, func(t *testing.T) { compareAll(t, pair, subject) })
	}
}

func compareAll(t *testing.T, pair *pair, subject *subject) {
	t.Helper()
	var counted tally
	for number := range *objects {
		if *only >= 0 && number != *only {
			continue
		}
		question := subject.question(t, pair, generate.New(*seed, subject.kind+subject.operation, number))
		wanted, got := pair.ask(t, question)
		counted.add(wanted)
		found := compare(t, pair, question, wanted, got)
		if len(found) == 0 {
			continue
		}
		if counted.different++; counted.different > *show {
			continue
		}
		t.Logf("object %d: %s", number, encode(t, question))
		for _, difference := range found {
			t.Logf("object %d: %s", number, difference)
		}
	}
	t.Log(counted.String())
	if counted.different > 0 {
		t.Errorf("%d objects get other answers than from Kubernetes", counted.different)
	}
}

// pair is the two programs.
type pair struct{ oracle, judge *program }

// ask asks both the same. What Kubernetes says is what is wanted.
func (p *pair) ask(t *testing.T, question *wire.Question) (wanted, got *wire.Answer) {
	t.Helper()
	line := append(encode(t, question), '\n')
	p.oracle.ask(t, line)
	p.judge.ask(t, line)
	return p.oracle.answer(t), p.judge.answer(t)
}
