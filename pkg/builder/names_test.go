package builder_test

import (
	"encoding/json"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/musterkube/muster/pkg/builder"
)

// builtInName holds names that kube-controller-manager 1.36.3 makes.
type builtInName struct {
	Job, Workload, Template, PodGroup string
	UID                               types.UID
}

func builtInNames(t *testing.T) []builtInName {
	t.Helper()
	text, err := os.ReadFile("testdata/built-in-names.json")
	require.NoError(t, err)
	var names []builtInName
	require.NoError(t, json.Unmarshal(text, &names))
	require.Greater(t, len(names), 100)
	return names
}

func TestNamesAreTheBuiltInOnesWhereTheyAreValid(t *testing.T) {
	var invalid int
	for _, want := range builtInNames(t) {
		workload := builder.WorkloadName(want.Job, want.UID, builder.Options{})
		template := builder.TemplateName(want.Job, builder.Options{})
		group := builder.PodGroupName(want.Workload, want.Template, builder.Options{})
		for _, name := range []struct {
			got, builtIn string
			valid        func(string) []string
		}{
			{workload, want.Workload, validation.IsDNS1123Subdomain},
			{template, want.Template, validation.IsDNS1123Label},
			{group, want.PodGroup, validation.IsDNS1123Subdomain},
		} {
			if len(name.valid(name.builtIn)) == 0 {
				assert.Equal(t, name.builtIn, name.got)
				continue
			}
			invalid++
			assert.NotEqual(t, name.builtIn, name.got)
			assert.Empty(t, name.valid(name.got), name.got)
		}
	}
	assert.Greater(t, invalid, 50, "names that the built-in controller gets wrong must be among the cases")
}

func TestBuiltInNamesAreExactlyThose(t *testing.T) {
	opts := builder.Options{BuiltInNames: true}
	for _, want := range builtInNames(t) {
		assert.Equal(t, want.Workload, builder.WorkloadName(want.Job, want.UID, opts))
		assert.Equal(t, want.Template, builder.TemplateName(want.Job, opts))
		assert.Equal(t, want.PodGroup, builder.PodGroupName(want.Workload, want.Template, opts))
	}
}

func TestShortenedNames(t *testing.T) {
	long := strings.Repeat("a", 70)
	cases := map[string]struct{ got, want string }{
		"a Job name too long for a template keeps its beginning": {
			builder.TemplateName(long, builder.Options{}), long[:42] + "-pgt-1332c99eea5cf865",
		},
		"a dot becomes a dash": {
			builder.TemplateName("train.v2", builder.Options{}), "train-v2-pgt-bba2b4b235c4eee7",
		},
		"a cut in front of a dash takes the dash along": {
			builder.TemplateName(long[:41]+"-"+long, builder.Options{}), long[:41] + "-pgt-89cbfaac14b1198a",
		},
		"a name that is no Kubernetes name is replaced": {
			builder.WorkloadName("system:Leader", "uid-1", builder.Options{}), "system-leader-7e6178ae4cb218d8",
		},
		"a name of which nothing is left is the hash alone": {
			builder.WorkloadName("::", "uid-1", builder.Options{}), "c71453020ed63d30",
		},
		"a PodGroup of two bad names": {
			builder.PodGroupName("A", "B_", builder.Options{}), "a-b-76473c82533ff050",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) { assert.Equal(t, tc.want, tc.got) })
	}
}

func TestTemplateNamesOfDifferentJobsNeverMeet(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	owner := map[string]string{}
	check := func(job string) {
		name := builder.TemplateName(job, builder.Options{})
		if other, taken := owner[name]; taken {
			require.Equal(t, other, job, "both have the template %s", name)
		}
		owner[name] = job
	}
	for range 4000 {
		job := randomJobName(random)
		check(job)
		// The names that are likeliest to meet: those that look like one that was made.
		check(strings.TrimSuffix(builder.TemplateName(job, builder.Options{}), "-pgt-0"))
		if len(job) > 1 {
			check(job[:len(job)-1] + "x")
		}
	}
}

// FuzzNames holds every name against the rules of the API server.
func FuzzNames(f *testing.F) {
	f.Add("my-job", "uid-123", "workers")
	f.Add(strings.Repeat("a", 242)+".b", "uid", strings.Repeat("-", 80))
	f.Add("", "", "")
	f.Add(strings.Repeat("a.", 126)+"a", "6d5f2a43-3b0e-4b7e-9b1c-0d6f1d1c2e3f", "a.b")
	f.Fuzz(func(t *testing.T, owner, uid, template string) {
		checkNames(t, owner, types.UID(uid), template)
	})
}

func TestNamesOfRandomJobsAreValid(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	for range 4000 {
		job := randomJobName(random)
		checkNames(t, job, types.UID(randomJobName(random)), job[:min(len(job), random.IntN(63)+1)])
	}
}

func checkNames(t *testing.T, owner string, uid types.UID, template string) {
	t.Helper()
	var opts builder.Options
	workload := builder.WorkloadName(owner, uid, opts)
	require.Empty(t, validation.IsDNS1123Subdomain(workload), workload)
	require.Equal(t, workload, builder.WorkloadName(owner, uid, opts))

	ofJob := builder.TemplateName(owner, opts)
	require.Empty(t, validation.IsDNS1123Label(ofJob), ofJob)

	for _, template := range []string{template, ofJob} {
		for _, workload := range []string{workload, owner} {
			group := builder.PodGroupName(workload, template, opts)
			require.Empty(t, validation.IsDNS1123Subdomain(group), group)
		}
	}

	// The built-in names may be invalid, but then ours differ; otherwise they are the same.
	builtIn := builder.Options{BuiltInNames: true}
	if name := builder.WorkloadName(owner, uid, builtIn); len(validation.IsDNS1123Subdomain(name)) == 0 {
		require.Equal(t, name, workload)
	}
	if name := builder.TemplateName(owner, builtIn); len(validation.IsDNS1123Label(name)) == 0 {
		require.Equal(t, name, ofJob)
	}
}

// randomJobName returns a valid Job name of 1 to 253 characters with many dots and dashes.
func randomJobName(random *rand.Rand) string {
	const inside = "abcxyz0189-.-."
	for {
		name := make([]byte, 1+random.IntN(253))
		for i := range name {
			name[i] = inside[random.IntN(len(inside))]
			if i == 0 || i == len(name)-1 || name[i-1] == '.' || (name[i-1] == '-' && name[i] == '.') {
				name[i] = inside[random.IntN(10)]
			}
		}
		if len(validation.IsDNS1123Subdomain(string(name))) == 0 {
			return string(name)
		}
	}
}
