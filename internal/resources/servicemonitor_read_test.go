// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package resources_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apimachinery/pkg/util/intstr"

	"platformapp/internal/resources"
)

// The API server stores the second of them, and whoever may make ServiceMonitors in one namespace could keep the operator
// from those of all.
func TestAServiceMonitorThatCannotBeReadHidesNoOther(t *testing.T) {
	scheme := runtime.NewScheme()
	if err := resources.AddOptionalToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	const list = `{"apiVersion":"monitoring.coreos.com/v1","kind":"ServiceMonitorList","metadata":{"resourceVersion":"7"},"items":[
		{"apiVersion":"monitoring.coreos.com/v1","kind":"ServiceMonitor","metadata":{"name":"good"},"spec":{"selector":{},"endpoints":[{"targetPort":80}]}},
		{"apiVersion":"monitoring.coreos.com/v1","kind":"ServiceMonitor","metadata":{"name":"bad","uid":"1"},"spec":{"selector":{},"endpoints":[{"targetPort":9223372036854775807}]}}]}`
	object, _, err := serializer.NewCodecFactory(scheme).UniversalDeserializer().Decode([]byte(list), nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	got, ok := object.DeepCopyObject().(*resources.ServiceMonitorList)
	if !ok || len(got.Items) != 2 || got.ResourceVersion != "7" {
		t.Fatalf("the list is read as %#v", object)
	}
	if good := got.Items[0]; good.Name != "good" || *good.Spec.Endpoints[0].TargetPort != intstr.FromInt32(80) {
		t.Errorf("the good one is read as %+v", good)
	}
	if bad := got.Items[1]; bad.Name != "bad" || bad.UID != "1" || bad.Kind != "ServiceMonitor" || len(bad.Spec.Endpoints) != 0 {
		t.Errorf("the bad one is read as %+v", bad)
	}
	if diff := cmp.Diff(object, runtime.Object(got)); diff != "" {
		t.Errorf("the copy differs:\n%s", diff)
	}
	nameless := strings.ReplaceAll(list, `{"name":"bad","uid":"1"}`, `7`)
	if _, _, err := serializer.NewCodecFactory(scheme).UniversalDeserializer().Decode([]byte(nameless), nil, nil); err == nil {
		t.Error("what has no metadata is read in silence")
	}
}
