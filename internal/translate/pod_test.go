// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package translate_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"platformapp/internal/workload"
)

// N42: order and values reach the container to the letter.
func TestContainerGetsWhatIsWritten(t *testing.T) {
	got := translated(t, `
imagePullPolicy: Never
imagePullSecrets: [{name: b}, {name: a}]
command: [/app, ""]
args: ["-v", "$(HOST)"]
env:
- {name: spring.datasource.url, value: "jdbc:h2:mem:x"}
- {name: DB_HOST, valueFrom: {secretKeyRef: {name: db, key: db.server.name, optional: true}}}
- {name: MEM, valueFrom: {resourceFieldRef: {resource: limits.memory, divisor: 1Mi}}}
- {name: ZONE, valueFrom: {fieldRef: {fieldPath: "metadata.labels['topology.kubernetes.io/zone']"}}}
- {name: EMPTY, value: ""}
- {name: TZ, value: Europe/Oslo}
- {name: LANG, value: C.UTF-8}
envFrom:
- {configMapRef: {name: cfg}}
- {prefix: DB_, secretRef: {name: db, optional: true}}
`)
	want := workload.Container{
		ImagePullPolicy: corev1.PullNever,
		Command:         []string{"/app", ""},
		Args:            []string{"-v", "$(HOST)"},
		Env: []corev1.EnvVar{
			{Name: "spring.datasource.url", Value: "jdbc:h2:mem:x"},
			{Name: "DB_HOST", ValueFrom: &corev1.EnvVarSource{SecretKeyRef: &corev1.SecretKeySelector{LocalObjectReference: corev1.LocalObjectReference{Name: "db"}, Key: "db.server.name", Optional: new(true)}}},
			{Name: "MEM", ValueFrom: &corev1.EnvVarSource{ResourceFieldRef: &corev1.ResourceFieldSelector{Resource: "limits.memory", Divisor: resource.MustParse("1Mi")}}},
			{Name: "ZONE", ValueFrom: &corev1.EnvVarSource{FieldRef: &corev1.ObjectFieldSelector{FieldPath: "metadata.labels['topology.kubernetes.io/zone']"}}},
			{Name: "EMPTY"},
			{Name: "TZ", Value: "Europe/Oslo"},
			{Name: "LANG", Value: "C.UTF-8"},
		},
		EnvFrom: []corev1.EnvFromSource{
			{ConfigMapRef: &corev1.ConfigMapEnvSource{LocalObjectReference: corev1.LocalObjectReference{Name: "cfg"}}},
			{Prefix: "DB_", SecretRef: &corev1.SecretEnvSource{LocalObjectReference: corev1.LocalObjectReference{Name: "db"}, Optional: new(true)}},
		},
	}
	c := got.Container
	if diff := cmp.Diff(want, workload.Container{ImagePullPolicy: c.ImagePullPolicy, Command: c.Command, Args: c.Args, Env: c.Env, EnvFrom: c.EnvFrom}); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"b", "a"}, got.ImagePullSecrets); diff != "" {
		t.Errorf("pull secrets (-want +got):\n%s", diff)
	}
}

func TestFilesBecomeVolumes(t *testing.T) {
	size := resource.MustParse("64Mi")
	want := []workload.File{
		{MountPath: "/etc/app", ReadOnly: true, Source: corev1.VolumeSource{ConfigMap: &corev1.ConfigMapVolumeSource{
			LocalObjectReference: corev1.LocalObjectReference{Name: "cfg"}, Items: []corev1.KeyToPath{{Key: "a.yaml", Path: "b/a.yaml", Mode: new(int32(0o400))}}, DefaultMode: new(int32(0)), Optional: new(true),
		}}},
		{MountPath: "/etc/tls", Source: corev1.VolumeSource{Secret: &corev1.SecretVolumeSource{SecretName: "tls"}}},
		{MountPath: "/data", SubPath: "orders", Source: corev1.VolumeSource{PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: "orders-data"}}},
		{MountPath: "/tmp", Source: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{Medium: corev1.StorageMediumMemory, SizeLimit: &size}}},
		{MountPath: "/cache", Source: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}},
	}
	got := translated(t, `
files:
- {mountPath: /etc/app, readOnly: true, configMap: {name: cfg, optional: true, defaultMode: 0, items: [{key: a.yaml, path: b/a.yaml, mode: 256}]}}
- {mountPath: /etc/tls, secret: {secretName: tls}}
- {mountPath: /data, subPath: orders, persistentVolumeClaim: {claimName: orders-data}}
- {mountPath: /tmp, emptyDir: {medium: Memory, sizeLimit: 64Mi}}
- {mountPath: /cache, emptyDir: {}}
`)
	if diff := cmp.Diff(want, got.Files); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	// What the pods refer to is known with the workload.
	references := workload.References{
		ConfigMaps: []workload.ConfigMapReference{{Name: "cfg", OptionalKeys: []string{"a.yaml"}, Optional: true}},
		Claims:     []string{"orders-data"},
	}
	if diff := cmp.Diff(references, got.References); diff != "" {
		t.Errorf("references (-want +got):\n%s", diff)
	}
}

