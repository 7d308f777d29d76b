# SPDX-FileCopyrightText: The platformapp authors
# SPDX-License-Identifier: Apache-2.0

# The image of the manager: make docker-build deploy IMG=registry.example.com/platformapp:v0.1.0
IMG ?= controller:latest
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
# For uninstall and undeploy: true does not mind what is gone already.
ignore-not-found ?= false

# The tools are built from the module files in tools/, which pin and checksum them, into the git-ignored bin/.
CONTROLLER_GEN := bin/controller-gen
KUSTOMIZE := bin/kustomize
GOLANGCI_LINT := bin/golangci-lint
GOVULNCHECK := bin/govulncheck
CRDIFY := bin/crdify
CRD_REF_DOCS := bin/crd-ref-docs

SHELL = /usr/bin/env bash -o pipefail
.SHELLFLAGS = -ec

.PHONY: all
all: build

##@ General

.PHONY: help
help: ## Show this help.
	@awk 'BEGIN {FS = ":.*##"; printf "\nUsage:\n  make \033[36m<target>\033[0m\n"} \
		/^[a-zA-Z0-9-]+:.*?##/ {printf "  \033[36m%-13s\033[0m %s\n", $$1, $$2} \
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
	CGO_ENABLED=0 go build -trimpath -o bin/manager .

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

.PHONY: test-e2e
test-e2e: ## Run only the end-to-end tests on a local cluster.
	go run ./hack/demo tools
	go test -count=1 -timeout $(TEST_TIMEOUT) -v $(TEST_FLAGS) ./test/e2e/...

.PHONY: lint
lint: $(GOLANGCI_LINT) ## Run the linters; ARGS=--fix mends what can be mended.
	$(GOLANGCI_LINT) run $(ARGS) ./...

.PHONY: verify
verify: $(CONTROLLER_GEN) $(CRD_REF_DOCS) $(CRDIFY) $(KUSTOMIZE) $(GOLANGCI_LINT) $(GOVULNCHECK) ## Fail on stale generated files, lint, incompatible CRDs, known vulnerabilities.
	hack/verify.sh

##@ Deployment

.PHONY: run
run: manifests generate ## Run the manager here, against the cluster of KUBECONFIG.
	go run . $(ARGS)

.PHONY: docker-build
docker-build: ## Build the manager's image IMG.
	$(CONTAINER_TOOL) build -t $(IMG) .

.PHONY: install
install: manifests $(KUSTOMIZE) ## Install the CRDs into the cluster of KUBECONFIG.
	$(KUSTOMIZE) build config/crd | $(KUBECTL) apply --server-side --force-conflicts -f -

.PHONY: uninstall
uninstall: $(KUSTOMIZE) ## Remove the CRDs and with them every EGApp and DemoMicroService.
	$(KUSTOMIZE) build config/crd | $(KUBECTL) delete --ignore-not-found=$(ignore-not-found) -f -

.PHONY: deploy
deploy: manifests $(KUSTOMIZE) ## Deploy CRDs and manager with image IMG into the cluster of KUBECONFIG.
	@# The image goes into an overlay below bin/, so that no tracked file changes.
	mkdir -p bin/deploy
	printf 'resources:\n- ../../config/$(DEPLOY)\n' > bin/deploy/kustomization.yaml
	cd bin/deploy && ../kustomize edit set image controller=$(IMG)
	$(KUSTOMIZE) build bin/deploy | $(KUBECTL) apply --server-side --force-conflicts -f -

.PHONY: undeploy
undeploy: $(KUSTOMIZE) ## Remove manager and CRDs and with them every EGApp and DemoMicroService.
	$(KUSTOMIZE) build config/$(DEPLOY) | $(KUBECTL) delete --ignore-not-found=$(ignore-not-found) -f -

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
