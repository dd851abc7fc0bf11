package emulator_test

import (
	"encoding/json"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/rest"

	"github.com/musterkube/muster/pkg/emulator"
	"github.com/musterkube/muster/pkg/features"
)

// servedResources returns the resources of a server that hold objects, each as NAME.GROUP/VERSION or NAME.VERSION.
func servedResources(t *testing.T, config *rest.Config) []string {
	t.Helper()
	client, err := discovery.NewDiscoveryClientForConfig(config)
	require.NoError(t, err)
	_, lists, err := client.ServerGroupsAndResources()
	require.NoError(t, err)
	var all []string
	for _, list := range lists {
		for _, resource := range list.APIResources {
			if slices.Contains(resource.Verbs, "list") {
				all = append(all, resource.Name+"."+list.GroupVersion)
			}
		}
	}
	slices.Sort(all)
	return all
}

// described is what discovery says of a resource.
type described struct {
	Singular   string
	Namespaced bool
	Kind       string
	Short      []string
	Categories []string
	Verbs      string
}

const (
	allVerbs    = "create delete deletecollection get list patch update watch"
	statusVerbs = "get patch update"
)

func wantResources() map[string]described {
	return map[string]described{
		"apiextensions.k8s.io/v1 customresourcedefinitions": {Singular: "customresourcedefinition", Kind: "CustomResourceDefinition",
			Short: []string{"crd", "crds"}, Categories: []string{"api-extensions"}, Verbs: allVerbs},
		"apiextensions.k8s.io/v1 customresourcedefinitions/status": {Kind: "CustomResourceDefinition", Verbs: statusVerbs},

		"v1 bindings":              {Singular: "binding", Namespaced: true, Kind: "Binding", Verbs: "create"},
		"v1 configmaps":            {Singular: "configmap", Namespaced: true, Kind: "ConfigMap", Short: []string{"cm"}, Verbs: allVerbs},
		"v1 events":                {Singular: "event", Namespaced: true, Kind: "Event", Short: []string{"ev"}, Verbs: allVerbs},
		"v1 namespaces":            {Singular: "namespace", Kind: "Namespace", Short: []string{"ns"}, Verbs: "create delete get list patch update watch"},
		"v1 namespaces/finalize":   {Kind: "Namespace", Verbs: "update"},
		"v1 namespaces/status":     {Kind: "Namespace", Verbs: statusVerbs},
		"v1 nodes":                 {Singular: "node", Kind: "Node", Short: []string{"no"}, Verbs: allVerbs},
		"v1 nodes/status":          {Kind: "Node", Verbs: statusVerbs},
		"v1 pods":                  {Singular: "pod", Namespaced: true, Kind: "Pod", Short: []string{"po"}, Categories: []string{"all"}, Verbs: allVerbs},
		"v1 pods/binding":          {Namespaced: true, Kind: "Binding", Verbs: "create"},
		"v1 pods/eviction":         {Namespaced: true, Kind: "Eviction", Verbs: "create"},
		"v1 pods/log":              {Namespaced: true, Kind: "Pod", Verbs: "get"},
		"v1 pods/status":           {Namespaced: true, Kind: "Pod", Verbs: statusVerbs},
		"v1 secrets":               {Singular: "secret", Namespaced: true, Kind: "Secret", Verbs: allVerbs},
		"v1 serviceaccounts":       {Singular: "serviceaccount", Namespaced: true, Kind: "ServiceAccount", Short: []string{"sa"}, Verbs: allVerbs},
		"v1 serviceaccounts/token": {Namespaced: true, Kind: "TokenRequest", Verbs: "create"},
		"authentication.k8s.io/v1 selfsubjectreviews":                {Singular: "selfsubjectreview", Kind: "SelfSubjectReview", Verbs: "create"},
		"authentication.k8s.io/v1 tokenreviews":                      {Singular: "tokenreview", Kind: "TokenReview", Verbs: "create"},
		"authorization.k8s.io/v1 localsubjectaccessreviews":          {Singular: "localsubjectaccessreview", Namespaced: true, Kind: "LocalSubjectAccessReview", Verbs: "create"},
		"authorization.k8s.io/v1 selfsubjectaccessreviews":           {Singular: "selfsubjectaccessreview", Kind: "SelfSubjectAccessReview", Verbs: "create"},
		"authorization.k8s.io/v1 selfsubjectrulesreviews":            {Singular: "selfsubjectrulesreview", Kind: "SelfSubjectRulesReview", Verbs: "create"},
		"authorization.k8s.io/v1 subjectaccessreviews":               {Singular: "subjectaccessreview", Kind: "SubjectAccessReview", Verbs: "create"},
		"rbac.authorization.k8s.io/v1 clusterrolebindings":           {Singular: "clusterrolebinding", Kind: "ClusterRoleBinding", Verbs: allVerbs},
		"rbac.authorization.k8s.io/v1 clusterroles":                  {Singular: "clusterrole", Kind: "ClusterRole", Verbs: allVerbs},
		"rbac.authorization.k8s.io/v1 rolebindings":                  {Singular: "rolebinding", Namespaced: true, Kind: "RoleBinding", Verbs: allVerbs},
		"rbac.authorization.k8s.io/v1 roles":                         {Singular: "role", Namespaced: true, Kind: "Role", Verbs: allVerbs},
		"batch/v1 jobs":                                              {Singular: "job", Namespaced: true, Kind: "Job", Categories: []string{"all"}, Verbs: allVerbs},
		"batch/v1 jobs/status":                                       {Namespaced: true, Kind: "Job", Verbs: statusVerbs},
		"certificates.k8s.io/v1 certificatesigningrequests":          {Singular: "certificatesigningrequest", Kind: "CertificateSigningRequest", Short: []string{"csr"}, Verbs: allVerbs},
		"certificates.k8s.io/v1 certificatesigningrequests/approval": {Kind: "CertificateSigningRequest", Verbs: statusVerbs},
		"certificates.k8s.io/v1 certificatesigningrequests/status":   {Kind: "CertificateSigningRequest", Verbs: statusVerbs},
		"coordination.k8s.io/v1 leases":                              {Singular: "lease", Namespaced: true, Kind: "Lease", Verbs: allVerbs},
		"events.k8s.io/v1 events":                                    {Singular: "event", Namespaced: true, Kind: "Event", Short: []string{"ev"}, Verbs: allVerbs},
		"scheduling.k8s.io/v1 priorityclasses":                       {Singular: "priorityclass", Kind: "PriorityClass", Short: []string{"pc"}, Verbs: allVerbs},
		"scheduling.k8s.io/v1alpha2 podgroups":                       {Singular: "podgroup", Namespaced: true, Kind: "PodGroup", Verbs: allVerbs},
		"scheduling.k8s.io/v1alpha2 podgroups/status":                {Namespaced: true, Kind: "PodGroup", Verbs: statusVerbs},
		"scheduling.k8s.io/v1alpha2 workloads":                       {Singular: "workload", Namespaced: true, Kind: "Workload", Verbs: allVerbs},
		"v1 pods/ephemeralcontainers":                                {Namespaced: true, Kind: "Pod", Verbs: statusVerbs},
		"v1 endpoints":                                               {Singular: "endpoints", Namespaced: true, Kind: "Endpoints", Short: []string{"ep"}, Verbs: allVerbs},
		"v1 limitranges":                                             {Singular: "limitrange", Namespaced: true, Kind: "LimitRange", Short: []string{"limits"}, Verbs: allVerbs},
		"v1 persistentvolumeclaims":                                  {Singular: "persistentvolumeclaim", Namespaced: true, Kind: "PersistentVolumeClaim", Short: []string{"pvc"}, Verbs: allVerbs},
		"v1 persistentvolumeclaims/status":                           {Namespaced: true, Kind: "PersistentVolumeClaim", Verbs: statusVerbs},
		"v1 persistentvolumes":                                       {Singular: "persistentvolume", Kind: "PersistentVolume", Short: []string{"pv"}, Verbs: allVerbs},
		"v1 persistentvolumes/status":                                {Kind: "PersistentVolume", Verbs: statusVerbs},
		"v1 podtemplates":                                            {Singular: "podtemplate", Namespaced: true, Kind: "PodTemplate", Verbs: allVerbs},
		"v1 replicationcontrollers":                                  {Singular: "replicationcontroller", Namespaced: true, Kind: "ReplicationController", Short: []string{"rc"}, Categories: []string{"all"}, Verbs: allVerbs},
		"v1 replicationcontrollers/scale":                            {Namespaced: true, Kind: "Scale", Verbs: statusVerbs},
		"v1 replicationcontrollers/status":                           {Namespaced: true, Kind: "ReplicationController", Verbs: statusVerbs},
		"v1 resourcequotas":                                          {Singular: "resourcequota", Namespaced: true, Kind: "ResourceQuota", Short: []string{"quota"}, Verbs: allVerbs},
		"v1 resourcequotas/status":                                   {Namespaced: true, Kind: "ResourceQuota", Verbs: statusVerbs},
		"v1 services":                                                {Singular: "service", Namespaced: true, Kind: "Service", Short: []string{"svc"}, Categories: []string{"all"}, Verbs: allVerbs},
		"v1 services/status":                                         {Namespaced: true, Kind: "Service", Verbs: statusVerbs},
		"apps/v1 controllerrevisions":                                {Singular: "controllerrevision", Namespaced: true, Kind: "ControllerRevision", Verbs: allVerbs},
		"apps/v1 daemonsets":                                         {Singular: "daemonset", Namespaced: true, Kind: "DaemonSet", Short: []string{"ds"}, Categories: []string{"all"}, Verbs: allVerbs},
		"apps/v1 daemonsets/status":                                  {Namespaced: true, Kind: "DaemonSet", Verbs: statusVerbs},
		"apps/v1 deployments":                                        {Singular: "deployment", Namespaced: true, Kind: "Deployment", Short: []string{"deploy"}, Categories: []string{"all"}, Verbs: allVerbs},
		"apps/v1 deployments/scale":                                  {Namespaced: true, Kind: "Scale", Verbs: statusVerbs},
		"apps/v1 deployments/status":                                 {Namespaced: true, Kind: "Deployment", Verbs: statusVerbs},
		"apps/v1 replicasets":                                        {Singular: "replicaset", Namespaced: true, Kind: "ReplicaSet", Short: []string{"rs"}, Categories: []string{"all"}, Verbs: allVerbs},
		"apps/v1 replicasets/scale":                                  {Namespaced: true, Kind: "Scale", Verbs: statusVerbs},
		"apps/v1 replicasets/status":                                 {Namespaced: true, Kind: "ReplicaSet", Verbs: statusVerbs},
		"apps/v1 statefulsets":                                       {Singular: "statefulset", Namespaced: true, Kind: "StatefulSet", Short: []string{"sts"}, Categories: []string{"all"}, Verbs: allVerbs},
		"apps/v1 statefulsets/scale":                                 {Namespaced: true, Kind: "Scale", Verbs: statusVerbs},
		"apps/v1 statefulsets/status":                                {Namespaced: true, Kind: "StatefulSet", Verbs: statusVerbs},
		"batch/v1 cronjobs":                                          {Singular: "cronjob", Namespaced: true, Kind: "CronJob", Short: []string{"cj"}, Categories: []string{"all"}, Verbs: allVerbs},
		"batch/v1 cronjobs/status":                                   {Namespaced: true, Kind: "CronJob", Verbs: statusVerbs},
		"policy/v1 poddisruptionbudgets":                             {Singular: "poddisruptionbudget", Namespaced: true, Kind: "PodDisruptionBudget", Short: []string{"pdb"}, Verbs: allVerbs},
		"policy/v1 poddisruptionbudgets/status":                      {Namespaced: true, Kind: "PodDisruptionBudget", Verbs: statusVerbs},
		"discovery.k8s.io/v1 endpointslices":                         {Singular: "endpointslice", Namespaced: true, Kind: "EndpointSlice", Verbs: allVerbs},
		"resource.k8s.io/v1 deviceclasses":                           {Singular: "deviceclass", Kind: "DeviceClass", Verbs: allVerbs},
		"resource.k8s.io/v1 resourceclaims":                          {Singular: "resourceclaim", Namespaced: true, Kind: "ResourceClaim", Verbs: allVerbs},
		"resource.k8s.io/v1 resourceclaims/status":                   {Namespaced: true, Kind: "ResourceClaim", Verbs: statusVerbs},
		"resource.k8s.io/v1 resourceclaimtemplates":                  {Singular: "resourceclaimtemplate", Namespaced: true, Kind: "ResourceClaimTemplate", Verbs: allVerbs},
		"resource.k8s.io/v1 resourceslices":                          {Singular: "resourceslice", Kind: "ResourceSlice", Verbs: allVerbs},
		"node.k8s.io/v1 runtimeclasses":                              {Singular: "runtimeclass", Kind: "RuntimeClass", Verbs: allVerbs},
		"storage.k8s.io/v1 storageclasses":                           {Singular: "storageclass", Kind: "StorageClass", Short: []string{"sc"}, Verbs: allVerbs},
		"networking.k8s.io/v1 ingressclasses":                        {Singular: "ingressclass", Kind: "IngressClass", Verbs: allVerbs},
		"networking.k8s.io/v1 ingresses":                             {Singular: "ingress", Namespaced: true, Kind: "Ingress", Short: []string{"ing"}, Verbs: allVerbs},
		"networking.k8s.io/v1 ingresses/status":                      {Namespaced: true, Kind: "Ingress", Verbs: statusVerbs},
		"networking.k8s.io/v1 networkpolicies":                       {Singular: "networkpolicy", Namespaced: true, Kind: "NetworkPolicy", Short: []string{"netpol"}, Verbs: allVerbs},
		"autoscaling/v2 horizontalpodautoscalers":                    {Singular: "horizontalpodautoscaler", Namespaced: true, Kind: "HorizontalPodAutoscaler", Short: []string{"hpa"}, Categories: []string{"all"}, Verbs: allVerbs},
		"autoscaling/v2 horizontalpodautoscalers/status":             {Namespaced: true, Kind: "HorizontalPodAutoscaler", Verbs: statusVerbs},
	}
}

