#!/usr/bin/env bash
# SPDX-FileCopyrightText: The platformapp authors
# SPDX-License-Identifier: Apache-2.0

# Fails when a CRD has a change that OLM would refuse to upgrade to. The CRDs are compared with those of every released
# version, which test/corpus keeps: OLM upgrades from any of them. Until there is one they are compared with those of the
# branch main, and an intended change passes with CRD_CHANGE=intended in the environment; after it, none does.
# It needs bin/crdify, which make builds.
set -uo pipefail
cd "$(dirname "$0")/.." || exit

bases=config/crd/bases
status=0

# compare tells what of the CRDs in the folder $1, those of $2, OLM would not upgrade.
compare() {
  local file name report
  for file in "$1"/*.yaml; do
    name=$bases/$(basename "$file")
    if [ ! -f "$name" ]; then
      echo "$name: the CRD is gone, and $2 has it"
      status=1
      continue
    fi
    # Each check that passes has a line too; they are left out.
    report=$(bin/crdify --config hack/crdify.yaml "file://$(realpath "$file")" "file://$PWD/$name" 2>&1) && continue
    status=1
    printf '%s, compared with %s:\n%s\n' "$name" "$2" "$(grep -v '✓' <<<"$report" | grep -v '^$')"
  done
}

versions=$(find test/corpus -path 'test/corpus/[0-9]*/crds' 2>/dev/null | cut -d / -f 3 | sort -V)
if [ -n "$versions" ]; then
  for version in $versions; do
    compare "test/corpus/$version/crds" "$version"
  done
  [ $status -eq 0 ] && { echo "compatible with ${versions//$'\n'/ }"; exit 0; }
  echo "OLM would refuse to upgrade: a version keeps what the CRDs of those before it promised" >&2
  exit $status
fi

base=$(git rev-parse --verify --quiet 'main^{commit}' || git rev-parse --verify --quiet 'origin/main^{commit}')
# A clone of one branch and one commit has no main.
[ -n "$base" ] || { echo "there is neither a release nor the branch main in this clone: nothing to compare with"; exit 0; }
old=$(mktemp -d) || exit
trap 'rm -rf "$old"' EXIT
while IFS= read -r file; do
  git show "$base:$file" >"$old/$(basename "$file")" || exit
done < <(git ls-tree --name-only "$base" "$bases/")
compare "$old" main

[ $status -eq 0 ] && { echo "compatible with main"; exit 0; }
if [ "${CRD_CHANGE:-}" = intended ]; then
  echo "not compatible with main, and intended: there is no release yet"
  exit 0
fi
echo "not compatible with main; if that is intended, CRD_CHANGE=intended passes it until the first release" >&2
exit $status
