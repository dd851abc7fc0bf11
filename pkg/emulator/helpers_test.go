package emulator_test

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"flag"
	"os"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	batchv1 "k8s.io/api/batch/v1"
	certificatesv1 "k8s.io/api/certificates/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	k8sruntime "k8s.io/apimachinery/pkg/runtime"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"

	schedulingv1alpha2 "github.com/musterkube/muster/apis/scheduling/v1alpha2"
	"github.com/musterkube/muster/generated/clientset/versioned"
	"github.com/musterkube/muster/pkg/emulator"
)

// klogged is what the libraries log to the log of the process.
var klogged lockedBuffer

type lockedBuffer struct {
	mu     sync.Mutex
	buffer bytes.Buffer
}

func (b *lockedBuffer) Write(data []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buffer.Write(data)
}

// take returns what was written since the last call.
func (b *lockedBuffer) take() string {
	klog.Flush()
	b.mu.Lock()
	defer b.mu.Unlock()
	defer b.buffer.Reset()
	return b.buffer.String()
}

func TestMain(m *testing.M) {
	// The second of the default handlers sleeps until a moment of the process's own clock. In a bubble, whose clock
	// starts in 2000, that is decades away.
	utilruntime.ErrorHandlers = utilruntime.ErrorHandlers[:1]
	flags := flag.NewFlagSet("klog", flag.PanicOnError)
	klog.InitFlags(flags)
	_ = flags.Parse([]string{"-logtostderr=false", "-stderrthreshold=FATAL"})
	klog.SetOutput(&klogged)
	os.Exit(m.Run())
}

// start returns a server that is stopped with the test.
func start(tb testing.TB, options emulator.Options) *emulator.Server {
	tb.Helper()
	server, err := emulator.Start(tb.Context(), options)
	require.NoError(tb, err)
	tb.Cleanup(server.Stop)
	return server
}

// kube and muster return clients of Kubernetes' own APIs and of ours.
func kube(tb testing.TB, config *rest.Config) kubernetes.Interface {
	tb.Helper()
	client, err := kubernetes.NewForConfig(config)
	require.NoError(tb, err)
	return client
}

func muster(tb testing.TB, config *rest.Config) versioned.Interface {
	tb.Helper()
	client, err := versioned.NewForConfig(config)
	require.NoError(tb, err)
	return client
}

// protobuf returns the configuration for clients that speak protobuf.
func protobuf(config *rest.Config) *rest.Config {
	config = rest.CopyConfig(config)
	config.ContentType = k8sruntime.ContentTypeProtobuf
	config.AcceptContentTypes = k8sruntime.ContentTypeProtobuf + "," + k8sruntime.ContentTypeJSON
	return config
}

func objectMeta(name string) metav1.ObjectMeta { return metav1.ObjectMeta{Name: name} }

func makePod(name string) *corev1.Pod {
	return &corev1.Pod{ObjectMeta: objectMeta(name), Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Image: "busybox"}}}}
}

func makeJob(name string) *batchv1.Job {
	pod := makePod("")
	pod.Spec.RestartPolicy = corev1.RestartPolicyNever
	return &batchv1.Job{ObjectMeta: objectMeta(name), Spec: batchv1.JobSpec{Template: corev1.PodTemplateSpec{Spec: pod.Spec}}}
}

func makeWorkload(name string) *schedulingv1alpha2.Workload {
	return &schedulingv1alpha2.Workload{ObjectMeta: objectMeta(name), Spec: schedulingv1alpha2.WorkloadSpec{
		PodGroupTemplates: []schedulingv1alpha2.PodGroupTemplate{{
			Name: "workers",
			SchedulingPolicy: schedulingv1alpha2.PodGroupSchedulingPolicy{
				Gang: &schedulingv1alpha2.GangSchedulingPolicy{MinCount: 4},
			},
		}},
	}}
}

func makePodGroup(name string) *schedulingv1alpha2.PodGroup {
	return &schedulingv1alpha2.PodGroup{ObjectMeta: objectMeta(name), Spec: schedulingv1alpha2.PodGroupSpec{
		SchedulingPolicy: schedulingv1alpha2.PodGroupSchedulingPolicy{
			Gang: &schedulingv1alpha2.GangSchedulingPolicy{MinCount: 4},
		},
	}}
}

// stacks returns the goroutines that run code of the server or of its libraries, by their stacks.
func stacks() []string {
	buffer := make([]byte, 4<<20)
	buffer = buffer[:runtime.Stack(buffer, true)]
	var found []string
	for stack := range strings.SplitSeq(string(buffer), "\n\n") {
		for _, code := range []string{"k8s.io/apiserver", "k8s.io/apiextensions-apiserver", "pkg/emulator", "go.etcd.io/etcd", "k8s.io/client-go"} {
			if strings.Contains(stack, code) && !strings.Contains(stack, "testing.tRunner") && !strings.Contains(stack, "emulator_test.stacks") {
				found = append(found, stack)
				break
			}
		}
	}
	return found
}

// requireNoGoroutines waits until no goroutine of a server or client is left. Those that only have to return need a
// moment to do so.
func requireNoGoroutines(t *testing.T) {
	t.Helper()
	if !assert.Eventually(t, func() bool { return len(stacks()) == 0 }, 10*time.Second, time.Millisecond) {
		require.FailNow(t, "goroutines are left", strings.Join(stacks(), "\n\n"))
	}
}

// receive waits for a value, a minute at most.
func receive[T any](t *testing.T, from <-chan T) T {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	select {
	case value, open := <-from:
		require.True(t, open, "the channel was closed")
		return value
	case <-ctx.Done():
		require.FailNow(t, "nothing came", ctx.Err())
		panic("not reached")
	}
}

func makeConfigMap(name string) *corev1.ConfigMap {
	return &corev1.ConfigMap{ObjectMeta: objectMeta(name), Data: map[string]string{"key": "value"}}
}

// makeSigningRequest asks for a certificate.
func makeSigningRequest(tb testing.TB, name string) *certificatesv1.CertificateSigningRequest {
	tb.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(tb, err)
	der, err := x509.CreateCertificateRequest(rand.Reader, &x509.CertificateRequest{}, key)
	require.NoError(tb, err)
	return &certificatesv1.CertificateSigningRequest{
		ObjectMeta: objectMeta(name),
		Spec: certificatesv1.CertificateSigningRequestSpec{
			Request:    pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE REQUEST", Bytes: der}),
			SignerName: "example.com/signer", Usages: []certificatesv1.KeyUsage{certificatesv1.UsageClientAuth},
		},
	}
}