func TestDiscoveryListsWhatIsServed(t *testing.T) {
	server := start(t, emulator.Options{})
	for form, legacy := range map[string]bool{"one document": false, "a document a group": true} {
		t.Run(form, func(t *testing.T) {
			client, err := discovery.NewDiscoveryClientForConfig(server.Config())
			require.NoError(t, err)
			client.UseLegacyDiscovery = legacy
			_, lists, err := client.ServerGroupsAndResources()
			require.NoError(t, err)
			got := map[string]described{}
			for _, list := range lists {
				for _, r := range list.APIResources {
					if strings.Contains(r.Name, "/") && !legacy {
						r.SingularName = "" // the client library takes that of the main resource
					}
					got[list.GroupVersion+" "+r.Name] = described{Singular: r.SingularName, Namespaced: r.Namespaced, Kind: r.Kind,
						Short: r.ShortNames, Categories: r.Categories, Verbs: strings.Join(r.Verbs, " ")}
				}
			}
			want := wantResources()
			maps.Copy(want, wantAdmissionResources())
			assert.Empty(t, cmp.Diff(want, got), "(-want +got)")
		})
	}
}

func TestDiscoveryOrder(t *testing.T) {
	server := start(t, emulator.Options{})
	for form, legacy := range map[string]bool{"one document": false, "a document a group": true} {
		t.Run(form, func(t *testing.T) {
			client, err := discovery.NewDiscoveryClientForConfig(server.Config())
			require.NoError(t, err)
			client.UseLegacyDiscovery = legacy
			groups, err := client.ServerGroups()
			require.NoError(t, err)
			var got []string
			for _, group := range groups.Groups {
				for _, version := range group.Versions {
					got = append(got, version.GroupVersion)
				}
				assert.Equal(t, group.Versions[0], group.PreferredVersion)
			}
			assert.Equal(t, []string{
				"v1", "apps/v1", "events.k8s.io/v1", "authentication.k8s.io/v1", "authorization.k8s.io/v1", "autoscaling/v2", "batch/v1",
				"certificates.k8s.io/v1", "networking.k8s.io/v1", "policy/v1", "rbac.authorization.k8s.io/v1", "storage.k8s.io/v1", "admissionregistration.k8s.io/v1", "apiextensions.k8s.io/v1",
				"scheduling.k8s.io/v1", "scheduling.k8s.io/v1alpha2", "coordination.k8s.io/v1", "node.k8s.io/v1", "discovery.k8s.io/v1", "resource.k8s.io/v1",
			}, got)
		})
	}
}

