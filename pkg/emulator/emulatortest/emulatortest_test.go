package emulatortest_test

import (
	"errors"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/utils/clock"

	"github.com/musterkube/muster/pkg/emulator"
	"github.com/musterkube/muster/pkg/emulator/emulatortest"
)

func newClient(t *testing.T, config *rest.Config, contentType string) *kubernetes.Clientset {
	t.Helper()
	config.ContentType, config.UserAgent, config.QPS = contentType, "mycontroller/v1 (linux)", -1
	client, err := kubernetes.NewForConfig(config)
	require.NoError(t, err)
	return client
}

// ask has a client make requests of several kinds, and returns the resource version of the first write.
func ask(t *testing.T, client *kubernetes.Clientset) string {
	t.Helper()
	maps := client.CoreV1().ConfigMaps("default")
	// Annotations stand before the resource version in JSON.
	settings := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "settings"}, Data: map[string]string{"a": "b"}}
	created, err := maps.Create(t.Context(), settings, metav1.CreateOptions{})
	require.NoError(t, err)
	_, err = maps.Create(t.Context(), settings, metav1.CreateOptions{})
	require.True(t, apierrors.IsAlreadyExists(err), err)
	changes, err := maps.Watch(t.Context(), metav1.ListOptions{ResourceVersion: created.ResourceVersion})
	require.NoError(t, err)
	t.Cleanup(changes.Stop)
	for range 50 {
		_, err = maps.Get(t.Context(), "none", metav1.GetOptions{})
		require.True(t, apierrors.IsNotFound(err), err)
	}
	_, err = client.CoreV1().Nodes().Create(t.Context(), &corev1.Node{ObjectMeta: metav1.ObjectMeta{GenerateName: "n-"}}, metav1.CreateOptions{})
	require.NoError(t, err)
	return created.ResourceVersion
}

func TestRecorderSaysWhatWasAsked(t *testing.T) {
	for _, contentType := range []string{"application/json", "application/vnd.kubernetes.protobuf"} {
		t.Run(contentType, func(t *testing.T) {
			recorder := emulatortest.NewRecorder()
			server := emulatortest.Start(t, emulator.Options{WrapHandler: recorder.Before(nil)})
			version := ask(t, newClient(t, server.Config(), contentType))
			report := recorder.String()
			for _, want := range []string{
				`^The last of 54 requests to the API server:\n`,
				`create +configmaps +default/settings +201 +rv ` + version + ` +mycontroller/v1\n`,
				`create +configmaps +default/ +409 +mycontroller/v1 +configmaps "settings" already exists\n`,
				`\n… 12 reads\n`,
				`get +configmaps +default/none +404 +mycontroller/v1 +configmaps "none" not found\n`,
				`create +nodes +n-\w+ +201 +rv \d+ +mycontroller/v1$`,
			} {
				assert.Regexp(t, want, report)
			}
			assert.Contains(t, report, "\n… 38 alike\n")
			assert.Equal(t, 6, strings.Count(report, "\n"), "what was long ago is forgotten, but for writes")
		})
	}
}

func TestRecorderSaysWhereWatchesBegan(t *testing.T) {
	recorder := emulatortest.NewRecorder("bystander")
	server := emulatortest.Start(t, emulator.Options{WrapHandler: recorder.Before(nil)})
	bystander := server.Config()
	bystander.UserAgent = "bystander"
	_, err := kubernetes.NewForConfigOrDie(bystander).CoreV1().Nodes().List(t.Context(), metav1.ListOptions{})
	require.NoError(t, err)
	changes, err := newClient(t, server.Config(), "").BatchV1().Jobs("").Watch(t.Context(), metav1.ListOptions{ResourceVersion: "2"})
	require.NoError(t, err)
	defer changes.Stop()
	assert.Regexp(t, `^The last of 1 requests to the API server:\n.*watch +jobs.batch +- +200 +from 2 +mycontroller/v1$`, recorder.String())
}

