#!/usr/bin/env bash
# SPDX-FileCopyrightText: The platformapp authors
# SPDX-License-Identifier: Apache-2.0

# make operator-sdk. Sees to it that bin/operator-sdk is of the version that is given: the one in PATH if it is, else the
# one on the release page of the project, whose checksum is here.
set -euo pipefail
cd "$(dirname "$0")/.."

version=$1
is_of_version() {
  [ -x "$1" ] && "$1" version 2>/dev/null | grep -qF "\"$version\""
}

program=bin/operator-sdk
is_of_version $program && exit
mkdir -p bin
if in_path=$(command -v operator-sdk) && is_of_version "$in_path"; then
  ln -sf "$in_path" $program
  exit
fi

os=$(uname -s | tr '[:upper:]' '[:lower:]')
arch=$(uname -m)
case $arch in
  x86_64) arch=amd64 ;;
  aarch64) arch=arm64 ;;
esac
case $version-$os-$arch in
  v1.42.3-linux-amd64) checksum=887a3bb0d63ccc4ca47a522d0c8ffac56d9d5246f6a2bd886b4ed23eb2e2672f ;;
  v1.42.3-linux-arm64) checksum=6db93cd821b429f0bb514cea4bbb5553827d273fc8aa211f13e14798599d31cd ;;
  v1.42.3-darwin-amd64) checksum=7cb0f24bb63b6383a117291ee4c808953c5dd789d5877da98051aa68b41f40ac ;;
  v1.42.3-darwin-arm64) checksum=098ae8b9dbe7dfd557e8e7ed0f1996736922dd4b984621df2aa033f225cae161 ;;
  *)
    echo "no checksum of operator-sdk $version for $os/$arch is known here: install it in PATH" >&2
    exit 1
    ;;
esac
trap 'rm -f $program.part' EXIT
echo "getting operator-sdk $version for $os/$arch (once)"
curl --fail --silent --show-error --location --output $program.part \
  "https://github.com/operator-framework/operator-sdk/releases/download/$version/operator-sdk_${os}_$arch"
echo "$checksum  $program.part" | if command -v sha256sum >/dev/null; then sha256sum --check --quiet; else shasum -a 256 --check --quiet; fi
chmod +x $program.part
mv $program.part $program
