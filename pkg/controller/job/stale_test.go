package job_test

import (
	"bytes"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"

	"github.com/musterkube/muster/pkg/controller/job"
)

// lag is a transport whose watches of some resources can be held up, so that caches fall behind.
type lag struct {
	// resource is the last part of the path of the requests that it holds up.
	resource string
	// listAt, if set, makes lists show the state at that version: what an API server answers from an old cache.
	listAt string

	mu   sync.Mutex
	open chan struct{} // closed while events pass
}

func newLag(resource string) *lag {
	l := &lag{resource: resource, open: make(chan struct{})}
	close(l.open)
	return l
}

// hold keeps events back from now on; the function that it returns lets them go.
func (l *lag) hold() (release func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.open = make(chan struct{})
	open := l.open
	return sync.OnceFunc(func() { close(open) })
}

func (l *lag) config(config *rest.Config) *rest.Config {
	config = rest.CopyConfig(config)
	config.Wrap(func(next http.RoundTripper) http.RoundTripper {
		return roundTripper(func(request *http.Request) (*http.Response, error) { return l.roundTrip(next, request) })
	})
	return config
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(request *http.Request) (*http.Response, error) { return f(request) }

func (l *lag) roundTrip(next http.RoundTripper, request *http.Request) (*http.Response, error) {
	query := request.URL.Query()
	if request.Method != http.MethodGet || !strings.HasSuffix(request.URL.Path, "/"+l.resource) {
		return next.RoundTrip(request)
	}
	if l.listAt != "" && query.Get("sendInitialEvents") == "true" {
		return refusal(request), nil
	}
	if l.listAt != "" && query.Get("resourceVersion") == "0" {
		query.Set("resourceVersion", l.listAt)
		query.Set("resourceVersionMatch", string(metav1.ResourceVersionMatchExact))
		request = withQuery(request, query)
	}
	response, err := next.RoundTrip(request)
	if err == nil && query.Get("watch") == "true" {
		response.Body = &heldBody{ReadCloser: response.Body, lag: l, closed: make(chan struct{})}
	}
	return response, err
}

func withQuery(request *http.Request, query url.Values) *http.Request {
	request = request.Clone(request.Context())
	request.URL.RawQuery = query.Encode()
	return request
}

// refusal is the answer of a server that cannot start a watch with a list, so that the client lists first.
func refusal(request *http.Request) *http.Response {
	body := `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Invalid","code":422}`
	return &http.Response{
		StatusCode: http.StatusUnprocessableEntity, Header: http.Header{"Content-Type": {"application/json"}},
		Body: io.NopCloser(bytes.NewBufferString(body)), Request: request, ProtoMajor: 1, ProtoMinor: 1,
	}
}

// heldBody delivers what it has read when the lag lets it.
type heldBody struct {
	io.ReadCloser
	lag    *lag
	once   sync.Once
	closed chan struct{}
}

func (b *heldBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	b.lag.mu.Lock()
	open := b.lag.open
	b.lag.mu.Unlock()
	select {
	case <-open:
		return n, err
	case <-b.closed:
		return 0, io.EOF
	}
}

func (b *heldBody) Close() error {
	b.once.Do(func() { close(b.closed) })
	return b.ReadCloser.Close()
}

func TestFinishedJobIsNotRunAgainWhileItsCacheLags(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		w := newWorld(t)
		jobs := newLag("jobs")
		w.runWith(jobs.config(w.config), quick())
		w.create(newJob("j", nil))
		pod := w.awaitActive(1)[0]
		synctest.Wait()
		release := jobs.hold()
		w.succeed(pod)
		w.awaitCondition("j", batchv1.JobComplete)
		w.remove(metav1.DeleteOptions{}, pod)
		pass(time.Hour)
		assert.Empty(t, w.allPods(), "the work was done, though the cache does not say so")
		release()
		pass(time.Hour)
		assert.Empty(t, w.allPods())
	})
}

func TestPodsAreNotMadeTwiceWhileTheirCacheLags(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		w := newWorld(t)
		pods := newLag("pods")
		w.runWith(pods.config(w.config), quick())
		synctest.Wait()
		release := pods.hold()
		w.create(newJob("j", size(2, 4)))
		made := w.awaitActive(2)
		w.succeed(made[0])
		pass(time.Hour)
		assert.Len(t, w.allPods(), 2)
		release()
		w.awaitCounts("j", 2, 1, 0)
		pass(time.Hour)
		assert.Len(t, w.allPods(), 3)
	})
}

