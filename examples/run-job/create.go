package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/dynamic"
)

// order is the order in which kinds are created, so that what others name is there first. Jobs, and every kind that is
// not listed, come last.
var order = []string{"Namespace", "PriorityClass", "Node", "ServiceAccount", "Secret", "ConfigMap", "Workload", "PodGroup"}

// create makes the documents' objects and returns them as the server stored them. A fault of one does not keep the
// others from being tried, so that the user sees every fault at once.
func (c *clients) create(ctx context.Context, docs []document) (made []*unstructured.Unstructured, warnings []string, err error) {
	docs = slices.Clone(docs)
	slices.SortStableFunc(docs, func(a, b document) int { return cmp.Compare(rank(a), rank(b)) })
	var faults []error
	for _, d := range docs {
		object, err := c.createOne(ctx, d)
		if err != nil {
			faults = append(faults, err)
			continue
		}
		made = append(made, object)
		missing, err := c.missingPriorityClasses(ctx, d)
		warnings, faults = append(warnings, missing...), append(faults, err)
	}
	return made, warnings, errors.Join(faults...)
}

func rank(d document) int {
	if i := slices.Index(order, d.object.GetKind()); i >= 0 {
		return i
	}
	return len(order)
}

func (c *clients) createOne(ctx context.Context, d document) (*unstructured.Unstructured, error) {
	gvk := d.object.GroupVersionKind()
	mapping, err := c.mapper.RESTMapping(gvk.GroupKind(), gvk.Version)
	if meta.IsNoMatchError(err) {
		return nil, fmt.Errorf("%s: kind: %s of %s is not served by this cluster", d.place(), gvk.Kind, gvk.GroupVersion())
	}
	if err != nil {
		return nil, fmt.Errorf("%s: finding the resource of %s: %w", d.place(), gvk, err)
	}
	resource := dynamic.ResourceInterface(c.dynamic.Resource(mapping.Resource))
	if mapping.Scope.Name() == meta.RESTScopeNameNamespace {
		if d.object.GetNamespace() == "" {
			d.object.SetNamespace(metav1.NamespaceDefault)
		}
		if err := c.ensureNamespace(ctx, d.object.GetNamespace()); err != nil {
			return nil, rejected(d, err)
		}
		resource = c.dynamic.Resource(mapping.Resource).Namespace(d.object.GetNamespace())
	}
	if d.object.GetKind() == "Namespace" {
		// A namespace that another document needed, or that every cluster has, is there already: make it the user's.
		return resource.Apply(ctx, d.object.GetName(), d.object, metav1.ApplyOptions{FieldManager: "run-job", Force: true})
	}
	object, err := resource.Create(ctx, d.object, metav1.CreateOptions{FieldValidation: metav1.FieldValidationStrict, FieldManager: "run-job"})
	if err != nil {
		return nil, rejected(d, err)
	}
	return object, nil
}

// ensureNamespace makes a namespace that is not there: a manifest is run by itself, not on a prepared cluster.
func (c *clients) ensureNamespace(ctx context.Context, name string) error {
	_, err := c.kube.CoreV1().Namespaces().Get(ctx, name, metav1.GetOptions{})
	if !apierrors.IsNotFound(err) {
		return err
	}
	_, err = c.kube.CoreV1().Namespaces().Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}, metav1.CreateOptions{})
	if apierrors.IsAlreadyExists(err) {
		return nil
	}
	return err
}

// rejected puts a server's refusal as file, document, object and field.
func rejected(d document, err error) error {
	name := d.object.GetName()
	if name == "" {
		name = d.object.GetGenerateName()
	}
	object := d.object.GetKind() + " " + strings.TrimPrefix(d.object.GetNamespace()+"/"+name, "/")
	var status apierrors.APIStatus
	if !errors.As(err, &status) || status.Status().Details == nil || len(status.Status().Details.Causes) == 0 {
		return fmt.Errorf("%s: %s: %w", d.place(), object, err)
	}
	var lines []string
	for _, cause := range status.Status().Details.Causes {
		line := fmt.Sprintf("%s: %s: %s: %s", d.place(), object, cause.Field, cause.Message)
		if !slices.Contains(lines, line) {
			lines = append(lines, line)
		}
	}
	return errors.New(strings.Join(lines, "\n"))
}

// missingPriorityClasses returns a warning for each priority class that a Workload's templates name and nobody made:
// the server accepts such a Workload, but would refuse the PodGroups made from it.
func (c *clients) missingPriorityClasses(ctx context.Context, d document) ([]string, error) {
	if d.object.GetKind() != "Workload" {
		return nil, nil
	}
	templates, _, err := unstructured.NestedSlice(d.object.Object, "spec", "podGroupTemplates")
	if err != nil {
		return nil, fmt.Errorf("%s: %w", d.place(), err)
	}
	var warnings []string
	for i, template := range templates {
		fields, _ := template.(map[string]any)
		class, _ := fields["priorityClassName"].(string)
		if class == "" {
			continue
		}
		_, err := c.kube.SchedulingV1().PriorityClasses().Get(ctx, class, metav1.GetOptions{})
		switch {
		case apierrors.IsNotFound(err):
			warnings = append(warnings, fmt.Sprintf("%s: Workload %s/%s: spec.podGroupTemplates[%d].priorityClassName: there is no PriorityClass %q; PodGroups made from this template will be refused until there is",
				d.place(), d.object.GetNamespace(), d.object.GetName(), i, class))
		case err != nil:
			return warnings, fmt.Errorf("%s: getting PriorityClass %q: %w", d.place(), class, err)
		}
	}
	return warnings, nil
}
