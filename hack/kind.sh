#!/usr/bin/env bash
# SPDX-FileCopyrightText: The platformapp authors
# SPDX-License-Identifier: Apache-2.0

# hack/kind.sh up | down: a kind cluster with a registry that the machine and the nodes reach by the same name,
# localhost:5001, see https://kind.sigs.k8s.io/docs/user/local-registry. It needs docker, and bin/kind, which make
# kind-up builds. OLM and operator-sdk pull the bundle from a registry: loading images into the nodes is not enough.
# up goes on from what is there already, so that it can be run again after it has failed.
set -euo pipefail
cd "$(dirname "$0")/.."

cluster=platformapp
registry=platformapp-registry
address=localhost:5001
image=registry:3.0.0@sha256:6c5666b861f3505b116bb9aa9b25175e71210414bd010d92035ff64018f9457e

up() {
  # Starting what runs already is no error.
  docker start "$registry" 2>/dev/null ||
    docker run --detach --name "$registry" --publish "127.0.0.1:${address#*:}:5000" "$image"
  local clusters networks
  clusters=$(bin/kind get clusters)
  grep -qxF "$cluster" <<<"$clusters" || bin/kind create cluster --name "$cluster" --wait 5m
  networks=$(docker inspect --format '{{range $name, $_ := .NetworkSettings.Networks}}{{println $name}}{{end}}' "$registry")
  grep -qxF kind <<<"$networks" || docker network connect kind "$registry"
  # In a node localhost is the node.
  local node folder=/etc/containerd/certs.d/$address
  for node in $(bin/kind get nodes --name "$cluster"); do
    docker exec "$node" mkdir -p "$folder"
    docker exec --interactive "$node" cp /dev/stdin "$folder/hosts.toml" <<<"[host.\"http://$registry:5000\"]"
  done
}

down() {
  bin/kind delete cluster --name "$cluster"
  docker rm --force "$registry"
}

case "${1-}" in
  up | down) "$1" ;;
  *) echo "usage: hack/kind.sh up | down" >&2; exit 1 ;;
esac
