# SPDX-FileCopyrightText: The platformapp authors
# SPDX-License-Identifier: Apache-2.0

# The image of the manager: make docker-build, or make image, which builds the last stage with no container engine.

# The newest patch release of Go. Who builds a released image again names the one that it was built with.
ARG GO_VERSION=1.26

# The builder runs on the platform of the machine and cross-compiles: no emulation for other architectures.
FROM --platform=$BUILDPLATFORM golang:${GO_VERSION} AS builder
ARG TARGETOS
ARG TARGETARCH
ARG VERSION=devel

WORKDIR /workspace
# The modules in a layer of their own: a change of the source alone does not download them again.
COPY go.mod go.sum ./
RUN go mod download

COPY LICENSE *.go ./
COPY hack/image/ hack/image/
COPY api/ api/
COPY controllers/ controllers/
COPY internal/ internal/
# Empty GOOS and GOARCH, as without BuildKit, mean the builder's own.
RUN GOOS=${TARGETOS:-} GOARCH=${TARGETARCH:-} VERSION=${VERSION} hack/image/stage.sh . manager /out

FROM gcr.io/distroless/static:nonroot@sha256:1c2c046bc09ed40fad370b599a0b1ae7987f55b01e247cf27a7c27cd97e5bbc7
ARG VERSION=devel
ARG REVISION=unknown

LABEL name="platformapp" \
      vendor="The platformapp authors" \
      maintainer="platformapp@evillgenius.com" \
      version="${VERSION}" \
      release="1" \
      summary="Turns a small declaration into a production-grade running application" \
      description="The manager of the Kubernetes operator platformapp, which serves the kinds EGApp and DemoMicroService." \
      org.opencontainers.image.title="platformapp" \
      org.opencontainers.image.description="The manager of the Kubernetes operator platformapp, which serves the kinds EGApp and DemoMicroService." \
      org.opencontainers.image.vendor="The platformapp authors" \
      org.opencontainers.image.licenses="Apache-2.0" \
      org.opencontainers.image.url="https://github.com/evillgenius/platformapp" \
      org.opencontainers.image.source="https://github.com/evillgenius/platformapp" \
      org.opencontainers.image.documentation="https://github.com/evillgenius/platformapp/tree/main/docs" \
      org.opencontainers.image.version="${VERSION}" \
      org.opencontainers.image.revision="${REVISION}"

COPY --from=builder /out/licenses /licenses
COPY --from=builder /out/manager /manager
USER 65532:65532
ENTRYPOINT ["/manager"]
