// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package status_test

import (
	"fmt"
	"reflect"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"platformapp/api/appstatus"
	"platformapp/internal/status"
)

// fullStatus has a value in each field, those of the parts included.
func fullStatus() appstatus.Status {
	return appstatus.Status{
		ObservedGeneration: 1, Phase: appstatus.PhaseRunning,
		Conditions: []metav1.Condition{{
			Type: "Ready", Status: metav1.ConditionTrue, ObservedGeneration: 1,
			LastTransitionTime: metav1.NewTime(time.Unix(1, 0)), Reason: "Ready", Message: "All pods serve.",
		}},
		Replicas: 1, DesiredReplicas: 1, ReadyReplicas: 1, UpdatedReplicas: 1, AvailableReplicas: 1,
		Selector: "a=b", Image: "app:1", Pods: []string{"a"}, PodStatuses: map[string][]string{"Running": {"a"}},
	}
}

func fullDetails() appstatus.Details {
	return appstatus.Details{
		URL: "http://example.com", Expose: &appstatus.Exposure{Type: "Ingress", Reason: "It is asked for."},
		Resources: &appstatus.Resources{
			Limits:   corev1.ResourceList{corev1.ResourceMemory: resource.MustParse("1Gi")},
			Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("1")},
		},
	}
}

func TestEachFieldOfAStatusCounts(t *testing.T) {
	if !status.IsSame(fullStatus(), fullStatus()) || !status.AreSameDetails(fullDetails(), fullDetails()) {
		t.Fatal("what is equal is not the same")
	}
	s, d := fullStatus(), fullDetails()
	n := eachChange(t, reflect.ValueOf(&s).Elem(), "status", func(field string) {
		if status.IsSame(s, fullStatus()) {
			t.Errorf("a change of %s is not seen", field)
		}
	})
	n += eachChange(t, reflect.ValueOf(&d).Elem(), "details", func(field string) {
		if status.AreSameDetails(d, fullDetails()) {
			t.Errorf("a change of %s is not seen", field)
		}
	})
	if n < 30 {
		t.Errorf("only %d changes were made", n)
	}
}

func TestWhatIsEmptyIsTheSameAsWhatIsLeftOut(t *testing.T) {
	if !status.IsSame(appstatus.Status{Pods: []string{}, PodStatuses: map[string][]string{}, Conditions: []metav1.Condition{}}, appstatus.Status{}) {
		t.Error("an empty list or map counts as a difference")
	}
	respelt := fullDetails()
	respelt.Resources.Limits[corev1.ResourceMemory] = resource.MustParse("1024Mi")
	if !status.AreSameDetails(fullDetails(), respelt) {
		t.Error("an amount that is spelt otherwise counts as a difference")
	}
}

// eachChange changes each part of a value, one at a time, calls seen, and puts it back. It returns the number of changes.
func eachChange(t *testing.T, v reflect.Value, name string, seen func(field string)) int {
	t.Helper()
	before := reflect.New(v.Type()).Elem()
	before.Set(v)
	if v.IsZero() {
		t.Fatalf("%s is not filled in", name)
	}
	v.SetZero()
	seen(name)
	v.Set(before)
	n := 1
	switch v.Kind() {
	case reflect.Struct:
		if v.Type() == reflect.TypeFor[metav1.Time]() || v.Type() == reflect.TypeFor[resource.Quantity]() {
			break
		}
		for field, part := range v.Fields() {
			n += eachChange(t, part, name+"."+field.Name, seen)
		}
	case reflect.Pointer:
		copied := reflect.New(v.Type().Elem())
		copied.Elem().Set(v.Elem())
		v.Set(copied)
		n += eachChange(t, copied.Elem(), name, seen)
		v.Set(before)
	case reflect.Slice:
		longer := reflect.Append(v, v.Index(0))
		v.Set(longer)
		seen(name + ", one more")
		v.Set(before)
		n += 1 + eachChange(t, v.Index(0), name+"[0]", seen)
	case reflect.Map:
		for _, key := range v.MapKeys() {
			changed := reflect.New(v.Type().Elem()).Elem()
			changed.Set(v.MapIndex(key))
			other := reflect.MakeMap(v.Type())
			v.Set(other)
			n += eachChange(t, changed, fmt.Sprintf("%s[%v]", name, key), func(field string) {
				other.SetMapIndex(key, changed)
				seen(field)
			})
			v.Set(before)
		}
	default: // It has no parts.
	}
	return n
}
