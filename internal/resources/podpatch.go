// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package resources

import (
	"encoding/json"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"

	"platformapp/internal/workload"
)

// patchPath is where the patch stands in the application.
var patchPath = field.NewPath("spec", "podTemplatePatch")

// patchTemplate returns the generated pods with the workload's patch over them, or every
// rule that the patch breaks. The generated pods stay as they are.
//
// The patch is a strategic merge patch, with these differences:
//   - Fields that pods do not have, values of the wrong type, fields that stand twice and the
//     directives of a patch are refused: a server would drop the former in silence, and by the
//     latter the application's container could be taken away.
//   - The application's container is also called main.
//   - Of what can be only one thing, such as the handler of a probe, a volume's source or a
//     variable's value, another thing replaces the generated one.
//   - Container ports are told apart by number and protocol, not by number alone.
//   - A topology spread constraint replaces the generated ones for its topology key. A
//     selector that it leaves out, or that does not select the pods, is the application's:
//     anything else would spread them by pods of others.
//   - Variables that the patch adds come after the others, so that they may refer to them.
//   - A generated field is left out by null. Clients that apply on their own side lose nulls:
//     what works with every client is the annotation platform.evillgenius.com/remove in the
//     patch's metadata, with the paths of the fields, such as
//     spec.containers[main].readinessProbe, separated by blanks or commas.
func patchTemplate(w workload.Workload, generated *corev1ac.PodTemplateSpecApplyConfiguration) (*corev1ac.PodTemplateSpecApplyConfiguration, field.ErrorList) {
	p, errs := readPatch(w)
	if len(errs) > 0 {
		return nil, errs
	}
	if errs := p.check(w); len(errs) > 0 {
		return nil, errs
	}
	merged, err := p.merge(w, jsonOf(generated))
	if err != nil {
		return nil, field.ErrorList{field.Invalid(patchPath, field.OmitValueType{}, err.Error())}
	}
	// The typed form drops zeros that the author wrote, as the server does: in a list that it
	// owns as a whole each would be a difference from the live object for ever.
	typed := &corev1.PodTemplateSpec{}
	serialized, err := json.Marshal(merged)
	if err == nil {
		err = json.Unmarshal(serialized, typed)
	}
	if err != nil {
		return nil, field.ErrorList{field.Invalid(patchPath, field.OmitValueType{}, err.Error())}
	}
	patched := readAs[corev1ac.PodTemplateSpecApplyConfiguration](typed)
	restore(w, generated, patched)
	return patched, nil
}