// TestRecorderSeesWhatStandsInTheServersPlace has another handler refuse some requests.
func TestRecorderSeesWhatStandsInTheServersPlace(t *testing.T) {
	recorder := emulatortest.NewRecorder()
	teapot := func(server http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.Method == http.MethodDelete {
				http.Error(w, "no", http.StatusTeapot)
				return
			}
			server.ServeHTTP(w, r)
		})
	}
	server := emulatortest.Start(t, emulator.Options{WrapHandler: recorder.Before(teapot)})
	err := newClient(t, server.Config(), "").CoreV1().Namespaces().Delete(t.Context(), "default", metav1.DeleteOptions{})
	require.Error(t, err)
	assert.Regexp(t, `delete +namespaces +default +418 +mycontroller/v1$`, recorder.String())
}

// TestRecorderSeesOtherDoors has a client come through a socket, and watch.
func TestRecorderSeesOtherDoors(t *testing.T) {
	recorder := emulatortest.NewRecorder()
	server := emulatortest.Start(t, emulator.Options{WrapHandler: recorder.Before(nil)})
	_, err := server.Listen(t.Context(), "127.0.0.1:0")
	require.NoError(t, err)
	kubeconfig := filepath.Join(t.TempDir(), "kubeconfig")
	require.NoError(t, server.WriteKubeconfig(kubeconfig))
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	require.NoError(t, err)
	client := newClient(t, config, "")
	changes, err := client.CoreV1().ConfigMaps("default").Watch(t.Context(), metav1.ListOptions{})
	require.NoError(t, err)
	defer changes.Stop()
	version := ask(t, client)
	assert.Equal(t, watch.Added, (<-changes.ResultChan()).Type)
	assert.Regexp(t, `create +configmaps +default/settings +201 +rv `+version+` +mycontroller/v1\n`, recorder.String())
}

func TestServerEndsWithTheTest(t *testing.T) {
	var config *rest.Config
	t.Run("a test", func(t *testing.T) { config = emulatortest.Start(t, emulator.Options{}).Config() })
	_, err := newClient(t, config, "").CoreV1().Namespaces().List(t.Context(), metav1.ListOptions{})
	require.ErrorIs(t, err, emulator.ErrStopped)
}

// TestLoggerIsQuietAfterTheTest would panic if it were not.
func TestLoggerIsQuietAfterTheTest(t *testing.T) {
	done := make(chan struct{})
	proceed := make(chan struct{})
	t.Run("a test", func(t *testing.T) {
		logger := emulatortest.Logger(t).WithName("late")
		logger.Info("In time")
		go func() {
			defer close(done)
			<-proceed
			logger.Error(errors.New("too late"), "Said after the end")
		}()
	})
	close(proceed)
	<-done
}

// TestFailure runs this package's tests again, with one that fails.
func TestFailure(t *testing.T) {
	const variable = "EMULATORTEST_FAILS"
	test := func(t *testing.T) {
		server := emulatortest.Start(t, emulator.Options{})
		ask(t, newClient(t, server.Config(), ""))
		clock.RealClock{}.Sleep(time.Millisecond) // of virtual time, if it is
		t.Cleanup(func() { t.Error("failed as late as can be") })
	}
	switch os.Getenv(variable) {
	case "real":
		test(t)
		return
	case "virtual":
		synctest.Test(t, test)
		return
	}
	program, err := os.Executable()
	require.NoError(t, err)
	for _, kind := range []string{"real", "virtual"} {
		t.Run(kind, func(t *testing.T) {
			command := exec.CommandContext(t.Context(), program, "-test.run=^TestFailure$")
			command.Env = append(os.Environ(), variable+"="+kind)
			output, err := command.CombinedOutput()
			require.Error(t, err, "the test has not failed")
			assert.Regexp(t, regexp.MustCompile(`(?s)failed as late as can be.*The last of 5\d requests to the API server:.*create +configmaps +default/settings +201 +rv \d+`),
				string(output))
			assert.NotContains(t, string(output), "panic:")
			if testing.Verbose() {
				t.Logf("%s", output)
			}
		})
	}
}
