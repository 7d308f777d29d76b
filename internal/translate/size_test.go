// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package translate_test

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"sigs.k8s.io/yaml"

	"platformapp/api/egplatform/v1alpha1"
	"platformapp/internal/translate"
	"platformapp/internal/workload"
)

// specOf reads a specification as a user writes it, over one that has what is required.
func specOf(t *testing.T, text string) *v1alpha1.EGApp {
	t.Helper()
	app := newEGApp()
	if err := yaml.UnmarshalStrict([]byte(text), &app.Spec); err != nil {
		t.Fatalf("%v in:\n%s", err, text)
	}
	return app
}

// translated returns the workload of a specification that must be valid.
func translated(t *testing.T, text string) workload.Workload {
	t.Helper()
	w, err := translate.EGApp(specOf(t, text), translate.Options{})
	if err != nil {
		t.Fatalf("%v for:\n%s", err, text)
	}
	return w
}

func TestSingleEntriesOverrideTheInstanceType(t *testing.T) {
	for _, test := range []struct{ name, spec, requests, limits string }{
		{"nothing", `{}`, `{cpu: 100m, memory: 256Mi}`, `{memory: 256Mi}`},
		{"nothing inside", `{resources: {limits: {}, requests: {}}}`, `{cpu: 100m, memory: 256Mi}`, `{memory: 256Mi}`},
		{"a limit below the request lowers the request", `{resources: {limits: {memory: 128Mi}}}`, `{cpu: 100m, memory: 128Mi}`, `{memory: 128Mi}`},
		{"a limit above the request leaves the request", `{resources: {limits: {memory: 1Gi}}}`, `{cpu: 100m, memory: 256Mi}`, `{memory: 1Gi}`},
		{"a request above the limit raises the limit", `{resources: {requests: {memory: 1Gi}}}`, `{cpu: 100m, memory: 1Gi}`, `{memory: 1Gi}`},
		{"a request below the limit leaves the limit", `{resources: {requests: {memory: 64Mi}}}`, `{cpu: 100m, memory: 64Mi}`, `{memory: 256Mi}`},
		{"both", `{resources: {requests: {memory: 1Gi}, limits: {memory: 2Gi}}}`, `{cpu: 100m, memory: 1Gi}`, `{memory: 2Gi}`},
		{"cpu has a limit when it is asked for", `{resources: {limits: {cpu: "2"}}}`, `{cpu: 100m, memory: 256Mi}`, `{memory: 256Mi, cpu: "2"}`},
		{"a limit of cpu lowers the request", `{resources: {limits: {cpu: 50m}}}`, `{cpu: 50m, memory: 256Mi}`, `{memory: 256Mi, cpu: 50m}`},
		{"a request of cpu makes no limit", `{resources: {requests: {cpu: "3"}}}`, `{cpu: "3", memory: 256Mi}`, `{memory: 256Mi}`},
		{"a limit of 0 is no limit", `{resources: {limits: {memory: 0}}}`, `{cpu: 100m, memory: 256Mi}`, `{}`},
		{"a request of more than a limit of 0", `{resources: {requests: {memory: 8Gi}, limits: {memory: 0}}}`, `{cpu: 100m, memory: 8Gi}`, `{}`},
		{"another resource beside", `{resources: {limits: {ephemeral-storage: 2Gi}, requests: {ephemeral-storage: 1Gi}}}`, `{cpu: 100m, memory: 256Mi, ephemeral-storage: 1Gi}`, `{memory: 256Mi, ephemeral-storage: 2Gi}`},
		{"N29 a limit of a device", `{resources: {limits: {nvidia.com/gpu: "1", ephemeral-storage: 2Gi}}}`, `{cpu: 100m, memory: 256Mi}`, `{memory: 256Mi, nvidia.com/gpu: 1, ephemeral-storage: 2Gi}`},
		{"N29 as many devices as the limit", `{resources: {limits: {nvidia.com/gpu: 2}, requests: {nvidia.com/gpu: 2}}}`, `{cpu: 100m, memory: 256Mi, nvidia.com/gpu: 2}`, `{memory: 256Mi, nvidia.com/gpu: 2}`},
		{"N29 no device", `{resources: {limits: {nvidia.com/gpu: 0}}}`, `{cpu: 100m, memory: 256Mi}`, `{memory: 256Mi, nvidia.com/gpu: 0}`},
		{"huge pages", `{resources: {limits: {hugepages-2Mi: 64Mi}}}`, `{cpu: 100m, memory: 256Mi}`, `{memory: 256Mi, hugepages-2Mi: 64Mi}`},
	} {
		t.Run(test.name, func(t *testing.T) {
			got := translated(t, test.spec).Container.Resources
			for side, lists := range map[string][2]corev1.ResourceList{"requests": {listOf(t, test.requests), got.Requests}, "limits": {listOf(t, test.limits), got.Limits}} {
				if diff := cmp.Diff(lists[0], lists[1]); diff != "" {
					t.Errorf("%s (-want +got):\n%s", side, diff)
				}
			}
		})
	}
}

