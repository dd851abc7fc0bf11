package cluster_test

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"

	"github.com/musterkube/muster/pkg/cluster"
)

const namespace = "recorded"

// object is one object of the API as the server wrote it.
type object = unstructured.Unstructured

// resources says where each kind is served.
var resources = map[string]string{
	"Job":      "/apis/batch/v1/namespaces/" + namespace + "/jobs",
	"Pod":      "/api/v1/namespaces/" + namespace + "/pods",
	"Event":    "/api/v1/namespaces/" + namespace + "/events",
	"Workload": "/apis/scheduling.k8s.io/v1alpha2/namespaces/" + namespace + "/workloads",
	"PodGroup": "/apis/scheduling.k8s.io/v1alpha2/namespaces/" + namespace + "/podgroups",
}

// watched are the kinds that must be still before what stands is compared.
var watched = []string{"Job", "Pod", "Workload", "PodGroup"}

// player takes the steps of a recording against a cluster, as whoever was recorded did: with plain requests, so that
// the codes of the answers can be compared as well. It lives in a bubble.
type player struct {
	testing.TB
	host   string
	client *http.Client
	codes  []int             // of the step that is being taken
	rackOf map[string]string // by node
	// changed has something in it after an object of the watched kinds has changed.
	changed chan struct{}
}

// newPlayer starts a cluster whose nodes and pods are left to the player.
func newPlayer(tb testing.TB, controllers []string) *player {
	tb.Helper()
	config := start(tb, cluster.Options{Parity: true, Controllers: controllers}).Config()
	client, err := rest.HTTPClientFor(config)
	require.NoError(tb, err)
	p := &player{TB: tb, host: config.Host, client: client, rackOf: map[string]string{}, changed: make(chan struct{}, 1)}
	p.create("/api/v1/namespaces", map[string]any{"metadata": map[string]any{"name": namespace}})
	for _, kind := range watched {
		p.watch(kind)
	}
	return p
}

// do sends a request that belongs to a step: the code of its answer is kept.
func (p *player) do(method, path, contentType string, body any) {
	p.Helper()
	var answer map[string]any
	p.codes = append(p.codes, p.request(method, path, contentType, body, &answer))
}

// request sends a request, decodes the answer and returns its code.
func (p *player) request(method, path, contentType string, body, answer any) int {
	p.Helper()
	response := p.send(method, path, contentType, body)
	defer func() { require.NoError(p, response.Body.Close()) }()
	require.NoError(p, json.NewDecoder(response.Body).Decode(answer))
	return response.StatusCode
}

func (p *player) send(method, path, contentType string, body any) *http.Response {
	p.Helper()
	var reader io.Reader
	if body != nil {
		data, err := json.Marshal(body)
		require.NoError(p, err)
		reader = bytes.NewReader(data)
	}
	request, err := http.NewRequestWithContext(p.Context(), method, p.host+path, reader)
	require.NoError(p, err)
	if contentType != "" {
		request.Header.Set("Content-Type", contentType)
	}
	request.Header.Set("Accept", "application/json")
	response, err := p.client.Do(request)
	require.NoError(p, err)
	return response
}

func (p *player) create(path string, body any) {
	p.Helper()
	p.do(http.MethodPost, path, "application/json", body)
}

func (p *player) patch(path string, body any) {
	p.Helper()
	p.do(http.MethodPatch, path, string(types.MergePatchType), body)
}

// remove deletes an object; query, unless it is empty, is a parameter of the request.
func (p *player) remove(path, query string) {
	p.Helper()
	if query != "" {
		path += "?" + query
	}
	p.do(http.MethodDelete, path, "", nil)
}

// get and list look around, which is no part of a step.
func (p *player) get(path string) object {
	p.Helper()
	var found object
	p.request(http.MethodGet, path, "", nil, &found.Object)
	return found
}

func (p *player) list(kind string) []object {
	p.Helper()
	var list struct {
		Items []map[string]any `json:"items"`
	}
	p.request(http.MethodGet, resources[kind], "", nil, &list)
	objects := make([]object, len(list.Items))
	for i, item := range list.Items {
		objects[i].Object = item
	}
	return objects
}

// path returns the path of an object of the player's namespace.
func path(kind, name string) string { return resources[kind] + "/" + name }

// watch tells of each change of an object of a kind, until the test ends.
func (p *player) watch(kind string) {
	p.Helper()
	response := p.send(http.MethodGet, resources[kind]+"?watch=1", "", nil)
	require.Equal(p, http.StatusOK, response.StatusCode)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = p.tell(json.NewDecoder(response.Body)) // it ends with the watch
	}()
	p.Cleanup(func() {
		<-ended                   // the context of the test has ended, and with it the watch
		_ = response.Body.Close() // the watch is over in any case
	})
}

// tell notes that there was a change for each event that arrives.
func (p *player) tell(events *json.Decoder) error {
	for {
		var event metav1.WatchEvent
		if err := events.Decode(&event); err != nil {
			return err
		}
		select {
		case p.changed <- struct{}{}:
		default:
		}
	}
}

// unrest is how long a step may keep a cluster busy beyond the time for which it has to be still.
const unrest = 30 * time.Second

// settle lets time pass until nothing has changed for so long.
func (p *player) settle(still time.Duration) {
	p.Helper()
	quiet, deadline := clock.RealClock{}.NewTimer(still), clock.RealClock{}.NewTimer(still+unrest)
	defer quiet.Stop()
	defer deadline.Stop()
	for {
		select {
		case <-p.changed:
			quiet.Reset(still)
			continue
		case <-deadline.C():
			return
		case <-quiet.C():
		}
		// What else happens in this same instant belongs to it.
		synctest.Wait()
		select {
		case <-p.changed:
			quiet.Reset(still)
		default:
			return
		}
	}
}

// takeCodes returns the codes of the requests since the last call, each once, sorted.
func (p *player) takeCodes() []int {
	codes := slices.Compact(slices.Sorted(slices.Values(p.codes)))
	p.codes = nil
	return codes
}
