package emulator

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/client/clientset/clientset"
	typedapiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/client/clientset/clientset/typed/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	k8sruntime "k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/musterkube/muster/pkg/internal/check"
)

// crdManager is who owns the fields of the definitions that a server installs.
const crdManager = "emulator"

// installCRDs creates the definitions of the options, and waits until their objects are served.
func (s *Server) installCRDs(ctx context.Context, options Options) error {
	all, err := options.definitions()
	if err != nil || len(all) == 0 {
		return err
	}
	config := s.Config()
	config.ContentType = k8sruntime.ContentTypeProtobuf
	client, err := clientset.NewForConfig(config)
	if err != nil {
		return fmt.Errorf("making a client of custom resource definitions: %w", err)
	}
	// Most of what it takes is the check of the schemas.
	var creating sync.WaitGroup
	slots := make(chan struct{}, runtime.GOMAXPROCS(0))
	faults := make([]error, len(all))
	for i, definition := range all {
		creating.Go(func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			faults[i] = definition.install(ctx, client.ApiextensionsV1().CustomResourceDefinitions())
		})
	}
	creating.Wait()
	if err := errors.Join(faults...); err != nil {
		return err
	}
	for _, definition := range all {
		if err := s.crds.WaitEstablished(ctx, definition.crd.Name); err != nil {
			return definition.fault(err)
		}
	}
	return nil
}

// definitions returns those of the options, each with where it comes from. The error names every path that cannot be read
// or, failing that, every definition whose name another one has.
func (o Options) definitions() ([]definition, error) {
	var all []definition
	for i, crd := range o.CRDs {
		all = append(all, definition{crd: crd, option: check.Option("CRDs").Index(i)})
	}
	var faults field.ErrorList
	var reasons []error
	for i, path := range o.CRDPaths {
		option := check.Option("CRDPaths").Index(i)
		read, err := readPath(path)
		if err != nil {
			faults = append(faults, field.Invalid(option, path, fmt.Sprintf("reading custom resource definitions: %s", err)))
			reasons = append(reasons, err)
		}
		for _, d := range read {
			d.option = option
			all = append(all, d)
		}
	}
	if len(faults) > 0 {
		return nil, check.Error(faults, reasons...)
	}
	named := map[string]definition{}
	for _, d := range all {
		if first, twice := named[d.crd.Name]; twice && d.crd.Name != "" {
			fault := field.Duplicate(d.option, d.crd.Name)
			fault.Detail = "there is another custom resource definition of that name" + first.from()
			faults = append(faults, fault)
			continue
		}
		named[d.crd.Name] = d
	}
	return all, check.Error(faults)
}

// definition is a custom resource definition to install.
type definition struct {
	crd    *apiextensionsv1.CustomResourceDefinition
	file   string      // empty for one that came as an object
	option *field.Path // where it was given
}

func (d definition) from() string {
	if d.file == "" {
		return ""
	}
	return " from " + d.file
}

func (d definition) fault(err error) error {
	return fmt.Errorf("installing custom resource definition %s%s: %w", d.crd.Name, d.from(), err)
}

// install creates the definition. One that another server has left in the store is made what it is to be.
func (d definition) install(ctx context.Context, client typedapiextensionsv1.CustomResourceDefinitionInterface) error {
	_, err := client.Create(ctx, d.crd, metav1.CreateOptions{FieldManager: crdManager})
	if apierrors.IsAlreadyExists(err) {
		var stored *apiextensionsv1.CustomResourceDefinition
		if stored, err = client.Get(ctx, d.crd.Name, metav1.GetOptions{}); err == nil {
			stored.Labels, stored.Annotations, stored.Spec = d.crd.Labels, d.crd.Annotations, d.crd.Spec
			_, err = client.Update(ctx, stored, metav1.UpdateOptions{FieldManager: crdManager})
		}
	}
	if err != nil {
		return d.fault(err)
	}
	return nil
}
