package cluster_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/musterkube/muster/pkg/cluster"
	"github.com/musterkube/muster/pkg/kubelet"
)

func TestLogsOfPlayedPods(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		c := start(t, cluster.Options{Nodes: 1, Script: kubelet.ScriptFunc(func(a kubelet.Attempt) kubelet.Outcome {
			if a.Number == 1 {
				return kubelet.Outcome{Duration: time.Second, ExitCode: 1, Output: "first\n"}
			}
			return kubelet.Outcome{Duration: time.Minute, Output: "second\n"}
		})})
		client := kube(t, c.Config())
		createJob(t, client, newJob("talk", func(spec *batchv1.JobSpec) {
			spec.Template.Spec.RestartPolicy = corev1.RestartPolicyOnFailure
		}))
		pass(10 * time.Second)
		pods := listPods(t, client)
		require.Len(t, pods, 1)
		read := func(options corev1.PodLogOptions) string {
			text, err := client.CoreV1().Pods(metav1.NamespaceDefault).GetLogs(pods[0].Name, &options).DoRaw(t.Context())
			require.NoError(t, err)
			return string(text)
		}
		assert.Equal(t, "second\n", read(corev1.PodLogOptions{}))
		assert.Equal(t, "first\n", read(corev1.PodLogOptions{Previous: true}))
		began := now()
		assert.Equal(t, "second\n", read(corev1.PodLogOptions{Follow: true}), "it ends with the container")
		assert.InDelta(t, 51, now().Sub(began).Seconds(), 2)
	})
}

func TestThereAreNoLogsOfAPodThatWaits(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		c := start(t, cluster.Options{Nodes: 1, Script: kubelet.Fixed{Duration: time.Hour}})
		client := kube(t, c.Config())
		pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "p"}, Spec: corev1.PodSpec{
			NodeName:       "node-1",
			InitContainers: []corev1.Container{{Name: "wait", Image: "i", RestartPolicy: new(corev1.ContainerRestartPolicyAlways)}, {Name: "set", Image: "i"}},
			Containers:     []corev1.Container{{Name: "main", Image: "i"}},
		}}
		pod.Annotations = map[string]string{kubelet.AnnotationExitCode: "x"}
		_, err := client.CoreV1().Pods(metav1.NamespaceDefault).Create(t.Context(), pod, metav1.CreateOptions{})
		require.NoError(t, err)
		pass(time.Second)
		for container, want := range map[string]string{
			"main": `container "main" in pod "p" is waiting to start: CreateContainerConfigError`,
		} {
			err := client.CoreV1().Pods(metav1.NamespaceDefault).GetLogs("p", &corev1.PodLogOptions{Container: container}).Do(t.Context()).Error()
			require.EqualError(t, err, want)
		}
		err = client.CoreV1().Pods(metav1.NamespaceDefault).GetLogs("p", &corev1.PodLogOptions{Container: "wait", Previous: true}).Do(t.Context()).Error()
		require.EqualError(t, err, `previous terminated container "wait" in pod "p" not found`)
	})
}
