// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package resources_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"testing"
	"text/tabwriter"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"pgregory.net/rapid"
	"sigs.k8s.io/yaml"

	devopsv1 "platformapp/api/devops/v1"
	"platformapp/api/egplatform/v1alpha1"
	"platformapp/internal/resources"
	"platformapp/internal/translate"
	"platformapp/internal/workload"
)

var update = flag.Bool("update", false, "write the golden files anew")

// Each folder of testdata holds an application, what it finds if that is not a plain and
// empty cluster, and what becomes of it: its children in the order of their application, or
// the error that its author reads.
func TestChildrenAreAsInGoldenFiles(t *testing.T) {
	inputs, err := filepath.Glob("testdata/*/input.yaml")
	if err != nil || len(inputs) == 0 {
		t.Fatalf("no cases in testdata: %v", err)
	}
	for _, input := range inputs {
		folder := filepath.Dir(input)
		t.Run(filepath.Base(folder), func(t *testing.T) {
			desired, failure := filepath.Join(folder, "desired.yaml"), filepath.Join(folder, "error.txt")
			scene := readScene(t, folder)
			w, err := readWorkload(t, input, scene.options())
			if err != nil {
				compareWithGolden(t, failure, err.Error()+"\n")
				expectNoGolden(t, desired)
				return
			}
			children := resources.Desired(w, scene.observed())
			compareWithGolden(t, desired, handoversYAML(t, children)+toYAML(t, children))
			expectNoGolden(t, failure)
		})
	}
}

// The profile decides about 36 combinations. The golden table holds what differs between
// them; the test holds the rest to be equal, so that nothing is decided beside the table.
func TestCombinationsDifferAsInGoldenTable(t *testing.T) {
	var table bytes.Buffer
	columns := tabwriter.NewWriter(&table, 0, 0, 2, ' ', 0)
	fmt.Fprintln(columns, strings.Join(combinationHeader, "\t"))
	var rest string
	for _, framework := range v1alpha1.Frameworks() {
		for _, environment := range v1alpha1.Environments() {
			for _, instanceType := range v1alpha1.InstanceTypes() {
				deployment := deploymentOf(t, resources.Desired(mustTranslate(t, &v1alpha1.EGApp{
					ObjectMeta: metav1.ObjectMeta{Namespace: "team-a", Name: "orders", UID: "1"},
					Spec:       v1alpha1.EGAppSpec{Framework: framework, InstanceType: instanceType, Environment: environment},
				}), workload.Observed{}))
				row := append([]string{string(framework), string(environment), string(instanceType)}, takeDifferences(t, deployment)...)
				fmt.Fprintln(columns, strings.Join(row, "\t"))

				others := toYAML(t, deployment)
				if rest == "" {
					rest = others
				}
				if diff := cmp.Diff(rest, others); diff != "" {
					t.Errorf("%s/%s/%s differs from the first combination beyond the columns of the table:\n%s", framework, environment, instanceType, diff)
				}
			}
		}
	}
	if err := columns.Flush(); err != nil {
		t.Fatal(err)
	}
	compareWithGolden(t, "testdata/combinations.txt", table.String())
}

var combinationHeader = []string{
	"framework", "environment", "instanceType", "requests", "limits", "surge/unavailable", "minReady", "deadline",
	"pull", "spread", "grace", "preStop", "startup", "readiness", "root", "default image", "env",
}

// takeDifferences returns the columns of the table and removes from the Deployment what
// they hold.
func takeDifferences(t *testing.T, d *appsv1.Deployment) []string {
	t.Helper()
	pod := &d.Spec.Template.Spec
	c := &pod.Containers[0]
	var env, spread []string
	for _, v := range c.Env {
		env = append(env, fmt.Sprintf("%s=%q", v.Name, v.Value))
	}
	for _, constraint := range pod.TopologySpreadConstraints {
		spread = append(spread, fmt.Sprintf("%s:%d:%s", path.Base(constraint.TopologyKey), constraint.MaxSkew, constraint.WhenUnsatisfiable))
	}
	preStop := "-"
	if c.Lifecycle != nil {
		preStop = fmt.Sprintf("sleep %ds", c.Lifecycle.PreStop.Sleep.Seconds)
	}
	columns := []string{
		quantities(c.Resources.Requests),
		quantities(c.Resources.Limits),
		d.Spec.Strategy.RollingUpdate.MaxSurge.String() + "/" + d.Spec.Strategy.RollingUpdate.MaxUnavailable.String(),
		fmt.Sprintf("%ds", d.Spec.MinReadySeconds),
		fmt.Sprintf("%ds", *d.Spec.ProgressDeadlineSeconds),
		string(c.ImagePullPolicy),
		orDash(strings.Join(spread, ",")),
		fmt.Sprintf("%ds", *pod.TerminationGracePeriodSeconds),
		preStop,
		probe(c.StartupProbe),
		probe(c.ReadinessProbe),
		root(pod, c),
		d.Annotations[workload.AnnotationDefaultImage],
		strings.Join(env, " "),
	}
	delete(d.Annotations, workload.AnnotationDefaultImage)
	d.Spec.Strategy.RollingUpdate, d.Spec.ProgressDeadlineSeconds, d.Spec.MinReadySeconds = nil, nil, 0
	pod.TopologySpreadConstraints, pod.TerminationGracePeriodSeconds = nil, nil
	pod.Volumes, c.VolumeMounts, c.SecurityContext.ReadOnlyRootFilesystem = nil, nil, nil
	c.Resources, c.Env, c.Lifecycle, c.ImagePullPolicy = corev1.ResourceRequirements{}, nil, nil, ""
	for _, p := range []*corev1.Probe{c.StartupProbe, c.ReadinessProbe} {
		p.PeriodSeconds, p.TimeoutSeconds, p.FailureThreshold = 0, 0, 0
	}
	return columns
}

