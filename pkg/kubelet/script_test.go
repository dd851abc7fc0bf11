package kubelet

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
)

func TestParseFailure(t *testing.T) {
	for text, want := range map[string]Failure{
		"0=1":     {Index: 0, ExitCode: 1, Attempts: 1},
		"2=137x3": {Index: 2, ExitCode: 137, Attempts: 3},
	} {
		got, err := ParseFailure(text)
		require.NoError(t, err, text)
		assert.Equal(t, want, got)
		assert.Equal(t, text, got.String())
	}
	for _, text := range []string{"", "1", "=1", "1=", "1=0", "1=256", "-1=1", "1=1x0", "1=1x", "1=x2", "a=1", "1=1x2x3"} {
		_, err := ParseFailure(text)
		assert.Error(t, err, text)
	}
}

func TestFailIndex(t *testing.T) {
	script := FailIndex(1, 3, 2, Fixed{Duration: time.Minute})
	for name, tc := range map[string]struct {
		attempt  Attempt
		wantCode int32
	}{
		"the first attempt of the index":  {Attempt{Index: 1, Number: 1}, 3},
		"the second":                      {Attempt{Index: 1, Number: 2}, 3},
		"the third ends well":             {Attempt{Index: 1, Number: 3}, 0},
		"another index":                   {Attempt{Index: 0, Number: 1}, 0},
		"an init container":               {Attempt{Index: 1, Number: 1, Init: true}, 0},
		"a pod without a Job is no index": {Attempt{Index: -1, Number: 1}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			outcome := script.Run(tc.attempt)
			assert.Equal(t, tc.wantCode, outcome.ExitCode)
			if !tc.attempt.Init {
				assert.Equal(t, time.Minute, outcome.Duration)
			}
		})
	}
}

func TestAnnotationsWinOverTheScript(t *testing.T) {
	script := Outcome{Duration: time.Hour, ExitCode: 9, Reason: "Theirs"}
	for name, tc := range map[string]struct {
		annotations map[string]string
		attempt     Attempt
		want        Outcome
		wantErr     string
	}{
		"none":                   {want: script},
		"a duration":             {annotations: map[string]string{AnnotationRunDuration: "90s"}, want: Outcome{Duration: 90 * time.Second, ExitCode: 9, Reason: "Theirs"}},
		"for ever":               {annotations: map[string]string{AnnotationRunDuration: "forever"}, want: Outcome{Duration: time.Hour, Forever: true, ExitCode: 9, Reason: "Theirs"}},
		"an exit code":           {annotations: map[string]string{AnnotationExitCode: "0"}, want: Outcome{Duration: time.Hour}},
		"how long it shuts down": {annotations: map[string]string{AnnotationShutdownDuration: "5s"}, want: Outcome{Duration: time.Hour, ExitCode: 9, Reason: "Theirs", Shutdown: 5 * time.Second}},
		"output":                 {annotations: map[string]string{AnnotationOutput: "done\n"}, want: Outcome{Duration: time.Hour, ExitCode: 9, Reason: "Theirs", Output: "done\n"}},
		"an eviction":            {annotations: map[string]string{AnnotationEvictAfter: "3s"}, want: Outcome{Duration: 3 * time.Second, ExitCode: 9, Reason: "Theirs", Evict: true}},
		"a failure of this index": {
			annotations: map[string]string{AnnotationExitCode: "0", AnnotationFail: "1=2, 0=3x2"}, attempt: Attempt{Index: 0, Number: 2}, want: Outcome{Duration: time.Hour, ExitCode: 3},
		},
		"a failure that is over": {
			annotations: map[string]string{AnnotationExitCode: "0", AnnotationFail: "1=2,0=3x2"}, attempt: Attempt{Index: 0, Number: 3}, want: Outcome{Duration: time.Hour},
		},
		"an init container is not concerned": {annotations: map[string]string{AnnotationExitCode: "x"}, attempt: Attempt{Init: true}, want: script},
		"no duration":                        {annotations: map[string]string{AnnotationRunDuration: "-1s"}, wantErr: AnnotationRunDuration},
		"no exit code":                       {annotations: map[string]string{AnnotationExitCode: "256"}, wantErr: AnnotationExitCode},
		"no failure":                         {annotations: map[string]string{AnnotationFail: "0"}, wantErr: AnnotationFail},
	} {
		t.Run(name, func(t *testing.T) {
			tc.attempt.Pod = &corev1.Pod{}
			tc.attempt.Pod.Annotations = tc.annotations
			got, err := annotate(tc.attempt, script)
			if tc.wantErr != "" {
				require.ErrorContains(t, err, tc.wantErr)
				return
			}
			require.NoError(t, err)
			assert.Equal(t, tc.want, got)
		})
	}
}

func TestAttemptsOfAnIndexAreCountedOverItsPods(t *testing.T) {
	h := newHistory()
	first, second := makePod("a").Job("j", 1).Obj(), makePod("b").Job("j", 1).Obj()
	other := makePod("c").Job("j", 0).Obj()
	for _, pod := range []*corev1.Pod{other, first, second} {
		h.see(pod)
	}
	number := func(pod *corev1.Pod, restarts int32) int { return h.attempt(pod, "main", false, restarts).Number }
	assert.Equal(t, 1, number(first, 0))
	assert.Equal(t, 2, number(first, 1))
	assert.Equal(t, 1, number(other, 0))
	assert.Equal(t, 3, number(second, 0))
	assert.Equal(t, 4, number(second, 1))
	assert.Equal(t, 2, number(first, 1), "asked again")

	a := h.attempt(second, "main", false, 1)
	assert.Equal(t, "j", a.Job)
	assert.Equal(t, 1, a.Index)

	h.forget("job-j")
	assert.Equal(t, 1, number(second, 0), "a Job that is gone is forgotten")
}

func TestPodsThatNeverStartedAreNoAttempts(t *testing.T) {
	h := newHistory()
	h.see(makePod("gone").Job("j", 0).Obj())
	assert.Equal(t, 1, h.attempt(makePod("b").Job("j", 0).Obj(), "main", false, 0).Number)
}

func TestPodsThatAnotherKubeletStartedAreAttempts(t *testing.T) {
	p := play(makePod("a").Restart(corev1.RestartPolicyOnFailure).Job("j", 0).Obj(), 0, Fixed{Duration: time.Second, ExitCode: 1})
	p.until(3 * time.Second)
	h := newHistory()
	h.see(p.run.pod)
	assert.Equal(t, 3, h.attempt(makePod("b").Job("j", 0).Obj(), "main", false, 0).Number)
}

func TestPodsWithoutAnIndexAreNumberedAsTheyAreMade(t *testing.T) {
	h := newHistory()
	var indexes []int
	for _, name := range []string{"a", "b", "c"} {
		h.see(makePod(name).Job("j", -1).Obj())
	}
	for _, name := range []string{"c", "a", "b"} {
		a := h.attempt(makePod(name).Job("j", -1).Obj(), "main", false, 0)
		assert.Equal(t, 1, a.Number)
		indexes = append(indexes, a.Index)
	}
	assert.Equal(t, []int{2, 0, 1}, indexes)
}

func TestAPodWithoutAJob(t *testing.T) {
	a := newHistory().attempt(makePod("a").Obj(), "main", false, 2)
	assert.Equal(t, Attempt{Pod: a.Pod, Container: "main", Index: -1, Number: 3}, a)
}
