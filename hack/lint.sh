#!/usr/bin/env bash
# Runs golangci-lint, with the settings in hack/golangci.yaml, over every module of the repository that has Go code.
#
#   hack/lint.sh [PACKAGE...]
#
# Packages are patterns such as ./pkg/batch/..., of the main module; without any, all modules are looked at. The linter is
# built from source by the go command, once for each version of it and of Go, and kept in a cache folder: about three
# minutes the first time.
set -o errexit -o nounset -o pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

version=v2.15.0
cache="${MUSTER_TOOLS:-${XDG_CACHE_HOME:-${HOME}/.cache}/muster-tools}"
# A linter built by an older Go refuses code for a newer one.
folder="${cache}/golangci-lint-${version}-$(go env GOVERSION)"
linter="${folder}/golangci-lint"
settings="${PWD}/hack/golangci.yaml"

if [[ ! -x "${linter}" ]]; then
  echo "lint: building golangci-lint ${version} into ${folder}"
  # Outside of any module, so that go.mod has no say.
  (cd / && GOBIN="${folder}" GOFLAGS= GOWORK=off go install "github.com/golangci/golangci-lint/v2/cmd/golangci-lint@${version}")
fi

if (($#)); then
  echo "lint: $*"
  exec "${linter}" run --allow-parallel-runners --config "${settings}" "$@"
fi

failed=0
while IFS= read -r -d '' gomod; do
  module="$(dirname "${gomod}")"
  # hack/tools only pins versions.
  if [[ -z "$(git ls-files --cached --others --exclude-standard -- "${module}/*.go")" ]]; then
    continue
  fi
  echo "lint: module $(cd "${module}" && go list -m)"
  (cd "${module}" && "${linter}" run --allow-parallel-runners --config "${settings}" ./... < /dev/null) || failed=1
done < <(git ls-files -z --cached --others --exclude-standard -- go.mod '*/go.mod')
exit "${failed}"
