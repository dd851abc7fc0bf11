package kubelet

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// sources are what an environment is made from.
type sources struct {
	pod *corev1.Pod
	// podIP and hostIP are the addresses that the pod has, which its status may not have yet.
	podIP, hostIP string
	// allocatable is what the node has to give: the limit of containers that have none.
	allocatable corev1.ResourceList
	configMap   func(name string) (map[string]string, error)
	secret      func(name string) (map[string][]byte, error)
}

// environment returns the variables that a container is started with, as spec.containers[].envFrom and env have them.
// What is later in the lists wins.
func (s sources) environment(spec *corev1.Container) (map[string]string, error) {
	variables := map[string]string{}
	for i := range spec.EnvFrom {
		from, err := s.all(&spec.EnvFrom[i])
		if err != nil {
			return nil, err
		}
		maps.Copy(variables, from)
	}
	for i := range spec.Env {
		entry := &spec.Env[i]
		if entry.ValueFrom == nil || entry.Value != "" {
			variables[entry.Name] = expand(entry.Value, variables)
			continue
		}
		value, found, err := s.one(entry.ValueFrom, spec)
		if err != nil {
			return nil, err
		}
		if found {
			variables[entry.Name] = value
		}
	}
	return variables, nil
}

// all returns the variables that a whole ConfigMap or Secret stands for. One that is optional may be absent.
func (s sources) all(from *corev1.EnvFromSource) (map[string]string, error) {
	found := map[string]string{}
	switch {
	case from.ConfigMapRef != nil:
		data, err := s.configMap(from.ConfigMapRef.Name)
		if err != nil {
			return nil, unless(from.ConfigMapRef.Optional, err)
		}
		for key, value := range data {
			found[from.Prefix+key] = value
		}
	case from.SecretRef != nil:
		data, err := s.secret(from.SecretRef.Name)
		if err != nil {
			return nil, unless(from.SecretRef.Optional, err)
		}
		for key, value := range data {
			found[from.Prefix+key] = string(value)
		}
	}
	return found, nil
}

// one returns the value that a source stands for; found is false if it is absent and may be.
func (s sources) one(from *corev1.EnvVarSource, spec *corev1.Container) (value string, found bool, err error) {
	switch {
	case from.FieldRef != nil:
		value, err = s.field(from.FieldRef.FieldPath)
		return value, err == nil, err
	case from.ResourceFieldRef != nil:
		value, err = s.resource(from.ResourceFieldRef, spec)
		return value, err == nil, err
	case from.ConfigMapKeyRef != nil:
		ref := from.ConfigMapKeyRef
		data, err := s.configMap(ref.Name)
		if err != nil {
			return "", false, unless(ref.Optional, err)
		}
		value, found := data[ref.Key]
		return value, found, absent(found, ref.Optional, ref.Key, "ConfigMap", s.pod.Namespace, ref.Name)
	case from.SecretKeyRef != nil:
		ref := from.SecretKeyRef
		data, err := s.secret(ref.Name)
		if err != nil {
			return "", false, unless(ref.Optional, err)
		}
		value, found := data[ref.Key]
		return string(value), found, absent(found, ref.Optional, ref.Key, "Secret", s.pod.Namespace, ref.Name)
	}
	return "", false, errors.New("environment variables from files are not supported by this kubelet")
}

// unless drops the error that something optional is not there.
func unless(optional *bool, err error) error {
	if optional != nil && *optional && apierrors.IsNotFound(err) {
		return nil
	}
	return err
}

func absent(found bool, optional *bool, key, kind, namespace, name string) error {
	if found || optional != nil && *optional {
		return nil
	}
	return fmt.Errorf("couldn't find key %s in %s %s/%s", key, kind, namespace, name)
}

// list returns variables in the form that processes take, in the order of their names.
func list(variables map[string]string) []string {
	var all []string
	for _, name := range slices.Sorted(maps.Keys(variables)) {
		all = append(all, name+"="+variables[name])
	}
	return all
}

// sourcesOf returns the sources of a run's environments. It reads from the API server when it is asked to.
func (k *Kubelet) sourcesOf(ctx context.Context, r *run) sources {
	s := sources{
		pod: r.pod, podIP: r.podIP, hostIP: r.hostIP,
		configMap: func(name string) (map[string]string, error) {
			found, err := k.kube.CoreV1().ConfigMaps(r.pod.Namespace).Get(ctx, name, metav1.GetOptions{})
			if err != nil {
				return nil, missing(err, "configmap", name)
			}
			return found.Data, nil
		},
		secret: func(name string) (map[string][]byte, error) {
			found, err := k.kube.CoreV1().Secrets(r.pod.Namespace).Get(ctx, name, metav1.GetOptions{})
			if err != nil {
				return nil, missing(err, "secret", name)
			}
			return found.Data, nil
		},
	}
	if r.pod.Spec.HostNetwork {
		s.podIP = r.hostIP
	}
	if node, err := k.nodes.Get(r.pod.Spec.NodeName); err == nil {
		s.allocatable = node.Status.Allocatable
	}
	return s
}

// missing words the error that an object is not there as a kubelet does.
func missing(err error, kind, name string) error {
	if apierrors.IsNotFound(err) {
		return apierrors.NewNotFound(corev1.Resource(kind), name)
	}
	return err
}
