package main

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/client-go/discovery"

	schedulingv1alpha2 "github.com/musterkube/muster/apis/scheduling/v1alpha2"
)

// notServedError says that a cluster has not got the API.
type notServedError struct {
	host, release string
	served        []string // versions of the group
}

func (e *notServedError) Error() string {
	served := "nothing"
	if len(e.served) > 0 {
		served = strings.Join(e.served, ", ")
	}
	return fmt.Sprintf("%s (Kubernetes %s) does not serve %s; of %s it serves %s",
		e.host, e.release, schedulingv1alpha2.SchemeGroupVersion, schedulingv1alpha2.GroupName, served)
}

// advice is what its administrator can do.
func (e *notServedError) advice() string {
	for version, release := range map[string]string{"v1alpha1": "1.35", "v1alpha3": "1.37"} {
		if slices.Contains(e.served, version) {
			return fmt.Sprintf("That is the API of Kubernetes %s. v1alpha2 is that of 1.36 alone: objects have other fields, so another client is needed.\n", release)
		}
	}
	return `In Kubernetes 1.36 the API is there, and off. To switch it on, start
  kube-apiserver           with --feature-gates=GenericWorkload=true --runtime-config=scheduling.k8s.io/v1alpha2=true
  kube-scheduler           with --feature-gates=GenericWorkload=true,GangScheduling=true
  kube-controller-manager  with --feature-gates=GenericWorkload=true
Or try it on a cluster in a process: go run ./examples/serve --kubeconfig FILE
`
}

// checkServed asks a cluster for the versions of the group that it serves.
func checkServed(client discovery.DiscoveryInterface, host string) error {
	groups, err := client.ServerGroups()
	if err != nil {
		return fmt.Errorf("asking %s for the APIs that it serves: %w", host, err)
	}
	missing := &notServedError{host: host, release: "of unknown version"}
	for _, group := range groups.Groups {
		if group.Name != schedulingv1alpha2.GroupName {
			continue
		}
		for _, version := range group.Versions {
			if version.Version == schedulingv1alpha2.SchemeGroupVersion.Version {
				return nil
			}
			missing.served = append(missing.served, version.Version)
		}
	}
	if info, err := client.ServerVersion(); err == nil {
		missing.release = info.GitVersion
	}
	return missing
}
