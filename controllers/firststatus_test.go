// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package controllers_test

import (
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	kstatus "sigs.k8s.io/cli-utils/pkg/kstatus/status"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Flux waits by kstatus, which takes an object without a status for one that needs none.
func TestAnApplicationThatTheOperatorHasNotSeenIsNotTakenForFinished(t *testing.T) {
	t.Parallel()
	l := newLoop(t)
	for _, app := range []client.Object{ordersApp(), podinfoService()} {
		l.create(app)
		gvk, err := l.user.GroupVersionKindFor(app)
		l.must(err)
		stored := &unstructured.Unstructured{}
		stored.SetGroupVersionKind(gvk)
		stored.SetName(app.GetName())
		health := func() kstatus.Status {
			l.read(stored)
			result, err := kstatus.Compute(stored)
			l.must(err)
			return result.Status
		}
		if got := health(); got != kstatus.InProgressStatus {
			t.Errorf("a new %s is %s: %v", gvk.Kind, got, stored.Object["status"])
		}
		l.reconcile(app)
		l.read(stored)
		// OpenShift's console takes it for invalid when it is left out.
		if pods, found, err := unstructured.NestedMap(stored.Object, "status", "podStatuses"); !found || len(pods) > 0 || err != nil {
			t.Errorf("without pods the %s has the status %v", gvk.Kind, stored.Object["status"])
		}
		l.rollOut(app.GetName())
		l.reconcile(app)
		if got := health(); got != kstatus.CurrentStatus {
			t.Errorf("the %s that serves is %s: %v", gvk.Kind, got, stored.Object["status"])
		}
	}
}
