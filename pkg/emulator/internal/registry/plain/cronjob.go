package plain

import (
	"fmt"
	"regexp"
	"strings"
	"time"

	"github.com/robfig/cron/v3"
	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/clock"
	"k8s.io/utils/ptr"

	"github.com/musterkube/muster/pkg/batch"
	"github.com/musterkube/muster/pkg/core"
	"github.com/musterkube/muster/pkg/emulator/internal/registry/resource"
	"github.com/musterkube/muster/pkg/features"
)

// longestCronJobName leaves room for the time that the names of its Jobs end in.
const longestCronJobName = validation.DNS1035LabelMaxLength - 11

func cronJobs(gates features.Gates) row {
	opts := batch.Options{Gates: gates}
	doc, spec := batchv1.CronJobStatus{}.SwaggerDoc(), batchv1.CronJobSpec{}.SwaggerDoc()
	jobPath := field.NewPath("spec", "jobTemplate", "spec")
	return &kind[batchv1.CronJob]{
		version: batchv1.SchemeGroupVersion, plural: "cronjobs", singular: "cronjob",
		short: []string{"cj"}, categories: []string{"all"}, list: &batchv1.CronJobList{},
		wants: specChanged[batchv1.CronJob],
		prepareCreate: func(c *batchv1.CronJob) {
			core.DropDisabledTemplateFields(&c.Spec.JobTemplate.Spec.Template, nil, gates)
		},
		prepareUpdate: func(changed, stored *batchv1.CronJob) {
			core.DropDisabledTemplateFields(&changed.Spec.JobTemplate.Spec.Template, &stored.Spec.JobTemplate.Spec.Template, gates)
		},
		validateCreate: func(c *batchv1.CronJob) field.ErrorList {
			errs := validateCronJobSpec(&c.Spec, nil, opts)
			if len(c.Name) > longestCronJobName {
				errs = append(errs, field.Invalid(field.NewPath("metadata", "name"), c.Name, "must be no more than 52 characters"))
			}
			return errs
		},
		validateUpdate: func(changed, stored *batchv1.CronJob) field.ErrorList {
			return validateCronJobSpec(&changed.Spec, &stored.Spec, opts)
		},
		warnings: func(changed, stored *batchv1.CronJob) []string { return cronJobWarnings(changed, stored, jobPath) },
		// The status of a CronJob is not looked at, not even its metadata.
		status: &status[batchv1.CronJob]{},
		columns: columns([]metav1.TableColumnDefinition{
			resource.Column("Schedule", spec["schedule"]), resource.Column("Timezone", spec["timeZone"]),
			{Name: "Suspend", Type: "boolean", Description: spec["suspend"]},
			number("Active", doc["active"]), resource.Column("Last Schedule", doc["lastScheduleTime"]), resource.AgeColumn(),
		}, containerColumns(), []metav1.TableColumnDefinition{resource.WideColumn("Selector", batchv1.JobSpec{}.SwaggerDoc()["selector"])}),
		cells: func(now clock.PassiveClock, c *batchv1.CronJob) []any {
			last, suspended := "<none>", "<unset>"
			if c.Status.LastScheduleTime != nil {
				last = resource.Since(now, c.Status.LastScheduleTime.Time)
			}
			if c.Spec.Suspend != nil {
				suspended = map[bool]string{true: "True", false: "False"}[*c.Spec.Suspend]
			}
			job := &c.Spec.JobTemplate.Spec
			cells := []any{
				c.Name, c.Spec.Schedule, valueOr(c.Spec.TimeZone, "<none>"), suspended, int64(len(c.Status.Active)), last, age(now, &c.ObjectMeta),
			}
			return append(append(cells, containerCells(&job.Template)...), metav1.FormatLabelSelector(job.Selector))
		},
	}
}

