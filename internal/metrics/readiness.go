// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package metrics

import (
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"platformapp/api/appstatus"
)

// Readiness measures how long applications of a kind take from their creation until they
// are Ready for the first time. The status holds no such mark, so it counts the
// applications whose first status was written since the process began.
type Readiness struct {
	kind string

	mu sync.Mutex
	// pending are the applications that have not been Ready, with the UIDs of those.
	pending map[types.NamespacedName]types.UID
}

// NewReadiness returns the measure of a kind.
func NewReadiness(kind string) *Readiness {
	return &Readiness{kind: kind, pending: map[types.NamespacedName]types.UID{}}
}

// Reported is told of each status that was written: what it was, what it is, and when it
// was written. An application that is Ready because it is stopped runs nothing and does
// not count.
func (r *Readiness) Reported(app metav1.Object, before, after appstatus.Status, now time.Time) {
	key := types.NamespacedName{Namespace: app.GetNamespace(), Name: app.GetName()}
	r.mu.Lock()
	defer r.mu.Unlock()
	if before.ObservedGeneration <= 0 {
		r.pending[key] = app.GetUID()
	}
	if r.pending[key] != app.GetUID() {
		return
	}
	ready := meta.FindStatusCondition(after.Conditions, appstatus.ConditionReady)
	if ready == nil || ready.Status != metav1.ConditionTrue {
		return
	}
	delete(r.pending, key)
	if ready.Reason != appstatus.ReasonStopped {
		readySeconds.WithLabelValues(r.kind).Observe(now.Sub(app.GetCreationTimestamp().Time).Seconds())
	}
}

// Forget drops an application that is gone.
func (r *Readiness) Forget(name types.NamespacedName) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.pending, name)
}
