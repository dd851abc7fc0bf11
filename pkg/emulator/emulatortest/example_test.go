package emulatortest_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/musterkube/muster/pkg/emulator"
	"github.com/musterkube/muster/pkg/emulator/emulatortest"
)

// A recorder can be put before any server; here it says which refusal a client has met.
func ExampleRecorder() {
	ctx := context.Background()
	recorder := emulatortest.NewRecorder()
	server, err := emulator.Start(ctx, emulator.Options{WrapHandler: recorder.Before(nil)})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer server.Stop()
	client := kubernetes.NewForConfigOrDie(server.Config())
	_, err = client.BatchV1().Jobs("default").Get(ctx, "training", metav1.GetOptions{})
	fmt.Println(err)
	fmt.Println(strings.Contains(recorder.String(), `default/training  404`))
	// Output:
	// jobs.batch "training" not found
	// true
}

// An Example has no testing.T, so this runs what the one of Start shows.
func TestTheExampleOfStart(t *testing.T) { aNameIsTakenOnce(t) }
