# SPDX-FileCopyrightText: The platformapp authors
# SPDX-License-Identifier: Apache-2.0

# The builder runs on the platform of the machine and cross-compiles: no emulation for other architectures.
FROM --platform=$BUILDPLATFORM golang:1.26 AS builder
ARG TARGETOS
ARG TARGETARCH

WORKDIR /workspace
# The modules in a layer of their own: a change of the source alone does not download them again.
COPY go.mod go.sum ./
RUN go mod download

COPY *.go ./
COPY api/ api/
COPY controllers/ controllers/
COPY internal/ internal/
# Empty GOOS and GOARCH, as without BuildKit, mean the builder's own.
RUN CGO_ENABLED=0 GOOS=${TARGETOS:-} GOARCH=${TARGETARCH:-} go build -trimpath -buildvcs=false -ldflags="-s -w" -o manager .

FROM gcr.io/distroless/static:nonroot
COPY LICENSE /licenses/LICENSE
COPY --from=builder /workspace/manager /manager
USER 65532:65532
ENTRYPOINT ["/manager"]
