package pod

import (
	"context"
	"errors"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metainternalversion "k8s.io/apimachinery/pkg/apis/meta/internalversion"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/registry/rest"
	"k8s.io/component-helpers/apps/poddisruptionbudget"
	"k8s.io/utils/clock"

	"github.com/musterkube/muster/pkg/core"
)

const (
	// maxDisrupted bounds how many evictions a budget allows before its controller has seen any of them.
	maxDisrupted = 2000
	// overBudget is what those are told who have to wait.
	overBudget = "Cannot evict pod as it would violate the pod's disruption budget."
	// laterSeconds is when to try again if it is not known.
	laterSeconds = 10
)

// budgets are the PodDisruptionBudgets of a server, which evictions are paid from.
type budgets struct {
	storages func(version schema.GroupVersion, name string) rest.Storage
	clock    clock.PassiveClock
}

// verdict says what becomes of an eviction that was not refused.
type verdict struct {
	// failure, if set, is the answer: Kubernetes tells of some in a Status that comes with success.
	failure *metav1.Status
	// asRead is true if it holds only for the pod as it was read.
	asRead bool
	// budget is the name of the budget, if there is one.
	budget string
}

// spend takes the eviction of a pod from the budget that the pod is in, if there is one, and refuses it when that allows
// no more.
func (b budgets) spend(ctx context.Context, pod *corev1.Pod, dryRun bool) (verdict, error) {
	switch {
	case core.PodFinished(pod) || pod.DeletionTimestamp != nil:
		return verdict{}, nil // nothing is disrupted that has ended
	case pod.Status.Phase == corev1.PodPending:
		return verdict{}, nil // nor what has not begun
	}
	found, err := b.of(ctx, pod)
	if err != nil || len(found) == 0 {
		return verdict{}, err
	}
	if len(found) > 1 {
		return verdict{failure: &metav1.Status{
			Status:  metav1.StatusFailure,
			Message: "This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.",
			Code:    500,
		}}, nil
	}
	budget := found[0]
	if !core.PodReady(pod) && unhealthyMayGo(budget) {
		return verdict{asRead: true, budget: budget.Name}, nil
	}
	return verdict{budget: budget.Name}, b.decrement(ctx, budget.Name, pod.Name, dryRun)
}

// unhealthyMayGo tells whether a budget lets pods go that are not ready, which it does not count.
func unhealthyMayGo(budget *policyv1.PodDisruptionBudget) bool {
	if policy := budget.Spec.UnhealthyPodEvictionPolicy; policy != nil && *policy == policyv1.AlwaysAllow {
		return true
	}
	return budget.Status.CurrentHealthy >= budget.Status.DesiredHealthy && budget.Status.DesiredHealthy > 0
}

// of returns the budgets that a pod is in.
func (b budgets) of(ctx context.Context, pod *corev1.Pod) ([]*policyv1.PodDisruptionBudget, error) {
	if b.storages == nil {
		return nil, nil
	}
	storage, served := b.storages(policyv1.SchemeGroupVersion, "poddisruptionbudgets").(rest.Lister)
	if !served {
		return nil, nil
	}
	list, err := storage.List(ctx, &metainternalversion.ListOptions{})
	if err != nil {
		return nil, fmt.Errorf("listing the disruption budgets of pod %s/%s: %w", pod.Namespace, pod.Name, err)
	}
	var found []*policyv1.PodDisruptionBudget
	items := list.(*policyv1.PodDisruptionBudgetList).Items
	for i := range items {
		selector, err := metav1.LabelSelectorAsSelector(items[i].Spec.Selector)
		if err == nil && items[i].Namespace == pod.Namespace && selector.Matches(labels.Set(pod.Labels)) {
			found = append(found, &items[i])
		}
	}
	return found, nil
}

// decrement takes one disruption from a budget and notes the pod in it.
func (b budgets) decrement(ctx context.Context, name, pod string, dryRun bool) error {
	storage, served := b.storages(policyv1.SchemeGroupVersion, "poddisruptionbudgets/status").(rest.Updater)
	if !served {
		return errors.New("evicting a pod: the status of disruption budgets is not served")
	}
	take := func(_ context.Context, _, stored runtime.Object) (runtime.Object, error) {
		budget := stored.(*policyv1.PodDisruptionBudget).DeepCopy()
		if err := refusal(budget); err != nil {
			return nil, err
		}
		budget.Status.DisruptionsAllowed--
		if budget.Status.DisruptionsAllowed == 0 {
			poddisruptionbudget.UpdateDisruptionAllowedCondition(budget)
		}
		if budget.Status.DisruptedPods == nil {
			budget.Status.DisruptedPods = map[string]metav1.Time{}
		}
		budget.Status.DisruptedPods[pod] = metav1.Time{Time: b.clock.Now()}
		return budget, nil
	}
	options := &metav1.UpdateOptions{}
	if dryRun {
		options.DryRun = []string{metav1.DryRunAll}
	}
	_, _, err := storage.Update(ctx, name, rest.DefaultUpdatedObjectInfo(nil, take), rest.ValidateAllObjectFunc, rest.ValidateAllObjectUpdateFunc, false, options)
	return err
}

// refusal says why a budget allows no disruption now, nil if it does.
func refusal(budget *policyv1.PodDisruptionBudget) error {
	resource, status := policyv1.Resource("poddisruptionbudget"), &budget.Status
	switch {
	case status.ObservedGeneration < budget.Generation:
		return tryLater(budget.Name)
	case status.DisruptionsAllowed < 0:
		return apierrors.NewForbidden(resource, budget.Name, errors.New("pdb disruptions allowed is negative"))
	case len(status.DisruptedPods) > maxDisrupted:
		return apierrors.NewForbidden(resource, budget.Name, errors.New("DisruptedPods map too big - too many evictions not confirmed by PDB controller"))
	case status.DisruptionsAllowed > 0:
		return nil
	}
	return tooMany(0, whyNone(budget))
}

// whyNone says why a budget of nothing has nothing.
func whyNone(budget *policyv1.PodDisruptionBudget) string {
	condition := meta.FindStatusCondition(budget.Status.Conditions, policyv1.DisruptionAllowedCondition)
	told := condition != nil && condition.Status == metav1.ConditionFalse && condition.Message != ""
	text := "The disruption budget " + budget.Name
	switch {
	case told && condition.Reason == policyv1.SyncFailedReason:
		return text + " does not allow evicting pods currently because it failed sync: " + condition.Message
	case budget.Status.CurrentHealthy <= budget.Status.DesiredHealthy:
		return fmt.Sprintf("%s needs %d healthy pods and has %d currently", text, budget.Status.DesiredHealthy, budget.Status.CurrentHealthy)
	case told:
		return fmt.Sprintf("%s does not allow evicting pods currently (%s): %s", text, condition.Reason, condition.Message)
	}
	return text + " does not allow evicting pods currently"
}

// tryLater refuses an eviction for the time being: the budget's controller has to catch up.
func tryLater(budget string) error {
	return tooMany(laterSeconds, fmt.Sprintf("The disruption budget %s is still being processed by the server.", budget))
}

func tooMany(seconds int, cause string) error {
	err := apierrors.NewTooManyRequests(overBudget, seconds)
	err.ErrStatus.Details.Causes = append(err.ErrStatus.Details.Causes, metav1.StatusCause{Type: policyv1.DisruptionBudgetCause, Message: cause})
	return err
}
