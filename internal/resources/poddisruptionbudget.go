// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package resources

import (
	policyv1 "k8s.io/api/policy/v1"
	metav1ac "k8s.io/client-go/applyconfigurations/meta/v1"
	policyv1ac "k8s.io/client-go/applyconfigurations/policy/v1"

	"platformapp/internal/workload"
)

// podDisruptionBudget limits how many pods are missing while nodes are drained. It says
// how many may be missing, not how many must be there, so that it lets a drain pass at
// every number of pods and does not come and go while an autoscaler works; and a pod that
// does not serve anyway may always go.
func podDisruptionBudget(w workload.Workload, _ workload.Observed) *Child {
	if w.Disruption == nil || w.Replicas == 0 {
		return nil
	}
	config := policyv1ac.PodDisruptionBudget(w.Owner.Name, w.Owner.Namespace).
		WithLabels(w.Owner.ChildLabels()).
		WithOwnerReferences(ownerReference(w.Owner)).
		WithSpec(policyv1ac.PodDisruptionBudgetSpec().
			WithMaxUnavailable(*w.Disruption).
			WithUnhealthyPodEvictionPolicy(policyv1.AlwaysAllow).
			WithSelector(metav1ac.LabelSelector().WithMatchLabels(w.Owner.Selector())))
	return &Child{Config: config, Meta: config.ObjectMetaApplyConfiguration}
}
