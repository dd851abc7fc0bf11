package core_test

import (
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/musterkube/muster/pkg/core"
	"github.com/musterkube/muster/pkg/features"
)

// noon is when most things happen in these tests.
var noon = time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)

func at(hour int) metav1.Time { return metav1.NewTime(time.Date(2026, 1, 1, hour, 0, 0, 0, time.UTC)) }

// makePod returns a valid pod as a server would hold it just before validation, with edits made before its defaults.
func makePod(edits ...func(*corev1.Pod)) *corev1.Pod {
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: "p", Namespace: "ns", UID: "u"},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Image: "busybox"}}},
	}
	for _, edit := range edits {
		edit(pod)
	}
	core.SetPodDefaults(pod)
	core.PreparePodForCreate(pod, features.Gates{}, noon)
	return pod
}

// lines prints errors one a line, as a server names them.
func lines(errs field.ErrorList) string {
	texts := make([]string, 0, len(errs))
	for _, err := range errs {
		texts = append(texts, err.Error())
	}
	return strings.Join(texts, "\n")
}
