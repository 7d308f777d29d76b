// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package appstatus

// The reasons of conditions and events. They are stable: scripts and alerts match them.
// docs/troubleshooting.md has a row for each.
const (
	// ReasonReady: all pods run the current specification and serve.
	ReasonReady = "Ready"
	// ReasonStopped: no pod runs because zero replicas are asked for.
	ReasonStopped = "Stopped"

	// ReasonInvalidSpec: the specification breaks a rule; the message names field and rule.
	ReasonInvalidSpec = "InvalidSpec"
	// ReasonPaused: the objects are left as they are because the specification asks for it.
	ReasonPaused = "Paused"
	// ReasonDuplicateAppID: an older EGApp of the environment has the same appId.
	ReasonDuplicateAppID = "DuplicateAppId"
	// ReasonServiceAccountNotAllowed: the ServiceAccount does not let EGApps run as it.
	ReasonServiceAccountNotAllowed = "ServiceAccountNotAllowed"
	// ReasonNameConflict: an object that is not this application's has the name of a child.
	ReasonNameConflict = "NameConflict"
	// ReasonForbidden: the operator lacks a right.
	ReasonForbidden = "Forbidden"
	// ReasonRefused: validation or an admission policy refuses a child.
	ReasonRefused = "Refused"
	// ReasonApplyFailed: the API server could not be asked, or failed; it is tried again.
	ReasonApplyFailed = "ApplyFailed"

	// ReasonQuotaExceeded: a ResourceQuota keeps pods from being created.
	ReasonQuotaExceeded = "QuotaExceeded"
	// ReasonPodRefused: admission (Pod Security, a LimitRange, a policy, a webhook)
	// keeps pods from being created.
	ReasonPodRefused = "PodRefused"
	// ReasonUnschedulable: no node has room for a pod.
	ReasonUnschedulable = "Unschedulable"
	// ReasonImagePullFailed: an image cannot be pulled.
	ReasonImagePullFailed = "ImagePullFailed"
	// ReasonConfigMissing: a pod refers to a ConfigMap, Secret or key that is not there.
	ReasonConfigMissing = "ConfigMissing"
	// ReasonCrashLoop: a container ends again and again.
	ReasonCrashLoop = "CrashLoop"
	// ReasonContainerStartFailed: a container cannot be created or started.
	ReasonContainerStartFailed = "ContainerStartFailed"
	// ReasonContainersNotStarted: a pod waits for its containers for minutes, and nobody says why.
	ReasonContainersNotStarted = "ContainersNotStarted"
	// ReasonProbeFailing: a container runs, but its probe has failed for longer than it may.
	ReasonProbeFailing = "ProbeFailing"
	// ReasonDeploymentPaused: somebody paused the Deployment.
	ReasonDeploymentPaused = "DeploymentPaused"
	// ReasonProgressDeadlineExceeded: the rollout made no progress for too long.
	ReasonProgressDeadlineExceeded = "ProgressDeadlineExceeded"
	// ReasonRollingOut: pods of the current specification are still starting.
	ReasonRollingOut = "RollingOut"
	// ReasonPodsNotReady: the rollout is done but pods have stopped serving.
	ReasonPodsNotReady = "PodsNotReady"
	// ReasonTerminating: a child of the same name is still being deleted.
	ReasonTerminating = "Terminating"

	// ReasonAutoscalerConflict: another autoscaler scales the application already.
	ReasonAutoscalerConflict = "AutoscalerConflict"
	// ReasonExposeUnavailable: the cluster lacks the API that is to expose the application.
	ReasonExposeUnavailable = "ExposeUnavailable"
	// ReasonExposeHostMissing: what would expose the application needs a host, and none is given.
	ReasonExposeHostMissing = "ExposeHostMissing"
	// ReasonExposeRefused: a gateway or router refuses to expose the application.
	ReasonExposeRefused = "ExposeRefused"
	// ReasonExposePending: no gateway or router has taken the application up yet.
	ReasonExposePending = "ExposePending"

	// ReasonDriftRepaired: somebody had changed or deleted objects, and they are as they
	// should be again; only events carry it.
	ReasonDriftRepaired = "DriftRepaired"

	// ReasonMinimumAvailable: enough pods serve.
	ReasonMinimumAvailable = "MinimumAvailable"
	// ReasonMinimumUnavailable: too few pods serve.
	ReasonMinimumUnavailable = "MinimumUnavailable"
	// ReasonAtRest: no change is under way.
	ReasonAtRest = "AtRest"
	// ReasonNotStalled: nothing waits for a person.
	ReasonNotStalled = "NotStalled"
)
