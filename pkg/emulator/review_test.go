package emulator_test

import (
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/utils/clock"

	"github.com/musterkube/muster/pkg/emulator"
)

// issuer is who issues the tokens of ServiceAccounts, and whom they are for.
const issuer = "https://kubernetes.default.svc.cluster.local"

func review(t *testing.T, client kubernetes.Interface, token string, audiences ...string) authenticationv1.TokenReviewStatus {
	t.Helper()
	answer, err := client.AuthenticationV1().TokenReviews().Create(t.Context(), &authenticationv1.TokenReview{
		Spec: authenticationv1.TokenReviewSpec{Token: token, Audiences: audiences},
	}, metav1.CreateOptions{})
	require.NoError(t, err)
	return answer.Status
}

// issue returns a token of the ServiceAccount sa in the namespace default.
func issue(t *testing.T, client kubernetes.Interface, spec authenticationv1.TokenRequestSpec) *authenticationv1.TokenRequest {
	t.Helper()
	request, err := client.CoreV1().ServiceAccounts("default").CreateToken(t.Context(), "sa", &authenticationv1.TokenRequest{Spec: spec}, metav1.CreateOptions{})
	require.NoError(t, err)
	return request
}

func TestTokenReviews(t *testing.T) {
	server := start(t, emulator.Options{Tokens: people()})
	client := kube(t, server.Config())
	invalid := authenticationv1.TokenReviewStatus{Error: "invalid bearer token"}
	assert.Equal(t, authenticationv1.TokenReviewStatus{
		Authenticated: true, Audiences: []string{issuer}, User: authenticationv1.UserInfo{Username: "bob", Groups: []string{"system:authenticated"}},
	}, review(t, client, "bob-token"))
	assert.Equal(t, invalid, review(t, client, "nope"))
	assert.Equal(t, invalid, review(t, client, "bob-token", "elsewhere"))
	assert.True(t, review(t, client, "bob-token", "elsewhere", issuer).Authenticated)
	_, err := client.AuthenticationV1().TokenReviews().Create(t.Context(), &authenticationv1.TokenReview{}, metav1.CreateOptions{})
	require.EqualError(t, err, "token is required for TokenReview in authentication")

	createAccount(t, client, "sa")
	token := issue(t, client, authenticationv1.TokenRequestSpec{}).Status.Token
	status := review(t, client, token)
	assert.True(t, status.Authenticated, status.Error)
	assert.Equal(t, "system:serviceaccount:default:sa", status.User.Username)
	assert.Equal(t, `[invalid bearer token, token audiences ["`+issuer+`"] is invalid for the target audiences ["elsewhere"]]`,
		review(t, client, token, "elsewhere").Error)
	assert.Equal(t, invalid, review(t, client, token+"x"))
	another := kube(t, start(t, emulator.Options{}).Config())
	assert.Equal(t, invalid, review(t, another, token), "a token of another server")
	elsewhere := issue(t, client, authenticationv1.TokenRequestSpec{Audiences: []string{"elsewhere"}}).Status.Token
	assert.Equal(t, []string{"elsewhere"}, review(t, client, elsewhere, "elsewhere", "x").Audiences)
	config := server.Config()
	config.BearerToken = elsewhere
	_, err = kube(t, config).CoreV1().Pods("").List(t.Context(), metav1.ListOptions{})
	assert.True(t, apierrors.IsUnauthorized(err), "it is not for this server: %v", err)
}

func TestTokenRequestsAreValidated(t *testing.T) {
	server := start(t, emulator.Options{})
	client := kube(t, server.Config())
	account := createAccount(t, client, "sa")
	_, err := client.CoreV1().Pods("default").Create(t.Context(), makePod("p"), metav1.CreateOptions{})
	require.NoError(t, err)
	for name, tc := range map[string]struct{ account, body, want string }{
		"too short":              {"sa", `{"spec":{"expirationSeconds":5}}`, `TokenRequest.authentication.k8s.io "" is invalid: spec.expirationSeconds: Invalid value: 5: may not specify a duration less than 10 minutes`},
		"too long":               {"sa", `{"spec":{"expirationSeconds":4294967297}}`, `TokenRequest.authentication.k8s.io "" is invalid: spec.expirationSeconds: Invalid value: 4294967297: may not specify a duration larger than 2^32 seconds`},
		"no such account":        {"no", `{}`, `serviceaccounts "no" not found`},
		"another name":           {"sa", `{"metadata":{"name":"z"}}`, `TokenRequest.authentication.k8s.io "sa" is invalid: metadata.name: Invalid value: "z": must match the service account name if specified`},
		"another UID":            {"sa", `{"metadata":{"uid":"z"}}`, `Operation cannot be fulfilled on TokenRequest.authentication.k8s.io "sa": the UID in the token request (z) does not match the UID of the service account (` + string(account.UID) + `)`},
		"bound to the unknown":   {"sa", `{"spec":{"boundObjectRef":{"kind":"Foo","name":"x"}}}`, `cannot bind token to object of type /, Kind=Foo`},
		"bound to nothing":       {"sa", `{"spec":{"boundObjectRef":{"kind":"Pod","apiVersion":"v1","name":"x"}}}`, `pods "x" not found`},
		"bound to another's pod": {"sa", `{"spec":{"boundObjectRef":{"kind":"Pod","apiVersion":"v1","name":"p"}}}`, `cannot bind token for serviceaccount "sa" to pod running with different serviceaccount name.`},
	} {
		t.Run(name, func(t *testing.T) {
			assert.Equal(t, tc.want, send(t, server.Config(), http.MethodPost, "/api/v1/namespaces/default/serviceaccounts/"+tc.account+"/token", tc.body).Message)
		})
	}
}

func TestTokensEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		machine := clock.RealClock{} // that of the bubble
		server := start(t, emulator.Options{})
		client := kube(t, server.Config())
		createAccount(t, client, "sa")
		request := issue(t, client, authenticationv1.TokenRequestSpec{})
		assert.Equal(t, int64(3600), *request.Spec.ExpirationSeconds)
		assert.WithinDuration(t, machine.Now().Add(time.Hour), request.Status.ExpirationTimestamp.Time, time.Second)
		pod := makePod("p")
		pod.Spec.ServiceAccountName = "sa"
		_, err := client.CoreV1().Pods("default").Create(t.Context(), pod, metav1.CreateOptions{})
		require.NoError(t, err)
		long := issue(t, client, authenticationv1.TokenRequestSpec{
			ExpirationSeconds: new(int64(1 << 32)), BoundObjectRef: &authenticationv1.BoundObjectReference{Kind: "Pod", APIVersion: "v1", Name: "p"},
		})

		machine.Sleep(59 * time.Minute)
		assert.True(t, review(t, client, request.Status.Token).Authenticated)
		machine.Sleep(3 * time.Minute) // a minute is let pass for clocks that differ
		assert.Equal(t, "[invalid bearer token, service account token has expired]", review(t, client, request.Status.Token).Error)

		machine.Sleep(24 * time.Hour)
		status := review(t, client, long.Status.Token)
		require.True(t, status.Authenticated, status.Error)
		assert.Equal(t, authenticationv1.ExtraValue{"p"}, status.User.Extra["authentication.kubernetes.io/pod-name"])
		require.NoError(t, client.CoreV1().Pods("default").Delete(t.Context(), "p", metav1.DeleteOptions{GracePeriodSeconds: new(int64(0))}))
		assert.Equal(t, "[invalid bearer token, service account token has been invalidated]", review(t, client, long.Status.Token).Error)
	})
}

func TestAccessReviews(t *testing.T) {
	server := start(t, emulator.Options{RBAC: true, Tokens: people()})
	admin, bob := kube(t, server.Config()), as(t, server, "bob")
	grant(t, admin, "reads", "bob", rule("get", "", "pods"))
	pods := &authorizationv1.ResourceAttributes{Verb: "get", Resource: "pods", Namespace: "default"}
	allowed := authorizationv1.SubjectAccessReviewStatus{Allowed: true, Reason: `RBAC: allowed by RoleBinding "reads/default" of Role "reads" to User "bob"`}

	self, err := bob.AuthorizationV1().SelfSubjectAccessReviews().Create(t.Context(), &authorizationv1.SelfSubjectAccessReview{
		Spec: authorizationv1.SelfSubjectAccessReviewSpec{ResourceAttributes: pods},
	}, metav1.CreateOptions{})
	require.NoError(t, err)
	assert.Equal(t, allowed, self.Status)
	asked, err := admin.AuthorizationV1().SubjectAccessReviews().Create(t.Context(), &authorizationv1.SubjectAccessReview{
		Spec: authorizationv1.SubjectAccessReviewSpec{User: "bob", ResourceAttributes: pods},
	}, metav1.CreateOptions{})
	require.NoError(t, err)
	assert.Equal(t, allowed, asked.Status)
	local, err := admin.AuthorizationV1().LocalSubjectAccessReviews("default").Create(t.Context(), &authorizationv1.LocalSubjectAccessReview{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default"},
		Spec:       authorizationv1.SubjectAccessReviewSpec{User: "eve", Groups: []string{"x"}, ResourceAttributes: pods},
	}, metav1.CreateOptions{})
	require.NoError(t, err)
	assert.Equal(t, authorizationv1.SubjectAccessReviewStatus{}, local.Status)
	selected, err := admin.AuthorizationV1().SubjectAccessReviews().Create(t.Context(), &authorizationv1.SubjectAccessReview{
		Spec: authorizationv1.SubjectAccessReviewSpec{User: "eve", ResourceAttributes: &authorizationv1.ResourceAttributes{
			Verb: "get", Resource: "pods", LabelSelector: &authorizationv1.LabelSelectorAttributes{RawSelector: "&"},
		}},
	}, metav1.CreateOptions{})
	require.NoError(t, err)
	assert.Equal(t, "spec.resourceAttributes.labelSelector ignored due to parse error", selected.Status.EvaluationError)

	_, err = bob.AuthorizationV1().SubjectAccessReviews().Create(t.Context(), asked, metav1.CreateOptions{})
	assert.True(t, apierrors.IsForbidden(err), "of others one may not ask: %v", err)
}

