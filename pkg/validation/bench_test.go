package validation_test

import (
	"testing"

	"github.com/musterkube/muster/pkg/features"
	"github.com/musterkube/muster/pkg/validation"
)

func BenchmarkValidateWorkload(b *testing.B) {
	workload := fullWorkload()
	b.ReportAllocs()
	for b.Loop() {
		if faults := validation.ValidateWorkload(workload, features.Gates{}); len(faults) > 0 {
			b.Fatal(faults)
		}
	}
}

func BenchmarkValidatePodGroup(b *testing.B) {
	group := fullPodGroup()
	b.ReportAllocs()
	for b.Loop() {
		if faults := validation.ValidatePodGroup(group, features.Gates{}); len(faults) > 0 {
			b.Fatal(faults)
		}
	}
}

func BenchmarkValidatePodGroupStatusUpdate(b *testing.B) {
	group, old := fullPodGroup(), fullPodGroup()
	old.Status.Conditions = nil
	b.ReportAllocs()
	for b.Loop() {
		if faults := validation.ValidatePodGroupStatusUpdate(group, old, features.Gates{}); len(faults) > 0 {
			b.Fatal(faults)
		}
	}
}
