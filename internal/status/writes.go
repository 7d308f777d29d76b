// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package status

import (
	"fmt"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/labels"

	"platformapp/api/appstatus"
	"platformapp/internal/workload"
)

func nameConflict(f facts) *cause {
	if len(f.applied.Conflicts) == 0 {
		return nil
	}
	var taken []string
	for _, conflict := range f.applied.Conflicts {
		taken = append(taken, f.describeConflict(conflict))
	}
	if len(taken) > maxListed {
		taken = append(taken[:maxListed], fmt.Sprintf("Names that are taken beside these: %d.", len(taken)-maxListed))
	}
	return &cause{reason: appstatus.ReasonNameConflict, message: strings.Join(taken, " "), phase: appstatus.PhaseConflict, stalled: true}
}

// describeConflict names the object that has a child's name, whose it is, and what there
// is to be done.
func (f facts) describeConflict(conflict workload.Conflict) string {
	owner := f.workload.Owner
	name := conflict.Name
	if name == "" {
		name = owner.Name
	}
	whose, way := "has no controller", fmt.Sprintf("To let the %s adopt it: kubectl annotate %s/%s -n %s %s=%s. Or",
		owner.Kind, strings.ToLower(conflict.Kind), name, owner.Namespace, workload.AnnotationAdoptBy, owner.Name)
	switch obstacle := f.obstacle(conflict); {
	case conflict.Controller != "":
		whose, way = "is controlled by "+conflict.Controller, "Either"
	case obstacle != "":
		way = fmt.Sprintf("It cannot be adopted, since its %s does not fit and cannot be changed: either", obstacle)
	}
	return fmt.Sprintf("%s %s/%s exists already, %s and is left alone. %s choose another name for the %s, or delete that %s if nobody needs it.",
		conflict.Kind, owner.Namespace, name, whose, way, owner.Kind, conflict.Kind)
}

// obstacle names the immutable field for which an object of somebody else cannot be
// adopted, or nothing if there is none to be seen.
func (f facts) obstacle(conflict workload.Conflict) string {
	deployment := f.observed.Deployment()
	if conflict.Obstacle == "" && conflict.Kind == workload.KindDeployment && deployment != nil && !selects(deployment, f.workload.Owner.Selector()) {
		return "spec.selector"
	}
	return conflict.Obstacle
}

// selects tells whether a Deployment selects by exactly these labels.
func selects(deployment *appsv1.Deployment, wanted map[string]string) bool {
	selector := deployment.Spec.Selector
	return selector != nil && len(selector.MatchExpressions) == 0 && labels.Equals(selector.MatchLabels, wanted)
}

func applyFailure(f facts) *cause {
	failure := f.applied.Failure
	if failure == nil {
		return nil
	}
	c := &cause{message: quoted(failure.Kind, failure.Message), phase: appstatus.PhaseDegraded}
	switch failure.Reason {
	case workload.FailureForbidden:
		c.reason, c.stalled = appstatus.ReasonForbidden, true
		c.message = "The operator lacks a right: " + c.message + " Install the roles of the operator as they are shipped."
	case workload.FailureInvalid:
		c.reason, c.stalled = appstatus.ReasonRefused, true
		c.message += " This breaks a rule of the API server, so it is tried again when something changes, or after an hour."
	case workload.FailureRefused:
		c.reason, c.stalled = appstatus.ReasonRefused, true
	case workload.FailureQuota:
		c.reason, c.stalled = appstatus.ReasonQuotaExceeded, true
	case workload.FailureNamespaceTerminating:
		c.reason, c.reconciling = appstatus.ReasonTerminating, true
	case workload.FailureTransient, workload.FailureUnserved:
		c.reason, c.reconciling = appstatus.ReasonApplyFailed, true
	}
	return c
}

func terminating(f facts) *cause {
	if len(f.applied.Terminating) == 0 {
		return nil
	}
	return &cause{
		reason:  appstatus.ReasonTerminating,
		message: fmt.Sprintf("Waits until the %s of the same name, which is being deleted, is gone.", f.applied.Terminating[0]),
		phase:   appstatus.PhaseUpdating, reconciling: true,
	}
}
