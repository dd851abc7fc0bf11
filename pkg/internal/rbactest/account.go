package rbactest

import (
	"maps"
	"net/http"
	"path"
	"slices"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/util/sets"
	apirequest "k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/client-go/rest"

	"github.com/musterkube/muster/pkg/emulator"
)

// Account is a ServiceAccount whose requests are looked at.
type Account struct {
	// Config is for clients that act as the ServiceAccount.
	Config *rest.Config
	// Refused gets what they are refused for want of rights: the method and the end of the path, such as PATCH status.
	Refused <-chan string

	mu   sync.Mutex
	used map[string]bool
}

// As returns the ServiceAccount of a name.
func As(t *testing.T, server *emulator.Server, name string) *Account {
	t.Helper()
	config, err := server.ServiceAccountConfig(t.Context(), Namespace, name)
	require.NoError(t, err)
	refused := make(chan string, 1000)
	account := &Account{Config: config, Refused: refused, used: map[string]bool{}}
	config.Wrap(func(next http.RoundTripper) http.RoundTripper {
		return tripper(func(r *http.Request) (*http.Response, error) {
			account.note(r)
			response, err := next.RoundTrip(r)
			if err == nil && response.StatusCode == http.StatusForbidden {
				select {
				case refused <- r.Method + " " + path.Base(r.URL.Path):
				default: // of one that goes on trying
				}
			}
			return response, err
		})
	})
	return account
}

func (a *Account) note(r *http.Request) {
	parser := apirequest.RequestInfoFactory{APIPrefixes: sets.NewString("api", "apis"), GrouplessAPIPrefixes: sets.NewString("api")}
	info, err := parser.NewRequestInfo(r)
	if err != nil || !info.IsResourceRequest {
		return
	}
	resource := info.Resource
	if info.Subresource != "" {
		resource += "/" + info.Subresource
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.used[info.Verb+" "+resource] = true
	if r.URL.Query().Get("sendInitialEvents") == "true" {
		a.used["list "+resource] = true // which it is on servers that do not send lists as watches (KEP-3157)
	}
}

// Used returns the rights that requests have made use of, as [Rights] does.
func (a *Account) Used() []string {
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.Sorted(maps.Keys(a.used))
}

type tripper func(*http.Request) (*http.Response, error)

func (t tripper) RoundTrip(r *http.Request) (*http.Response, error) { return t(r) }
