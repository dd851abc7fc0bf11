package access_test

import (
	"context"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.etcd.io/etcd/client/v3/kubernetes"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/authorization/authorizer"

	"github.com/musterkube/muster/pkg/emulator/internal/access"
	"github.com/musterkube/muster/pkg/emulator/internal/etcdmem"
	"github.com/musterkube/muster/pkg/emulator/internal/mvcc"
	"github.com/musterkube/muster/pkg/emulator/internal/scheme"
)

// store writes objects past everything but the store, as another server would.
type store struct {
	testing.TB
	client *kubernetes.Client
	codec  runtime.Codec
}

func newStore(tb testing.TB) store {
	tb.Helper()
	db, err := mvcc.New(mvcc.Options{})
	require.NoError(tb, err)
	tb.Cleanup(db.Close)
	client := etcdmem.Client(tb.Context(), db)
	tb.Cleanup(func() { _ = client.Close() })
	return store{tb, client, scheme.New().StorageCodec(rbacv1.SchemeGroupVersion)}
}

func (s store) put(key string, obj runtime.Object) {
	s.Helper()
	value, err := runtime.Encode(s.codec, obj)
	require.NoError(s, err)
	s.putRaw(key, value)
}

func (s store) putRaw(key string, value []byte) {
	s.Helper()
	_, err := s.client.Put(s.Context(), key, string(value))
	require.NoError(s, err)
}

func (s store) remove(key string) {
	s.Helper()
	_, err := s.client.Delete(s.Context(), key)
	require.NoError(s, err)
}

func (s store) source() *access.Source { return access.NewSource(s.client, s.codec, "/registry") }

func makeRole(verb string) *rbacv1.ClusterRole {
	return &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: "r"}, Rules: []rbacv1.PolicyRule{
		{Verbs: []string{verb}, APIGroups: []string{""}, Resources: []string{"pods"}},
	}}
}

func makeBinding() *rbacv1.ClusterRoleBinding {
	return &rbacv1.ClusterRoleBinding{ObjectMeta: metav1.ObjectMeta{Name: "b"}, RoleRef: rbacv1.RoleRef{Kind: "ClusterRole", Name: "r"},
		Subjects: []rbacv1.Subject{{Kind: "User", Name: "u"}}}
}

// may returns a function that asks an authorizer whether u may do something with pods.
func may(t *testing.T, by access.Authorizer) func(verb string) bool {
	return func(verb string) bool {
		t.Helper()
		decision, _, err := by.Authorize(t.Context(), authorizer.AttributesRecord{
			User: &user.DefaultInfo{Name: "u"}, Verb: verb, Resource: "pods", Namespace: "n", ResourceRequest: true,
		})
		require.NoError(t, err)
		return decision == authorizer.DecisionAllow
	}
}

func TestEachRequestSeesWhatIsStored(t *testing.T) {
	s := newStore(t)
	allowed := may(t, access.NewRBAC(s.source()))
	assert.False(t, allowed("get"))
	s.put("/registry/clusterroles/r", makeRole("get"))
	s.put("/registry/clusterrolebindings/b", makeBinding())
	assert.True(t, allowed("get"))
	s.put("/registry/clusterroles/r", makeRole("list"))
	assert.False(t, allowed("get"))
	assert.True(t, allowed("list"))
	s.putRaw("/registry/pods/n/p", []byte("something else"))
	assert.True(t, allowed("list"))
	s.remove("/registry/clusterroles/r")
	assert.False(t, allowed("list"))
	s.put("/registry/clusterroles/r", makeRole("list"))
	assert.True(t, allowed("list"))
	s.remove("/registry/clusterrolebindings/b")
	assert.False(t, allowed("list"))
}

func TestWhatDidNotChangeStays(t *testing.T) {
	s := newStore(t)
	source := s.source()
	before, err := source.Policy(t.Context())
	require.NoError(t, err)
	s.putRaw("/registry/pods/n/p", []byte("something else"))
	after, err := source.Policy(t.Context())
	require.NoError(t, err)
	assert.Same(t, before, after)
	s.put("/registry/clusterroles/r", makeRole("get"))
	after, err = source.Policy(t.Context())
	require.NoError(t, err)
	assert.NotSame(t, before, after)
}

