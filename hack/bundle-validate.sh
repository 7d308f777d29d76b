#!/usr/bin/env bash
# SPDX-FileCopyrightText: The platformapp authors
# SPDX-License-Identifier: Apache-2.0

# make bundle-validate. What operator-sdk finds in the bundle of a folder, its suite for Operator Framework included, and
# whether opm can put it into a catalog. A warning fails too, unless it is tolerated here with a reason. It needs the
# programs OPERATOR_SDK and OPM.
set -uo pipefail
cd "$(dirname "$0")/.." || exit

bundle=${1:-bundle}
# The newest Kubernetes that the bundle is validated for.
kubernetes=1.37

# operator-sdk 1.42 takes the right to write events for one to their former API, though a rule has no version.
# https://github.com/operator-framework/api/issues/378
tolerated='removed in v1\.25\. .* Migrate the API\(s\) for events: \([^)]*\)$'

[ -d "$bundle/manifests" ] || { echo "$bundle is no folder of a bundle: it has no manifests/" >&2; exit 1; }

status=0
found=$("$OPERATOR_SDK" bundle validate "$bundle" --select-optional suite=operatorframework \
  --optional-values=k8s-version=$kubernetes --output json-alpha1) || status=1
problems=$(sed -n 's/^ *"message": "\(.*\)".*$/\1/p' <<<"$found" | grep -vE "$tolerated" | sort -u)
[ -z "$problems" ] || { echo "operator-sdk finds in $bundle:"; echo "$problems"; status=1; }
grep -q '"passed": true' <<<"$found" || { echo "$found"; status=1; }

# A catalog of this bundle alone.
in_catalog() {
  local catalog=$1 name
  name=$(sed -n 's/^  name: \(platformapp\.v.*\)$/\1/p' "$bundle/manifests/platformapp.clusterserviceversion.yaml")
  {
    printf 'schema: olm.package\nname: platformapp\ndefaultChannel: stable\n---\n'
    "$OPM" render "$bundle" --output yaml || return
    printf -- '---\nschema: olm.channel\npackage: platformapp\nname: stable\nentries:\n- name: %s\n' "$name"
  } >"$catalog/catalog.yaml"
  "$OPM" validate "$catalog"
}
catalog=$(mktemp -d) || exit
trap 'rm -rf "$catalog"' EXIT
in_catalog "$catalog" || { echo "opm makes no catalog of $bundle"; status=1; }

[ $status -eq 0 ] && echo "$bundle is valid"
exit $status
