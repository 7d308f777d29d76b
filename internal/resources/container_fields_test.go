// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package resources_test

import (
	"reflect"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/intstr"

	"platformapp/internal/resources"
	"platformapp/internal/workload"
)

// A field that is accepted must arrive: each that the API has, and those that it will get.
func TestEachFieldOfProbesVariablesAndVolumesArrives(t *testing.T) {
	base := workloadWith(t, `{framework: java}`)
	rendered := func(change func(*workload.Workload)) corev1.PodSpec {
		w := base
		change(&w)
		return deploymentOf(t, resources.Desired(w, workload.Observed{})).Spec.Template.Spec
	}
	for _, want := range eachLeaf[corev1.Probe](t) {
		pod := rendered(func(w *workload.Workload) {
			w.Container.Startup, w.Container.Readiness, w.Container.Liveness = want, want, want
		})
		c := pod.Containers[0]
		for name, got := range map[string]*corev1.Probe{"startup": c.StartupProbe, "readiness": c.ReadinessProbe, "liveness": c.LivenessProbe} {
			if diff := cmp.Diff(toYAML(t, want), toYAML(t, got)); diff != "" {
				t.Errorf("%s probe:\n%s", name, diff)
			}
		}
	}
	for _, want := range eachLeaf[corev1.EnvVar](t) {
		pod := rendered(func(w *workload.Workload) { w.Container.Env = []corev1.EnvVar{*want} })
		env := pod.Containers[0].Env
		got := env[len(env)-1]
		if from := got.ValueFrom; from != nil && from.ResourceFieldRef != nil && want.ValueFrom.ResourceFieldRef.Divisor.IsZero() {
			from.ResourceFieldRef.Divisor = resource.Quantity{} // the server's default is 0 too
		}
		for _, from := range []*corev1.EnvVarSource{got.ValueFrom, want.ValueFrom} {
			if from != nil && from.FieldRef != nil && from.FieldRef.APIVersion == "" {
				from.FieldRef.APIVersion = "v1"
			}
			if from != nil && from.FileKeyRef != nil && from.FileKeyRef.Optional == nil {
				from.FileKeyRef.Optional = new(false)
			}
		}
		if diff := cmp.Diff(toYAML(t, want), toYAML(t, got)); diff != "" {
			t.Errorf("variable:\n%s", diff)
		}
	}
	// Of these kinds are the files of an application.
	for _, want := range eachLeaf[struct {
		ConfigMap             *corev1.ConfigMapVolumeSource
		Secret                *corev1.SecretVolumeSource
		PersistentVolumeClaim *corev1.PersistentVolumeClaimVolumeSource
		EmptyDir              *corev1.EmptyDirVolumeSource
	}](t) {
		source := corev1.VolumeSource{
			ConfigMap: want.ConfigMap, Secret: want.Secret,
			PersistentVolumeClaim: want.PersistentVolumeClaim, EmptyDir: want.EmptyDir,
		}
		pod := rendered(func(w *workload.Workload) { w.Files = []workload.File{{MountPath: "/x", Source: source}} })
		if diff := cmp.Diff(toYAML(t, source), toYAML(t, pod.Volumes[0].VolumeSource)); diff != "" {
			t.Errorf("volume:\n%s", diff)
		}
	}
}

// What is zero and not required is left to the server.
func TestProbeClaimsNoZeros(t *testing.T) {
	w := workloadWith(t, `{}`)
	for _, probe := range []corev1.Probe{
		{ProbeHandler: corev1.ProbeHandler{HTTPGet: &corev1.HTTPGetAction{Port: intstr.FromInt32(80)}}},
		{ProbeHandler: corev1.ProbeHandler{TCPSocket: &corev1.TCPSocketAction{Port: intstr.FromInt32(80)}}},
		{ProbeHandler: corev1.ProbeHandler{GRPC: &corev1.GRPCAction{Port: 80}}},
		{ProbeHandler: corev1.ProbeHandler{Exec: &corev1.ExecAction{}}},
	} {
		w.Container.Startup = &probe
		var sent struct {
			Spec struct {
				Template struct {
					Spec struct {
						Containers []struct {
							StartupProbe map[string]map[string]any `json:"startupProbe"`
						} `json:"containers"`
					} `json:"spec"`
				} `json:"template"`
			} `json:"spec"`
		}
		for _, child := range resources.Desired(w, workload.Observed{}) {
			if child.Kind == workload.KindDeployment {
				readInto(t, child.Config, &sent)
			}
		}
		got := sent.Spec.Template.Spec.Containers[0].StartupProbe
		for handler, fields := range got {
			delete(fields, "port")
			if len(got) != 1 || len(fields) != 0 {
				t.Errorf("the probe claims, beside a port, %s: %v", handler, got)
			}
		}
	}
}

// eachLeaf returns values of a type in each of which one leaf is set, with the objects that
// it stands in. A list has one item.
func eachLeaf[T any](t *testing.T) []*T {
	t.Helper()
	var values []*T
	for _, path := range leavesOf(t, reflect.TypeFor[T]()) {
		value := new(T)
		setLeaf(t, reflect.ValueOf(value).Elem(), path)
		values = append(values, value)
	}
	if len(values) < 10 {
		t.Fatalf("%d leaves: the test reads the type wrongly", len(values))
	}
	return values
}

// isLeaf tells whether a type has no fields that are set one by one.
func isLeaf(of reflect.Type) bool {
	return of.Kind() != reflect.Struct || of == reflect.TypeFor[intstr.IntOrString]() || of == reflect.TypeFor[resource.Quantity]()
}

func leavesOf(t *testing.T, of reflect.Type) [][]int {
	t.Helper()
	for of.Kind() == reflect.Pointer || of.Kind() == reflect.Slice {
		of = of.Elem()
	}
	if isLeaf(of) {
		return [][]int{nil}
	}
	var paths [][]int
	for i := range of.NumField() {
		for _, below := range leavesOf(t, of.Field(i).Type) {
			paths = append(paths, append([]int{i}, below...))
		}
	}
	return paths
}

func setLeaf(t *testing.T, value reflect.Value, path []int) {
	t.Helper()
	if value.Kind() == reflect.Pointer {
		value.Set(reflect.New(value.Type().Elem()))
		setLeaf(t, value.Elem(), path)
		return
	}
	if value.Kind() == reflect.Slice {
		value.Set(reflect.MakeSlice(value.Type(), 1, 1))
		setLeaf(t, value.Index(0), path)
		return
	}
	if !isLeaf(value.Type()) {
		setLeaf(t, value.Field(path[0]), path[1:])
		return
	}
	switch leaf := value.Addr().Interface().(type) {
	case *intstr.IntOrString:
		*leaf = intstr.FromString("http")
	case *resource.Quantity:
		*leaf = resource.MustParse("1Mi")
	default:
		switch value.Kind() {
		case reflect.String:
			value.SetString("x")
		case reflect.Int32, reflect.Int64:
			value.SetInt(7)
		case reflect.Bool:
			value.SetBool(true)
		default:
			t.Fatalf("the test must learn to set a leaf of type %s", value.Type())
		}
	}
}
