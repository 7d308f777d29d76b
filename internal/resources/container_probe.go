// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package resources

import (
	corev1 "k8s.io/api/core/v1"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"
)

// probe returns a probe with every field that is given, or nil for nil. What is zero in it is
// left to the server, which takes zero for left out. CheckPods refuses hosts.
func probe(p *corev1.Probe) *corev1ac.ProbeApplyConfiguration {
	if p == nil {
		return nil
	}
	return readAs[corev1ac.ProbeApplyConfiguration](p)
}
