// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package profile_test

import (
	"flag"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/yaml"

	"platformapp/api/egplatform/v1alpha1"
	"platformapp/internal/profile"
	"platformapp/internal/workload"
)

var update = flag.Bool("update", false, "write docs/presets.md anew")

const (
	presetsPage = "../../docs/presets.md"
	egappSchema = "../../config/crd/bases/egplatform.platform.evillgenius.com_egapps.yaml"
)

func TestPresetsPageIsCurrent(t *testing.T) {
	got := presets()
	if *update {
		if err := os.WriteFile(presetsPage, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(presetsPage)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("docs/presets.md is stale (-page +code); write it by go test ./internal/profile -update:\n%s", diff)
	}
}

// presets renders the tables as a page for people.
func presets() string {
	var page strings.Builder
	page.WriteString(`<!-- Generated from internal/profile by: go test ./internal/profile -update. Do not edit. -->

# Presets

What the ` + "`framework`, `instanceType` and `environment`" + ` of an EGApp decide. Whatever the EGApp says itself wins.

## Framework

The image runs when the EGApp names none; a platform sets its own by the operator's environment variables
` + "`RELATED_IMAGE_JAVA`, `RELATED_IMAGE_PYTHON` and `RELATED_IMAGE_GO`" + `. With a read-only root the application can write to
` + "`/tmp`" + ` and to its ` + "`files`" + ` alone.

`)
	rows := [][]string{{"framework", "default image", "root", "start budget", "startup probe", "readiness probe", "liveness probe"}}
	for _, name := range v1alpha1.Frameworks() {
		framework := profile.Frameworks[name]
		root := "writable"
		if framework.ReadOnlyRoot {
			root = "read-only"
		}
		rows = append(rows, []string{
			code(string(name)), code(profile.Images{}.For(name)), root,
			seconds(startBudget(framework.Startup)), timing(framework.Startup), timing(framework.Readiness), timing(framework.Liveness),
		})
	}
	page.WriteString(markdown(rows))
	page.WriteString(`
Without ` + "`probes`" + ` the startup and the readiness probe ask whether the port ` + "`http`" + `, or else the first TCP port, takes a
connection, and there is no liveness probe: a process that crashes is restarted anyway. With ` + "`probes.path`" + ` all three ask
there by HTTP. A container that has not answered within its start budget is restarted. A worker
(` + "`service.type: None`" + `) is not probed.

What the runtimes are told, by environment variables that give way to those of the same name in ` + "`env` and `envFrom`" + `:

`)
	rows = [][]string{{"framework", "variable", "value"}}
	for _, name := range v1alpha1.Frameworks() {
		for _, variable := range profile.Frameworks[name].Variables {
			rows = append(rows, []string{code(string(name)), "[" + variable.Name + "](" + variable.Documentation + ")", variable.Meaning})
		}
	}
	page.WriteString(markdown(rows))
	page.WriteString("\nThe values of each instance type:\n\n")
	rows = [][]string{{"variable"}}
	for _, size := range v1alpha1.InstanceTypes() {
		rows[0] = append(rows[0], code(string(size)))
	}
	for _, name := range v1alpha1.Frameworks() {
		for _, variable := range profile.Frameworks[name].Variables {
			row := []string{code(variable.Name)}
			for _, size := range v1alpha1.InstanceTypes() {
				row = append(row, code(valueOf(profile.Frameworks[name].Env(profile.InstanceTypes[size].Limits), variable.Name)))
			}
			rows = append(rows, row)
		}
	}
	page.WriteString(markdown(rows))

	page.WriteString(`
They follow the limits that the container has in the end, after ` + "`resources`" + `. Without a limit of memory there is no
GOMEMLIMIT, the heap of Java is what the JVM chooses, and Python runs one worker.

## Instance type

Requests and limits of each pod. Memory is limited to what is requested; cpu has no limit. ` + "`resources`" + ` overrides single
entries: a limit below the request lowers the request, a request above the limit raises the limit, and a limit of 0 is no
limit.

`)
	rows = [][]string{{"instance type", "requested cpu", "requested memory", "limit of cpu", "limit of memory"}}
	for _, name := range v1alpha1.InstanceTypes() {
		size := profile.InstanceTypes[name]
		rows = append(rows, []string{
			code(string(name)), quantity(size.Requests, corev1.ResourceCPU), quantity(size.Requests, corev1.ResourceMemory),
			quantity(size.Limits, corev1.ResourceCPU), quantity(size.Limits, corev1.ResourceMemory),
		})
	}
	page.WriteString(markdown(rows))

	page.WriteString(`
## Environment

How carefully the pods are treated. *Extra* and *missing* are how many pods a rollout may run beyond the replicas, and
how many of them may be missing. A pod counts as available when it has been ready for *settling*; a rollout that makes no
progress for the *deadline* is reported, or later if the startup probe allows a pod more time than that. *Drained* is how
many pods may be missing while nodes are drained, rounded up, so that a drain never waits for ever. A pod that ends goes on
serving for the *farewell* and is killed after the *grace period*, which includes it.

`)
	rows = [][]string{{"environment", "extra", "missing", "settling", "deadline", "drained", "spread over zones and nodes", "image pull policy", "farewell", "grace period"}}
	for _, name := range v1alpha1.Environments() {
		e := profile.Environments[name]
		spread, drained := "no", "any"
		if e.Spread {
			spread = "as far as possible"
		}
		if e.Disruption != nil {
			drained = e.Disruption.String()
		}
		rows = append(rows, []string{
			code(string(name)), e.Rollout.MaxSurge.String(), e.Rollout.MaxUnavailable.String(), seconds(e.Rollout.MinReadySeconds),
			seconds(e.Rollout.ProgressDeadlineSeconds), drained, spread, string(e.ImagePullPolicy),
			seconds(e.PreStopSleepSeconds), seconds(e.TerminationGracePeriodSeconds),
		})
	}
	page.WriteString(markdown(rows))
	return page.String()
}

func valueOf(env []workload.EnvVar, name string) string {
	for _, variable := range env {
		if variable.Name == name {
			return variable.Value
		}
	}
	return ""
}

func markdown(rows [][]string) string {
	var table strings.Builder
	for i, row := range rows {
		table.WriteString("| " + strings.Join(row, " | ") + " |\n")
		if i == 0 {
			table.WriteString("|" + strings.Repeat("---|", len(row)) + "\n")
		}
	}
	return table.String()
}

func code(text string) string { return "`" + text + "`" }

func seconds[T int32 | int64](n T) string {
	if n == 0 {
		return "none"
	}
	return fmt.Sprintf("%d s", n)
}

func timing(p profile.ProbeTiming) string {
	return fmt.Sprintf("every %d s, timeout %d s, %d failures", p.PeriodSeconds, p.TimeoutSeconds, p.FailureThreshold)
}

func quantity(list corev1.ResourceList, name corev1.ResourceName) string {
	if q, ok := list[name]; ok {
		return q.String()
	}
	return "none"
}

func startBudget(p profile.ProbeTiming) int32 { return p.PeriodSeconds * p.FailureThreshold }

// A value that the schema admits and that no table has would be an application of zero
// values; a row that the schema does not admit is dead.
func TestTablesHaveARowForEachValueOfTheSchema(t *testing.T) {
	for _, test := range []struct {
		field string
		rows  []string
	}{
		{"framework", keys(profile.Frameworks)},
		{"instanceType", keys(profile.InstanceTypes)},
		{"environment", keys(profile.Environments)},
	} {
		enum := enumOf(t, test.field)
		slices.Sort(enum)
		if diff := cmp.Diff(enum, test.rows); diff != "" {
			t.Errorf("%s (-schema +table):\n%s", test.field, diff)
		}
	}
}

func keys[K ~string, V any](table map[K]V) []string {
	var out []string
	for key := range maps.Keys(table) {
		out = append(out, string(key))
	}
	slices.Sort(out)
	return out
}

// enumOf returns the values that the schema admits for a field of the specification.
func enumOf(t *testing.T, field string) []string {
	t.Helper()
	raw, err := os.ReadFile(egappSchema)
	if err != nil {
		t.Fatal(err)
	}
	var crd struct {
		Spec struct {
			Versions []struct {
				Schema struct {
					OpenAPIV3Schema struct {
						Properties struct {
							Spec struct {
								Properties map[string]struct{ Enum []string }
							}
						}
					} `json:"openAPIV3Schema"`
				}
			}
		}
	}
	if err := yaml.Unmarshal(raw, &crd); err != nil {
		t.Fatal(err)
	}
	if len(crd.Spec.Versions) != 1 {
		t.Fatalf("%d versions in %s, want 1", len(crd.Spec.Versions), egappSchema)
	}
	enum := crd.Spec.Versions[0].Schema.OpenAPIV3Schema.Properties.Spec.Properties[field].Enum
	if len(enum) == 0 {
		t.Fatalf("no enum for %s in %s", field, egappSchema)
	}
	return enum
}

// What the design asks of the tables, whatever their numbers are.
func TestPresetsKeepTheirPromises(t *testing.T) {
	if budget := startBudget(profile.Frameworks[v1alpha1.FrameworkJava].Startup); budget < 180 {
		t.Errorf("java has %d s to start, want 180 or more", budget)
	}
	for name, framework := range profile.Frameworks {
		for probe, timing := range map[string]profile.ProbeTiming{"startup": framework.Startup, "readiness": framework.Readiness, "liveness": framework.Liveness} {
			if timing.PeriodSeconds < 1 || timing.TimeoutSeconds < 1 || timing.FailureThreshold < 1 {
				t.Errorf("%s probe of %s is %+v: the server would put its own default for a zero", probe, name, timing)
			}
		}
		for environment, e := range profile.Environments {
			if budget := startBudget(framework.Startup); e.Rollout.ProgressDeadlineSeconds <= budget+e.Rollout.MinReadySeconds {
				t.Errorf("a rollout in %s is given up after %d s while %s may start for %d s", environment, e.Rollout.ProgressDeadlineSeconds, name, budget)
			}
		}
	}
	for name, size := range profile.InstanceTypes {
		if limit, request := size.Limits.Memory(), size.Requests.Memory(); limit.Cmp(*request) != 0 || limit.IsZero() {
			t.Errorf("%s has memory %s and its limit %s, want the same", name, request, limit)
		}
		if _, limited := size.Limits[corev1.ResourceCPU]; limited || size.Requests.Cpu().IsZero() {
			t.Errorf("%s: want cpu requested and not limited, not %+v", name, size)
		}
	}
	for name, e := range profile.Environments {
		if e.PreStopSleepSeconds >= e.TerminationGracePeriodSeconds {
			t.Errorf("a pod in %s is killed (%d s) before it was told to end (%d s)", name, e.TerminationGracePeriodSeconds, e.PreStopSleepSeconds)
		}
		if e.Rollout.MaxSurge.String() == "0" && e.Rollout.MaxUnavailable.String() == "0" {
			t.Errorf("a rollout in %s cannot move", name)
		}
	}
	for name, framework := range profile.Frameworks {
		if alive, ready := framework.Liveness, framework.Readiness; startBudget(alive) <= startBudget(ready) || alive.TimeoutSeconds < ready.TimeoutSeconds {
			t.Errorf("%s is restarted (%+v) before it is taken out of the Service (%+v)", name, alive, ready)
		}
		for _, variable := range framework.Variables {
			if variable.Meaning == "" || !strings.HasPrefix(variable.Documentation, "https://") {
				t.Errorf("%s of %s is not explained: %+v", variable.Name, name, variable)
			}
		}
	}
	if profile.Environments[v1alpha1.EnvironmentDev].Disruption != nil {
		t.Error("dev has a disruption budget, want none")
	}
	for _, name := range []v1alpha1.Environment{v1alpha1.EnvironmentStage, v1alpha1.EnvironmentProd} {
		// C21, N41: whatever the number of pods is, at least one may go.
		for pods := 1; pods <= 20; pods++ {
			missing, err := intstr.GetScaledValueFromIntOrPercent(profile.Environments[name].Disruption, pods, true)
			if err != nil || missing < 1 || (pods > 1 && missing == pods) {
				t.Errorf("of %d pods in %s %d may be missing during a drain (%v)", pods, name, missing, err)
			}
		}
		if e := profile.Environments[name]; !e.Spread || e.Rollout.MaxUnavailable.String() != "0" {
			t.Errorf("%s runs with fewer pods than asked for, or on one node: %+v", name, e)
		}
	}
}

// N43: the numbers follow the limits, and are small where nothing limits.
func TestEnvironmentVariablesFollowTheLimits(t *testing.T) {
	const heap75, heap50 = "-XX:MaxRAMPercentage=75.0 -XX:+ExitOnOutOfMemoryError", "-XX:MaxRAMPercentage=50.0 -XX:+ExitOnOutOfMemoryError"
	for _, test := range []struct {
		framework   v1alpha1.Framework
		memory, cpu string
		variable    string
		want        string
	}{
		{v1alpha1.FrameworkGo, "256Mi", "", "GOMEMLIMIT", "230MiB"},
		{v1alpha1.FrameworkGo, "4Gi", "", "GOMEMLIMIT", "3686MiB"},
		{v1alpha1.FrameworkGo, "7Ei", "", "GOMEMLIMIT", "6926923254988MiB"},
		{v1alpha1.FrameworkGo, "1Mi", "", "GOMEMLIMIT", ""},
		{v1alpha1.FrameworkGo, "", "2", "GOMEMLIMIT", ""},
		{v1alpha1.FrameworkPython, "64Mi", "", "WEB_CONCURRENCY", "1"},
		{v1alpha1.FrameworkPython, "256Mi", "", "WEB_CONCURRENCY", "1"},
		{v1alpha1.FrameworkPython, "512Mi", "", "WEB_CONCURRENCY", "2"},
		{v1alpha1.FrameworkPython, "1Gi", "", "WEB_CONCURRENCY", "4"},
		{v1alpha1.FrameworkPython, "4Gi", "", "WEB_CONCURRENCY", "4"},
		{v1alpha1.FrameworkPython, "64Gi", "", "WEB_CONCURRENCY", "4"},
		{v1alpha1.FrameworkPython, "64Gi", "500m", "WEB_CONCURRENCY", "3"},
		{v1alpha1.FrameworkPython, "64Gi", "1500m", "WEB_CONCURRENCY", "5"},
		{v1alpha1.FrameworkPython, "64Gi", "16", "WEB_CONCURRENCY", "33"},
		{v1alpha1.FrameworkPython, "1Gi", "16", "WEB_CONCURRENCY", "4"},
		{v1alpha1.FrameworkPython, "7Ei", "7E", "WEB_CONCURRENCY", "131073"},
		{v1alpha1.FrameworkPython, "", "", "WEB_CONCURRENCY", "1"},
		{v1alpha1.FrameworkPython, "1Gi", "", "PYTHONUNBUFFERED", "1"},
		{v1alpha1.FrameworkPython, "", "", "PYTHONUNBUFFERED", "1"},
		{v1alpha1.FrameworkJava, "256Mi", "", "JAVA_TOOL_OPTIONS", heap50},
		{v1alpha1.FrameworkJava, "1023Mi", "", "JAVA_TOOL_OPTIONS", heap50},
		{v1alpha1.FrameworkJava, "1Gi", "", "JAVA_TOOL_OPTIONS", heap75},
		{v1alpha1.FrameworkJava, "", "", "JAVA_TOOL_OPTIONS", "-XX:+ExitOnOutOfMemoryError"},
	} {
		limits := corev1.ResourceList{}
		if test.memory != "" {
			limits[corev1.ResourceMemory] = resource.MustParse(test.memory)
		}
		if test.cpu != "" {
			limits[corev1.ResourceCPU] = resource.MustParse(test.cpu)
		}
		if got := valueOf(profile.Frameworks[test.framework].Env(limits), test.variable); got != test.want {
			t.Errorf("%s with memory %q and cpu %q: %s=%q, want %q", test.framework, test.memory, test.cpu, test.variable, got, test.want)
		}
	}
}

// GOMEMLIMIT at or above the limit would let the kernel end the process first.
func TestGoMemoryLimitStaysBelowTheContainers(t *testing.T) {
	for name, size := range profile.InstanceTypes {
		value := profile.Frameworks[v1alpha1.FrameworkGo].Env(size.Limits)[0].Value
		soft, err := resource.ParseQuantity(strings.TrimSuffix(value, "B"))
		if err != nil {
			t.Fatalf("GOMEMLIMIT=%s of %s: %v", value, name, err)
		}
		if soft.Cmp(*size.Limits.Memory()) >= 0 || soft.Sign() <= 0 {
			t.Errorf("GOMEMLIMIT=%s of %s, whose limit is %s", value, name, size.Limits.Memory())
		}
	}
}

func TestPlatformSetsTheDefaultImages(t *testing.T) {
	images := profile.Images{v1alpha1.FrameworkJava: "registry.example.com/base/java:21", v1alpha1.FrameworkGo: ""}
	for framework, want := range map[v1alpha1.Framework]string{
		v1alpha1.FrameworkJava:   "registry.example.com/base/java:21",
		v1alpha1.FrameworkGo:     "gcr.io/kuar-demo/kuard-amd64:1",
		v1alpha1.FrameworkPython: "gcr.io/kuar-demo/kuard-amd64:1",
	} {
		if got := images.For(framework); got != want {
			t.Errorf("default image of %s is %s, want %s", framework, got, want)
		}
	}
	if got := profile.Images(nil).For(v1alpha1.FrameworkJava); got != profile.DefaultImage {
		t.Errorf("without images the default image is %s, want %s", got, profile.DefaultImage)
	}
}
