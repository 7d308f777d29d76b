// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package resources

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// checkHandlers refuses hooks and probes that do not say what to do. The API server refuses them in new pods, but drops an
// empty one out of a change without a word.
func checkHandlers(pod corev1.PodSpec) field.ErrorList {
	var errs field.ErrorList
	for _, c := range slices.Concat(pod.InitContainers, pod.Containers) {
		check := func(what string, isThere, hasHandler bool, handlers []string) {
			if isThere && !hasHandler {
				errs = append(errs, field.Required(patchPath, fmt.Sprintf(
					"give one of %s for the %s of the container %s", strings.Join(handlers, ", "), what, c.Name)))
			}
		}
		for _, p := range []struct {
			what  string
			probe *corev1.Probe
		}{{"startupProbe", c.StartupProbe}, {"readinessProbe", c.ReadinessProbe}, {"livenessProbe", c.LivenessProbe}} {
			check(p.what, p.probe != nil, p.probe != nil && p.probe.ProbeHandler != corev1.ProbeHandler{}, probeHandlers)
		}
		if c.Lifecycle == nil {
			continue
		}
		start, stop := c.Lifecycle.PostStart, c.Lifecycle.PreStop
		check("lifecycle.postStart", start != nil, start != nil && *start != corev1.LifecycleHandler{}, lifecycleHandlers)
		check("lifecycle.preStop", stop != nil, stop != nil && *stop != corev1.LifecycleHandler{}, lifecycleHandlers)
	}
	return errs
}
