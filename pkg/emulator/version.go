package emulator

import (
	"fmt"
	"runtime"

	apimachineryversion "k8s.io/apimachinery/pkg/version"
	"k8s.io/component-base/compatibility"
)

const (
	// kubernetesVersion is the release that the server behaves as.
	kubernetesVersion = "1.36.3"
	kubernetesMajor   = "1"
	kubernetesMinor   = "36"
)

// effectiveVersion tells the libraries which release they serve, and clients what /version says. The libraries' own
// answer would be the version of the Go modules, or of the program that embeds the server.
type effectiveVersion struct {
	compatibility.EffectiveVersion
}

func newEffectiveVersion() effectiveVersion {
	return effectiveVersion{EffectiveVersion: compatibility.NewEffectiveVersionFromString(kubernetesVersion, "", "")}
}

// Info is what GET /version answers. No commit and no build date: there is none that would be true.
func (effectiveVersion) Info() *apimachineryversion.Info {
	return &apimachineryversion.Info{
		Major:                 kubernetesMajor,
		Minor:                 kubernetesMinor,
		EmulationMajor:        kubernetesMajor,
		EmulationMinor:        kubernetesMinor,
		MinCompatibilityMajor: kubernetesMajor,
		MinCompatibilityMinor: "35",
		GitVersion:            "v" + kubernetesVersion,
		GitTreeState:          "clean",
		GoVersion:             runtime.Version(),
		Compiler:              runtime.Compiler,
		Platform:              fmt.Sprintf("%s/%s", runtime.GOOS, runtime.GOARCH),
	}
}
