package satoken_test

import (
	"context"
	"encoding/base64"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	testingclock "k8s.io/utils/clock/testing"

	"github.com/musterkube/muster/pkg/emulator/internal/satoken"
)

var here = []string{satoken.Name}

func claims() satoken.Claims {
	return satoken.Claims{Audiences: here, Namespace: "ns", ServiceAccount: satoken.Reference{Name: "sa", UID: "1"}}
}

func newIssuer() (*satoken.Issuer, *testingclock.FakePassiveClock) {
	clock := testingclock.NewFakePassiveClock(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC))
	return satoken.New(clock), clock
}

func TestATokenSaysWhatItWasMadeWith(t *testing.T) {
	issuer, _ := newIssuer()
	want := claims()
	want.Pod, want.Node = &satoken.Reference{Name: "p", UID: "2"}, &satoken.Reference{Name: "n", UID: "3"}
	token, err := issuer.Issue(want, time.Hour)
	require.NoError(t, err)
	for range 2 { // the second time it is known already
		got, err := issuer.Read(token, []string{"x", satoken.Name})
		require.NoError(t, err)
		assert.NotEmpty(t, got.ID)
		got.ID = ""
		assert.Equal(t, want, got)
	}
	payload, err := base64.RawURLEncoding.DecodeString(strings.Split(token, ".")[1])
	require.NoError(t, err)
	for _, part := range []string{
		`"sub":"system:serviceaccount:ns:sa"`, `"iss":"` + satoken.Name + `"`, `"exp":1767229200`, `"nbf":1767225600`,
		`"kubernetes.io":{"namespace":"ns","node":{"name":"n","uid":"3"},"pod":{"name":"p","uid":"2"},"serviceaccount":{"name":"sa","uid":"1"}}`,
	} {
		assert.Contains(t, string(payload), part)
	}
}

func TestTokensThatAreNotOurs(t *testing.T) {
	issuer, _ := newIssuer()
	token, err := issuer.Issue(claims(), time.Hour)
	require.NoError(t, err)
	other, _ := newIssuer()
	foreign, err := other.Issue(claims(), time.Hour)
	require.NoError(t, err)
	parts := strings.Split(token, ".")
	unsigned := base64.RawURLEncoding.EncodeToString([]byte(`{"alg":"none"}`)) + "." + parts[1] + "."
	for name, token := range map[string]string{
		"nothing": "", "a word": "secret", "dots": "..", "words with dots": "a.b.c", "of another issuer": foreign, "cut off": token[:len(token)-2],
		"another payload": parts[0] + "." + strings.Split(foreign, ".")[1] + "." + parts[2], "without a signature": unsigned, "twice": token + token,
	} {
		t.Run(name, func(t *testing.T) {
			_, err := issuer.Read(token, here)
			assert.ErrorIs(t, err, satoken.ErrNotOurs)
		})
	}
}

func TestTimesOfATokenWithAMinuteToSpare(t *testing.T) {
	issuer, clock := newIssuer()
	token, err := issuer.Issue(claims(), time.Hour)
	require.NoError(t, err)
	issued := clock.Now()
	for after, want := range map[time.Duration]error{
		0: nil, -59 * time.Second: nil, -61 * time.Second: satoken.ErrNotYet,
		time.Hour + 59*time.Second: nil, time.Hour + 61*time.Second: satoken.ErrExpired,
	} {
		clock.SetTime(issued.Add(after))
		_, err := issuer.Read(token, here)
		assert.ErrorIs(t, err, want, "after %s", after)
	}
}

func TestAudiences(t *testing.T) {
	issuer, _ := newIssuer()
	made := claims()
	made.Audiences = []string{"a", "b"}
	token, err := issuer.Issue(made, time.Hour)
	require.NoError(t, err)
	_, err = issuer.Read(token, here)
	require.EqualError(t, err, `token audiences ["a" "b"] is invalid for the target audiences ["`+satoken.Name+`"]`)
	got, err := issuer.Read(token, []string{"c", "b"})
	require.NoError(t, err)
	assert.Equal(t, []string{"b"}, got.Audiences)
}

func TestAuthenticate(t *testing.T) {
	issuer, clock := newIssuer()
	object := func(uid string, deleted time.Duration) metav1.Object {
		meta := &metav1.ObjectMeta{UID: types.UID(uid)}
		if deleted > 0 {
			meta.DeletionTimestamp = new(metav1.NewTime(clock.Now().Add(-deleted)))
		}
		return meta
	}
	account := map[string]metav1.Object{"serviceaccounts ns/sa": object("1", 0)}
	and := func(key string, value metav1.Object) map[string]metav1.Object {
		return map[string]metav1.Object{"serviceaccounts ns/sa": object("1", 0), key: value}
	}
	reference := &satoken.Reference{Name: "x", UID: "2"}
	for name, tc := range map[string]struct {
		objects map[string]metav1.Object
		bind    func(*satoken.Claims)
		wantErr string
	}{
		"the account is there":        {objects: account},
		"it is not":                   {wantErr: "not found"},
		"it is another":               {objects: map[string]metav1.Object{"serviceaccounts ns/sa": object("9", 0)}, wantErr: "service account UID (9) does not match claim (1)"},
		"it is being deleted":         {objects: map[string]metav1.Object{"serviceaccounts ns/sa": object("1", 59*time.Second)}},
		"it was deleted":              {objects: map[string]metav1.Object{"serviceaccounts ns/sa": object("1", 61*time.Second)}, wantErr: "service account ns/sa has been deleted"},
		"the pod is there":            {objects: and("pods ns/x", object("2", 0)), bind: func(c *satoken.Claims) { c.Pod = reference }},
		"the pod is gone":             {objects: account, bind: func(c *satoken.Claims) { c.Pod = reference }, wantErr: "service account token has been invalidated"},
		"the pod is another":          {objects: and("pods ns/x", object("3", 0)), bind: func(c *satoken.Claims) { c.Pod = reference }, wantErr: "pod UID (3) does not match service account pod ref claim (2)"},
		"the pod's node is gone":      {objects: and("pods ns/x", object("2", 0)), bind: func(c *satoken.Claims) { c.Pod, c.Node = reference, reference }},
		"the node is gone":            {objects: account, bind: func(c *satoken.Claims) { c.Node = reference }, wantErr: "service account token has been invalidated"},
		"the node is there":           {objects: and("nodes /x", object("2", 0)), bind: func(c *satoken.Claims) { c.Node = reference }},
		"the secret is there":         {objects: and("secrets ns/x", object("2", 0)), bind: func(c *satoken.Claims) { c.Secret = reference }},
		"the secret is being deleted": {objects: and("secrets ns/x", object("2", time.Hour)), bind: func(c *satoken.Claims) { c.Secret = reference }, wantErr: "service account token has been invalidated"},
	} {
		t.Run(name, func(t *testing.T) {
			claims := claims()
			if tc.bind != nil {
				tc.bind(&claims)
			}
			who, err := issuer.Authenticate(t.Context(), claims, func(_ context.Context, resource, namespace, name string) (metav1.Object, error) {
				if object, ok := tc.objects[resource+" "+namespace+"/"+name]; ok {
					return object, nil
				}
				return nil, errors.New("not found")
			})
			if tc.wantErr != "" {
				require.EqualError(t, err, tc.wantErr)
				return
			}
			require.NoError(t, err)
			assert.Equal(t, "system:serviceaccount:ns:sa", who.GetName())
			assert.Equal(t, []string{"system:serviceaccounts", "system:serviceaccounts:ns"}, who.GetGroups())
		})
	}
}
