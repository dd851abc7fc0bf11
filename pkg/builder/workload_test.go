package builder_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	schedulingv1alpha2 "github.com/musterkube/muster/apis/scheduling/v1alpha2"
	"github.com/musterkube/muster/pkg/builder"
)

// jobReference is the owner reference that everything made for gangJob carries.
func jobReference() metav1.OwnerReference {
	return metav1.OwnerReference{
		APIVersion: "batch/v1", Kind: "Job", Name: "my-job", UID: "uid-123",
		Controller: new(true), BlockOwnerDeletion: new(true),
	}
}

// jobWorkload is what becomes of gangJob, with the names of kube-controller-manager 1.36.3.
func jobWorkload() *schedulingv1alpha2.Workload {
	return &schedulingv1alpha2.Workload{
		ObjectMeta: metav1.ObjectMeta{
			Name: "my-job-795ddf89fd", Namespace: "ns",
			OwnerReferences: []metav1.OwnerReference{jobReference()},
		},
		Spec: schedulingv1alpha2.WorkloadSpec{
			ControllerRef: &schedulingv1alpha2.TypedLocalObjectReference{APIGroup: "batch", Kind: "Job", Name: "my-job"},
			PodGroupTemplates: []schedulingv1alpha2.PodGroupTemplate{{
				Name: "my-job-pgt-0",
				SchedulingPolicy: schedulingv1alpha2.PodGroupSchedulingPolicy{
					Gang: &schedulingv1alpha2.GangSchedulingPolicy{MinCount: 4},
				},
			}},
		},
	}
}

func TestFromJob(t *testing.T) {
	basic := jobWorkload()
	basic.Spec.PodGroupTemplates[0].SchedulingPolicy = schedulingv1alpha2.PodGroupSchedulingPolicy{
		Basic: &schedulingv1alpha2.BasicSchedulingPolicy{},
	}
	notIndexed := func(job *batchv1.Job) { job.Spec.CompletionMode = nil }
	cases := map[string]struct {
		change func(*batchv1.Job)
		opts   builder.Options
		want   *schedulingv1alpha2.Workload
	}{
		"an eligible Job gets a gang of its parallelism": {change: func(*batchv1.Job) {}, want: jobWorkload()},
		"labels and annotations of the Job are not taken over": {
			change: func(job *batchv1.Job) {
				job.Labels, job.Annotations = map[string]string{"a": "b"}, map[string]string{"c": "d"}
			},
			want: jobWorkload(),
		},
		"an eligible Job gets a gang with BasicGroup too": {change: func(*batchv1.Job) {}, opts: builder.Options{BasicGroup: true}, want: jobWorkload()},
		"a Job that is not eligible gets nothing":         {change: notIndexed},
		"nothing is made of it without a UID either":      {change: func(job *batchv1.Job) { notIndexed(job); job.UID = "" }},
		"a Job that is not eligible gets a basic group":   {change: notIndexed, opts: builder.Options{BasicGroup: true}, want: basic},
		"a Job whose pods have a group gets no basic group": {
			change: func(job *batchv1.Job) {
				job.Spec.Template.Spec.SchedulingGroup = &corev1.PodSchedulingGroup{PodGroupName: new("mine")}
			},
			opts: builder.Options{BasicGroup: true},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			job := gangJob()
			tc.change(job)
			before := job.DeepCopy()
			got, err := builder.FromJob(job, tc.opts)
			require.NoError(t, err)
			assert.Empty(t, cmp.Diff(tc.want, got), "(-want +got)")
			assert.Empty(t, cmp.Diff(before, job), "the Job must not change")
		})
	}
}

func TestFromJobUsesTheNamesItIsToldTo(t *testing.T) {
	job := gangJob()
	job.Name = "a-job-of-fifty-eight-characters-which-is-one-more-than-fit"
	require.Len(t, job.Name, 58)

	ours, err := builder.FromJob(job, builder.Options{})
	require.NoError(t, err)
	assert.Equal(t, builder.TemplateName(job.Name, builder.Options{}), ours.Spec.PodGroupTemplates[0].Name)

	builtIn, err := builder.FromJob(job, builder.Options{BuiltInNames: true})
	require.NoError(t, err)
	assert.Equal(t, job.Name+"-pgt-0", builtIn.Spec.PodGroupTemplates[0].Name)
}

func TestFromJobWantsANameAndAUID(t *testing.T) {
	nameless, unstored := gangJob(), gangJob()
	nameless.Name, unstored.UID = "", ""
	cases := map[string]struct {
		job     *batchv1.Job
		wantErr string
	}{
		"no Job":  {nil, "making the Workload of a Job: there is no Job"},
		"no name": {nameless, "making the Workload of Job ns/: it needs a name and a UID: create it first"},
		"no UID":  {unstored, "making the Workload of Job ns/my-job: it needs a name and a UID: create it first"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got, err := builder.FromJob(tc.job, builder.Options{})
			require.EqualError(t, err, tc.wantErr)
			assert.Equal(t, tc.job != nil, errors.Is(err, builder.ErrNotStored))
			assert.Nil(t, got)
		})
	}
}

