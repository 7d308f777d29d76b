# SPDX-FileCopyrightText: The platformapp authors
# SPDX-License-Identifier: Apache-2.0

# The version that is being made, and the one before it in its channel, if there is one: make bundle keeps them in config/.
VERSION ?= 0.1.0
REPLACES ?=
# The oldest version that OLM may upgrade straight to this one. It moves on to a version that none may pass over, such as one
# that changes how objects are stored; test/corpus proves that there is no such version yet.
UPGRADES_FROM ?= 0.1.0-0
CHANNELS ?= stable
DEFAULT_CHANNEL ?= stable
# What the names of all images begin with.
IMAGE_TAG_BASE ?= quay.io/evillgenius/platformapp
# The image of the manager: make docker-build deploy IMG=registry.example.com/platformapp:v0.1.0
IMG ?= $(IMAGE_TAG_BASE):v$(VERSION)
BUNDLE_IMG ?= $(IMAGE_TAG_BASE)-bundle:v$(VERSION)
CATALOG_IMG ?= $(IMAGE_TAG_BASE)-catalog:v$(VERSION)
# The image of the scorecard tests.
SCORECARD_IMG ?= $(IMAGE_TAG_BASE)-scorecard:v$(VERSION)
# All images of a version.
RELEASED = $(IMG) $(SCORECARD_IMG) $(BUNDLE_IMG) $(CATALOG_IMG)
version-parts = $(subst ., ,$(VERSION))
# The version after this one, for tests of the upgrade, and what has make bundle make it beside this one: the next patch
# version, or of a candidate the version that it is one of.
NEXT_VERSION ?= $(if $(findstring -,$(VERSION)),$(firstword $(subst -, ,$(VERSION))),$(word 1,$(version-parts)).$(word 2,$(version-parts)).$(shell expr $(word 3,$(version-parts)) + 1))
NEXT = VERSION=$(NEXT_VERSION) REPLACES=$(VERSION) BUNDLE_DIR=bin/next/bundle CATALOG_CONTEXT=bin/catalog
# Where make bundle writes to. Any other folder leaves the checkout alone, such as that of a version to come:
# make bundle VERSION=0.1.1 REPLACES=0.1.0 BUNDLE_DIR=/tmp/next/bundle
BUNDLE_DIR ?= bundle
# true has the bundle name images by their digests, which their registries are asked for: the images are pushed before. It
# is for a bundle of your own in a disconnected cluster; releases name tags. See docs/install.md.
USE_IMAGE_DIGESTS ?= false
OPERATOR_SDK_VERSION ?= v1.42.3
# The OLM that olm-install installs.
OLM_VERSION ?= 0.46.0
# The bundles that catalog-join makes a catalog of, the oldest first, and the folder that the catalog's image is built in:
# bin/catalog is where catalog-join leaves its catalog.
BUNDLE_DIRS ?= bundle
CATALOG_CONTEXT ?= .
# Where the scorecard runs: a namespace that the operator watches and that does not enforce Pod Security "restricted".
SCORECARD_NAMESPACE ?= platformapp-scorecard
# More flags of operator-sdk scorecard, such as SCORECARD_FLAGS="--selector=suite=platformapp --output=xunit".
SCORECARD_FLAGS ?=
# What the images are built for.
PLATFORMS ?= linux/amd64,linux/arm64
# Builds and pushes images with no container engine. It takes docker's arguments, so it can be the CONTAINER_TOOL of
# bundle-build, bundle-push, catalog-build and catalog-push.
IMAGE_TOOL := go run ./hack/image
# For image and scorecard-image: IMAGE_FLAGS="-base minimal" where no registry can be reached. The catalog needs its base.
IMAGE_FLAGS ?=
# The times in an image and the commit that it tells are those of the commit: who builds it again gets the same.
export SOURCE_DATE_EPOCH ?= $(shell git log -1 --format=%ct 2>/dev/null)
REVISION ?= $(shell git rev-parse HEAD 2>/dev/null)
# Signs a release: cosign of version 3.
COSIGN ?= cosign
# docker, podman or anything that takes the same arguments.
CONTAINER_TOOL ?= docker
# Whatever KUBECONFIG names is what run, install, deploy and their opposites talk to.
KUBECTL ?= $(or $(wildcard bin/kubectl),kubectl)
# Flags of the manager for make run, such as ARGS="--zap-log-level=debug".
ARGS ?=
# What deploy and undeploy take of config/: default, or default-certmanager, which adds the webhook.
DEPLOY ?= default
# More flags for go test, such as TEST_FLAGS="-race -run TestEGApp".
TEST_FLAGS ?=
# How many packages are tested at a time. Several of them run a control plane of their own.
TEST_PARALLEL ?= 2
TEST_TIMEOUT ?= 15m
# How much is measured: make bench BENCH_FLAGS="-n 100 -rounds 1" is a quick look, "-scale 10000" the whole.
BENCH_FLAGS ?=
# Where the figures and the plots of make bench go.
BENCH_OUT ?= docs/performance
# For each package that test-fault runs.
TEST_FAULT_TIMEOUT ?= 2h
# What test-olm is given, see test/olm/doc.go.
export OLM_BIN OLM_CATALOG OLM_CATALOG_NEXT
# For uninstall and undeploy: true does not mind what is gone already.
ignore-not-found ?= false

