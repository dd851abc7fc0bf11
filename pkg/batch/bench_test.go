package batch_test

import (
	"math/rand/v2"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/musterkube/muster/pkg/batch"
)

func BenchmarkValidate(b *testing.B) {
	job := makeJob(indexed(8))
	b.ReportAllocs()
	for b.Loop() {
		if errs := batch.Validate(job, batch.Options{}); len(errs) > 0 {
			b.Fatal(errs)
		}
	}
}

func BenchmarkValidateStatusUpdate(b *testing.B) {
	old := makeJob(indexed(100_000))
	old.ResourceVersion = "5"
	old.Status = batchv1.JobStatus{StartTime: at(10), Active: 8, CompletedIndexes: everyThird(100_000).String()}
	job := old.DeepCopy()
	job.Status.CompletedIndexes += ",99999"
	b.ReportAllocs()
	for b.Loop() {
		if errs := batch.ValidateStatusUpdate(job, old); len(errs) > 0 {
			b.Fatal(errs)
		}
	}
}

func BenchmarkSetDefaults(b *testing.B) {
	template := corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Image: "busybox"}}}
	b.ReportAllocs()
	for b.Loop() {
		job := &batchv1.Job{}
		job.Spec.Template.Spec = template
		batch.SetDefaults(job)
	}
}

// everyThird is a set with as many gaps as it has indexes.
func everyThird(limit int) batch.IndexSet {
	var set batch.IndexSet
	for index := 0; index < limit-1; index += 3 {
		set.Add(index)
	}
	return set
}

func BenchmarkIndexSet(b *testing.B) {
	const limit = 100_000
	gaps := everyThird(limit)
	text := gaps.String()
	shuffled := rand.New(rand.NewPCG(1, 2)).Perm(limit)
	b.Run("add 100000 in order", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			var set batch.IndexSet
			for index := range limit {
				set.Add(index)
			}
		}
	})
	b.Run("make of 100000 in any order", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			batch.IndexSetOf(shuffled...)
		}
	})
	b.Run("add 100000 in any order", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			var set batch.IndexSet
			for _, index := range shuffled {
				set.Add(index)
			}
		}
	})
	b.Run("has, of 33333 runs", func(b *testing.B) {
		b.ReportAllocs()
		index := 0
		for b.Loop() {
			index = (index + 7919) % limit
			gaps.Has(index)
		}
	})
	b.Run("union of 33333 runs with 500", func(b *testing.B) {
		some := batch.IndexSetOf(shuffled[:500]...)
		b.ReportAllocs()
		for b.Loop() {
			gaps.Union(some)
		}
	})
	b.Run("parse 33333 runs", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := batch.ParseIndexSet(text, limit); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("print 33333 runs", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			_ = gaps.String()
		}
	})
}
