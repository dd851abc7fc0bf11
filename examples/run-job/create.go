package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
)

// order is the order in which kinds are created, so that what others name is there first. Jobs, and every kind that is
// not listed, come last.
var order = []string{"Namespace", "PriorityClass", "Node", "ServiceAccount", "Secret", "ConfigMap", "Workload", "PodGroup"}

// creation is what came of creating a manifest's objects.
type creation struct {
	made     []*unstructured.Unstructured // as the server stored them
	warnings []string
	wrong    []error // faults of the manifest
	failed   []error // of the server
}

// create makes the documents' objects. A fault of one does not keep the others from being tried, so that the user sees
// every fault at once. When ctx ends it stops.
func (c *clients) create(ctx context.Context, docs []document) creation {
	docs = slices.Clone(docs)
	slices.SortStableFunc(docs, func(a, b document) int { return cmp.Compare(rank(a), rank(b)) })
	var out creation
	for _, d := range docs {
		if ctx.Err() != nil {
			return out
		}
		warned := &warnings{}
		object, err := c.createOne(withWarnings(ctx, warned), d)
		for _, text := range warned.texts {
			out.warnings = append(out.warnings, fmt.Sprintf("%s: %s: %s", d.place(), d.name(), text))
		}
		if err != nil {
			out.fault(d, err)
			continue
		}
		out.made = append(out.made, object)
		missing, err := c.missingPriorityClasses(ctx, d)
		out.warnings = append(out.warnings, missing...)
		if err != nil {
			out.fault(d, err)
		}
	}
	return out
}

// code is the exit code for the errors of a creation.
func (out *creation) code() int {
	if len(out.failed) > 0 {
		return exitFailed
	}
	return exitUsage
}

// fault files an error under whose fault it is, with the place of the document in front.
func (out *creation) fault(d document, err error) {
	if wrongInput(err) {
		out.wrong = append(out.wrong, rejected(d, err))
	} else {
		out.failed = append(out.failed, rejected(d, err))
	}
}

// wrongInput reports whether an error is a refusal of what was asked for, rather than a failure to do it.
func wrongInput(err error) bool {
	if unknown := (*unknownKindError)(nil); errors.As(err, &unknown) {
		return true
	}
	var status apierrors.APIStatus
	if !errors.As(err, &status) {
		return false
	}
	switch code := status.Status().Code; code {
	case http.StatusUnauthorized, http.StatusRequestTimeout, http.StatusTooManyRequests:
		return false
	default:
		return code >= http.StatusBadRequest && code < http.StatusInternalServerError
	}
}

// unknownKindError says that the cluster does not serve a kind.
type unknownKindError struct{ gvk schema.GroupVersionKind }

func (e *unknownKindError) Error() string {
	return fmt.Sprintf("kind: %s of %s is not served by this cluster", e.gvk.Kind, e.gvk.GroupVersion())
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
		return nil, &unknownKindError{gvk}
	}
	if err != nil {
		return nil, fmt.Errorf("finding the resource of %s: %w", gvk, err)
	}
	resource := dynamic.ResourceInterface(c.dynamic.Resource(mapping.Resource))
	if mapping.Scope.Name() == meta.RESTScopeNameNamespace {
		if d.object.GetNamespace() == "" {
			d.object.SetNamespace(metav1.NamespaceDefault)
		}
		if err := c.ensureNamespace(ctx, d.object.GetNamespace()); err != nil {
			return nil, &namespaceError{d.object.GetNamespace(), err}
		}
		resource = c.dynamic.Resource(mapping.Resource).Namespace(d.object.GetNamespace())
	}
	made, err := resource.Create(ctx, d.object, metav1.CreateOptions{FieldValidation: metav1.FieldValidationStrict, FieldManager: "run-job"})
	if d.object.GetKind() == "Namespace" && apierrors.IsAlreadyExists(err) {
		return applyNamespace(ctx, resource, d.object)
	}
	return made, err
}

// applyNamespace makes a namespace that another document needed, or that every cluster has, the user's.
func applyNamespace(ctx context.Context, resource dynamic.ResourceInterface, namespace *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	text, err := namespace.MarshalJSON()
	if err != nil {
		return nil, err
	}
	return resource.Patch(ctx, namespace.GetName(), types.ApplyPatchType, text, metav1.PatchOptions{
		FieldManager: "run-job", Force: new(true), FieldValidation: metav1.FieldValidationStrict,
	})
}

// namespaceError says that the namespace of an object could not be made.
type namespaceError struct {
	namespace string
	cause     error
}

func (e *namespaceError) Error() string {
	return fmt.Sprintf("metadata.namespace: making namespace %q: %v", e.namespace, e.cause)
}

func (e *namespaceError) Unwrap() error { return e.cause }

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

// rejected puts an error of a document as file, document, object and, where the server names one, field.
func rejected(d document, err error) error {
	if unknown := (*unknownKindError)(nil); errors.As(err, &unknown) {
		return fmt.Errorf("%s: %w", d.place(), err)
	}
	var status apierrors.APIStatus
	namespace := (*namespaceError)(nil)
	if errors.As(err, &namespace) || !errors.As(err, &status) || status.Status().Details == nil || len(status.Status().Details.Causes) == 0 {
		return fmt.Errorf("%s: %s: %w", d.place(), d.name(), err)
	}
	var lines []string
	for _, cause := range status.Status().Details.Causes {
		line := joined(d.place(), d.name(), cause.Field, cause.Message)
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
		return nil, err
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
			return warnings, fmt.Errorf("getting PriorityClass %q: %w", class, err)
		}
	}
	return warnings, nil
}
