package crds

import (
	"context"
	"net/http"
	"sync/atomic"
	"time"

	"k8s.io/apiextensions-apiserver/pkg/apihelpers"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apiextensionsserver "k8s.io/apiextensions-apiserver/pkg/apiserver"
	informers "k8s.io/apiextensions-apiserver/pkg/client/informers/externalversions/apiextensions/v1"
	listers "k8s.io/apiextensions-apiserver/pkg/client/listers/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/controller/finalizer"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	genericapirequest "k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/client-go/tools/cache"
	"k8s.io/kube-openapi/pkg/validation/spec"
	"k8s.io/utils/clock"
)

const (
	// haPause is how old the Established condition has to be for the library to create an object at once. With a
	// younger one it sleeps as long, so that other servers of a cluster get to know the definition too. There are none.
	haPause = 2 * time.Second
	// lastWords is how long watches go on of a definition that is gone or has changed, so that they still tell of the
	// objects that went with it.
	lastWords = time.Second
)

// serving serves the objects of one definition as long as what it defines stays the same. It shows the library's handler
// that one definition alone, with a condition Established that is old enough, and nothing of its changes: when there is
// one, the handler is left behind with all that it has built, and another one made.
type serving struct {
	handler interface {
		http.Handler
		finalizer.CRClientGetter
	}
	// shown is the definition as the handler sees it. Only its status and metadata ever change.
	shown atomic.Pointer[apiextensionsv1.CustomResourceDefinition]

	// life ends when watches have to.
	life    context.Context //nolint:containedctx // that of the serving itself, not of a call
	retired context.CancelFunc
}

// newServing returns what serves a definition until ctx ends or it is retired.
func newServing(ctx context.Context, c Config, crd *apiextensionsv1.CustomResourceDefinition) (*serving, error) {
	s := &serving{}
	s.life, s.retired = context.WithCancel(ctx)
	s.show(crd)
	// Without the models of the meta types, which each definition brings along, the library would guess the schemas that
	// server-side apply needs. What else is in the map makes no difference.
	models := map[string]*spec.Schema{}
	handler, err := apiextensionsserver.NewCustomResourceDefinitionHandler(nil, nil, single{&s.shown}, http.NotFoundHandler(),
		c.Getter, c.Admission, nil, c.Services, c.WebhookAuthentication, 1, c.Authorizer, c.RequestTimeout, c.MinRequestTimeout,
		models, c.MaxRequestBodyBytes)
	if err != nil {
		s.retired()
		return nil, err
	}
	s.handler = handler
	return s, nil
}

// show has the handler see the present state of the definition.
func (s *serving) show(crd *apiextensionsv1.CustomResourceDefinition) {
	seen := *crd
	seen.Status.Conditions = make([]apiextensionsv1.CustomResourceDefinitionCondition, len(crd.Status.Conditions))
	copy(seen.Status.Conditions, crd.Status.Conditions)
	if established := apihelpers.FindCRDCondition(&seen, apiextensionsv1.Established); established != nil {
		established.LastTransitionTime = metav1.NewTime(established.LastTransitionTime.Add(-haPause))
	}
	s.shown.Store(&seen)
}

// update shows the definition anew if it has changed. One that is older than what is shown, as a reader of a moment ago may
// have it, does no harm: the next request brings the newer one back.
func (s *serving) update(crd *apiextensionsv1.CustomResourceDefinition) {
	if s.shown.Load().ResourceVersion != crd.ResourceVersion {
		s.show(crd)
	}
}

// serves tells whether a definition is, in all that matters for its objects, the one that the handler was made for.
func (s *serving) serves(crd *apiextensionsv1.CustomResourceDefinition) bool {
	shown := s.shown.Load()
	return shown.UID == crd.UID && (shown.ResourceVersion == crd.ResourceVersion ||
		equality.Semantic.DeepEqual(shown.Spec, crd.Spec) && equality.Semantic.DeepEqual(shown.Status.AcceptedNames, crd.Status.AcceptedNames))
}

// retire ends the watches, after a while. Other requests end by themselves.
func (s *serving) retire() {
	clock.RealClock{}.AfterFunc(lastWords, s.retired)
}

// ServeHTTP implements http.Handler.
func (s *serving) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if info, ok := genericapirequest.RequestInfoFrom(r.Context()); ok && info.Verb == "watch" {
		ctx, cancel := context.WithCancel(r.Context())
		defer cancel()
		defer context.AfterFunc(s.life, cancel)()
		r = r.WithContext(ctx)
	}
	s.handler.ServeHTTP(w, r)
}

// single is the informer of a world with one definition, of which no changes are told.
type single struct {
	shown *atomic.Pointer[apiextensionsv1.CustomResourceDefinition]
}

var (
	_ informers.CustomResourceDefinitionInformer = single{}
	_ listers.CustomResourceDefinitionLister     = single{}
	_ cache.SharedIndexInformer                  = silent{}
)

// Informer implements informers.CustomResourceDefinitionInformer.
func (single) Informer() cache.SharedIndexInformer { return silent{} }

// Lister implements informers.CustomResourceDefinitionInformer.
func (s single) Lister() listers.CustomResourceDefinitionLister { return s }

// List implements listers.CustomResourceDefinitionLister.
func (s single) List(selector labels.Selector) ([]*apiextensionsv1.CustomResourceDefinition, error) {
	crd := s.shown.Load()
	if !selector.Matches(labels.Set(crd.Labels)) {
		return nil, nil
	}
	return []*apiextensionsv1.CustomResourceDefinition{crd}, nil
}

// Get implements listers.CustomResourceDefinitionLister.
func (s single) Get(name string) (*apiextensionsv1.CustomResourceDefinition, error) {
	if crd := s.shown.Load(); crd.Name == name {
		return crd, nil
	}
	return nil, apierrors.NewNotFound(Resource.GroupResource(), name)
}

// silent is an informer that never tells anything. Its other methods are not called.
type silent struct{ cache.SharedIndexInformer }

// AddEventHandler implements cache.SharedInformer.
func (silent) AddEventHandler(cache.ResourceEventHandler) (cache.ResourceEventHandlerRegistration, error) {
	return nil, nil //nolint:nilnil // nobody will ask it anything
}

// servings are those of all definitions, by UID.
type servings map[types.UID]*serving
