package builder

import (
	"strconv"

	schedulingv1alpha2 "github.com/musterkube/muster/apis/scheduling/v1alpha2"
)

// FinishedMembersAnnotation is the annotation of a PodGroup that tells how many of its members have ended for good and
// are not run again, as a decimal number. The API has no field for it. A gang's quorum (spec.schedulingPolicy.gang.minCount)
// never changes, so once a member is done, those that are tried again are too few for it unless the scheduler counts the
// finished ones too. Their pods may be gone by then, and so may an earlier PodGroup of the name; the annotation is
// written by the controller that keeps the count.
//
// The scheduler of this module reads it (unless told to do as kube-scheduler does), and its Job controller writes it.
const FinishedMembersAnnotation = "scheduling.muster.dev/finished-members"

// FinishedMembers returns what [FinishedMembersAnnotation] says; zero where it is missing, malformed or negative.
func FinishedMembers(group *schedulingv1alpha2.PodGroup) int {
	if group == nil {
		return 0
	}
	n, err := strconv.Atoi(group.Annotations[FinishedMembersAnnotation])
	if err != nil {
		return 0
	}
	return max(n, 0)
}
