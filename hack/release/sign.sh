#!/usr/bin/env bash
# SPDX-FileCopyrightText: The platformapp authors
# SPDX-License-Identifier: Apache-2.0

# hack/release/sign.sh IMAGE, by make release-sign: signs each image of dist/digests.txt, attaches the SBOMs to IMAGE,
# the manager's, and puts the files of the release with their signed checksums into dist/release. COSIGN_FLAGS is for
# cosign: in a workflow it needs none and signs as the workflow.
set -euo pipefail
cd "$(dirname "$0")/../.."

cosign=${COSIGN:-cosign}
read -ra flags <<<"${COSIGN_FLAGS:-}"
manager=$(grep -F "$1@" dist/digests.txt) || { echo "dist/digests.txt does not have $1: make release-build" >&2; exit 1; }
# Of the version of IMAGE alone: dist may hold those of others.
shopt -s nullglob
sboms=(dist/platformapp-"${1##*:}"-linux-*.cdx.json)
[ ${#sboms[@]} -gt 0 ] || { echo "dist has no SBOM of $1: make sbom" >&2; exit 1; }

mapfile -t images <dist/digests.txt
for image in "${images[@]}"; do
  "$cosign" sign --yes "${flags[@]}" "$image"
done
for sbom in "${sboms[@]}"; do
  "$cosign" attest --yes "${flags[@]}" --type cyclonedx --predicate "$sbom" "$manager"
done

rm -rf dist/release
mkdir dist/release
cp dist/install.yaml "${sboms[@]}" dist/digests.txt catalog/platformapp/catalog.yaml dist/release/
cd dist/release
sha256sum -- * >checksums.txt
"$cosign" sign-blob --yes "${flags[@]}" --bundle checksums.txt.sigstore.json checksums.txt
