// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package appstatus

// The condition types of an application.
const (
	// ConditionReady is True when everything that the specification asks for runs
	// and serves. When it is not, its reason names the first cause to act upon.
	ConditionReady = "Ready"
	// ConditionAvailable is True while enough pods serve, also during a rollout.
	ConditionAvailable = "Available"
	// ConditionReconciling is True while a change is under way and False at rest.
	ConditionReconciling = "Reconciling"
	// ConditionStalled is True while nothing moves on before a person acts.
	ConditionStalled = "Stalled"
)

// Phase is the state of an application in one word.
type Phase string

// The phases of an application.
const (
	// PhaseRunning means that all pods run the current specification and serve.
	PhaseRunning Phase = "Running"
	// PhaseUpdating means that a change is being rolled out.
	PhaseUpdating Phase = "Updating"
	// PhaseDegraded means that something keeps the application from its full state.
	PhaseDegraded Phase = "Degraded"
	// PhaseStopped means that no pod runs because none is asked for.
	PhaseStopped Phase = "Stopped"
	// PhasePaused means that the objects are left as they are because the specification asks for it.
	PhasePaused Phase = "Paused"
	// PhaseInvalid means that the specification cannot be carried out as it stands.
	PhaseInvalid Phase = "Invalid"
	// PhaseConflict means that a name or the appId is somebody else's already.
	PhaseConflict Phase = "Conflict"
)
