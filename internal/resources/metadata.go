// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package resources

import (
	metav1ac "k8s.io/client-go/applyconfigurations/meta/v1"

	"platformapp/internal/workload"
)

// ownerReference makes the owner the controller of a child. It does not block the
// owner's deletion, which would need a right on the owner's finalizers.
func ownerReference(o workload.Owner) *metav1ac.OwnerReferenceApplyConfiguration {
	return metav1ac.OwnerReference().
		WithAPIVersion(o.GroupVersion().String()).
		WithKind(o.Kind).
		WithName(o.Name).
		WithUID(o.UID).
		WithController(true)
}
