// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"context"
	"fmt"
	"slices"
	"sync/atomic"

	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"platformapp/internal/apply"
	"platformapp/internal/platform"
	"platformapp/internal/resources"
	"platformapp/internal/workload"
)

// APIs is what the operator knows of the APIs that a cluster may lack. It serves one
// manager: ManagerOptions lets the manager's cache tell it of an API that has gone, and
// SetupWithManager fills it.
type APIs struct {
	doubts platform.Doubts
	kinds  atomic.Pointer[optionalKinds]
}

// NewAPIs returns what nothing is known in yet.
func NewAPIs() *APIs { return &APIs{doubts: make(platform.Doubts)} }

// Platform returns what the cluster is and has; it is false while not all of that is known.
func (a *APIs) Platform() (workload.Platform, bool) {
	facts, err := a.facts()
	return facts.Platform, err == nil && len(facts.Unknown) == 0
}

// facts returns what the loops go by, or why nothing is known.
func (a *APIs) facts() (platform.Facts, error) {
	kinds := a.kinds.Load()
	if kinds == nil {
		return platform.Facts{}, errUnknownPlatform
	}
	return kinds.facts()
}

// lacks tells whether the cluster lacks an optional kind, by a look that begins now. Every
// cluster has the others, whatever a proxy or an API server that starts may answer.
func (a *APIs) lacks(ctx context.Context, kind string) bool {
	if !slices.ContainsFunc(optional(), func(o resources.Kind) bool { return o.Name == kind }) {
		return false
	}
	a.doubts.Raise(ctx)
	facts, err := a.facts()
	return err == nil && !facts.Kinds[kind] && !facts.Unknown[kind]
}

// watchFailed is told why a watch has ended. That of an optional kind ends when its API goes,
// which is looked for at once and then is no error.
func (a *APIs) watchFailed(ctx context.Context, reflector *toolscache.Reflector, err error) {
	kinds := optional()
	watched := slices.IndexFunc(kinds, func(kind resources.Kind) bool { return fmt.Sprintf("%T", kind.New()) == reflector.TypeDescription() })
	if watched < 0 || !apply.IsUnserved(err) || !a.lacks(ctx, kinds[watched].Name) {
		toolscache.DefaultWatchErrorHandler(ctx, reflector, err)
		return
	}
	log.FromContext(ctx).V(1).Info("A kind is no longer served", "kind", kinds[watched].Name, "reason", err.Error())
}
