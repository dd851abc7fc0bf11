package main

import (
	"io"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/musterkube/muster/pkg/emulator"
)

func TestUsersOfFlags(t *testing.T) {
	opts, err := parseFlags([]string{"--user-token", "ann,dev,ops=a=b", "--user-token", "bob=c", "--authorization-mode", "RBAC"}, io.Discard)
	require.NoError(t, err)
	assert.Equal(t, map[string]emulator.User{"a=b": {Name: "ann", Groups: []string{"dev", "ops"}}, "c": {Name: "bob", Groups: []string{}}}, opts.cluster().Tokens)
	assert.True(t, opts.cluster().RBAC)
	for name, tc := range map[string]struct {
		args []string
		want string
	}{
		"a user without a token":    {[]string{"--user-token", "ann"}, "--user-token, number 1: want NAME[,GROUP…]=TOKEN"},
		"two users with one":        {[]string{"--user-token", "ann=t", "--user-token", "bob=t"}, `--user-token "bob=…": ann has the same token: want another`},
		"a user with two":           {[]string{"--user-token", "ann=t", "--user-token", "ann=u"}, `--user-token "ann=…": the name has another token already: want one flag for each name`},
		"a user with an empty one":  {[]string{"--user-token", "foo="}, `--user-token "foo=…": there is no token behind the =: want NAME[,GROUP…]=TOKEN`},
		"a user without a name":     {[]string{"--user-token", "=foo"}, `--user-token "=…": there is no name: want NAME[,GROUP…]=TOKEN`},
		"a name with a space":       {[]string{"--user-token", "a b=t"}, `--user-token "a b=…": the name has white space in it`},
		"a group without a name":    {[]string{"--user-token", "ann,=t"}, `--user-token "ann,=…": a group has no name: want NAME[,GROUP…]=TOKEN`},
		"the token of another flag": {[]string{"--token", "t", "--user-token", "ann=t"}, `--user-token "ann=…": the token is that of --token, the administrator's: want another`},
		"a token with a space":      {[]string{"--user-token", "ann=t t"}, `--user-token "ann=…": the token has white space in it`},
		"the administrator":         {[]string{"--user-token", "kubernetes-admin=t"}, `--user-token "kubernetes-admin=…": that is the administrator, whose token --token sets: want another name`},
		"nobody":                    {[]string{"--user-token", "system:anonymous=t"}, `--user-token "system:anonymous=…": that is the name of those who have no token: want another`},
		"a group of nobody":         {[]string{"--user-token", "ann,system:unauthenticated=t"}, `--user-token "ann,system:unauthenticated=…": the group system:unauthenticated is of those who have no token`},
		"a mode that there is none": {[]string{"--authorization-mode", "ABAC"}, `--authorization-mode "ABAC": want AlwaysAllow or RBAC`},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := parseFlags(tc.args, io.Discard)
			assert.EqualError(t, err, tc.want)
		})
	}
}

func TestRBACDecidesForUsers(t *testing.T) {
	kubeconfig := filepath.Join(t.TempDir(), "kubeconfig")
	startProgram(t, "--kubeconfig", kubeconfig, "--nodes", "0", "--user-token", "bob=bobs-token", "--authorization-mode", "RBAC")
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	require.NoError(t, err)
	config.BearerToken = "bobs-token"
	client, err := kubernetes.NewForConfig(config)
	require.NoError(t, err)
	_, err = client.CoreV1().Pods("default").List(t.Context(), metav1.ListOptions{})
	require.True(t, apierrors.IsForbidden(err), "%v", err)
	_, err = client.Discovery().ServerGroups()
	require.NoError(t, err)
}
