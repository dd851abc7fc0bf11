package kubelet

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
)

func literal(name, value string) corev1.EnvVar { return corev1.EnvVar{Name: name, Value: value} }

func fieldOf(name, path string) corev1.EnvVar {
	return corev1.EnvVar{Name: name, ValueFrom: &corev1.EnvVarSource{FieldRef: &corev1.ObjectFieldSelector{FieldPath: path}}}
}

func amount(name, container, what, divisor string) corev1.EnvVar {
	ref := &corev1.ResourceFieldSelector{ContainerName: container, Resource: what}
	if divisor != "" {
		ref.Divisor = resource.MustParse(divisor)
	}
	return corev1.EnvVar{Name: name, ValueFrom: &corev1.EnvVarSource{ResourceFieldRef: ref}}
}

func configKey(name, from, key string, optional bool) corev1.EnvVar {
	return corev1.EnvVar{Name: name, ValueFrom: &corev1.EnvVarSource{ConfigMapKeyRef: &corev1.ConfigMapKeySelector{
		LocalObjectReference: corev1.LocalObjectReference{Name: from}, Key: key, Optional: &optional,
	}}}
}

func secretKey(name, from, key string, optional bool) corev1.EnvVar {
	return corev1.EnvVar{Name: name, ValueFrom: &corev1.EnvVarSource{SecretKeyRef: &corev1.SecretKeySelector{
		LocalObjectReference: corev1.LocalObjectReference{Name: from}, Key: key, Optional: &optional,
	}}}
}

func wholeConfig(from string, optional bool) corev1.EnvFromSource {
	return corev1.EnvFromSource{ConfigMapRef: &corev1.ConfigMapEnvSource{
		LocalObjectReference: corev1.LocalObjectReference{Name: from}, Optional: &optional,
	}}
}

func wholeSecret(prefix, from string, optional bool) corev1.EnvFromSource {
	return corev1.EnvFromSource{Prefix: prefix, SecretRef: &corev1.SecretEnvSource{
		LocalObjectReference: corev1.LocalObjectReference{Name: from}, Optional: &optional,
	}}
}

func environmentSources() sources {
	pod := makePod("p").Annotate("example.com/a", "an").Obj()
	pod.Labels = map[string]string{"app": "x"}
	pod.Spec.ServiceAccountName = "robot"
	pod.Spec.Containers[0].Resources = corev1.ResourceRequirements{
		Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("100m"), corev1.ResourceMemory: resource.MustParse("1500Mi")},
		Limits:   corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("1500m")},
	}
	return sources{
		pod: pod, podIP: "10.0.0.1", hostIP: "10.128.0.1",
		allocatable: corev1.ResourceList{corev1.ResourceMemory: resource.MustParse("16Gi")},
		configMap: func(name string) (map[string]string, error) {
			switch name {
			case "c":
				return map[string]string{"k": "config", "l": "other"}, nil
			case "broken":
				return nil, errors.New("server is away")
			}
			return nil, apierrors.NewNotFound(corev1.Resource("configmap"), name)
		},
		secret: func(name string) (map[string][]byte, error) {
			if name == "s" {
				return map[string][]byte{"k": []byte("secret")}, nil
			}
			return nil, apierrors.NewNotFound(corev1.Resource("secret"), name)
		},
	}
}

