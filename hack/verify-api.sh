#!/usr/bin/env bash
# Runs kube-api-linter, with the settings in hack/kube-api-linter.yaml, over the API types: whether they keep to the API
# conventions of Kubernetes. The linter is built from source by the go command, once for each version of it and of Go, and
# kept in a cache folder: some minutes the first time.
set -o errexit -o nounset -o pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

version=v0.0.0-20260716143926-092fe0c72997
cache="${MUSTER_TOOLS:-${XDG_CACHE_HOME:-${HOME}/.cache}/muster-tools}"
folder="${cache}/kube-api-linter-${version}-$(go env GOVERSION)"
linter="${folder}/golangci-lint-kube-api-linter"

if [[ ! -x "${linter}" ]]; then
  echo "verify-api: building kube-api-linter ${version} into ${folder}"
  # Outside of any module, so that go.mod has no say.
  (cd / && GOBIN="${folder}" GOFLAGS= GOWORK=off go install "sigs.k8s.io/kube-api-linter/cmd/golangci-lint-kube-api-linter@${version}")
fi

exec "${linter}" run --allow-parallel-runners --config hack/kube-api-linter.yaml ./apis/...
