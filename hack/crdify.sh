#!/usr/bin/env bash
# SPDX-FileCopyrightText: The platformapp authors
# SPDX-License-Identifier: Apache-2.0

# Fails when a CRD has a change that OLM would refuse to upgrade to. The CRDs are compared with those of the newest
# release that is part of this history (a tag such as v1.2.3), and until there is one with those of the branch main.
# Before the first release an intended change passes with CRD_CHANGE=intended in the environment; after it, none does.
# It needs bin/crdify, which make builds.
set -uo pipefail
cd "$(dirname "$0")/.."

bases=config/crd/bases
release=$(git tag --list 'v[0-9]*.[0-9]*.[0-9]*' --merged HEAD --sort=-v:refname | head -n 1)
if [ -n "$release" ]; then
  base=$release
else
  base=$(git rev-parse --verify --quiet 'main^{commit}' || git rev-parse --verify --quiet 'origin/main^{commit}')
fi
# A clone of one branch and one commit has neither.
[ -n "$base" ] || { echo "neither a release nor the branch main is in this clone: nothing to compare with"; exit 0; }

old=$(mktemp -d) || exit
trap 'rm -rf "$old"' EXIT
status=0
while IFS= read -r file; do
  git show "$base:$file" >"$old/crd.yaml" || exit
  if [ ! -f "$file" ]; then
    echo "$file: the CRD is gone"
    status=1
    continue
  fi
  # Each check that passes has a line too; they are left out.
  report=$(bin/crdify --config hack/crdify.yaml "file://$old/crd.yaml" "file://$PWD/$file" 2>&1) && continue
  status=1
  printf '%s:\n%s\n' "$file" "$(grep -v '✓' <<<"$report" | grep -v '^$')"
done < <(git ls-tree --name-only "$base" "$bases/")

[ $status -eq 0 ] && { echo "compatible with ${release:-main}"; exit 0; }
if [ -n "$release" ]; then
  echo "OLM would refuse to upgrade from $release: a release keeps what the CRDs of the one before it promised" >&2
elif [ "${CRD_CHANGE:-}" = intended ]; then
  echo "not compatible with main, and intended: there is no release yet"
  status=0
else
  echo "not compatible with main; if that is intended, CRD_CHANGE=intended passes it until the first release" >&2
fi
exit $status
