// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	"encoding/json"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// validatePod judges how the pods run and are replaced.
func validatePod(spec *field.Path, s *EGAppSpec) field.ErrorList {
	errs := noLongerThan(spec.Child("image"), s.Image, 512)
	errs = append(errs, optionalOneOf(spec.Child("imagePullPolicy"), s.ImagePullPolicy, []corev1.PullPolicy{corev1.PullAlways, corev1.PullIfNotPresent, corev1.PullNever})...)
	errs = append(errs, validateImagePullSecrets(spec.Child("imagePullSecrets"), s.ImagePullSecrets)...)
	errs = append(errs, commandLine(spec.Child("command"), s.Command)...)
	errs = append(errs, commandLine(spec.Child("args"), s.Args)...)
	errs = append(errs, optionalObjectName(spec.Child("serviceAccountName"), s.ServiceAccountName)...)
	errs = append(errs, optionalOneOf(spec.Child("securityProfile"), s.SecurityProfile, []SecurityProfile{SecurityProfileRestricted, SecurityProfileBaseline})...)
	errs = append(errs, validateRollout(spec.Child("rollout"), s.Rollout)...)
	if patch := s.PodTemplatePatch; patch != nil && len(patch.Raw) > 0 {
		var object map[string]json.RawMessage
		if err := json.Unmarshal(patch.Raw, &object); err != nil {
			errs = append(errs, field.Invalid(spec.Child("podTemplatePatch"), string(patch.Raw), "must be an object with metadata, spec or both, as a pod template has them"))
		}
	}
	return errs
}

func validateImagePullSecrets(path *field.Path, secrets []corev1.LocalObjectReference) field.ErrorList {
	errs := atMost(path, len(secrets), 16)
	seen := map[string]bool{}
	for i, secret := range secrets {
		errs = append(errs, objectName(path.Index(i).Child("name"), secret.Name)...)
		if seen[secret.Name] {
			errs = append(errs, field.Duplicate(path.Index(i).Child("name"), secret.Name))
		}
		seen[secret.Name] = true
	}
	return errs
}

func validateRollout(path *field.Path, r *Rollout) field.ErrorList {
	if r == nil {
		return nil
	}
	errs := optionalOneOf(path.Child("strategy"), r.Strategy, []RolloutStrategy{RolloutStrategyRollingUpdate, RolloutStrategyRecreate})
	errs = append(errs, atLeast(path.Child("progressDeadlineSeconds"), r.ProgressDeadlineSeconds, 1)...)
	return append(errs, optionalOneOf(path.Child("configChangePolicy"), r.ConfigChangePolicy, []ConfigChangePolicy{ConfigChangePolicyRestart, ConfigChangePolicyIgnore})...)
}
