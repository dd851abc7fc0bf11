package cluster_test

import (
	"cmp"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
)

// What differs from one play to the next, and what stands for it.
var (
	uid = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`)
	// podPath is a pod in a message, whose name is random.
	podPath = regexp.MustCompile(`([Pp])od \S+/\S+`)
	// messages are the random parts of the messages of events, whose objects may be gone.
	messages = []replacement{
		{regexp.MustCompile(`(pod: \S+?)-[a-z0-9]{5}$`), "$1-<rand>"},
		{podPath, "${1}od <pod>"},
		{regexp.MustCompile(`Workload (\S+)-([a-z0-9]{8,10}|[4-9bcdf]{5,7}) for`), "Workload $1-<hash> for"},
		{regexp.MustCompile(`-[a-z0-9]{5}-<rand>`), "-<rand>"},
		{regexp.MustCompile(`-\d+-<rand>`), "-<index>-<rand>"},
	}
	// hash is a part of a name that a hash was written into, and anyHash one in the name of an object of which it is known
	// that there is one. A hash is a number of 32 bits, nearly always one of 8 to 10 digits; with fewer only the letters
	// that stand for digits are taken for one.
	hash    = regexp.MustCompile(`^([bcdfghjklmnpqrstvwxz2456789]{8,10}|[4-9bcdf]{5,7})$`)
	anyHash = regexp.MustCompile(`^([a-z0-9]{8,10}|[4-9bcdf]{5,7})$`)
)

type replacement struct {
	pattern *regexp.Regexp
	with    string
}

// noteLife returns what stands of the Jobs and what belongs to them, and what was told about them.
func (p *player) noteLife() map[string]any {
	p.Helper()
	jobs, pods, workloads, groups := p.list("Job"), p.list("Pod"), p.list("Workload"), p.list("PodGroup")
	n := newNames(pods, slices.Concat(workloads, groups))
	after := map[string]any{
		"jobs": []any{}, "pods": []any{}, "workloads": []any{}, "podGroups": []any{}, "events": n.events(p.list("Event")),
	}
	add := func(list string, note map[string]any) { after[list] = append(after[list].([]any), note) }
	for _, j := range jobs {
		add("jobs", n.job(j))
	}
	for _, pod := range pods {
		add("pods", n.pod(pod))
	}
	for _, w := range workloads {
		note := n.meta(w)
		note["spec"] = w.Object["spec"]
		add("workloads", note)
	}
	for _, g := range groups {
		add("podGroups", n.podGroup(g))
	}
	return after
}

// names knows what stands for the names that controllers have made up.
type names map[string]string

func newNames(pods, owned []object) names {
	n := names{}
	for _, pod := range pods {
		if prefix := pod.GetGenerateName(); prefix != "" {
			n[pod.GetName()] = prefix + "<rand>"
		}
	}
	for _, o := range owned {
		for _, owner := range o.GetOwnerReferences() {
			if owner.Kind == "Job" {
				n[o.GetName()] = withoutHash(anyHash, o.GetName())
			}
		}
	}
	return n
}

// of returns what stands for a name, which may be that of an object that is gone.
func (n names) of(name string) string { return cmp.Or(n[name], withoutHash(hash, name)) }

// withoutHash replaces the parts of a name, but the first, that a hash was written into.
func withoutHash(hash *regexp.Regexp, name string) string {
	parts := strings.Split(name, "-")
	for i := 1; i < len(parts); i++ {
		if hash.MatchString(parts[i]) {
			parts[i] = "<hash>"
		}
	}
	return strings.Join(parts, "-")
}

func (n names) meta(o object) map[string]any {
	owners := []string{}
	for _, owner := range o.GetOwnerReferences() {
		text := owner.Kind + "/" + n.of(owner.Name)
		if owner.Controller != nil && *owner.Controller {
			text += " controller"
		}
		owners = append(owners, text)
	}
	slices.Sort(owners)
	note := map[string]any{"name": n.of(o.GetName()), "owners": owners}
	if finalizers := o.GetFinalizers(); len(finalizers) > 0 {
		note["finalizers"] = slices.Sorted(slices.Values(finalizers))
	}
	if o.GetDeletionTimestamp() != nil {
		note["deleting"] = true
	}
	return note
}

func (n names) job(j object) map[string]any {
	status, _, _ := unstructured.NestedMap(j.Object, "status") // a Job of the server's is well formed
	if status == nil {
		status = map[string]any{}
	}
	for _, key := range []string{"startTime", "completionTime"} {
		if _, set := status[key]; set {
			status[key] = "<time>"
		}
	}
	if status["terminating"] == 0.0 {
		delete(status, "terminating") // how soon a count of zero is written is a matter of luck
	}
	if conditions, set := status["conditions"].([]any); set {
		for _, c := range conditions {
			c := c.(map[string]any)
			delete(c, "lastProbeTime")
			delete(c, "lastTransitionTime")
			message, _ := c["message"].(string)
			c["message"] = podPath.ReplaceAllString(message, "${1}od <pod>")
		}
		slices.SortFunc(conditions, func(a, b any) int {
			return cmp.Compare(a.(map[string]any)["type"].(string), b.(map[string]any)["type"].(string))
		})
	}
	note := n.meta(j)
	note["status"] = withoutUIDs(status)
	return note
}

// withoutUIDs replaces the uids in every text of a value.
func withoutUIDs(value any) any {
	switch value := value.(type) {
	case map[string]any:
		for key, v := range value {
			value[key] = withoutUIDs(v)
		}
	case []any:
		for i, v := range value {
			value[i] = withoutUIDs(v)
		}
	case string:
		return uid.ReplaceAllString(value, "<uid>")
	}
	return value
}

func (n names) pod(pod object) map[string]any {
	note := n.meta(pod)
	note["phase"] = phaseOf(pod)
	if index := completionIndex(pod); index >= 0 {
		note["index"] = index
	}
	for _, key := range []string{batchv1.JobIndexFailureCountAnnotation, batchv1.JobIndexIgnoredFailureCountAnnotation} {
		if value, set := pod.GetAnnotations()[key]; set {
			note[key] = value
		}
	}
	if hostname, set, _ := unstructured.NestedString(pod.Object, "spec", "hostname"); set {
		note["hostname"] = hostname
	}
	if group, set, _ := unstructured.NestedString(pod.Object, "spec", "schedulingGroup", "podGroupName"); set {
		note["schedulingGroup"] = n.of(group)
	}
	return note
}

func (n names) podGroup(g object) map[string]any {
	spec := runtime.DeepCopyJSON(g.Object["spec"].(map[string]any))
	at := []string{"podGroupTemplateRef", "workload", "workloadName"}
	if name, set, _ := unstructured.NestedString(spec, at...); set {
		_ = unstructured.SetNestedField(spec, n.of(name), at...) // it is there
	}
	note := n.meta(g)
	note["spec"] = spec
	return note
}

// events returns what was told, each once: how often is a matter of luck, and so is what becomes of the details when
// there was much to tell in a short time.
func (n names) events(events []object) []string {
	told := map[string]bool{}
	longestFirst := slices.SortedFunc(maps.Keys(n), func(a, b string) int {
		return cmp.Or(cmp.Compare(len(b), len(a)), cmp.Compare(a, b))
	})
	for _, e := range events {
		text := func(fields ...string) string {
			value, _, _ := unstructured.NestedString(e.Object, fields...) // an Event of the server's is well formed
			return value
		}
		message := text("message")
		for _, name := range longestFirst {
			message = strings.ReplaceAll(message, name, n[name])
		}
		for _, r := range messages {
			message = r.pattern.ReplaceAllString(message, r.with)
		}
		if !strings.HasPrefix(message, "(combined") {
			told[fmt.Sprintf("%s %s %s %s", text("involvedObject", "kind"), text("type"), text("reason"), message)] = true
		}
	}
	return slices.AppendSeq([]string{}, maps.Keys(told))
}

func TestNamesWithoutHash(t *testing.T) {
	for name, tc := range map[string]struct{ name, want, wantIfAny string }{
		"one of ten digits":         {"train-795ddf89fd", "train-<hash>", "train-<hash>"},
		"two of seven":              {"j-5849cf7-j-pgt-0-c65d9d9", "j-<hash>-j-pgt-0-<hash>", "j-<hash>-j-pgt-0-<hash>"},
		"with a part of a pod":      {"j-0-x7k2p", "j-0-x7k2p", "j-0-x7k2p"},
		"a word that might be one":  {"my-training-795ddf89fd", "my-training-<hash>", "my-<hash>-<hash>"},
		"the first part is the Job": {"bcdfghjk", "bcdfghjk", "bcdfghjk"},
	} {
		t.Run(name, func(t *testing.T) {
			assert.Equal(t, tc.want, withoutHash(hash, tc.name))
			assert.Equal(t, tc.wantIfAny, withoutHash(anyHash, tc.name))
		})
	}
}
