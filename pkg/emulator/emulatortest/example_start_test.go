package emulatortest_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/musterkube/muster/pkg/emulator"
	"github.com/musterkube/muster/pkg/emulator/emulatortest"
)

// aNameIsTakenOnce is a test on an API server in this process, which ends with the test.
func aNameIsTakenOnce(t *testing.T) {
	server := emulatortest.Start(t, emulator.Options{})
	client, err := kubernetes.NewForConfig(server.Config())
	require.NoError(t, err)

	settings := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "settings"}}
	_, err = client.CoreV1().ConfigMaps("default").Create(t.Context(), settings, metav1.CreateOptions{})
	require.NoError(t, err)
	_, err = client.CoreV1().ConfigMaps("default").Create(t.Context(), settings, metav1.CreateOptions{})
	assert.True(t, apierrors.IsAlreadyExists(err), "%v", err) // if it were not, the log would have both requests
}

func ExampleStart() {
	var t *testing.T // that of the test function which this stands in
	aNameIsTakenOnce(t)
}