# The tools are built from the module files in tools/, which pin and checksum them, into the git-ignored bin/.
CONTROLLER_GEN := bin/controller-gen
KUSTOMIZE := bin/kustomize
GOLANGCI_LINT := bin/golangci-lint
GOVULNCHECK := bin/govulncheck
CRDIFY := bin/crdify
CRD_REF_DOCS := bin/crd-ref-docs
OPM := bin/opm
ACTIONLINT := bin/actionlint
CYCLONEDX := bin/cyclonedx-gomod
KIND := bin/kind
# Of its version, from PATH or its release page: it comes as no Go module that could be built.
OPERATOR_SDK ?= bin/operator-sdk

SHELL = /usr/bin/env bash -o pipefail
.SHELLFLAGS = -ec

.PHONY: all
all: build

##@ General

.PHONY: help
help: ## Show this help.
	@awk 'BEGIN {FS = ":.*##"; printf "\nUsage:\n  make \033[36m<target>\033[0m\n"} \
		/^[a-zA-Z0-9-]+:.*?##/ {printf "  \033[36m%-18s\033[0m %s\n", $$1, $$2} \
		/^##@/ {printf "\n\033[1m%s\033[0m\n", substr($$0, 5)}' Makefile

##@ Try it

.PHONY: demo
demo: ## Start a local cluster with the operator and both samples; needs no container engine.
	go run ./hack/demo up

.PHONY: demo-down
demo-down: ## Stop the local cluster and all its processes.
	go run ./hack/demo down

##@ Development

.PHONY: build
build: ## Build the manager into bin/.
	CGO_ENABLED=0 go build -trimpath -ldflags "-X main.version=$(VERSION)" -o bin/manager .

.PHONY: generate
generate: $(CONTROLLER_GEN) $(CRD_REF_DOCS) ## Generate the deep-copy functions and docs/api.md from the API types.
	$(CONTROLLER_GEN) object:headerFile=hack/boilerplate.go.txt paths=./api/...
	$(CRD_REF_DOCS) --source-path=api --config=hack/crd-ref-docs.yaml --renderer=markdown --output-path=docs/api.md --log-level=ERROR

.PHONY: manifests
manifests: $(CONTROLLER_GEN) ## Generate the CRDs, the manager's role and the webhook from the markers in the code.
	$(CONTROLLER_GEN) crd paths=./api/... output:crd:artifacts:config=config/crd/bases
	$(CONTROLLER_GEN) rbac:roleName=manager-role paths=./controllers/... output:rbac:artifacts:config=config/rbac
	$(CONTROLLER_GEN) webhook paths=./internal/webhook/... output:webhook:artifacts:config=config/webhook

.PHONY: test
test: ## Run all tests, those on the local control plane and cluster included.
	go run ./hack/demo tools
	go test -count=1 -p $(TEST_PARALLEL) -timeout $(TEST_TIMEOUT) $(TEST_FLAGS) ./...

.PHONY: test-fault
test-fault: ## Inject all faults and print a table of them; an hour and a quarter. FAULT_PLAN=<name> carries out one plan again.
	go run ./hack/demo tools
	rm -rf bin/fault
	status=0; FAULT=full FAULT_RESULTS=$(CURDIR)/bin/fault \
		go test -count=1 -p 1 -timeout $(TEST_FAULT_TIMEOUT) $(TEST_FLAGS) ./test/fault/... || status=$$?; \
	go run ./test/fault/results/table bin/fault || status=$$?; \
	exit $$status