func TestGatesDecideWhatIsServed(t *testing.T) {
	server := start(t, emulator.Options{Gates: features.KubernetesDefaults()})
	client, err := discovery.NewDiscoveryClientForConfig(server.Config())
	require.NoError(t, err)
	_, err = client.ServerResourcesForGroupVersion("scheduling.k8s.io/v1")
	require.NoError(t, err)
	_, err = client.ServerResourcesForGroupVersion("scheduling.k8s.io/v1alpha2")
	require.Error(t, err)
}

func TestVersionIsTheOneThatIsEmulated(t *testing.T) {
	version, err := kube(t, start(t, emulator.Options{}).Config()).Discovery().ServerVersion()
	require.NoError(t, err)
	assert.Equal(t, "v1.36.3", version.GitVersion)
	assert.Equal(t, "1", version.Major)
	assert.Equal(t, "36", version.Minor)
}

func TestHealth(t *testing.T) {
	server := start(t, emulator.Options{})
	for _, path := range []string{"/healthz", "/livez", "/readyz", "/readyz/etcd", "/livez/ping"} {
		code, _, body := raw(t, server.Config(), http.MethodGet, path, "", nil)
		assert.Equal(t, http.StatusOK, code, path)
		assert.Equal(t, "ok", body, path)
	}
	_, _, verbose := raw(t, server.Config(), http.MethodGet, "/readyz?verbose", "", nil)
	assert.Equal(t, "[+]ping ok\n[+]etcd ok\n[+]shutdown ok\nreadyz check passed\n", verbose)
}

