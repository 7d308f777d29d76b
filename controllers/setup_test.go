// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/go-logr/logr/funcr"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"platformapp/internal/workload"
)

func controlledBy(kind, name string) []metav1.OwnerReference {
	return []metav1.OwnerReference{{Kind: kind, Name: name, Controller: new(true)}}
}

func TestAnObjectIsMappedByLabelAndByController(t *testing.T) {
	for name, test := range map[string]struct {
		object metav1.ObjectMeta
		want   []string
	}{
		"both":              {metav1.ObjectMeta{Labels: map[string]string{workload.LabelEGApp: "a"}, OwnerReferences: controlledBy("EGApp", "a")}, []string{"a"}},
		"label alone":       {metav1.ObjectMeta{Labels: map[string]string{workload.LabelEGApp: "a"}}, []string{"a"}},
		"controller alone":  {metav1.ObjectMeta{OwnerReferences: controlledBy("EGApp", "a")}, []string{"a"}},
		"one of each":       {metav1.ObjectMeta{Labels: map[string]string{workload.LabelEGApp: "a"}, OwnerReferences: controlledBy("EGApp", "b")}, []string{"a", "b"}},
		"of another kind":   {metav1.ObjectMeta{Labels: map[string]string{workload.LabelDemoMicroService: "a"}, OwnerReferences: controlledBy("DemoMicroService", "a")}, nil},
		"nobody's":          {metav1.ObjectMeta{}, nil},
		"a pod of our kind": {metav1.ObjectMeta{Labels: map[string]string{workload.LabelEGApp: "a"}, OwnerReferences: controlledBy("ReplicaSet", "a-1")}, []string{"a"}},
	} {
		t.Run(name, func(t *testing.T) {
			test.object.Namespace = "team-a"
			var got []string
			for _, request := range ownersOf(&metav1.PartialObjectMetadata{ObjectMeta: test.object}, "EGApp", workload.LabelEGApp) {
				if request.Namespace != "team-a" {
					t.Errorf("the namespace is %s", request.Namespace)
				}
				got = append(got, request.Name)
			}
			if !slices.Equal(got, test.want) {
				t.Errorf("it belongs to %v, want %v", got, test.want)
			}
		})
	}
}

func TestAReplicaSetIsLookedAtWhenWhatIsReadOfItChanges(t *testing.T) {
	base := func() *metav1.PartialObjectMetadata {
		return &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{
			ResourceVersion: "1", UID: types.UID("u"), Labels: map[string]string{workload.LabelEGApp: "a"},
			Annotations: map[string]string{workload.AnnotationRevision: "1"}, OwnerReferences: controlledBy("Deployment", "a"),
		}}
	}
	for name, test := range map[string]struct {
		change func(*metav1.PartialObjectMetadata)
		want   bool
	}{
		"its status":   {func(o *metav1.PartialObjectMetadata) { o.ResourceVersion = "2" }, false},
		"its revision": {func(o *metav1.PartialObjectMetadata) { o.Annotations[workload.AnnotationRevision] = "2" }, true},
		"its label":    {func(o *metav1.PartialObjectMetadata) { o.Labels = nil }, true},
		"orphaned":     {func(o *metav1.PartialObjectMetadata) { o.OwnerReferences = nil }, true},
		"adopted": {func(o *metav1.PartialObjectMetadata) {
			o.OwnerReferences = []metav1.OwnerReference{{Kind: "Deployment", Name: "a", UID: "other", Controller: new(true)}}
		}, true},
	} {
		t.Run(name, func(t *testing.T) {
			after := base()
			test.change(after)
			if got := readOfReplicaSet.Update(event.UpdateEvent{ObjectOld: base(), ObjectNew: after}); got != test.want {
				t.Errorf("it is looked at: %t", got)
			}
		})
	}
}

// Each watch of a controller tells of its start: two dozen lines that say nothing.
func TestAControllersOwnDoingsAreToldInDetailAlone(t *testing.T) {
	var lines []string
	log := funcr.New(func(_, arguments string) { lines = append(lines, arguments) }, funcr.Options{})
	loggers := logOf(log, "egapp", schema.GroupVersionKind{Group: "g", Version: "v1", Kind: "EGApp"})
	loggers(nil).Info("Starting EventSource")
	if len(lines) > 0 {
		t.Errorf("told are %q", lines)
	}
	loggers(nil).Error(errors.New("no such kind"), "Could not wait for Cache to sync")
	loggers(&reconcile.Request{NamespacedName: types.NamespacedName{Namespace: "team-a", Name: "orders"}}).Info("Reconciler error")
	for i, words := range [][]string{
		{`"error"="no such kind"`, `"controller"="egapp"`, `"controllerGroup"="g"`, `"controllerKind"="EGApp"`},
		{"Reconciler error", `"controller"="egapp"`, `"namespace"="team-a"`, `"name"="orders"`, `"object"=`},
	} {
		for _, word := range words {
			if i >= len(lines) || !strings.Contains(lines[i], word) {
				t.Errorf("the lines %q do not say %s", lines, word)
			}
		}
	}
}
