#!/usr/bin/env bash
# SPDX-FileCopyrightText: The platformapp authors
# SPDX-License-Identifier: Apache-2.0

# make verify. Runs every check, also after one has failed, and ends with the names of those that failed.
# It needs the tools in bin/, which make builds first.
set -uo pipefail
cd "$(dirname "$0")/.." || exit
# The make that called this is no parent of the makes below.
unset MAKEFLAGS MFLAGS MAKELEVEL

failed=()
check() {
  local name=$1
  shift
  printf '\n== %s\n' "$name"
  "$@" || failed+=("$name")
}

# files lists what git keeps or would keep.
files() {
  git ls-files -z --cached --others --exclude-standard "$@"
}

# snapshot prints checksum, size and name of each of them: a tree that is dirty already can be compared too.
snapshot() {
  files | xargs -0 cksum 2>/dev/null | sort
}

# unchanged compares the tree with a former snapshot.
unchanged() {
  local changed
  changed=$(diff <(echo "$1") <(snapshot) | sed -n 's/^[<>] [0-9]* [0-9]* /  /p' | sort -u)
  [ -z "$changed" ] || { printf '%s:\n%s\n' "$2" "$changed"; return 1; }
}

generated() {
  local before
  before=$(snapshot)
  # Not the bundle: operator-sdk makes it, which no module proxy serves. The tests in test/bundle compare it with config/.
  make --no-print-directory generate manifests catalog || return
  unchanged "$before" "stale, now written anew; commit them"
}

modules() {
  local status=0 dir
  for dir in . tools/*/; do
    (cd "$dir" && GOWORK=off go mod tidy -diff) || { echo "go mod tidy would change $dir"; status=1; }
  done
  return $status
}

# Generated files, golden files and what a tool owns have no header.
licences() {
  local status=0 file
  while IFS= read -r -d '' file; do
    case $file in
      */testdata/* | config/crd/bases/* | config/rbac/role.yaml | config/webhook/manifests.yaml | bundle/* | catalog/*) continue ;;
    esac
    [ -f "$file" ] || continue
    if [ "$(head -n 5 "$file" | grep -cE 'SPDX-(FileCopyrightText: The platformapp authors|License-Identifier: Apache-2.0)$')" != 2 ]; then
      echo "$file: the two SPDX lines are missing, see hack/boilerplate.go.txt"
      status=1
    fi
  done < <(files '*.go' '*.sh' '*.yaml' '*.yml' Makefile '*Dockerfile' .ci/run)
  return $status
}

kustomizations() {
  local status=0 dir
  for dir in config/*/; do
    [ -f "$dir/kustomization.yaml" ] || continue
    bin/kustomize build "$dir" >/dev/null || status=1
  done
  return $status
}

git rev-parse --is-inside-work-tree >/dev/null || exit
start=$(snapshot)

check "generated files" generated
check "go.mod files" modules
check "licence headers" licences
check "kustomizations" kustomizations
check "compatible CRDs" hack/crdify.sh
check "workflows" bin/actionlint
check "go vet" go vet ./...
check "linters" bin/golangci-lint run ./...
check "vulnerabilities" go run ./hack/vulncheck
check "clean tree" unchanged "$start" "changed by these checks"

if [ ${#failed[@]} -gt 0 ]; then
  printf '\nverify failed: %s\n' "$(IFS=,; echo "${failed[*]}")" >&2
  exit 1
fi
printf '\nverify passed\n'