func quantities(list corev1.ResourceList) string {
	var out []string
	for _, name := range []corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory} {
		if quantity, ok := list[name]; ok {
			out = append(out, fmt.Sprintf("%s=%s", name, quantity.String()))
		}
	}
	if len(out) != len(list) {
		out = append(out, fmt.Sprintf("and %d more", len(list)-len(out)))
	}
	return strings.Join(out, ",")
}

func probe(p *corev1.Probe) string {
	return fmt.Sprintf("%dx%ds/%ds", p.FailureThreshold, p.PeriodSeconds, p.TimeoutSeconds)
}

// root tells where the container may write.
func root(pod *corev1.PodSpec, c *corev1.Container) string {
	if c.SecurityContext.ReadOnlyRootFilesystem == nil || !*c.SecurityContext.ReadOnlyRootFilesystem {
		return fmt.Sprintf("writable%s", strings.Repeat("+volume", len(pod.Volumes)))
	}
	var writable []string
	for i, mount := range c.VolumeMounts {
		if volume := pod.Volumes[i]; volume.Name == mount.Name && volume.EmptyDir != nil && !mount.ReadOnly {
			writable = append(writable, mount.MountPath)
		}
	}
	return "read-only but " + orDash(strings.Join(writable, ","))
}

func orDash(text string) string {
	if text == "" {
		return "-"
	}
	return text
}

// readWorkload reads an application as strictly as the API server does, so that no case
// tests a misspelt field.
func readWorkload(t testing.TB, file string, options translate.Options) (workload.Workload, error) {
	t.Helper()
	raw, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var typeMeta metav1.TypeMeta
	if err := yaml.Unmarshal(raw, &typeMeta); err != nil {
		t.Fatal(err)
	}
	switch typeMeta {
	case metav1.TypeMeta{APIVersion: "egplatform.platform.evillgenius.com/v1alpha1", Kind: "EGApp"}:
		app := &v1alpha1.EGApp{}
		if err := yaml.UnmarshalStrict(raw, app); err != nil {
			t.Fatal(err)
		}
		return translate.EGApp(app, options)
	case metav1.TypeMeta{APIVersion: "devops.my.domain/v1", Kind: "DemoMicroService"}:
		service := &devopsv1.DemoMicroService{}
		if err := yaml.UnmarshalStrict(raw, service); err != nil {
			t.Fatal(err)
		}
		return translate.DemoMicroService(service)
	default:
		t.Fatalf("%s holds a %v", file, typeMeta)
		return workload.Workload{}, nil
	}
}

// toYAML writes children as one stream of documents, any other object as a document.
func toYAML(t rapid.TB, object any) string {
	t.Helper()
	if children, ok := object.([]resources.Child); ok {
		var documents []string
		for _, child := range children {
			documents = append(documents, toYAML(t, child.Config))
		}
		return strings.Join(documents, "---\n")
	}
	document, err := yaml.Marshal(object)
	if err != nil {
		t.Fatal(err)
	}
	return string(document)
}

// deploymentOf returns the Deployment among the children, as the API server would read it.
func deploymentOf(t rapid.TB, children []resources.Child) *appsv1.Deployment {
	t.Helper()
	deployment := &appsv1.Deployment{}
	readChild(t, children, "Deployment", deployment)
	return deployment
}

// readChild reads the child of a kind into an object of its type and tells whether there
// is one.
func readChild(t rapid.TB, children []resources.Child, kind string, into any) bool {
	t.Helper()
	for _, child := range children {
		if child.Kind != kind {
			continue
		}
		serialized, err := json.Marshal(child.Config)
		if err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(serialized, into); err != nil {
			t.Fatal(err)
		}
		return true
	}
	return false
}

func mustTranslate(t rapid.TB, app *v1alpha1.EGApp) workload.Workload {
	t.Helper()
	w, err := translate.EGApp(app, translate.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return w
}

func compareWithGolden(t *testing.T, golden, got string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatalf("%v; write it by go test ./internal/resources -update and read it", err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("differs from %s (-want +got); if that is meant, write it by go test ./internal/resources -update:\n%s", golden, diff)
	}
}

// expectNoGolden fails when a case has the result of an outcome that it no longer has.
func expectNoGolden(t *testing.T, golden string) {
	t.Helper()
	if *update {
		if err := os.Remove(golden); err != nil && !errors.Is(err, fs.ErrNotExist) {
			t.Fatal(err)
		}
		return
	}
	if _, err := os.Stat(golden); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("%s is there, but that is not what becomes of the case any more (%v)", golden, err)
	}
}