func TestAccessReviewsAreValidated(t *testing.T) {
	config := start(t, emulator.Options{}).Config()
	for name, tc := range map[string]struct{ path, body, want string }{
		"nothing asked": {
			"subjectaccessreviews", `{"spec":{}}`,
			`.authorization.k8s.io "" is invalid: [spec.resourceAttributes: Invalid value: null: exactly one of nonResourceAttributes or resourceAttributes ` +
				`must be specified, spec.user: Invalid value: "": at least one of user or group must be specified]`,
		},
		"both asked": {
			"selfsubjectaccessreviews", `{"spec":{"resourceAttributes":{"verb":"get"},"nonResourceAttributes":{"path":"/x","verb":"get"}}}`,
			`.authorization.k8s.io "" is invalid: spec.nonResourceAttributes: Invalid value: {"Path":"/x","Verb":"get"}: cannot be specified in combination with resourceAttributes`,
		},
		"another namespace": {
			"namespaces/default/localsubjectaccessreviews", `{"spec":{"user":"x","resourceAttributes":{"verb":"get","resource":"pods"}}}`,
			`.authorization.k8s.io "" is invalid: spec.resourceAttributes.namespace: Invalid value: "": must match metadata.namespace`,
		},
		"no namespace": {"selfsubjectrulesreviews", `{"spec":{}}`, "no namespace on request"},
	} {
		t.Run(name, func(t *testing.T) {
			assert.Equal(t, tc.want, send(t, config, http.MethodPost, "/apis/authorization.k8s.io/v1/"+tc.path, tc.body).Message)
		})
	}
}

func TestRulesReviews(t *testing.T) {
	rules := func(client kubernetes.Interface) authorizationv1.SubjectRulesReviewStatus {
		answer, err := client.AuthorizationV1().SelfSubjectRulesReviews().Create(t.Context(), &authorizationv1.SelfSubjectRulesReview{
			Spec: authorizationv1.SelfSubjectRulesReviewSpec{Namespace: "default"},
		}, metav1.CreateOptions{})
		require.NoError(t, err)
		return answer.Status
	}
	server := start(t, emulator.Options{RBAC: true, Tokens: people()})
	grant(t, kube(t, server.Config()), "reads", "bob", rule("get", "", "pods"))
	got := rules(as(t, server, "bob"))
	assert.False(t, got.Incomplete)
	assert.Contains(t, got.ResourceRules, authorizationv1.ResourceRule{Verbs: []string{"get"}, APIGroups: []string{""}, Resources: []string{"pods"}})
	assert.Contains(t, got.ResourceRules, authorizationv1.ResourceRule{
		Verbs: []string{"create"}, APIGroups: []string{"authentication.k8s.io"}, Resources: []string{"selfsubjectreviews"},
	})
	assert.Len(t, got.NonResourceRules, 2)

	open := rules(as(t, start(t, emulator.Options{Tokens: people()}), "bob"))
	assert.Equal(t, []authorizationv1.ResourceRule{{Verbs: []string{"*"}, APIGroups: []string{"*"}, Resources: []string{"*"}}}, open.ResourceRules)
	assert.Equal(t, []authorizationv1.NonResourceRule{{Verbs: []string{"*"}, NonResourceURLs: []string{"*"}}}, open.NonResourceRules)
}

func TestTokensOfPodsNameTheirNode(t *testing.T) {
	server := start(t, emulator.Options{RBAC: true})
	client := kube(t, server.Config())
	createAccount(t, client, "sa")
	_, err := client.CoreV1().Nodes().Create(t.Context(), &corev1.Node{ObjectMeta: objectMeta("n")}, metav1.CreateOptions{})
	require.NoError(t, err)
	pod := makePod("p")
	pod.Spec.ServiceAccountName, pod.Spec.NodeName = "sa", "n"
	_, err = client.CoreV1().Pods("default").Create(t.Context(), pod, metav1.CreateOptions{})
	require.NoError(t, err)
	token := issue(t, client, authenticationv1.TokenRequestSpec{BoundObjectRef: &authenticationv1.BoundObjectReference{Kind: "Pod", APIVersion: "v1", Name: "p"}})
	extra := review(t, client, token.Status.Token).User.Extra
	assert.Equal(t, authenticationv1.ExtraValue{"n"}, extra["authentication.kubernetes.io/node-name"])
	assert.Contains(t, extra, "authentication.kubernetes.io/node-uid")
}
