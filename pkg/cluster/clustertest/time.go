package clustertest

import (
	"context"
	"fmt"
	"reflect"
	"testing/synctest"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/clock"

	"github.com/musterkube/muster/pkg/testing/expect"
)

const (
	// instant is what passes in virtual time for everything to happen that happens at once. Parts of the cluster wait for
	// some nanoseconds, to look together at what comes together.
	instant = 100 * time.Nanosecond
	// mostInstants bounds how long things may go on happening at once.
	mostInstants = 2000

	// stillness is how long nothing must have been written on a real clock, which is looked at every so often.
	stillness = 200 * time.Millisecond
	look      = 20 * time.Millisecond
	mostLooks = 3000
)

// Now returns what time it is in the cluster, to the millisecond: in virtual time the time to which the test has advanced
// it.
func (c *Cluster) Now() time.Time { return clock.RealClock{}.Now().UTC().Truncate(time.Millisecond) }

// Settle returns when nothing more will happen without time passing: every event is delivered, every controller has
// answered, what they wrote is delivered in turn. It takes fractions of a microsecond of virtual time, which Now does not
// show. On a real clock it returns when nothing has been written for 200 ms. It fails the test if there is no end to
// it, and if something that runs in the cluster has failed.
func (c *Cluster) Settle() {
	c.t.Helper()
	c.check()
	pause, enough, most := instant, 1, mostInstants
	if !c.virtual {
		pause, enough, most = look, int(stillness/look), mostLooks
	}
	before, still := c.revision(), 0
	for range most {
		c.sleep(pause)
		c.check()
		after := c.revision()
		if after == before {
			if still++; still == enough {
				return
			}
			continue
		}
		before, still = after, 0
	}
	c.t.Fatalf("the cluster does not come to rest: something writes to it without end")
}

// sleep lets time pass and, if it is virtual, what it brings about happen.
func (c *Cluster) sleep(d time.Duration) {
	clock.RealClock{}.Sleep(d)
	if c.virtual {
		synctest.Wait()
	}
}

// revision is a text that is another after every write.
func (c *Cluster) revision() string {
	c.t.Helper()
	list, err := c.look.CoreV1().Namespaces().List(c.t.Context(), metav1.ListOptions{Limit: 1})
	if err != nil {
		c.t.Fatalf("asking for the revision of the store: %v", err)
	}
	return list.ResourceVersion
}

// Advance lets time pass, and everything happen that is due by then. Time that would have to pass backwards fails the
// test.
func (c *Cluster) Advance(d time.Duration) {
	c.t.Helper()
	if d < 0 {
		c.t.Fatalf("advancing by %v: time only goes on", d)
	}
	c.sleep(d)
	c.Settle()
}

// AdvanceTo lets time pass until it is so late, and everything happen that is due by then. If it is later already, it only
// settles.
func (c *Cluster) AdvanceTo(at time.Time) {
	c.t.Helper()
	c.Advance(max(0, at.Sub(c.Now())))
}

// Until lets time pass until a condition holds, and returns how long that took. The condition is looked at whenever an
// object of the API has changed and all that follows from it at once has happened, so it has to be about what stands in
// the API. If it does not hold within the limit, the test fails: "<what> did not come to pass".
func (c *Cluster) Until(limit time.Duration, what string, holds func() bool) time.Duration {
	c.t.Helper()
	return c.until(limit, what, holds, func() string { return "" })
}

// until is Until with something to say, before that, of what was last seen.
func (c *Cluster) until(limit time.Duration, what string, holds func() bool, seen func() string) time.Duration {
	c.t.Helper()
	began := c.Now()
	ctx, cancel := context.WithCancel(c.t.Context())
	changes := c.watch(ctx)
	defer changes.ended.Wait()
	defer cancel()
	deadline := clock.RealClock{}.NewTimer(limit)
	defer deadline.Stop()
	for late := false; ; {
		c.Settle()
		if holds() {
			return c.Now().Sub(began)
		}
		if late {
			c.t.Fatalf("%s%s did not come to pass within %v", seen(), what, limit)
		}
		select {
		case <-changes.seen:
		case <-c.Failed():
		case <-deadline.C():
			late = true
		}
	}
}

// UntilIs lets time pass until an object meets a condition of pkg/testing/expect and everything has happened that follows
// from it at once, and returns the object as it then is, or nil if it is gone. If the condition does not hold within the
// limit, the test fails, and shows the object as it was last seen.
//
//	group := clustertest.UntilIs(c, time.Hour, c.Muster.SchedulingV1alpha2().PodGroups("default"), "workers", expect.PodGroupScheduled())
//
// A condition that holds for less than an instant is not seen, as with [Cluster.Until].
func UntilIs[T expect.Object](c *Cluster, limit time.Duration, client expect.Client[T], name string, condition expect.Condition[T]) T {
	c.t.Helper()
	var last T
	kind := kindOf[T]()
	exists := false
	holds := func() bool {
		object, err := client.Get(c.t.Context(), name, metav1.GetOptions{})
		if err != nil && !apierrors.IsNotFound(err) {
			c.t.Fatalf("getting %s %s: %v", kind, name, err)
		}
		if exists = err == nil; exists {
			last = object
		}
		return condition.Holds(object, exists)
	}
	seen := func() string {
		if !exists {
			return fmt.Sprintf("there is no %s %s: ", kind, name)
		}
		return fmt.Sprintf("%s %s/%s was last seen as\n\n%s\n\n", kind, last.GetNamespace(), name, expect.Text(last))
	}
	c.until(limit, fmt.Sprintf("that %s %s should %s", kind, name, condition), holds, seen)
	if !exists {
		var none T
		return none
	}
	return last
}

// kindOf returns what objects of a type are called.
func kindOf[T any]() string {
	of := reflect.TypeFor[T]()
	if of.Kind() == reflect.Pointer {
		of = of.Elem()
	}
	return of.Name()
}
