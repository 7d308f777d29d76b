#!/usr/bin/env bash
# SPDX-FileCopyrightText: The platformapp authors
# SPDX-License-Identifier: Apache-2.0

# make test-run-bundle. Installs BUNDLE_IMG into the cluster of KUBECONFIG, which has OLM, by operator-sdk run bundle;
# makes the samples Ready; runs the scorecard; upgrades to NEXT_BUNDLE_IMG, which must restart no pod of an application;
# and removes it all by operator-sdk cleanup, after which nothing of it may be left. RUN_BUNDLE_FLAGS is for
# operator-sdk run bundle, and for run bundle-upgrade unless RUN_BUNDLE_UPGRADE_FLAGS is set: it knows fewer flags.
set -euo pipefail
cd "$(dirname "$0")/.."

: "${BUNDLE_IMG:?the image of the bundle}" "${NEXT_BUNDLE_IMG:?the image of the next version\'s bundle}"
sdk=${OPERATOR_SDK:-operator-sdk} kubectl=${KUBECTL:-kubectl}
namespace=platformapp-system applications=platformapp-run-bundle
read -ra flags <<<"${RUN_BUNDLE_FLAGS:-}"
read -ra upgrade_flags <<<"${RUN_BUNDLE_UPGRADE_FLAGS-${RUN_BUNDLE_FLAGS:-}}"

step() { printf '\n== %s\n' "$*"; }

# What the cluster knows of a failure goes with the cluster.
tell() {
  local status=$?
  [ $status = 0 ] && return
  step "failed; what the cluster says"
  "$kubectl" get csv,installplans,subscriptions,catalogsources,operatorgroups,pods,jobs --all-namespaces || true
  "$kubectl" get events --all-namespaces --sort-by=.lastTimestamp | tail -n 40 || true
  "$kubectl" describe csv --namespace "$namespace" || true
  "$kubectl" logs --namespace "$namespace" --selector control-plane=controller-manager --tail 100 || true
  "$kubectl" get egapps,demomicroservices --namespace "$applications" --output yaml || true
  exit $status
}
trap tell EXIT

# pods prints each pod of the applications and how often its containers were restarted.
pods() {
  "$kubectl" get pods --namespace "$applications" --sort-by .metadata.name --output \
    jsonpath='{range .items[*]}{.metadata.name} {.metadata.uid} {.status.containerStatuses[*].restartCount}{"\n"}{end}'
}

# run bundle|bundle-upgrade IMAGE [FLAG...]
run() {
  "$sdk" run "$@" --namespace "$namespace" --timeout 10m --security-context-config restricted
  "$kubectl" rollout status deployment --namespace "$namespace" --selector control-plane=controller-manager --timeout 5m
}

ready() {
  "$kubectl" wait egapps,demomicroservices --all --namespace "$applications" --for condition=Ready --timeout 5m
}

# left prints what is left of the operator's installation. That the cluster does not answer is no proof that nothing is.
left() {
  local all
  all=$("$kubectl" get crds,clusterroles,clusterrolebindings,csv,subscriptions,catalogsources --namespace "$namespace" --output name) || return
  grep -E 'egapps|demomicroservices|platformapp' <<<"$all" || true
}

step "install $BUNDLE_IMG"
"$kubectl" create namespace "$namespace"
run bundle "$BUNDLE_IMG" "${flags[@]}"

step "the samples become Ready"
"$kubectl" create namespace "$applications"
"$kubectl" apply --namespace "$applications" --kustomize config/samples
ready
before=$(pods)
echo "$before"

step "scorecard"
make --no-print-directory scorecard

step "upgrade to $NEXT_BUNDLE_IMG"
run bundle-upgrade "$NEXT_BUNDLE_IMG" "${upgrade_flags[@]}"
ready
after=$(pods)
diff <(echo "$before") <(echo "$after") || { echo "the upgrade restarted pods"; exit 1; }
echo "no pod was restarted"

step "clean up"
"$kubectl" delete egapps,demomicroservices --all --namespace "$applications" --timeout 2m
"$kubectl" wait pods --all --namespace "$applications" --for delete --timeout 5m
"$sdk" cleanup platformapp --namespace "$namespace" --timeout 5m
# OLM leaves the ClusterRoles that the bundle holds, see docs/uninstall.md.
"$kubectl" delete clusterroles --selector app.kubernetes.io/name=platformapp
# Garbage collection takes a moment.
for _ in {1..60}; do
  left=$(left)
  [ -n "$left" ] || break
  sleep 1
done
[ -z "$left" ] || { printf 'left after the clean-up:\n%s\n' "$left"; exit 1; }
"$kubectl" delete namespace "$namespace" "$applications"