func listOf(t *testing.T, text string) corev1.ResourceList {
	t.Helper()
	list := corev1.ResourceList{}
	if err := yaml.UnmarshalStrict([]byte(text), &list); err != nil {
		t.Fatal(err)
	}
	return list
}

// C07: however a size is written, it is rendered alike.
func TestEqualSizesAreSpeltAlike(t *testing.T) {
	const want = `{"limits":{"memory":"2Gi"},"requests":{"cpu":"1","memory":"2Gi"}}`
	for _, spelling := range []struct{ cpu, memory string }{
		{`"1"`, "2Gi"}, {"1000m", "2048Mi"}, {`"1.0"`, "2097152Ki"}, {"1000m", `"2147483648"`}, {`"1"`, `"2147483648"`}, {"1", "2147483648"}, {"1000000u", "2147483648000m"}, {"1e0", "0.001953125Ti"},
	} {
		got, err := json.Marshal(translated(t, `{framework: java, environment: stage, resources: {requests: {cpu: `+spelling.cpu+`, memory: `+spelling.memory+`}, limits: {memory: `+spelling.memory+`}}}`).Container.Resources)
		if err != nil || string(got) != want {
			t.Errorf("cpu %s and memory %s are %s (%v), want %s", spelling.cpu, spelling.memory, got, err, want)
		}
	}
}

// The presets are spelt as an override of the same size is.
func TestOverridingByThePresetChangesNothing(t *testing.T) {
	for _, instanceType := range v1alpha1.InstanceTypes() {
		app := newEGApp()
		app.Spec.InstanceType = instanceType
		want, err := translate.EGApp(app, translate.Options{})
		if err != nil {
			t.Fatal(err)
		}
		app.Spec.Resources = &v1alpha1.Resources{Requests: corev1.ResourceList{}, Limits: corev1.ResourceList{}}
		for name, quantity := range want.Container.Resources.Requests {
			app.Spec.Resources.Requests[name] = *resource.NewMilliQuantity(quantity.MilliValue(), resource.DecimalExponent)
		}
		for name, quantity := range want.Container.Resources.Limits {
			app.Spec.Resources.Limits[name] = *resource.NewMilliQuantity(quantity.MilliValue(), resource.DecimalExponent)
		}
		got, err := translate.EGApp(app, translate.Options{})
		if err != nil {
			t.Fatal(err)
		}
		before, _ := json.Marshal(want.Container.Resources)
		after, _ := json.Marshal(got.Container.Resources)
		if diff := cmp.Diff(string(before), string(after)); diff != "" {
			t.Errorf("%s:\n%s", instanceType, diff)
		}
	}
}

// N43
func TestRuntimeNumbersFollowTheFinalLimits(t *testing.T) {
	env := func(spec string) string {
		var out string
		for _, v := range translated(t, spec).Container.PresetEnv {
			out += v.Name + "=" + v.Value + ";"
		}
		return out
	}
	for spec, want := range map[string]string{
		`{framework: python}`:                                                       "PYTHONUNBUFFERED=1;WEB_CONCURRENCY=1;",
		`{framework: python, instanceType: balanced}`:                               "PYTHONUNBUFFERED=1;WEB_CONCURRENCY=4;",
		`{framework: python, resources: {limits: {memory: 512Mi}}}`:                 "PYTHONUNBUFFERED=1;WEB_CONCURRENCY=2;",
		`{framework: python, resources: {limits: {memory: 4Gi}}}`:                   "PYTHONUNBUFFERED=1;WEB_CONCURRENCY=4;",
		`{framework: python, resources: {limits: {memory: 4Gi, cpu: "4"}}}`:         "PYTHONUNBUFFERED=1;WEB_CONCURRENCY=9;",
		`{framework: python, resources: {requests: {memory: 512Mi}}}`:               "PYTHONUNBUFFERED=1;WEB_CONCURRENCY=2;",
		`{framework: go, resources: {limits: {memory: 1Gi}}}`:                       "GOMEMLIMIT=921MiB;",
		`{framework: go, resources: {limits: {memory: 0}}}`:                         "",
		`{framework: java, resources: {limits: {memory: 2Gi}}, args: ["-Xmx512m"]}`: "JAVA_TOOL_OPTIONS=-XX:MaxRAMPercentage=75.0 -XX:+ExitOnOutOfMemoryError;",
		`{framework: java, resources: {limits: {memory: 0}}}`:                       "JAVA_TOOL_OPTIONS=-XX:+ExitOnOutOfMemoryError;",
		// C20: the application's own variable wins where the container is made.
		`{framework: go, env: [{name: GOMEMLIMIT, value: 1GiB}]}`: "GOMEMLIMIT=230MiB;",
	} {
		if got := env(spec); got != want {
			t.Errorf("%s runs with %q, want %q", spec, got, want)
		}
	}
}