func TestWhatCannotBeReadIsAnError(t *testing.T) {
	s := newStore(t)
	s.putRaw("/registry/clusterroles/r", []byte("nonsense"))
	by := access.NewRBAC(s.source())
	decision, _, err := by.Authorize(t.Context(), authorizer.AttributesRecord{User: &user.DefaultInfo{Name: "u"}})
	require.ErrorContains(t, err, "reading clusterroles: decoding what is stored as /registry/clusterroles/r: ")
	assert.Equal(t, authorizer.DecisionNoOpinion, decision)
	decision, _, err = by.Authorize(t.Context(), authorizer.AttributesRecord{User: &user.DefaultInfo{Name: "u", Groups: []string{"system:masters"}}})
	require.NoError(t, err, "an administrator can put it right")
	assert.Equal(t, authorizer.DecisionAllow, decision)

	ended, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = s.source().Policy(ended)
	require.ErrorIs(t, err, context.Canceled)
}

func TestManyAskAtOnce(t *testing.T) {
	s := newStore(t)
	s.put("/registry/clusterrolebindings/b", makeBinding())
	allowed := may(t, access.NewRBAC(s.source()))
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			for range 50 {
				if i == 0 {
					s.put("/registry/clusterroles/r", makeRole("get"))
					assert.True(t, allowed("get"))
					continue
				}
				allowed("get")
			}
		})
	}
	all.Wait()
}

func TestOpen(t *testing.T) {
	by := access.NewOpen(func(who user.Info) bool { return who.GetName() == "known" })
	authenticated := []string{user.AllAuthenticated}
	for name, tc := range map[string]struct {
		who  *user.DefaultInfo
		verb string
		path string
		want bool
	}{
		"who is known may do everything": {&user.DefaultInfo{Name: "known"}, "post", "/x", true},
		"so may masters":                 {&user.DefaultInfo{Name: "x", Groups: []string{"system:masters"}}, "post", "/x", true},
		"a stranger reads discovery":     {&user.DefaultInfo{Name: "x", Groups: authenticated}, "get", "/apis/batch/v1", true},
		"and the version":                {&user.DefaultInfo{Name: "x", Groups: authenticated}, "get", "/version", true},
		"but nothing else":               {&user.DefaultInfo{Name: "x", Groups: authenticated}, "get", "/metrics", false},
		"nobody asks for health":         {&user.DefaultInfo{Name: user.Anonymous}, "get", "/healthz", true},
		"nobody has no discovery":        {&user.DefaultInfo{Name: user.Anonymous}, "get", "/apis", false},
	} {
		t.Run(name, func(t *testing.T) {
			decision, _, err := by.Authorize(t.Context(), authorizer.AttributesRecord{User: tc.who, Verb: tc.verb, Path: tc.path})
			require.NoError(t, err)
			assert.Equal(t, tc.want, decision == authorizer.DecisionAllow)
		})
	}
}

func TestOpenToQuestionsAboutOneself(t *testing.T) {
	by := access.NewOpen(func(user.Info) bool { return false })
	stranger := &user.DefaultInfo{Name: "x", Groups: []string{user.AllAuthenticated}}
	for resource, tc := range map[string]struct {
		group string
		who   user.Info
		want  bool
	}{
		"selfsubjectaccessreviews":  {"authorization.k8s.io", stranger, true},
		"selfsubjectrulesreviews":   {"authorization.k8s.io", stranger, true},
		"selfsubjectreviews":        {"authentication.k8s.io", stranger, true},
		"subjectaccessreviews":      {"authorization.k8s.io", stranger, false},
		"localsubjectaccessreviews": {"authorization.k8s.io", &user.DefaultInfo{Name: user.Anonymous}, false},
	} {
		t.Run(resource, func(t *testing.T) {
			decision, _, err := by.Authorize(t.Context(), authorizer.AttributesRecord{
				User: tc.who, Verb: "create", APIGroup: tc.group, APIVersion: "v1", Resource: resource, ResourceRequest: true,
			})
			require.NoError(t, err)
			assert.Equal(t, tc.want, decision == authorizer.DecisionAllow)
		})
	}
}