func validateCronJobSpec(spec, stored *batchv1.CronJobSpec, opts batch.Options) field.ErrorList {
	path := field.NewPath("spec")
	var errs field.ErrorList
	if spec.Schedule == "" {
		errs = append(errs, field.Required(path.Child("schedule"), ""))
	} else {
		errs = append(errs, validateSchedule(spec, stored, path.Child("schedule"))...)
	}
	errs = append(errs, nonNegativePointer(spec.StartingDeadlineSeconds, path.Child("startingDeadlineSeconds"))...)
	if stored == nil || !ptr.Equal(stored.TimeZone, spec.TimeZone) {
		errs = append(errs, validateTimeZone(spec.TimeZone, path.Child("timeZone"))...)
	}
	switch at := path.Child("concurrencyPolicy"); spec.ConcurrencyPolicy {
	case batchv1.AllowConcurrent, batchv1.ForbidConcurrent, batchv1.ReplaceConcurrent:
	case "":
		errs = append(errs, field.Required(at, ""))
	default:
		errs = append(errs, field.NotSupported(at, spec.ConcurrencyPolicy,
			[]batchv1.ConcurrencyPolicy{batchv1.AllowConcurrent, batchv1.ForbidConcurrent, batchv1.ReplaceConcurrent}))
	}
	errs = append(errs, batch.ValidateTemplate(&spec.JobTemplate, path.Child("jobTemplate"), opts)...)
	errs = append(errs, nonNegativePointer(spec.SuccessfulJobsHistoryLimit, path.Child("successfulJobsHistoryLimit"))...)
	return append(errs, nonNegativePointer(spec.FailedJobsHistoryLimit, path.Child("failedJobsHistoryLimit"))...)
}

// validateSchedule wants five fields, or one of the words that stand for them. A zone in the schedule itself is for
// CronJobs that have one already.
func validateSchedule(spec, stored *batchv1.CronJobSpec, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	if err := parseSchedule(spec.Schedule); err != nil {
		errs = append(errs, field.Invalid(path, spec.Schedule, err.Error()))
	}
	switch {
	case !strings.Contains(spec.Schedule, "TZ"):
	case stored == nil || !strings.Contains(stored.Schedule, "TZ"):
		errs = append(errs, field.Invalid(path, spec.Schedule, "cannot use TZ or CRON_TZ in schedule, use timeZone field instead"))
	case spec.TimeZone != nil:
		errs = append(errs, field.Invalid(path, spec.Schedule, "cannot use both timeZone field and TZ or CRON_TZ in schedule"))
	}
	return errs
}

// parseSchedule tells what is wrong with a schedule. The library panics at some, of which those who sent them are told.
func parseSchedule(schedule string) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("invalid schedule format: %v", r)
		}
	}()
	_, err = cron.ParseStandard(schedule)
	return err
}

// zonePart is a part of the name of a time zone.
var zonePart = regexp.MustCompile(`^[A-Za-z\.\-_0-9+]{1,14}$`)

func validateTimeZone(zone *string, path *field.Path) field.ErrorList {
	if zone == nil {
		return nil
	}
	if *zone == "" {
		return field.ErrorList{field.Invalid(path, zone, "timeZone must be nil or non-empty string")}
	}
	for part := range strings.SplitSeq(*zone, "/") {
		if part == "." || part == ".." || strings.HasPrefix(part, "-") || !zonePart.MatchString(part) {
			return field.ErrorList{field.Invalid(path, zone, "unknown time zone "+*zone)}
		}
	}
	var errs field.ErrorList
	if strings.EqualFold(*zone, "Local") {
		errs = append(errs, field.Invalid(path, zone, "timeZone must be an explicit time zone as defined in https://www.iana.org/time-zones"))
	}
	if _, err := time.LoadLocation(*zone); err != nil {
		errs = append(errs, field.Invalid(path, zone, err.Error()))
	}
	return errs
}

func cronJobWarnings(changed, stored *batchv1.CronJob, jobPath *field.Path) []string {
	var warnings []string
	if stored == nil {
		warnings = nameWarning(changed.Name)
	}
	if stored == nil || changed.Generation != stored.Generation {
		warnings = append(warnings, batch.SpecWarnings(&changed.Spec.JobTemplate.Spec, jobPath)...)
	}
	if stored != nil && strings.Contains(changed.Spec.Schedule, "TZ") {
		warnings = append(warnings, "cannot use TZ or CRON_TZ in spec.spec.schedule, use timeZone instead, "+
			"see https://kubernetes.io/docs/concepts/workloads/controllers/cron-jobs/ for more details")
	}
	return warnings
}
