package crds

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"k8s.io/apiextensions-apiserver/pkg/apihelpers"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/client/clientset/clientset"
	"k8s.io/apiextensions-apiserver/pkg/client/informers/externalversions"
	listers "k8s.io/apiextensions-apiserver/pkg/client/listers/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/controller/apiapproval"
	"k8s.io/apiextensions-apiserver/pkg/controller/establish"
	"k8s.io/apiextensions-apiserver/pkg/controller/finalizer"
	"k8s.io/apiextensions-apiserver/pkg/controller/nonstructuralschema"
	"k8s.io/apiextensions-apiserver/pkg/controller/status"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"
)

const (
	// userAgent is what the controllers of a kube-apiserver call themselves in managed fields.
	userAgent = "kube-apiserver"
	// resync is how often the controllers look at everything again, as in a kube-apiserver.
	resync = 5 * time.Minute
	// workers is how many definitions each of the controllers deals with at a time, as there.
	workers = 5
)

// machinery is what runs once there are definitions: one informer of them, and the library's controllers.
type machinery struct {
	config  Config
	factory externalversions.SharedInformerFactory
	lister  listers.CustomResourceDefinitionLister
	// synced tell when every definition that was stored at the start is known, to the informer and to OnAdd.
	synced []cache.DoneChecker
	// ready is closed then.
	ready chan struct{}

	controllers []func(context.Context)
	established *establish.EstablishingController

	// changes counts the changes of definitions that the informer has told of.
	changes atomic.Int64
	views   views

	life context.Context //nolint:containedctx // that of the machinery, in which servings live

	mu sync.Mutex
	// servings are what serves the objects of each definition that somebody has asked for.
	servings servings
	// changed is closed at the next change.
	changed chan struct{}
}

var _ cache.ResourceEventHandler = (*machinery)(nil)

// newMachinery makes the informer and the controllers. Their queues have goroutines already, and so run has to be called.
func newMachinery(ctx context.Context, c Config) (*machinery, error) {
	config := rest.CopyConfig(c.Client())
	config.UserAgent = userAgent
	config.ContentType = runtime.ContentTypeProtobuf
	client, err := clientset.NewForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("making a client: %w", err)
	}
	factory := externalversions.NewSharedInformerFactory(client, resync)
	informer := factory.Apiextensions().V1().CustomResourceDefinitions()
	m := &machinery{
		config: c, factory: factory, lister: informer.Lister(), ready: make(chan struct{}),
		life: ctx, servings: servings{}, changed: make(chan struct{}),
	}
	registered, err := informer.Informer().AddEventHandler(m)
	if err != nil {
		return nil, fmt.Errorf("listening to the informer: %w", err)
	}
	m.synced = []cache.DoneChecker{informer.Informer().HasSyncedChecker(), registered.HasSyncedChecker()}

	m.established = establish.NewEstablishingController(informer, client.ApiextensionsV1())
	naming := status.NewNamingConditionController(klog.FromContext(ctx), informer, client.ApiextensionsV1())
	structural := nonstructuralschema.NewConditionController(informer, client.ApiextensionsV1())
	approval := apiapproval.NewKubernetesAPIApprovalPolicyConformantConditionController(informer, client.ApiextensionsV1())
	finalizing := finalizer.NewCRDFinalizer(informer, client.ApiextensionsV1(), m)
	m.controllers = []func(context.Context){
		m.established.RunWithContext,
		naming.RunWithContext,
		func(ctx context.Context) { structural.RunWithContext(workers, ctx) },
		func(ctx context.Context) { approval.RunWithContext(workers, ctx) },
		func(ctx context.Context) { finalizing.RunWithContext(workers, ctx) },
	}
	return m, nil
}

// run runs the informer and, as soon as it knows all definitions, the controllers: before that they would look for it
// only ten times a second. It returns when ctx has ended and they have; nobody can wait for their workers, which find their
// queues shut and return too.
func (m *machinery) run(ctx context.Context) {
	m.factory.StartWithContext(ctx)
	defer m.factory.Shutdown()
	if cache.WaitFor(ctx, "", m.synced...) {
		close(m.ready)
	}
	var running sync.WaitGroup
	for _, controller := range m.controllers {
		running.Go(func() { controller(ctx) })
	}
	running.Wait()
}

// isServed tells whether the objects of a definition are served. They are from the moment that its names are accepted,
// just before it is called established.
func isServed(crd *apiextensionsv1.CustomResourceDefinition) bool {
	return apihelpers.IsCRDConditionTrue(crd, apiextensionsv1.NamesAccepted) ||
		apihelpers.IsCRDConditionTrue(crd, apiextensionsv1.Established)
}

// OnAdd implements cache.ResourceEventHandler.
func (m *machinery) OnAdd(obj any, _ bool) { m.OnUpdate(nil, obj) }

// OnUpdate implements cache.ResourceEventHandler. It comes before the definition is called established.
func (m *machinery) OnUpdate(_, obj any) {
	crd, ok := obj.(*apiextensionsv1.CustomResourceDefinition)
	if !ok {
		return
	}
	m.mu.Lock()
	m.noteChange()
	if old := m.servings[crd.UID]; old != nil && !old.serves(crd) {
		delete(m.servings, crd.UID)
		old.retire()
	}
	m.mu.Unlock()
	if apihelpers.IsCRDConditionTrue(crd, apiextensionsv1.NamesAccepted) && !apihelpers.IsCRDConditionTrue(crd, apiextensionsv1.Established) {
		m.established.QueueCRD(crd.Name, 0)
	}
}

// OnDelete implements cache.ResourceEventHandler.
func (m *machinery) OnDelete(obj any) {
	if last, ok := obj.(cache.DeletedFinalStateUnknown); ok {
		obj = last.Obj
	}
	crd, ok := obj.(*apiextensionsv1.CustomResourceDefinition)
	if !ok {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.noteChange()
	if old := m.servings[crd.UID]; old != nil {
		delete(m.servings, crd.UID)
		old.retire()
	}
}

// noteChange tells of a change of a definition. The caller holds the lock.
func (m *machinery) noteChange() {
	m.changes.Add(1)
	close(m.changed)
	m.changed = make(chan struct{})
}

// news returns a channel that is closed at the next change of a definition.
func (m *machinery) news() <-chan struct{} {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.changed
}

// servingOf returns what serves the objects of a definition in its present state.
func (m *machinery) servingOf(crd *apiextensionsv1.CustomResourceDefinition) (*serving, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if known := m.servings[crd.UID]; known != nil {
		if known.serves(crd) {
			known.update(crd)
			return known, nil
		}
		known.retire()
	}
	made, err := newServing(m.life, m.config, crd)
	if err != nil {
		return nil, fmt.Errorf("serving %s: %w", crd.Name, err)
	}
	m.servings[crd.UID] = made
	return made, nil
}

// GetCustomResourceListerCollectionDeleter implements finalizer.CRClientGetter.
func (m *machinery) GetCustomResourceListerCollectionDeleter(crd *apiextensionsv1.CustomResourceDefinition) (finalizer.ListerCollectionDeleter, error) {
	serving, err := m.servingOf(crd)
	if err != nil {
		return nil, err
	}
	return serving.handler.GetCustomResourceListerCollectionDeleter(crd)
}
