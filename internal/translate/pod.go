// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package translate

import (
	"bytes"
	"encoding/json"
	"math"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"platformapp/api/egplatform/v1alpha1"
	"platformapp/internal/workload"
)

func files(given []v1alpha1.File) []workload.File {
	var out []workload.File
	for _, file := range given {
		out = append(out, workload.File{MountPath: file.MountPath, SubPath: file.SubPath, ReadOnly: file.ReadOnly, Source: source(file)})
	}
	return out
}

func source(file v1alpha1.File) corev1.VolumeSource {
	switch {
	case file.ConfigMap != nil:
		return corev1.VolumeSource{ConfigMap: &corev1.ConfigMapVolumeSource{
			LocalObjectReference: corev1.LocalObjectReference{Name: file.ConfigMap.Name},
			Items:                file.ConfigMap.Items, DefaultMode: file.ConfigMap.DefaultMode, Optional: trueOrNil(file.ConfigMap.Optional),
		}}
	case file.Secret != nil:
		return corev1.VolumeSource{Secret: &corev1.SecretVolumeSource{
			SecretName: file.Secret.SecretName,
			Items:      file.Secret.Items, DefaultMode: file.Secret.DefaultMode, Optional: trueOrNil(file.Secret.Optional),
		}}
	case file.PersistentVolumeClaim != nil:
		return corev1.VolumeSource{PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: file.PersistentVolumeClaim.ClaimName}}
	default:
		return corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{Medium: medium(file.EmptyDir.Medium), SizeLimit: file.EmptyDir.SizeLimit}}
	}
}

// medium returns what Kubernetes calls it: the disk has no name there.
func medium(given v1alpha1.EmptyDirMedium) corev1.StorageMedium {
	if given == v1alpha1.EmptyDirMediumMemory {
		return corev1.StorageMediumMemory
	}
	return corev1.StorageMediumDefault
}

func trueOrNil(value bool) *bool {
	if !value {
		return nil
	}
	return &value
}

// patch returns a patch in canonical JSON, or nil if it says nothing.
func patch(given *runtime.RawExtension) []byte {
	if given == nil || len(given.Raw) == 0 {
		return nil
	}
	var object map[string]any
	decoder := json.NewDecoder(bytes.NewReader(given.Raw))
	// A number stays as it is, however great it is.
	decoder.UseNumber()
	// That it is an object has been checked.
	if err := decoder.Decode(&object); err != nil || len(object) == 0 {
		return nil
	}
	canonical, err := json.Marshal(object)
	if err != nil {
		return nil
	}
	return canonical
}

func security(p v1alpha1.SecurityProfile) workload.Security {
	if p == "" {
		return workload.SecurityRestricted
	}
	return workload.Security(p)
}

func autoscaling(a *v1alpha1.Autoscaling) *workload.Autoscaling {
	if a == nil {
		return nil
	}
	return &workload.Autoscaling{
		MinReplicas: valueOr(a.MinReplicas, 1), MaxReplicas: a.MaxReplicas,
		TargetCPU: a.TargetCPUUtilizationPercentage, TargetMemory: a.TargetMemoryUtilizationPercentage,
	}
}

// rollout returns the environment's rollout with what the application says. Without a word
// of it the deadline leaves every pod its whole time to start.
func rollout(r *v1alpha1.Rollout, preset workload.Rollout, startup *corev1.Probe) workload.Rollout {
	const margin = 60
	out := preset
	if startup != nil {
		budget := sum(startup.InitialDelaySeconds, product(startup.PeriodSeconds, startup.FailureThreshold))
		out.ProgressDeadlineSeconds = max(out.ProgressDeadlineSeconds, sum(budget, preset.MinReadySeconds+margin))
	}
	if r == nil {
		return out
	}
	switch r.Strategy {
	case v1alpha1.RolloutStrategyRollingUpdate:
		out.Strategy = appsv1.RollingUpdateDeploymentStrategyType
	case v1alpha1.RolloutStrategyRecreate:
		out.Strategy = appsv1.RecreateDeploymentStrategyType
	}
	out.ProgressDeadlineSeconds = valueOr(r.ProgressDeadlineSeconds, out.ProgressDeadlineSeconds)
	out.IgnoreConfigChanges = r.ConfigChangePolicy == v1alpha1.ConfigChangePolicyIgnore
	return out
}

// sum and product of numbers of at least 0; what is beyond the greatest number is that.
func sum(a, b int32) int32 {
	if a > math.MaxInt32-b {
		return math.MaxInt32
	}
	return a + b
}

func product(a, b int32) int32 {
	if b > 0 && a > math.MaxInt32/b {
		return math.MaxInt32
	}
	return a * b
}
