// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package status

import (
	"fmt"
	"slices"

	"platformapp/api/appstatus"
	"platformapp/internal/workload"
)

// cause is why an application is not ready.
type cause struct {
	reason, message string
	phase           appstatus.Phase
	// stalled: nothing moves on before a person acts.
	stalled bool
	// reconciling: a change is under way, though the Deployment is at rest.
	reconciling bool
}

// The causes in the order in which a person must act on them: what keeps objects from
// being written, what keeps pods from being made, from running and a rollout from ending,
// and what is wrong around pods that serve.
var (
	causesOfWrites = []func(facts) *cause{stalled, nameConflict, applyFailure, terminating}
	causesOfPods   = []func(facts) *cause{
		replicaFailure, podFailure, deploymentPaused, progressDeadline, rollingOut, podsNotReady,
	}
	causesAround = []func(facts) *cause{autoscalerConflict, exposureProblem, exposureRefused, exposurePending}

	ranking = slices.Concat(causesOfWrites, causesOfPods, causesAround)
	// While the application is paused nothing is written: what could not be read, and what
	// runs, can be at fault, and a change waits.
	pausedRanking = slices.Concat([]func(facts) *cause{applyFailure, pausedBeforeTheFirstPod}, causesOfPods, []func(facts) *cause{pausedBeforeAChange})
)

func (f facts) firstCause() *cause {
	order := ranking
	if f.paused() {
		order = pausedRanking
	}
	for _, find := range order {
		if c := find(f); c != nil {
			// Whatever the cause is, a rollout that has stood still for too long needs a person.
			c.stalled = c.stalled || (!c.reconciling && progressDeadline(f) != nil)
			return c
		}
	}
	return nil
}

// stalled is a specification that is not carried out.
func stalled(f facts) *cause {
	if f.stall == nil {
		return nil
	}
	c := &cause{message: f.stall.Message, phase: appstatus.PhaseInvalid, stalled: true}
	switch f.stall.Reason {
	case workload.StallDuplicateAppID:
		c.reason, c.phase = appstatus.ReasonDuplicateAppID, appstatus.PhaseConflict
	case workload.StallServiceAccount:
		c.reason = appstatus.ReasonServiceAccountNotAllowed
	case workload.StallInvalid:
		c.reason = appstatus.ReasonInvalidSpec
		c.message = "The specification is not carried out: " + c.message
	}
	c.message = sentence(c.message)
	if f.deployment != nil {
		c.message += " What ran before runs on."
	}
	return c
}

func pausedBeforeTheFirstPod(f facts) *cause {
	if f.deployment != nil {
		return nil
	}
	return &cause{
		reason:  appstatus.ReasonPaused,
		message: "Paused before anything was made: set spec.paused to false to begin.",
		phase:   appstatus.PhasePaused,
	}
}

// pausedBeforeAChange: whoever waits for the change must not take what runs for it.
func pausedBeforeAChange(f facts) *cause {
	if len(f.applied.Waiting) == 0 {
		return nil
	}
	return &cause{
		reason: appstatus.ReasonPaused,
		message: fmt.Sprintf("Paused, and a change waits, of %s: set spec.paused to false to carry it out. %s",
			bounded(f.applied.Waiting), f.servingMessage()),
		phase: appstatus.PhasePaused,
	}
}
