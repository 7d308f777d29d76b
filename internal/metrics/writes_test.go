// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package metrics

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	appsv1ac "k8s.io/client-go/applyconfigurations/apps/v1"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// writer answers each write with an error.
type writer struct {
	client.Client
	err error
}

func (w writer) Apply(context.Context, runtime.ApplyConfiguration, ...client.ApplyOption) error {
	return w.err
}
func (w writer) Patch(context.Context, client.Object, client.Patch, ...client.PatchOption) error {
	return w.err
}
func (w writer) Delete(context.Context, client.Object, ...client.DeleteOption) error { return w.err }
func (w writer) GroupVersionKindFor(object runtime.Object) (schema.GroupVersionKind, error) {
	kinds, _, err := clientgoscheme.Scheme.ObjectKinds(object)
	return kinds[0], err
}

func TestWritesAreCountedByKindAndResult(t *testing.T) {
	services := schema.GroupResource{Resource: "services"}
	for _, test := range []struct {
		err                   error
		wantApply, wantDelete string
	}{
		{nil, "applied", "deleted"},
		{apierrors.NewNotFound(services, "a"), "error", "deleted"},
		{apierrors.NewConflict(services, "a", errors.New("changed")), "conflict", "conflict"},
		{apierrors.NewAlreadyExists(services, "a"), "conflict", "conflict"},
		{fmt.Errorf("wrapped: %w", apierrors.NewForbidden(services, "a", errors.New("quota"))), "forbidden", "forbidden"},
		{apierrors.NewInvalid(schema.GroupKind{Kind: "Service"}, "a", nil), "invalid", "invalid"},
		{apierrors.NewTooManyRequestsError("later"), "error", "error"},
		{context.DeadlineExceeded, "error", "error"},
	} {
		c := Counted(writer{err: test.err})
		childWrites.Reset()
		want := map[string]float64{}
		expect := func(kind, result string) {
			want[fmt.Sprintf("platformapp_child_writes_total{kind=%q,result=%q}", kind, result)]++
		}
		same := func(err error) {
			if !errors.Is(err, test.err) {
				t.Errorf("the write returns %v, want %v", err, test.err)
			}
		}
		same(c.Apply(t.Context(), appsv1ac.Deployment("a", "team-a")))
		expect("Deployment", test.wantApply)
		same(c.Patch(t.Context(), &corev1.Service{}, nil))
		expect("Service", test.wantApply)
		same(c.Delete(t.Context(), &corev1.ConfigMap{}))
		expect("ConfigMap", test.wantDelete)
		if diff := cmp.Diff(want, gather(t, childWrites)); diff != "" {
			t.Errorf("after %v:\n%s", test.err, diff)
		}
	}
}
