#!/usr/bin/env bash
# Fails when a machine-written file differs from what hack/update-codegen.sh makes of the hand-written ones, when one is
# missing or too many, or when one is not tracked by git. It generates into a temporary folder: the working tree stays as
# it is.
set -o errexit -o nounset -o pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

fresh="$(mktemp -d)"
trap 'rm -rf "${fresh}"' EXIT
hack/update-codegen.sh "${fresh}"

failed=0
for folder in apis generated; do
  if ! diff --recursive --new-file --unified "${folder}" "${fresh}/${folder}"; then
    failed=1
  fi
done
if ((failed)); then
  echo "verify-codegen: machine-written files are out of date, see above: run hack/update-codegen.sh" >&2
fi

untracked="$(git ls-files --others --exclude-standard -- apis generated hack)"
if [[ -n "${untracked}" ]]; then
  printf 'verify-codegen: git does not track:\n%s\n' "${untracked}" >&2
  failed=1
fi
exit "${failed}"