func TestRolloutIsTheEnvironmentsUnlessAsked(t *testing.T) {
	for spec, want := range map[string]workload.Rollout{
		`{}`:            {ProgressDeadlineSeconds: 600},
		`{rollout: {}}`: {ProgressDeadlineSeconds: 600},
		`{rollout: {configChangePolicy: Restart}}`:                                                 {ProgressDeadlineSeconds: 600},
		`{rollout: {strategy: Recreate, progressDeadlineSeconds: 60, configChangePolicy: Ignore}}`: {Strategy: appsv1.RecreateDeploymentStrategyType, ProgressDeadlineSeconds: 60, IgnoreConfigChanges: true},
		`{environment: prod, rollout: {strategy: RollingUpdate}}`:                                  {Strategy: appsv1.RollingUpdateDeploymentStrategyType, ProgressDeadlineSeconds: 900, MinReadySeconds: 10},
	} {
		got := translated(t, spec).Rollout
		if got.MaxSurge.String() == "0" && got.MaxUnavailable.String() == "0" {
			t.Errorf("%s cannot roll out", spec)
		}
		got.MaxSurge, got.MaxUnavailable = want.MaxSurge, want.MaxUnavailable
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", spec, diff)
		}
	}
}

// N41, C21
func TestAutoscalingIsCompleted(t *testing.T) {
	for spec, want := range map[string]*workload.Autoscaling{
		`{}`: nil,
		`{autoscaling: {maxReplicas: 5, targetCPUUtilizationPercentage: 70}}`:                                     {MinReplicas: 1, MaxReplicas: 5, TargetCPU: new(int32(70))},
		`{autoscaling: {minReplicas: 2, maxReplicas: 2, targetMemoryUtilizationPercentage: 80}}`:                  {MinReplicas: 2, MaxReplicas: 2, TargetMemory: new(int32(80))},
		`{replicaCount: 0, autoscaling: {minReplicas: 2, maxReplicas: 4, targetMemoryUtilizationPercentage: 80}}`: {MinReplicas: 2, MaxReplicas: 4, TargetMemory: new(int32(80))},
	} {
		if diff := cmp.Diff(want, translated(t, spec).Autoscaling); diff != "" {
			t.Errorf("%s (-want +got):\n%s", spec, diff)
		}
	}
}

func TestOtherFieldsAreTaken(t *testing.T) {
	w := translated(t, `{paused: true, securityProfile: Baseline, serviceAccountName: orders-sa}`)
	if !w.Paused || w.Security != workload.SecurityBaseline || w.ServiceAccountName != "orders-sa" || w.References.ServiceAccount != "orders-sa" {
		t.Errorf("paused %t, security %s, account %s, reference %s", w.Paused, w.Security, w.ServiceAccountName, w.References.ServiceAccount)
	}
}

// Two spellings of one patch must be one workload.
func TestPatchIsCanonical(t *testing.T) {
	for spec, want := range map[string]string{
		`{}`:                     "",
		`{podTemplatePatch: {}}`: "",
		`{podTemplatePatch: {spec: {priorityClassName: low, hostname: a}, metadata: {annotations: {a: "<b>"}}}}`:                      `{"metadata":{"annotations":{"a":"\u003cb\u003e"}},"spec":{"hostname":"a","priorityClassName":"low"}}`,
		`{podTemplatePatch: {"metadata":   {"annotations": {"a": "\u003cb>"}}, "spec": {"hostname": "a", "priorityClassName": low}}}`: `{"metadata":{"annotations":{"a":"\u003cb\u003e"}},"spec":{"hostname":"a","priorityClassName":"low"}}`,
		`{podTemplatePatch: {spec: {terminationGracePeriodSeconds: 3600}}}`:                                                           `{"spec":{"terminationGracePeriodSeconds":3600}}`,
	} {
		if got := string(translated(t, spec).PodTemplatePatch); got != want {
			t.Errorf("%s is %s, want %s", spec, got, want)
		}
	}
}
