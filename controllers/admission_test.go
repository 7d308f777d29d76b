// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package controllers_test

import (
	"maps"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"platformapp/api/egplatform/v1alpha1"
)

// asWritten is an object as a user writes it, not as a typed client does.
func asWritten(apiVersion, kind, name string, spec map[string]any) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": apiVersion, "kind": kind, "metadata": map[string]any{"name": name}, "spec": spec,
	}}
}

func egapp(name string, change map[string]any) *unstructured.Unstructured {
	spec := map[string]any{"framework": "go", "environment": "dev"}
	maps.Copy(spec, change)
	maps.DeleteFunc(spec, func(_ string, value any) bool { return value == nil })
	return asWritten("egplatform.platform.evillgenius.com/v1alpha1", "EGApp", name, spec)
}

func demoMicroService(name string, spec map[string]any) *unstructured.Unstructured {
	return asWritten("devops.my.domain/v1", "DemoMicroService", name, spec)
}

func TestC05_C06_TheAPIServerRefusesBadInputWithFieldAndRule(t *testing.T) {
	t.Parallel()
	image := map[string]any{"image": "nginx:1.27"}
	const nameRule = "metadata.name must be a DNS-1035 label of at most 63 characters"
	const imageRule = "must be an image reference of printable ASCII characters without blanks"
	for name, test := range map[string]struct {
		object *unstructured.Unstructured
		want   []string
	}{
		"a name with a dot":                    {egapp("my.app", nil), []string{nameRule}},
		"a name of 64 characters":              {egapp(strings.Repeat("a", 64), nil), []string{nameRule}},
		"a name that begins with a digit":      {egapp("1st", nil), []string{nameRule}},
		"a service's name with a dot":          {demoMicroService("my.app", image), []string{nameRule}},
		"a service's name of 64 characters":    {demoMicroService(strings.Repeat("a", 64), image), []string{nameRule}},
		"a service's name that begins with 1":  {demoMicroService("1st", image), []string{nameRule}},
		"an unknown framework":                 {egapp("orders", map[string]any{"framework": "rust"}), []string{"spec.framework", `"rust"`, `"java", "python", "go"`}},
		"no framework":                         {egapp("orders", map[string]any{"framework": nil}), []string{"spec.framework: Required value"}},
		"an unknown instance type":             {egapp("orders", map[string]any{"instanceType": "huge"}), []string{"spec.instanceType", `"lowMem", "highMem", "highCPU", "balanced"`}},
		"an empty environment":                 {egapp("orders", map[string]any{"environment": ""}), []string{"spec.environment", `"dev", "stage", "prod"`}},
		"no environment":                       {egapp("orders", map[string]any{"environment": nil}), []string{"spec.environment: Required value"}},
		"negative replicas":                    {egapp("orders", map[string]any{"replicaCount": int64(-1)}), []string{"spec.replicaCount", "greater than or equal to 0"}},
		"replicas beyond 32 bits":              {egapp("orders", map[string]any{"replicaCount": int64(1) << 31}), []string{"spec.replicaCount"}},
		"replicas in words":                    {egapp("orders", map[string]any{"replicaCount": "three"}), []string{"spec.replicaCount", "integer"}},
		"an id that ends with a dash":          {egapp("orders", map[string]any{"appId": "orders-"}), []string{"spec.appId", "must have the syntax of a label value"}},
		"an id with a blank":                   {egapp("orders", map[string]any{"appId": "my orders"}), []string{"spec.appId", "must have the syntax of a label value"}},
		"an id of 64 characters":               {egapp("orders", map[string]any{"appId": strings.Repeat("a", 64)}), []string{"spec.appId", "may not be more than 63"}},
		"an image with a blank":                {egapp("orders", map[string]any{"image": "a b"}), []string{"spec.image", imageRule}},
		"an image with a line break":           {egapp("orders", map[string]any{"image": "nginx:1\n"}), []string{"spec.image", imageRule}},
		"an image with an invisible character": {egapp("orders", map[string]any{"image": "ngi\u200bnx"}), []string{"spec.image", imageRule}},
		"an image of 513 characters":           {egapp("orders", map[string]any{"image": strings.Repeat("a", 513)}), []string{"spec.image", "may not be more than 512"}},
		"a service without an image":           {demoMicroService("podinfo", map[string]any{}), []string{"spec.image: Required value"}},
		"a service with an empty image":        {demoMicroService("podinfo", map[string]any{"image": ""}), []string{"spec.image", imageRule}},
		"a service with a blank image":         {demoMicroService("podinfo", map[string]any{"image": " "}), []string{"spec.image", imageRule}},
		"a service with a blank in its image":  {demoMicroService("podinfo", map[string]any{"image": "a b"}), []string{"spec.image", imageRule}},
		"no spec":                              {asWritten("devops.my.domain/v1", "DemoMicroService", "podinfo", nil), []string{"spec"}},
		"an unknown field":                     {egapp("orders", map[string]any{"replicas": int64(2)}), []string{`unknown field "spec.replicas"`}},
	} {
		t.Run(name, func(t *testing.T) {
			l := newUser(t)
			test.object.SetNamespace(l.namespace)
			err := l.user.Create(t.Context(), test.object, client.FieldValidation(metav1.FieldValidationStrict))
			if err == nil {
				t.Fatal("it is accepted")
			}
			for _, want := range test.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("the message lacks %q: %v", want, err)
				}
			}
		})
	}
}