.PHONY: test-e2e
test-e2e: ## Run only the end-to-end tests on a local cluster.
	go run ./hack/demo tools
	go test -count=1 -timeout $(TEST_TIMEOUT) -v $(TEST_FLAGS) ./test/e2e/...

.PHONY: bench
bench: ## Measure the operator against its budgets on a control plane of its own; BENCH_FLAGS=-h tells what can be set.
	go run ./hack/demo tools
	go build -o bin/perf ./test/perf
	bin/perf -out $(BENCH_OUT) $(BENCH_FLAGS)

.PHONY: test-olm
test-olm: $(OPM) ## Test the bundle with OLM itself: OLM_BIN=<its programs>, or KUBECONFIG and OLM_CATALOG, OLM_CATALOG_NEXT.
	@# See test/olm/doc.go.
	[ -n "$$OLM_BIN" ] || [ -n "$$OLM_CATALOG" ] || { echo "set OLM_BIN, or OLM_CATALOG and OLM_CATALOG_NEXT: see test/olm/doc.go" >&2; exit 2; }
	[ -z "$$OLM_BIN" ] || go run ./hack/demo tools
	go test -count=1 -timeout 30m -v $(TEST_FLAGS) -run '^TestOLM' ./test/olm/

.PHONY: lint
lint: $(GOLANGCI_LINT) ## Run the linters; ARGS=--fix mends what can be mended.
	$(GOLANGCI_LINT) run $(ARGS) ./...

.PHONY: verify
verify: $(CONTROLLER_GEN) $(CRD_REF_DOCS) $(CRDIFY) $(KUSTOMIZE) $(OPM) $(ACTIONLINT) $(GOLANGCI_LINT) $(GOVULNCHECK) ## Fail on stale generated files, lint, incompatible CRDs, known vulnerabilities.
	hack/verify.sh

##@ Deployment

.PHONY: run
run: manifests generate ## Run the manager here, against the cluster of KUBECONFIG.
	go run . $(ARGS)

.PHONY: install
install: manifests $(KUSTOMIZE) ## Install the CRDs into the cluster of KUBECONFIG.
	$(KUSTOMIZE) build config/crd | $(KUBECTL) apply --server-side --force-conflicts -f -

.PHONY: uninstall
uninstall: $(KUSTOMIZE) ## Remove the CRDs and with them every EGApp and DemoMicroService.
	$(KUSTOMIZE) build config/crd | $(KUBECTL) delete --ignore-not-found=$(ignore-not-found) -f -

.PHONY: deploy
deploy: manifests $(KUSTOMIZE) ## Deploy CRDs and manager with image IMG into the cluster of KUBECONFIG.
	$(set-image)
	$(KUSTOMIZE) build bin/config/$(DEPLOY) | $(KUBECTL) apply --server-side --force-conflicts -f -

.PHONY: undeploy
undeploy: $(KUSTOMIZE) ## Remove manager and CRDs and with them every EGApp and DemoMicroService.
	$(KUSTOMIZE) build config/$(DEPLOY) | $(KUBECTL) delete --ignore-not-found=$(ignore-not-found) -f -

.PHONY: build-installer
build-installer: $(KUSTOMIZE) ## Write dist/install.yaml: all that an installation without OLM needs, with image IMG.
	mkdir -p dist
	$(set-image)
	$(KUSTOMIZE) build bin/config/$(DEPLOY) > dist/.install.yaml
	mv dist/.install.yaml dist/install.yaml

##@ Bundle and catalog

.PHONY: bundle
bundle: manifests operator-sdk $(KUSTOMIZE) ## Make the OLM bundle of config/ in BUNDLE_DIR.
	go run ./hack/bundle --version=$(VERSION) --replaces=$(REPLACES) --upgrades-from=$(UPGRADES_FROM) \
		--image=$(IMG) --scorecard-image=$(SCORECARD_IMG) --channels=$(CHANNELS) --default-channel=$(DEFAULT_CHANNEL) --use-image-digests=$(USE_IMAGE_DIGESTS) \
		--operator-sdk=$(OPERATOR_SDK) --kustomize=$(KUSTOMIZE) --output=$(BUNDLE_DIR)

.PHONY: bundle-validate
bundle-validate: operator-sdk $(OPM) ## Have operator-sdk, its optional validators included, and opm check the bundle in BUNDLE_DIR.
	OPERATOR_SDK=$(OPERATOR_SDK) OPM=$(OPM) hack/bundle-validate.sh $(BUNDLE_DIR)