func TestEnvironment(t *testing.T) {
	for name, tc := range map[string]struct {
		from []corev1.EnvFromSource
		env  []corev1.EnvVar
		want map[string]string
	}{
		"none":   {want: map[string]string{}},
		"values": {env: []corev1.EnvVar{literal("A", "1"), literal("B", "")}, want: map[string]string{"A": "1", "B": ""}},
		"a reference to what comes before, not after": {
			env:  []corev1.EnvVar{literal("A", "1$(B)"), literal("B", "2$(A)")},
			want: map[string]string{"A": "1$(B)", "B": "21$(B)"},
		},
		"the last of two wins": {env: []corev1.EnvVar{literal("A", "1"), literal("A", "$(A)2")}, want: map[string]string{"A": "12"}},
		"fields": {
			env: []corev1.EnvVar{
				fieldOf("NAME", "metadata.name"), fieldOf("NS", "metadata.namespace"), fieldOf("UID", "metadata.uid"), fieldOf("NODE", "spec.nodeName"),
				fieldOf("IP", "status.podIP"), fieldOf("IPS", "status.podIPs"), fieldOf("HOST", "status.hostIP"), fieldOf("ROBOT", "spec.serviceAccountName"),
				fieldOf("LABEL", "metadata.labels['app']"), fieldOf("NOTE", "metadata.annotations['example.com/a']"), fieldOf("NONE", "metadata.labels['b']"),
			},
			want: map[string]string{
				"NAME": "p", "NS": "ns", "UID": "uid-p", "NODE": "n1", "IP": "10.0.0.1", "IPS": "10.0.0.1", "HOST": "10.128.0.1",
				"ROBOT": "robot", "LABEL": "x", "NOTE": "an", "NONE": "",
			},
		},
		"resources are rounded up": {
			env: []corev1.EnvVar{
				amount("CPU", "", "limits.cpu", ""), amount("MILLI", "", "requests.cpu", "1m"), amount("GI", "main", "requests.memory", "1Gi"),
				amount("NODE", "", "limits.memory", "1Gi"), amount("NONE", "", "requests.ephemeral-storage", ""),
			},
			want: map[string]string{"CPU": "2", "MILLI": "100", "GI": "2", "NODE": "16", "NONE": "0"},
		},
		"keys of a ConfigMap and of a Secret": {
			env:  []corev1.EnvVar{configKey("C", "c", "k", false), secretKey("S", "s", "k", false)},
			want: map[string]string{"C": "config", "S": "secret"},
		},
		"optional keys": {
			env: []corev1.EnvVar{
				configKey("A", "c", "no", true), configKey("B", "no", "k", true), secretKey("C", "s", "no", true), secretKey("D", "no", "k", true),
			},
			want: map[string]string{},
		},
		"all keys, which single ones override": {
			from: []corev1.EnvFromSource{wholeConfig("c", false), wholeSecret("S_", "s", false), wholeConfig("no", true), wholeSecret("", "no", true)},
			env:  []corev1.EnvVar{literal("l", "$(k) $(S_k)")},
			want: map[string]string{"k": "config", "l": "config secret", "S_k": "secret"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := environmentSources()
			spec := &s.pod.Spec.Containers[0]
			spec.EnvFrom, spec.Env = tc.from, tc.env
			got, err := s.environment(spec)
			require.NoError(t, err)
			assert.Empty(t, cmp.Diff(tc.want, got), "(-want +got)")
		})
	}
}

func TestEnvironmentThatCannotBeMade(t *testing.T) {
	for name, tc := range map[string]struct {
		from []corev1.EnvFromSource
		env  []corev1.EnvVar
		want string
	}{
		"no such ConfigMap":      {env: []corev1.EnvVar{configKey("A", "no", "k", false)}, want: `configmap "no" not found`},
		"no such key":            {env: []corev1.EnvVar{configKey("A", "c", "no", false)}, want: "couldn't find key no in ConfigMap ns/c"},
		"no such Secret":         {env: []corev1.EnvVar{secretKey("A", "no", "k", false)}, want: `secret "no" not found`},
		"no such key of it":      {env: []corev1.EnvVar{secretKey("A", "s", "no", false)}, want: "couldn't find key no in Secret ns/s"},
		"no ConfigMap as whole":  {from: []corev1.EnvFromSource{wholeConfig("no", false)}, want: `configmap "no" not found`},
		"no Secret as whole":     {from: []corev1.EnvFromSource{wholeSecret("", "no", false)}, want: `secret "no" not found`},
		"optional is not broken": {from: []corev1.EnvFromSource{wholeConfig("broken", true)}, want: "server is away"},
		"no such field":          {env: []corev1.EnvVar{fieldOf("A", "spec.hostname")}, want: "unsupported fieldPath: spec.hostname"},
		"no such resource":       {env: []corev1.EnvVar{amount("A", "", "cpu", "")}, want: "unsupported container resource : cpu"},
		"no such container":      {env: []corev1.EnvVar{amount("A", "x", "limits.cpu", "")}, want: "container x not found"},
		"a file":                 {env: []corev1.EnvVar{{Name: "A", ValueFrom: &corev1.EnvVarSource{FileKeyRef: &corev1.FileKeySelector{}}}}, want: "environment variables from files are not supported by this kubelet"},
	} {
		t.Run(name, func(t *testing.T) {
			s := environmentSources()
			spec := &s.pod.Spec.Containers[0]
			spec.EnvFrom, spec.Env = tc.from, tc.env
			_, err := s.environment(spec)
			require.EqualError(t, err, tc.want)
		})
	}
}