func TestC04_GoodInputIsAccepted(t *testing.T) {
	t.Parallel()
	for name, object := range map[string]*unstructured.Unstructured{
		"a name of 63 characters":       egapp(strings.Repeat("a", 63), nil),
		"an odd id":                     egapp("odd-id", map[string]any{"appId": "Orders_API.v2"}),
		"an empty id":                   egapp("no-id", map[string]any{"appId": ""}),
		"no replicas":                   egapp("stopped", map[string]any{"replicaCount": int64(0)}),
		"an image by digest":            egapp("digest", map[string]any{"image": "host:5000/app:1.2@sha256:" + strings.Repeat("a", 64)}),
		"a service with a private port": demoMicroService("private", map[string]any{"image": "localhost:4000/repo/my-image:tag"}),
	} {
		t.Run(name, func(t *testing.T) {
			l := newUser(t)
			object.SetNamespace(l.namespace)
			if err := l.user.Create(t.Context(), object, client.FieldValidation(metav1.FieldValidationStrict)); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestDefaultsAreFilledIn(t *testing.T) {
	t.Parallel()
	l := newUser(t)
	object := egapp("orders", nil)
	object.SetNamespace(l.namespace)
	l.must(l.user.Create(t.Context(), object))
	app := ordersApp()
	l.read(app)
	if app.Spec.InstanceType != v1alpha1.InstanceTypeLowMem || ptr.Deref(app.Spec.ReplicaCount, -1) != 1 {
		t.Errorf("instanceType is %q and replicaCount %v", app.Spec.InstanceType, app.Spec.ReplicaCount)
	}
}

func TestATypedClientKeepsZeroReplicas(t *testing.T) {
	t.Parallel()
	l := newUser(t)
	app := ordersApp()
	app.Spec.ReplicaCount = new(int32(0))
	l.create(app)
	l.change(app, func() { app.Labels = map[string]string{"a": "b"} })
	l.read(app)
	if ptr.Deref(app.Spec.ReplicaCount, -1) != 0 {
		t.Errorf("replicaCount is %v", app.Spec.ReplicaCount)
	}
}

func TestScaleSubresource(t *testing.T) {
	t.Parallel()
	l := newLoop(t)
	app := ordersApp()
	l.running(app)
	scale := &unstructured.Unstructured{}
	scale.SetAPIVersion("autoscaling/v1")
	scale.SetKind("Scale")
	l.must(l.user.SubResource("scale").Get(t.Context(), app, scale))
	replicas, _, _ := unstructured.NestedInt64(scale.Object, "status", "replicas")
	selector, _, _ := unstructured.NestedString(scale.Object, "status", "selector")
	if replicas != 3 || selector != "platform.evillgenius.com/egapp=orders" {
		t.Errorf("the scale has %d replicas and the selector %q", replicas, selector)
	}
}

// newUser is a user of a cluster in which the operator is not running.
func newUser(t *testing.T) *loop {
	t.Helper()
	l := &loop{TB: t, ctx: t.Context()}
	var err error
	l.user, err = client.New(cluster, client.Options{Scheme: scheme})
	l.must(err)
	l.namespace = makeNamespace(t, l.user)
	return l
}
