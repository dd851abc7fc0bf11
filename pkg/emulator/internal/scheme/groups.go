package scheme

import (
	"strings"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	appsv1 "k8s.io/api/apps/v1"
	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	batchv1 "k8s.io/api/batch/v1"
	certificatesv1 "k8s.io/api/certificates/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	eventsv1 "k8s.io/api/events/v1"
	networkingv1 "k8s.io/api/networking/v1"
	nodev1 "k8s.io/api/node/v1"
	policyv1 "k8s.io/api/policy/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	resourcev1 "k8s.io/api/resource/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"

	schedulingv1alpha2 "github.com/musterkube/muster/apis/scheduling/v1alpha2"
)

// eventsGroup is the group of the newer Event API, whose internal type is the Event of core/v1.
const eventsGroup = eventsv1.GroupName

// groups lists what is registered, in the order of preference within a group.
var groups = []struct {
	version schema.GroupVersion
	add     func(*runtime.Scheme) error
}{
	{corev1.SchemeGroupVersion, corev1.AddToScheme},
	{admissionregistrationv1.SchemeGroupVersion, admissionregistrationv1.AddToScheme},
	{authenticationv1.SchemeGroupVersion, authenticationv1.AddToScheme},
	{authorizationv1.SchemeGroupVersion, authorizationv1.AddToScheme},
	{appsv1.SchemeGroupVersion, appsv1.AddToScheme},
	{autoscalingv2.SchemeGroupVersion, autoscalingv2.AddToScheme},
	// Workloads take a Scale, which lives in this version; nothing else of it is served.
	{autoscalingv1.SchemeGroupVersion, autoscalingv1.AddToScheme},
	{batchv1.SchemeGroupVersion, batchv1.AddToScheme},
	{certificatesv1.SchemeGroupVersion, certificatesv1.AddToScheme},
	{coordinationv1.SchemeGroupVersion, coordinationv1.AddToScheme},
	{eventsv1.SchemeGroupVersion, eventsv1.AddToScheme},
	{discoveryv1.SchemeGroupVersion, discoveryv1.AddToScheme},
	{networkingv1.SchemeGroupVersion, networkingv1.AddToScheme},
	{nodev1.SchemeGroupVersion, nodev1.AddToScheme},
	{policyv1.SchemeGroupVersion, policyv1.AddToScheme},
	{rbacv1.SchemeGroupVersion, rbacv1.AddToScheme},
	{resourcev1.SchemeGroupVersion, resourcev1.AddToScheme},
	{schedulingv1.SchemeGroupVersion, schedulingv1.AddToScheme},
	{schedulingv1alpha2.SchemeGroupVersion, schedulingv1alpha2.AddToScheme},
	{storagev1.SchemeGroupVersion, storagev1.AddToScheme},
}

// registerTypes registers each kind twice with the same Go type: under its version and as the internal one, which the
// request handlers insist on. The order matters: a scheme names the first kind of a type in its errors.
func registerTypes(s *runtime.Scheme) {
	priorities := map[string][]schema.GroupVersion{}
	for _, g := range groups {
		utilruntime.Must(g.add(s))
		priorities[g.version.Group] = append(priorities[g.version.Group], g.version)
	}
	for _, g := range groups {
		registerInternal(s, g.version)
	}
	for _, versions := range priorities {
		utilruntime.Must(s.SetVersionPriority(versions...))
	}
	unversioned := schema.GroupVersion{Version: "v1"}
	metav1.AddToGroupVersion(s, unversioned)
	s.AddUnversionedTypes(unversioned, &metav1.Status{}, &metav1.APIVersions{}, &metav1.APIGroupList{}, &metav1.APIGroup{}, &metav1.APIResourceList{})
}

// registerInternal registers the kinds of gv under the internal version of its group.
func registerInternal(s *runtime.Scheme, gv schema.GroupVersion) {
	internal := schema.GroupVersion{Group: gv.Group, Version: runtime.APIVersionInternal}
	if gv.Group == eventsGroup {
		s.AddKnownTypes(internal, &corev1.Event{}, &corev1.EventList{})
		return
	}
	for kind := range s.KnownTypes(gv) {
		// Of a kind in two versions the preferred one has the internal form.
		if isRequestOption(kind) || s.Recognizes(internal.WithKind(kind)) {
			continue
		}
		obj, err := s.New(gv.WithKind(kind))
		utilruntime.Must(err)
		s.AddKnownTypeWithName(internal.WithKind(kind), obj)
	}
}

// isRequestOption tells the kinds of meta/v1 that every group has: query parameters and the envelope of watch events.
// Their internal form is registered by the handlers' own scheme.
func isRequestOption(kind string) bool {
	switch kind {
	case "PodLogOptions", "PodExecOptions", "PodAttachOptions", "PodPortForwardOptions", "PodProxyOptions", "NodeProxyOptions", "ServiceProxyOptions":
		return false
	}
	return kind == "WatchEvent" || strings.HasSuffix(kind, "Options")
}
