#!/usr/bin/env bash
# SPDX-FileCopyrightText: The platformapp authors
# SPDX-License-Identifier: Apache-2.0

# hack/image/stage.sh PACKAGE PROGRAM DIR makes what an image of ours holds: the program DIR/PROGRAM for GOOS and GOARCH,
# and the licences of all that is linked into it in DIR/licenses. The Dockerfiles and make image both call it, so that
# the program is the same, byte for byte, with a container engine and without; the release is VERSION.
set -euo pipefail
package=$1 program=$2 dir=$3
cd "$(dirname "$0")/../.."

export CGO_ENABLED=0 GOWORK=off GOFLAGS=-mod=readonly
# -trimpath and -buildvcs=false: the same wherever the sources are, with git or without.
go build -trimpath -buildvcs=false -ldflags="-s -w -X main.version=${VERSION:-devel}" -o "$dir/$program" "$package"

rm -rf "$dir/licenses"
# What is linked depends on the platform; the command itself runs on this one.
go list -deps -json=Dir,Module,Standard "$package" | GOOS='' GOARCH='' go run ./hack/image/licenses "$dir/licenses"
