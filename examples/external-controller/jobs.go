package main

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/musterkube/muster/pkg/batch"
)

// expectation is a Job and whether a controller here runs it.
type expectation struct {
	name      string
	managedBy *string
	runs      bool
}

// jobs are the Jobs of the show: nobody runs the last one.
func jobs() []expectation {
	return []expectation{
		{"plain", nil, true},
		{"built-in-by-name", new(batchv1.JobControllerName), true},
		{"delegated", new(managedBy), true},
		{"of-somebody-else", new("example.com/somebody-else"), false},
	}
}

func createJobs(ctx context.Context, client kubernetes.Interface) error {
	for _, e := range jobs() {
		job := &batchv1.Job{
			ObjectMeta: metav1.ObjectMeta{Name: e.name},
			Spec: batchv1.JobSpec{
				ManagedBy: e.managedBy, Parallelism: new(int32(2)), Completions: new(int32(2)),
				Template: corev1.PodTemplateSpec{Spec: corev1.PodSpec{
					RestartPolicy: corev1.RestartPolicyNever,
					Containers:    []corev1.Container{{Name: "main", Image: "main:v1"}},
				}},
			},
		}
		if _, err := client.BatchV1().Jobs(metav1.NamespaceDefault).Create(ctx, job, metav1.CreateOptions{}); err != nil {
			return fmt.Errorf("creating Job %s: %w", e.name, err)
		}
	}
	return nil
}

// awaitJobs returns when every Job that somebody runs is finished.
func awaitJobs(ctx context.Context, client kubernetes.Interface) error {
	var waiting []string
	for _, e := range jobs() {
		if e.runs {
			waiting = append(waiting, e.name)
		}
	}
	changes, err := client.BatchV1().Jobs(metav1.NamespaceDefault).Watch(ctx, metav1.ListOptions{})
	if err != nil {
		return fmt.Errorf("watching Jobs: %w", err)
	}
	defer changes.Stop()
	for change := range changes.ResultChan() {
		job, ok := change.Object.(*batchv1.Job)
		if !ok {
			continue
		}
		if _, finished := batch.Finished(job); finished {
			waiting = slices.DeleteFunc(waiting, func(name string) bool { return name == job.Name })
		}
		if len(waiting) == 0 {
			return nil
		}
	}
	return fmt.Errorf("time ran out: not finished: %s", strings.Join(waiting, ", "))
}

// report prints who wrote the status of each Job. Managed fields tell: each controller's client has a name.
func report(ctx context.Context, client kubernetes.Interface, out io.Writer) error {
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "JOB\tMANAGED BY\tRUN BY\tSUCCEEDED\tSTATE")
	for _, e := range jobs() {
		job, err := client.BatchV1().Jobs(metav1.NamespaceDefault).Get(ctx, e.name, metav1.GetOptions{})
		if err != nil {
			return fmt.Errorf("getting Job %s: %w", e.name, err)
		}
		kind, finished := batch.Finished(job)
		state := string(kind)
		if !finished {
			why, err := whyUntouched(ctx, client, job)
			if err != nil {
				return err
			}
			state = "untouched: " + why
		}
		named := "-"
		if job.Spec.ManagedBy != nil {
			named = *job.Spec.ManagedBy
		}
		fmt.Fprintf(table, "%s\t%s\t%s\t%d\t%s\n", job.Name, named, statusWriter(job), job.Status.Succeeded, state)
	}
	return table.Flush()
}

// whyUntouched returns what the standard controller tells the user of a Job that it leaves to another, in an event.
func whyUntouched(ctx context.Context, client kubernetes.Interface, job *batchv1.Job) (string, error) {
	events, err := client.CoreV1().Events(job.Namespace).Watch(ctx, metav1.ListOptions{FieldSelector: "involvedObject.name=" + job.Name})
	if err != nil {
		return "", fmt.Errorf("watching the events of Job %s: %w", job.Name, err)
	}
	defer events.Stop()
	for change := range events.ResultChan() {
		if event, ok := change.Object.(*corev1.Event); ok {
			return event.Reason + ": " + event.Message, nil
		}
	}
	return "", fmt.Errorf("time ran out: no event says why Job %s is left alone", job.Name)
}

// statusWriter returns the name of the client that wrote a Job's status.
func statusWriter(job *batchv1.Job) string {
	for _, entry := range job.ManagedFields {
		if entry.Subresource == "status" {
			return entry.Manager
		}
	}
	return "-"
}
