// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package apply

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/yaml"
)

func newTestDiffer(t testing.TB) *differ {
	t.Helper()
	scheme := runtime.NewScheme()
	if err := clientgoscheme.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	return newDiffer(scheme)
}

// desiredOf is a Deployment as it is applied.
func desiredOf(t testing.TB, spec string) *unstructured.Unstructured {
	t.Helper()
	object := &unstructured.Unstructured{}
	if err := yaml.Unmarshal([]byte("{apiVersion: apps/v1, kind: Deployment, spec: {"+spec+"}}"), &object.Object); err != nil {
		t.Fatal(err)
	}
	return object
}

// deploymentOf is a Deployment as it is stored.
func deploymentOf(t testing.TB, spec string) *appsv1.Deployment {
	t.Helper()
	deployment := &appsv1.Deployment{}
	if err := yaml.UnmarshalStrict([]byte("spec: {"+spec+"}"), deployment); err != nil {
		t.Fatal(err)
	}
	return deployment
}

func TestDifference(t *testing.T) {
	const container = `.spec.template.spec.containers[name="a"]`
	for name, test := range map[string]struct {
		desired, live string
		want          []string
	}{
		"equal":                                  {"replicas: 3", "replicas: 3", nil},
		"more in the live object":                {"replicas: 3", "replicas: 3, paused: true", nil},
		"another value":                          {"replicas: 3", "replicas: 5", []string{".spec.replicas"}},
		"zero where the live object has a value": {"replicas: 0", "replicas: 5", []string{".spec.replicas"}},
		"no value in the live object":            {"progressDeadlineSeconds: 600", "replicas: 5", []string{".spec.progressDeadlineSeconds"}},
		"a zero that the type leaves out":        {"minReadySeconds: 0", "replicas: 1", nil},
		"a zero where the live object has a value that the type may leave out": {"minReadySeconds: 0", "minReadySeconds: 300", []string{".spec.minReadySeconds"}},
		"two items of one key in the live object": {
			"template: {spec: {containers: [{name: a, image: x}]}}",
			"template: {spec: {containers: [{name: a, image: x}, {name: log, env: [{name: A, value: b}, {name: A, value: c}]}]}}", nil,
		},
		"a quantity spelt otherwise": {
			"template: {spec: {containers: [{name: a, resources: {limits: {memory: 2Gi, cpu: \"1\"}}}]}}",
			"template: {spec: {containers: [{name: a, resources: {limits: {memory: 2048Mi, cpu: 1000m}}}]}}", nil,
		},
		"items of others before and after ours": {
			"template: {spec: {containers: [{name: a, image: x}]}}",
			"template: {spec: {containers: [{name: proxy, image: y}, {name: a, image: x}, {name: log, image: z}]}}", nil,
		},
		"the same port by another protocol": {
			"template: {spec: {containers: [{name: a, ports: [{containerPort: 53, protocol: TCP}]}]}}",
			"template: {spec: {containers: [{name: a, ports: [{containerPort: 53, protocol: UDP}]}]}}",
			[]string{container + `.ports[containerPort=53,protocol="TCP"].containerPort`, container + `.ports[containerPort=53,protocol="TCP"].protocol`},
		},
		"another image of the same container": {
			"template: {spec: {containers: [{name: a, image: x}]}}",
			"template: {spec: {containers: [{name: a, image: y}]}}", []string{container + ".image"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := newTestDiffer(t).difference(desiredOf(t, test.desired), deploymentOf(t, test.live))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, got.paths); diff != "" {
				t.Errorf("paths (-want +got):\n%s", diff)
			}
		})
	}
}

func TestTheDigestTellsWhatTheLiveObjectHasInstead(t *testing.T) {
	differ := newTestDiffer(t)
	digest := func(live string) string {
		d, err := differ.difference(desiredOf(t, "replicas: 3"), deploymentOf(t, live))
		if err != nil {
			t.Fatal(err)
		}
		return d.digest
	}
	if digest("replicas: 5") != digest("replicas: 5, paused: true") {
		t.Error("it changes with a field that is not desired")
	}
	if digest("replicas: 5") == digest("replicas: 7") {
		t.Error("it does not change with the value")
	}
}

func TestARequestTakesTheAnswerWhole(t *testing.T) {
	request, err := newRequest([]byte(`{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"a","namespace":"n","annotations":{"sent":"x"}},"spec":{"replicas":3}}`))
	if err != nil {
		t.Fatal(err)
	}
	answer := `{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"a","namespace":"n","resourceVersion":"7"},"spec":{}}`
	if err := request.UnmarshalJSON([]byte(answer)); err != nil {
		t.Fatal(err)
	}
	if request.ResourceVersion == nil || *request.ResourceVersion != "7" || request.Annotations != nil {
		t.Errorf("the metadata is %+v", request.ObjectMetaApplyConfiguration)
	}
	if got, err := request.MarshalJSON(); string(got) != answer || err != nil {
		t.Errorf("the content is %s (%v)", got, err)
	}
	if err := request.UnmarshalJSON([]byte(`{"kind":"Status"}`)); err == nil {
		t.Error("an answer without metadata is accepted")
	}
}

func BenchmarkDifference(b *testing.B) {
	differ := newTestDiffer(b)
	const spec = "replicas: 3, template: {spec: {containers: [{name: a, image: x, env: [{name: A, value: b}], ports: [{containerPort: 8080, protocol: TCP}]}]}}"
	object, live := desiredOf(b, spec), deploymentOf(b, spec)
	for b.Loop() {
		if _, err := differ.difference(object, live); err != nil {
			b.Fatal(err)
		}
	}
}