.PHONY: operator-sdk
operator-sdk: ## Get operator-sdk into bin/: the one in PATH if it has the version, else that of its release page.
	@hack/operator-sdk.sh $(OPERATOR_SDK_VERSION)

.PHONY: scorecard
scorecard: operator-sdk ## Run operator-sdk scorecard, our own tests included, against the operator in the cluster of KUBECONFIG.
	$(KUBECTL) create namespace $(SCORECARD_NAMESPACE) --dry-run=client --output=yaml | $(KUBECTL) apply --server-side --force-conflicts --filename=-
	sed 's/namespace: .*/namespace: $(SCORECARD_NAMESPACE)/' test/scorecard/rbac.yaml | $(KUBECTL) apply --server-side --force-conflicts --filename=-
	$(OPERATOR_SDK) scorecard bundle --namespace=$(SCORECARD_NAMESPACE) --service-account=platformapp-scorecard \
		--pod-security=restricted --wait-time=5m $(SCORECARD_FLAGS)

.PHONY: catalog
catalog: $(OPM) ## Render the catalog from bundle/ and validate it; needs no registry.
	go run ./hack/catalog render -opm $(OPM) -template catalog/template.yaml \
		-image '$(IMAGE_TAG_BASE)-bundle:v{{.Version}}' -out catalog/platformapp/catalog.yaml bundle
	sed -i.old 's|\(platformapp-catalog:v\).*|\1$(VERSION)|' catalog/catalogsource.yaml catalog/clustercatalog.yaml
	rm -f catalog/*.old

.PHONY: catalog-join
catalog-join: $(OPM) ## Render in bin/catalog a catalog of the bundles BUNDLE_DIRS alone, the oldest first.
	go run ./hack/catalog join -opm $(OPM) -image '$(IMAGE_TAG_BASE)-bundle:v{{.Version}}' \
		-out bin/catalog/catalog/platformapp/catalog.yaml $(BUNDLE_DIRS)

.PHONY: operatorhub
operatorhub: ## Lay out in dist/operatorhub what the OperatorHub repositories take.
	go run ./hack/catalog hub -out dist/operatorhub bundle

##@ Images

.PHONY: docker-build
docker-build: ## Build the manager's image IMG with CONTAINER_TOOL, for the platform of its machine.
	$(CONTAINER_TOOL) build --build-arg VERSION=$(VERSION) --build-arg REVISION=$(REVISION) -t $(IMG) .

.PHONY: docker-push
docker-push: ## Push IMG with CONTAINER_TOOL.
	$(CONTAINER_TOOL) push $(IMG)

.PHONY: docker-buildx
docker-buildx: ## Build IMG for PLATFORMS with docker buildx, and push it.
	@# docker's own builder makes no index. One that is there already is as good.
	-$(CONTAINER_TOOL) buildx create --name platformapp-builder
	$(CONTAINER_TOOL) buildx build --builder platformapp-builder --platform $(PLATFORMS) --provenance=false \
		--build-arg VERSION=$(VERSION) --build-arg REVISION=$(REVISION) --build-arg SOURCE_DATE_EPOCH \
		--output type=image,name=$(IMG),push=true,rewrite-timestamp=true .
	-$(CONTAINER_TOOL) buildx rm platformapp-builder

.PHONY: bundle-build
bundle-build: ## Build the bundle's image BUNDLE_IMG with CONTAINER_TOOL.
	$(CONTAINER_TOOL) build -f $(BUNDLE_DIR).Dockerfile -t $(BUNDLE_IMG) $(dir $(BUNDLE_DIR))

.PHONY: bundle-push
bundle-push: ## Push BUNDLE_IMG with CONTAINER_TOOL.
	$(CONTAINER_TOOL) push $(BUNDLE_IMG)

.PHONY: catalog-build
catalog-build: ## Build the catalog's image CATALOG_IMG.
	$(CONTAINER_TOOL) build -f catalog.Dockerfile -t $(CATALOG_IMG) $(CATALOG_CONTEXT)

.PHONY: catalog-push
catalog-push: ## Push the catalog's image CATALOG_IMG.
	$(CONTAINER_TOOL) push $(CATALOG_IMG)

.PHONY: scorecard-build
scorecard-build: ## Build the image of the scorecard tests, SCORECARD_IMG.
	$(CONTAINER_TOOL) build -t $(SCORECARD_IMG) -f test/scorecard/Dockerfile --build-arg VERSION=$(VERSION) .

.PHONY: scorecard-push
scorecard-push: ## Push the image of the scorecard tests.
	$(CONTAINER_TOOL) push $(SCORECARD_IMG)

.PHONY: image
image: ## Build IMG for PLATFORMS into dist/images, with no container engine.
	$(call build-image,$(IMG),Dockerfile,.,manager)

.PHONY: image-push
image-push: ## Push IMG from dist/images, with no container engine.
	$(IMAGE_TOOL) push $(IMG)

.PHONY: scorecard-image
scorecard-image: ## Build SCORECARD_IMG for PLATFORMS into dist/images, with no container engine.
	$(call build-image,$(SCORECARD_IMG),test/scorecard/Dockerfile,./test/scorecard,scorecard)

.PHONY: images
images: image scorecard-image ## Build all images of VERSION into dist/images, with no container engine.
	$(IMAGE_TOOL) build -t $(BUNDLE_IMG) -f $(BUNDLE_DIR).Dockerfile $(dir $(BUNDLE_DIR))
	$(IMAGE_TOOL) build -t $(CATALOG_IMG) -f catalog.Dockerfile --platform $(PLATFORMS) $(CATALOG_CONTEXT)

.PHONY: images-push
images-push: ## Push all images of VERSION from dist/images and write their digests to dist/digests.txt.
	$(IMAGE_TOOL) push $(RELEASED) | tee dist/.digests.txt
	mv dist/.digests.txt dist/digests.txt

.PHONY: sbom
sbom: $(CYCLONEDX) ## Write what the manager is made of to dist/, as CycloneDX, for each of PLATFORMS.
	mkdir -p dist
	for platform in $(subst $(comma), ,$(PLATFORMS)); do \
		GOOS=$${platform%/*} GOARCH=$${platform#*/} CGO_ENABLED=0 GOFLAGS=-mod=readonly $(CYCLONEDX) app -json -licenses -std \
			-noserial -notimestamp -output dist/platformapp-v$(VERSION)-$${platform/\//-}.cdx.json -main . .; \
	done

##@ Cluster with OLM

.PHONY: kind-up
kind-up: $(KIND) ## Start a kind cluster with a registry at localhost:5001; needs docker.
	hack/kind.sh up

.PHONY: kind-down
kind-down: $(KIND) ## Remove that cluster and its registry.
	hack/kind.sh down

.PHONY: olm-install
olm-install: operator-sdk ## Install OLM into the cluster of KUBECONFIG.
	$(OPERATOR_SDK) olm install --version $(OLM_VERSION) --timeout 10m

.PHONY: next-images
next-images: ## Build and push the images of NEXT_VERSION: all but the version as it is here.
	$(MAKE) bundle $(NEXT)
	$(MAKE) catalog-join BUNDLE_DIRS="bundle bin/next/bundle"
	$(MAKE) images images-push $(NEXT)

.PHONY: test-run-bundle
test-run-bundle: operator-sdk ## Install, use, upgrade and remove what images-push and next-images pushed, by operator-sdk.
	BUNDLE_IMG=$(BUNDLE_IMG) NEXT_BUNDLE_IMG=$(IMAGE_TAG_BASE)-bundle:v$(NEXT_VERSION) OPERATOR_SDK=$(OPERATOR_SDK) \
		KUBECTL=$(KUBECTL) RUN_BUNDLE_FLAGS="$(RUN_BUNDLE_FLAGS)" hack/run-bundle.sh

.PHONY: test-olm-images
test-olm-images: ## Run the tests of OLM with the catalogs that images-push and next-images pushed.
	$(MAKE) test-olm OLM_CATALOG=$(CATALOG_IMG) OLM_CATALOG_NEXT=$(IMAGE_TAG_BASE)-catalog:v$(NEXT_VERSION)

##@ Release

.PHONY: release-corpus
release-corpus: ## Record in test/corpus what version VERSION stores and renders; when it is cut.
	go run ./hack/corpus $(VERSION)

.PHONY: release-check
release-check: ## Fail unless everything here is of the version of TAG.
	@# From the environment: as text of make, the shell would carry out what stands in a tag.
	go run ./hack/release check "$$TAG"

.PHONY: release-build
release-build: ## Build what is released into an empty dist/: images and their digests, SBOMs, installer, notes.
	rm -rf dist
	$(MAKE) images sbom build-installer
	$(IMAGE_TOOL) digest $(RELEASED) > dist/digests.txt
	$(MAKE) release-notes

.PHONY: release-push
release-push: ## Push what release-build built; if a tag is another image already, nothing is pushed.
	$(IMAGE_TOOL) push -new $(RELEASED)

.PHONY: release-sign
release-sign: ## Sign what release-push pushed, attach the SBOMs, and put the signed files into dist/release.
	COSIGN=$(COSIGN) COSIGN_FLAGS="$(COSIGN_FLAGS)" hack/release/sign.sh $(IMG)

.PHONY: release-notes
release-notes: ## Write dist/notes.md: what CHANGELOG.md says of VERSION, and the images.
	go run ./hack/release notes $(VERSION) > dist/.notes.md
	printf '\n### Images\n\nBuilt with %s.\n\n```\n' "$$(go env GOVERSION)" >> dist/.notes.md
	cat dist/digests.txt >> dist/.notes.md
	echo '```' >> dist/.notes.md
	mv dist/.notes.md dist/notes.md

.PHONY: release-compare
release-compare: images ## Build the images of a release again and fail unless the registry has the same.
	$(IMAGE_TOOL) compare $(RELEASED)

# A copy of config/ below bin/ with the image IMG, so that no tracked file changes.
define set-image
	@rm -rf bin/config && mkdir -p bin && cp -R config bin/config
	cd bin/config/manager && ../../kustomize edit set image controller=$(IMG)
endef

comma := ,
# $(call build-image,name,Dockerfile,package,program): the program for all PLATFORMS, then the image.
define build-image
	for platform in $(subst $(comma), ,$(PLATFORMS)); do \
		GOOS=$${platform%/*} GOARCH=$${platform#*/} VERSION=$(VERSION) \
			hack/image/stage.sh $(3) $(4) bin/image/$(4)/$${platform/\//-}/out; \
	done
	$(IMAGE_TOOL) build -t $(1) -f $(2) --platform $(PLATFORMS) --stage builder=bin/image/$(4)/{platform} \
		--build-arg VERSION=$(VERSION) --build-arg REVISION=$(REVISION) $(IMAGE_FLAGS) .
endef

# $(call build-tool,module below tools/,package): for the host, whatever target the user builds for.
define build-tool
	@echo "building $@ (once; minutes if nothing of it is in Go's cache)"
	@GOOS= GOARCH= GOWORK=off GOFLAGS=-mod=readonly go build -C tools/$(1) -buildvcs=false -o ../../$@ $(2)
	@touch $@
endef

$(CONTROLLER_GEN): tools/dev/go.mod tools/dev/go.sum
	$(call build-tool,dev,sigs.k8s.io/controller-tools/cmd/controller-gen)

$(KUSTOMIZE): tools/dev/go.mod tools/dev/go.sum
	$(call build-tool,dev,sigs.k8s.io/kustomize/kustomize/v5)

$(CRDIFY): tools/crdify/go.mod tools/crdify/go.sum
	$(call build-tool,crdify,sigs.k8s.io/crdify)

$(CRD_REF_DOCS): tools/refdocs/go.mod tools/refdocs/go.sum
	$(call build-tool,refdocs,github.com/elastic/crd-ref-docs)

$(GOLANGCI_LINT): tools/lint/go.mod tools/lint/go.sum
	$(call build-tool,lint,github.com/golangci/golangci-lint/v2/cmd/golangci-lint)

$(GOVULNCHECK): tools/vuln/go.mod tools/vuln/go.sum
	$(call build-tool,vuln,golang.org/x/vuln/cmd/govulncheck)

# Without cgo there is no SQLite in it, which no file-based catalog needs, and no C compiler is.
$(OPM): export CGO_ENABLED = 0
$(OPM): tools/opm/go.mod tools/opm/go.sum
	$(call build-tool,opm,-tags=containers_image_openpgp github.com/operator-framework/operator-registry/cmd/opm)

$(CYCLONEDX): tools/sbom/go.mod tools/sbom/go.sum
	$(call build-tool,sbom,github.com/CycloneDX/cyclonedx-gomod/cmd/cyclonedx-gomod)

$(ACTIONLINT): tools/actionlint/go.mod tools/actionlint/go.sum
	$(call build-tool,actionlint,github.com/rhysd/actionlint/cmd/actionlint)

$(KIND): tools/kind/go.mod tools/kind/go.sum
	$(call build-tool,kind,sigs.k8s.io/kind)