func TestNew(t *testing.T) {
	owner := &metav1.ObjectMeta{Name: "train", Namespace: "ns", UID: "uid-9"}
	kind := schema.GroupVersionKind{Group: "ml.example.com", Version: "v1", Kind: "TrainJob"}
	workers := builder.Gang("workers", 8)
	workers.PriorityClassName = "high"
	workers.SchedulingConstraints = &schedulingv1alpha2.PodGroupSchedulingConstraints{
		Topology: []schedulingv1alpha2.TopologyConstraint{{Key: "rack"}},
	}
	templates := []schedulingv1alpha2.PodGroupTemplate{builder.Basic("driver"), workers}

	got, err := builder.New(owner, kind, templates, builder.Options{})
	require.NoError(t, err)
	want := &schedulingv1alpha2.Workload{
		ObjectMeta: metav1.ObjectMeta{
			Name: builder.WorkloadName("train", "uid-9", builder.Options{}), Namespace: "ns",
			OwnerReferences: []metav1.OwnerReference{{
				APIVersion: "ml.example.com/v1", Kind: "TrainJob", Name: "train", UID: "uid-9",
				Controller: new(true), BlockOwnerDeletion: new(true),
			}},
		},
		Spec: schedulingv1alpha2.WorkloadSpec{
			ControllerRef:     &schedulingv1alpha2.TypedLocalObjectReference{APIGroup: "ml.example.com", Kind: "TrainJob", Name: "train"},
			PodGroupTemplates: templates,
		},
	}
	assert.Empty(t, cmp.Diff(want, got), "(-want +got)")

	got.Spec.PodGroupTemplates[1].SchedulingConstraints.Topology[0].Key = "zone"
	assert.Equal(t, "rack", workers.SchedulingConstraints.Topology[0].Key, "the templates must be copies")
}

func TestNewOfACoreKindHasNoGroup(t *testing.T) {
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "leader", Namespace: "ns", UID: "u"}}
	got, err := builder.New(pod, corev1.SchemeGroupVersion.WithKind("Pod"), []schedulingv1alpha2.PodGroupTemplate{builder.Gang("all", 2)}, builder.Options{})
	require.NoError(t, err)
	assert.Equal(t, "v1", got.OwnerReferences[0].APIVersion)
	assert.Empty(t, got.Spec.ControllerRef.APIGroup)
}

func TestNewRefusesWhatCannotWork(t *testing.T) {
	stored := &metav1.ObjectMeta{Name: "train", Namespace: "ns", UID: "uid-9"}
	kind := appsv1.SchemeGroupVersion.WithKind("StatefulSet")
	one := []schedulingv1alpha2.PodGroupTemplate{builder.Basic("a")}
	var nine []schedulingv1alpha2.PodGroupTemplate
	for i := range 9 {
		nine = append(nine, builder.Basic(fmt.Sprint("t", i)))
	}
	cases := map[string]struct {
		owner     metav1.Object
		kind      schema.GroupVersionKind
		templates []schedulingv1alpha2.PodGroupTemplate
		wantErr   string
	}{
		"no owner":          {nil, kind, one, "there is no owner"},
		"no kind":           {stored, schema.GroupVersionKind{Group: "apps", Version: "v1"}, one, "version and kind of the owner are needed"},
		"no version":        {stored, schema.GroupVersionKind{Group: "apps", Kind: "StatefulSet"}, one, "version and kind of the owner are needed"},
		"no UID":            {&metav1.ObjectMeta{Name: "train"}, kind, one, "it needs a name and a UID"},
		"no templates":      {stored, kind, nil, "a Workload has 1 to 8 templates, not 0"},
		"nine templates":    {stored, kind, nine, "a Workload has 1 to 8 templates, not 9"},
		"a bad name":        {stored, kind, []schedulingv1alpha2.PodGroupTemplate{builder.Basic("a.b")}, `template 0 has the name "a.b": `},
		"a name used twice": {stored, kind, append(one, builder.Gang("a", 2)), `template 1 has the name "a", which another one has already`},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got, err := builder.New(tc.owner, tc.kind, tc.templates, builder.Options{})
			require.ErrorContains(t, err, tc.wantErr)
			assert.Nil(t, got)
		})
	}
	got, err := builder.New(stored, kind, nine[:8], builder.Options{})
	require.NoError(t, err)
	assert.Len(t, got.Spec.PodGroupTemplates, 8)
}
