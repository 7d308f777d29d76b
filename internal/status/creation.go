// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package status

import (
	"fmt"
	"regexp"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"platformapp/api/appstatus"
	"platformapp/internal/workload"
)

// replicaFailure passes on why the ReplicaSet cannot create pods: the Deployment
// carries its words.
func replicaFailure(f facts) *cause {
	condition := f.deploymentCondition(appsv1.DeploymentReplicaFailure)
	if condition == nil || condition.Status != corev1.ConditionTrue || f.rolledOut() {
		return nil
	}
	c := &cause{
		reason: appstatus.ReasonPodRefused, phase: appstatus.PhaseDegraded,
		message: quoted("Pods cannot be created", condition.Message),
	}
	if strings.Contains(condition.Message, "exceeded quota") || strings.Contains(condition.Message, "failed quota") {
		c.reason = appstatus.ReasonQuotaExceeded
	}
	if advice := f.creationAdvice(condition.Message); advice != "" {
		c.message += " " + advice
	}
	return c
}

// creationAdvice tells what in the application's own specification satisfies whoever
// refuses its pods, or nothing where that is for the words of the refusal to say.
func (f facts) creationAdvice(refusal string) string {
	_, demands, mustSpecify := strings.Cut(refusal, "must specify ")
	hasResources := f.workload.Owner.SelectorKey == workload.LabelEGApp
	switch {
	case mustSpecify && hasResources:
		return f.whatToSpecify(demands)
	case mustSpecify:
		return fmt.Sprintf("A %s sets no resources: give the namespace a LimitRange with defaults.", f.workload.Owner.Kind)
	case limitRange.MatchString(refusal) && hasResources:
		return "Choose another spec.instanceType, or set spec.resources within the LimitRange of the namespace."
	case strings.Contains(refusal, "violates PodSecurity") && hasResources && f.workload.Security == workload.SecurityBaseline:
		return "If the namespace demands the standard restricted, set spec.securityProfile to Restricted."
	case strings.Contains(refusal, "violates PodSecurity") && !hasResources:
		return fmt.Sprintf("A %s satisfies the standard baseline: for a namespace that demands restricted, make an EGApp.", f.workload.Owner.Kind)
	default:
		return ""
	}
}

// limitRange matches the words in which a LimitRange refuses a pod.
var limitRange = regexp.MustCompile("(maximum|minimum) [^ ]+ usage per (Container|Pod) is|max limit to request ratio per (Container|Pod) is")

// whatToSpecify names the fields that a quota demands, of its list of resources, each
// with the containers that lack it: "limits.cpu for: app,proxy; requests.memory for: app".
func (f facts) whatToSpecify(demands string) string {
	var advice []string
	for demand := range strings.SplitSeq(demands, "; ") {
		resource, containers, ok := strings.Cut(demand, " for: ")
		if !ok {
			continue
		}
		if !strings.Contains(resource, ".") {
			resource = "requests." + resource
		}
		for name := range strings.SplitSeq(strings.TrimRight(containers, ". \n"), ",") {
			if name == mainContainer(f.deployment) {
				advice = append(advice, "set spec.resources."+resource)
			} else {
				advice = append(advice, fmt.Sprintf("set resources.%s of the container %s in spec.podTemplatePatch", resource, name))
			}
		}
	}
	if len(advice) == 0 {
		return ""
	}
	return "In the EGApp, " + bounded(advice) + "."
}