func TestIndexListsPaths(t *testing.T) {
	code, _, body := raw(t, start(t, emulator.Options{}).Config(), http.MethodGet, "/", "", nil)
	require.Equal(t, http.StatusOK, code)
	var index struct{ Paths []string }
	require.NoError(t, json.Unmarshal([]byte(body), &index))
	for _, path := range []string{"/api/v1", "/apis/batch/v1", "/apis/scheduling.k8s.io/v1alpha2", "/openapi/v2", "/openapi/v3", "/readyz", "/version"} {
		assert.Contains(t, index.Paths, path)
	}
}

func TestStorageVersionHashes(t *testing.T) {
	client, err := discovery.NewDiscoveryClientForConfig(start(t, emulator.Options{}).Config())
	require.NoError(t, err)
	client.UseLegacyDiscovery = true // the aggregated document has no hashes
	list, err := client.ServerResourcesForGroupVersion(schema.GroupVersion{Group: "scheduling.k8s.io", Version: "v1alpha2"}.String())
	require.NoError(t, err)
	hashes := map[string]string{}
	for _, r := range list.APIResources {
		hashes[r.Name] = r.StorageVersionHash
	}
	assert.Equal(t, map[string]string{"podgroups": "YYgX3v5V204=", "podgroups/status": "", "workloads": "vSX7gJe5Mx8="}, hashes)
}

func TestGroupListHasAVersion(t *testing.T) {
	code, _, body := raw(t, start(t, emulator.Options{}).Config(), http.MethodGet, "/apis", "", nil)
	require.Equal(t, http.StatusOK, code)
	var list struct {
		APIVersion, Kind string
		Groups           []struct{ Name string }
	}
	require.NoError(t, json.Unmarshal([]byte(body), &list))
	assert.Equal(t, "v1", list.APIVersion)
	assert.Equal(t, "APIGroupList", list.Kind)
	assert.NotEmpty(t, list.Groups)
}