func TestFinalizersAreTakenOnceWhileTheirCacheLags(t *testing.T) {
	for name, end := range map[string]func(w *world){
		"the job has finished": func(*world) {},
		"the job is gone": func(w *world) {
			policy := metav1.DeletePropagationOrphan
			require.NoError(t, w.client.BatchV1().Jobs(namespace).Delete(w.Context(), "j", metav1.DeleteOptions{PropagationPolicy: &policy}))
		},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T) {
				w := newWorld(t)
				var patches atomic.Int64
				pods := newLag("pods")
				config := pods.config(w.config)
				config.Wrap(func(next http.RoundTripper) http.RoundTripper {
					return roundTripper(func(request *http.Request) (*http.Response, error) {
						if request.Method == http.MethodPatch && strings.Contains(request.URL.Path, "/pods/") {
							patches.Add(1)
						}
						return next.RoundTrip(request)
					})
				})
				w.runWith(config, job.Options{})
				w.create(newJob("j", size(3, 3)))
				w.succeed(w.awaitActive(3)...)
				synctest.Wait() // the news of the ends has come, that of the finalizers will not
				release := pods.hold()
				w.awaitCondition("j", batchv1.JobComplete)
				end(w)
				pass(time.Hour)
				assert.Equal(t, int64(3), patches.Load())
				release()
				pass(time.Hour)
				assert.Equal(t, int64(3), patches.Load())
				w.awaitReleased()
			})
		})
	}
}

func TestControllerThatStartsWithOldListsWaits(t *testing.T) {
	for _, resource := range []string{"jobs", "pods"} {
		t.Run(resource, func(t *testing.T) {
			inBubble(t, func(t *testing.T) {
				w := newWorld(t)
				stop := w.run(quick())
				created := w.create(newJob("j", size(1, 2)))
				w.succeed(w.awaitActive(1)[0])
				w.awaitCounts("j", 1, 1, 0)
				stop()

				old := newLag(resource)
				old.listAt = created.ResourceVersion
				release := old.hold()
				w.runWith(old.config(w.config), quick())
				pass(time.Hour)
				assert.Len(t, w.allPods(), 2, "acting on old lists would run finished work again")
				release()
				w.succeed(w.awaitActive(1)[0])
				j := w.awaitCondition("j", batchv1.JobComplete)
				w.awaitReleased()
				assert.Equal(t, int32(2), j.Status.Succeeded)
				assert.Len(t, w.allPods(), 2)
			})
		})
	}
}

func TestGroupIsUsedBeforeItsCacheShowsIt(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		w := newWorld(t)
		workloads := newLag("workloads")
		w.runWith(workloads.config(w.config), quick())
		synctest.Wait()
		workloads.hold()
		w.create(newJob("train", indexed(2, 2)))
		pods := w.awaitActive(2)
		w.fail(pods[0])
		w.awaitCounts("train", 2, 0, 1)
		_, group := w.theGang()
		for _, pod := range w.awaitActive(2) {
			assert.Equal(t, group.Name, groupOf(pod))
		}
	})
}

func TestPodWhoseAnswerWasLostIsNotMadeAgain(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		w := newWorld(t)
		pods := newLag("pods")
		config := pods.config(w.config)
		lost := false
		config.Wrap(func(next http.RoundTripper) http.RoundTripper {
			return roundTripper(func(request *http.Request) (*http.Response, error) {
				response, err := next.RoundTrip(request)
				if err == nil && !lost && request.Method == http.MethodPost && strings.HasSuffix(request.URL.Path, "/pods") {
					lost = true
					_ = response.Body.Close()
					return nil, errCrashed
				}
				return response, err
			})
		})
		w.runWith(config, quick())
		synctest.Wait()
		release := pods.hold()
		w.create(newJob("j", nil))
		pass(time.Hour)
		assert.Len(t, w.allPods(), 1, "the pod is there, though neither the answer nor the cache say so")
		release()
		w.succeed(w.awaitActive(1)...)
		w.awaitCondition("j", batchv1.JobComplete)
		w.awaitReleased()
		assert.Len(t, w.allPods(), 1)
	})
}

func TestControllerOutlivesAnAPIServerThatIsAway(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		w := newWorld(t)
		var mu sync.Mutex
		away := true
		config := rest.CopyConfig(w.config)
		config.Wrap(func(next http.RoundTripper) http.RoundTripper {
			return roundTripper(func(request *http.Request) (*http.Response, error) {
				mu.Lock()
				defer mu.Unlock()
				if away {
					return nil, errCrashed
				}
				return next.RoundTrip(request)
			})
		})
		w.runWith(config, job.Options{})
		w.create(newJob("j", nil))
		pass(10 * time.Minute)
		require.Empty(t, w.allPods())
		mu.Lock()
		away = false
		mu.Unlock()
		pass(5 * time.Minute)
		assert.Len(t, w.active(), 1)
	})
}
