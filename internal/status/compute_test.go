// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package status_test

import (
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"platformapp/api/appstatus"
	"platformapp/internal/workload"
)

// want is what a person sees of a scene.
type want struct {
	reason string
	phase  appstatus.Phase
	// stalled, reconciling and available are the other conditions.
	stalled, reconciling, available bool
	// anyReconciling leaves Reconciling open: a pod that crashes after it has served is at
	// rest as well as on its way back.
	anyReconciling bool
	// says and silent are what the message of Ready holds, and what it does not.
	says, silent []string
	// image is what the status names; empty stands for the new image.
	image string
	// states are the pods by state, where they matter.
	states map[string][]string
}

type row struct {
	name  string
	scene *scene
	want  want
}

// with returns the scene after a change.
func (s *scene) with(change func(*scene)) *scene {
	change(s)
	return s
}

var (
	oom        = corev1.ContainerStateTerminated{ExitCode: 137, Reason: "OOMKilled"}
	failure    = corev1.ContainerStateTerminated{ExitCode: 3, Reason: "Error"}
	completed  = corev1.ContainerStateTerminated{ExitCode: 0, Reason: "Completed"}
	execFormat = corev1.ContainerStateTerminated{ExitCode: 128, Reason: "StartError", Message: "exec /app: exec format error"}
)

func rows() []row {
	var all []row
	for _, group := range [][]row{
		restRows(), rolloutRows(), specificationRows(), applyRows(), creationRows(), podRows(), crashRows(), leftoverRows(), standstillRows(),
	} {
		all = append(all, group...)
	}
	return all
}

func restRows() []row {
	return []row{
		{"all pods serve", running(3), want{
			reason: appstatus.ReasonReady, phase: appstatus.PhaseRunning, available: true, says: []string{"All 3 pods serve"},
			states: map[string][]string{"Running": {"orders-2-000", "orders-2-001", "orders-2-002"}},
		}},
		{"the only pod serves", running(1), want{
			reason: appstatus.ReasonReady, phase: appstatus.PhaseRunning, available: true, says: []string{"The pod serves."}, silent: []string{"1 pods"},
		}},
		{"a sidecar among the init containers runs", running(1).with(func(s *scene) { nativeSidecar(&s.pods[0]) }), want{
			reason: appstatus.ReasonReady, phase: appstatus.PhaseRunning, available: true, states: map[string][]string{"Running": {"orders-2-000"}},
		}},
		{"stopped", running(0), want{
			reason: appstatus.ReasonStopped, phase: appstatus.PhaseStopped, available: true, says: []string{"Stopped"},
		}},
		{"admission changed fields", running(3).with(func(s *scene) {
			s.applied.Modified = []string{"Deployment.spec.replicas", "Service.spec.type"}
		}), want{
			reason: appstatus.ReasonReady, phase: appstatus.PhaseRunning, available: true,
			says: []string{"All 3 pods serve", "Admission changed Deployment.spec.replicas, Service.spec.type"}, silent: []string{"more"},
		}},
		{"admission changed many fields", running(3).with(func(s *scene) {
			for i := range 8 {
				s.applied.Modified = append(s.applied.Modified, fmt.Sprintf("Deployment.spec.f%d", i))
			}
		}), want{
			reason: appstatus.ReasonReady, phase: appstatus.PhaseRunning, available: true,
			says: []string{"Deployment.spec.f4 and 3 more"}, silent: []string{"f5"},
		}},
		{"an apply changed nothing of the Deployment's specification", running(3).with(func(s *scene) {
			s.applied.Generation = 4
		}), want{reason: appstatus.ReasonReady, phase: appstatus.PhaseRunning, available: true}},
		{"a ReplicaSet could not create a pod for a while, but has by now", running(3).with(func(s *scene) {
			s.condition(appsv1.DeploymentReplicaFailure, corev1.ConditionTrue, "FailedCreate", "exceeded quota: pods")
		}), want{reason: appstatus.ReasonReady, phase: appstatus.PhaseRunning, available: true}},
		{"somebody paused the Deployment, but nothing is to be rolled out", running(3).with(func(s *scene) {
			s.deployment.Spec.Paused = true
			s.condition(appsv1.DeploymentProgressing, corev1.ConditionUnknown, "DeploymentPaused", "Deployment is paused")
		}), want{reason: appstatus.ReasonReady, phase: appstatus.PhaseRunning, available: true}},
		// An injector may put its container first; server-side apply keeps that order.
		{"a sidecar comes before the application's container", running(3).with(func(s *scene) {
			containers := &s.deployment.Spec.Template.Spec.Containers
			*containers = append([]corev1.Container{{Name: "proxy", Image: "registry.example.com/proxy:1"}}, *containers...)
		}), want{reason: appstatus.ReasonReady, phase: appstatus.PhaseRunning, available: true, image: newImage}},
	}
}

func rolloutRows() []row {
	return []row{
		{"nothing is there yet", running(3).with(func(s *scene) {
			s.deployment, s.replicaSets, s.pods, s.previous.Image = nil, nil, nil, ""
			s.applied.Generation = 1
		}), want{reason: appstatus.ReasonRollingOut, phase: appstatus.PhaseUpdating, reconciling: true, says: []string{"0 of 3 pods"}, image: "none"}},
		{"the Deployment was made and nobody has looked at it", running(3).with(func(s *scene) {
			s.replicaSets, s.pods, s.previous.Image = nil, nil, ""
			s.deployment.Generation, s.deployment.Annotations, s.deployment.Status = 1, nil, appsv1.DeploymentStatus{}
		}), want{reason: appstatus.ReasonRollingOut, phase: appstatus.PhaseUpdating, reconciling: true, says: []string{"0 of 3 pods"}, image: "none"}},
		// What serves is of the specification before: to count it would be a lie.
		{"a new image was written just now", running(3).with(func(s *scene) {
			s.previous.Image = oldImage
			s.applied.Generation = 5
		}), want{reason: appstatus.ReasonRollingOut, phase: appstatus.PhaseUpdating, reconciling: true, available: true, silent: []string{"3 of 3"}, image: oldImage}},
		{"the Deployment's status is of the specification before", running(3).with(func(s *scene) {
			s.previous.Image = oldImage
			s.deployment.Generation = 5
		}), want{reason: appstatus.ReasonRollingOut, phase: appstatus.PhaseUpdating, reconciling: true, available: true, silent: []string{"3 of 3"}, image: oldImage}},
		// The pods that are known are of the pod template before, which is on its way out.
		{"a crash is mended and nobody has looked at the Deployment yet", running(3).with(func(s *scene) {
			s.down(crashing(failure))
			s.previous.Image = oldImage
			s.deployment.Generation = 5
		}), want{reason: appstatus.ReasonRollingOut, phase: appstatus.PhaseUpdating, reconciling: true, image: oldImage}},
		{"a crash is mended just now", running(3).with(func(s *scene) {
			s.down(crashing(failure))
			s.previous.Image = oldImage
			s.applied.Generation = 5
		}), want{reason: appstatus.ReasonRollingOut, phase: appstatus.PhaseUpdating, reconciling: true, image: oldImage}},
		{"the first new pod starts while the old ones serve", rollingOut(3), want{
			reason: appstatus.ReasonRollingOut, phase: appstatus.PhaseUpdating, reconciling: true, available: true, says: []string{"0 of 3 pods"}, image: oldImage,
		}},
		{"the first new pod serves", rollingOut(3).with(func(s *scene) {
			s.pods[3] = pod("orders-2-000", newRevision)
			s.counts(4, 1, 4, 4)
		}), want{reason: appstatus.ReasonRollingOut, phase: appstatus.PhaseUpdating, reconciling: true, available: true, says: []string{"1 of 3 pods"}, image: oldImage}},
		{"all new pods serve and an old one is left", running(3).with(func(s *scene) {
			s.previous.Image = oldImage
			s.pods = append([]corev1.Pod{pod("orders-1-000", oldRevision)}, s.pods...)
			s.counts(4, 3, 4, 4)
			s.condition(appsv1.DeploymentProgressing, corev1.ConditionTrue, "ReplicaSetUpdated", "")
		}), want{reason: appstatus.ReasonRollingOut, phase: appstatus.PhaseUpdating, reconciling: true, available: true, image: oldImage}},
		{"all new pods serve and an old one that does not is left", running(3).with(func(s *scene) {
			s.previous.Image = oldImage
			s.pods = append([]corev1.Pod{pod("orders-1-000", oldRevision, notReady)}, s.pods...)
			s.counts(4, 3, 3, 3)
			s.condition(appsv1.DeploymentProgressing, corev1.ConditionTrue, "ReplicaSetUpdated", "")
		}), want{reason: appstatus.ReasonRollingOut, phase: appstatus.PhaseUpdating, reconciling: true, available: true, image: oldImage}},
		{"the first pods start", running(3).with(func(s *scene) {
			s.previous.Image = ""
			s.down(pending)
			s.condition(appsv1.DeploymentProgressing, corev1.ConditionTrue, "ReplicaSetUpdated", "")
		}), want{
			reason: appstatus.ReasonRollingOut, phase: appstatus.PhaseUpdating, reconciling: true, says: []string{"0 of 3 pods"}, image: "none",
			states: map[string][]string{"Pending": {"orders-2-000", "orders-2-001", "orders-2-002"}},
		}},
		{"scaled up", running(5).with(func(s *scene) {
			pending(&s.pods[3])
			starting(&s.pods[4])
			s.counts(5, 5, 3, 3)
		}), want{
			reason: appstatus.ReasonRollingOut, phase: appstatus.PhaseUpdating, reconciling: true, available: true, says: []string{"3 of 5 pods"},
			states: map[string][]string{"Running": {"orders-2-000", "orders-2-001", "orders-2-002"}, "Pending": {"orders-2-003"}, "NotReady": {"orders-2-004"}},
		}},
		{"scaled down to nothing while pods run", running(3).with(func(s *scene) {
			s.workload.Replicas, s.deployment.Spec.Replicas = 0, new(int32(0))
		}), want{reason: appstatus.ReasonRollingOut, phase: appstatus.PhaseUpdating, reconciling: true, available: true, silent: []string{"3 of 0"}}},
		{"a drained node's pod is replaced", running(3).with(func(s *scene) {
			terminating(&s.pods[0])
			s.pods = append(s.pods, pod("orders-2-003", newRevision, pending))
			s.counts(3, 3, 2, 2)
		}), want{
			reason: appstatus.ReasonRollingOut, phase: appstatus.PhaseUpdating, reconciling: true, available: true, says: []string{"2 of 3 pods"},
			states: map[string][]string{"Terminating": {"orders-2-000"}, "Running": {"orders-2-001", "orders-2-002"}, "Pending": {"orders-2-003"}},
		}},
	}
}

func specificationRows() []row {
	invalid := errors.New(`spec.image: Invalid value: "docker://nginx:1"`)
	// The translation of an invalid specification gives the owner alone.
	spoil := func(s *scene) {
		s.invalid = invalid
		s.workload = workload.Workload{Owner: s.workload.Owner}
	}
	return []row{
		{"invalid from the start", running(3).with(spoil).with(func(s *scene) {
			s.deployment, s.replicaSets, s.pods, s.previous.Image = nil, nil, nil, ""
		}), want{reason: appstatus.ReasonInvalidSpec, phase: appstatus.PhaseInvalid, stalled: true, says: []string{invalid.Error()}, silent: []string{"runs on"}, image: "none"}},
		{"became invalid while pods serve", running(3).with(spoil), want{
			reason: appstatus.ReasonInvalidSpec, phase: appstatus.PhaseInvalid, stalled: true, available: true, says: []string{invalid.Error(), "What ran before runs on"},
			states: map[string][]string{"Running": {"orders-2-000", "orders-2-001", "orders-2-002"}},
		}},
		{"became invalid while pods crash", running(3).with(spoil).with(func(s *scene) { s.down(crashing(failure)) }), want{
			reason: appstatus.ReasonInvalidSpec, phase: appstatus.PhaseInvalid, stalled: true, says: []string{invalid.Error()},
		}},
		{"became invalid while a rollout was under way", rollingOut(3).with(spoil), want{
			reason: appstatus.ReasonInvalidSpec, phase: appstatus.PhaseInvalid, stalled: true, available: true, image: oldImage,
		}},
		{"invalid with many words", running(3).with(func(s *scene) { s.invalid = errors.New(strings.Repeat("word ", 20000)) }), want{
			reason: appstatus.ReasonInvalidSpec, phase: appstatus.PhaseInvalid, stalled: true, available: true,
		}},
	}
}

func applyRows() []row {
	foreign := func(s *scene) {
		s.deployment.OwnerReferences = []metav1.OwnerReference{controller("argoproj.io/v1alpha1", "Rollout", "orders", "rollout")}
		s.previous.Image, s.pods, s.replicaSets = "", nil, nil
		s.applied.Conflicts = []workload.Conflict{{Kind: "Deployment", Controller: "Rollout orders"}}
	}
	fails := func(reason workload.FailureReason, message string) func(*scene) {
		return func(s *scene) {
			s.applied.Failure = &workload.Failure{Reason: reason, Kind: "Service", Message: message}
		}
	}
	return []row{
		{"the Deployment's name is taken by a controller's", running(3).with(foreign), want{
			reason: appstatus.ReasonNameConflict, phase: appstatus.PhaseConflict, stalled: true, image: "none",
			says: []string{"Deployment team-a/orders", "is controlled by Rollout orders", "EGApp"},
		}},
		{"the Deployment's name is taken by one that was not observed", running(3).with(foreign).with(func(s *scene) { s.deployment = nil }), want{
			reason: appstatus.ReasonNameConflict, phase: appstatus.PhaseConflict, stalled: true, says: []string{"Deployment team-a/orders"}, image: "none",
		}},
		{"the Deployment's name is taken by nobody's", running(3).with(foreign).with(func(s *scene) {
			s.deployment.OwnerReferences, s.deployment.Labels = nil, nil
			s.applied.Conflicts[0].Controller = ""
		}), want{reason: appstatus.ReasonNameConflict, phase: appstatus.PhaseConflict, stalled: true, says: []string{"has no controller"}, image: "none"}},
		{"the Service's name is taken", running(3).with(func(s *scene) {
			s.applied.Conflicts = []workload.Conflict{{Kind: "Service"}}
		}), want{reason: appstatus.ReasonNameConflict, phase: appstatus.PhaseConflict, stalled: true, available: true, says: []string{"Service team-a/orders"}}},
		{"a right is missing", running(3).with(fails(workload.FailureForbidden, `User "op" cannot patch resource "services"`)), want{
			reason: appstatus.ReasonForbidden, phase: appstatus.PhaseDegraded, stalled: true, available: true,
			says: []string{"lacks a right", "Service", `User "op" cannot patch resource "services"`},
		}},
		{"a child is refused", running(3).with(fails(workload.FailureRefused, "denied by policy p")), want{
			reason: appstatus.ReasonRefused, phase: appstatus.PhaseDegraded, stalled: true, available: true, says: []string{"Service: denied by policy p"},
		}},
		{"a child is refused by a quota", running(3).with(fails(workload.FailureQuota, "exceeded quota: services")), want{
			reason: appstatus.ReasonQuotaExceeded, phase: appstatus.PhaseDegraded, stalled: true, available: true, says: []string{"Service: exceeded quota: services"},
		}},
		{"the server fails while a rollout is under way", rollingOut(3).with(fails(workload.FailureTransient, "etcdserver: request timed out")), want{
			reason: appstatus.ReasonApplyFailed, phase: appstatus.PhaseDegraded, reconciling: true, available: true, image: oldImage,
			says: []string{"Service: etcdserver: request timed out"},
		}},
		// It is tried again, so a change is under way whatever the Deployment looks like.
		{"the server fails while the pods of the last specification serve", running(3).with(fails(workload.FailureTransient, "etcdserver: request timed out")), want{
			reason: appstatus.ReasonApplyFailed, phase: appstatus.PhaseDegraded, reconciling: true, available: true,
		}},
		{"the namespace is being deleted", running(3).with(func(s *scene) {
			s.deployment, s.pods = nil, nil
			fails(workload.FailureNamespaceTerminating, "namespace team-a is being terminated")(s)
		}), want{reason: appstatus.ReasonTerminating, phase: appstatus.PhaseDegraded, reconciling: true, says: []string{"namespace team-a is being terminated"}}},
		// Neither its pods nor its counts are this application's.
		{"a predecessor's Deployment is being deleted", running(3).with(func(s *scene) {
			s.deployment.OwnerReferences[0].UID = "predecessor"
			s.previous.Image = ""
			s.applied.Terminating = []string{"Deployment"}
		}), want{
			reason: appstatus.ReasonTerminating, phase: appstatus.PhaseUpdating, reconciling: true, says: []string{"Deployment of the same name"}, image: "none",
			states: map[string][]string{},
		}},
		{"the Deployment itself is being deleted", running(3).with(func(s *scene) {
			s.deployment.DeletionTimestamp = new(metav1.Now())
			s.applied.Terminating = []string{"Deployment"}
		}), want{reason: appstatus.ReasonTerminating, phase: appstatus.PhaseUpdating, reconciling: true, available: true}},
		{"the Service is being deleted", running(3).with(func(s *scene) { s.applied.Terminating = []string{"Service"} }), want{
			reason: appstatus.ReasonTerminating, phase: appstatus.PhaseUpdating, reconciling: true, available: true, says: []string{"Service of the same name"},
		}},
	}
}

func creationRows() []row {
	refused := func(message string) *scene {
		return rollingOut(2).with(func(s *scene) {
			s.pods = s.pods[:2]
			s.counts(2, 0, 2, 2)
			s.condition(appsv1.DeploymentReplicaFailure, corev1.ConditionTrue, "FailedCreate", message)
		})
	}
	const (
		quota     = `pods "orders-2-x" is forbidden: exceeded quota: small, requested: pods=1, used: pods=2, limited: pods=2`
		noLimit   = `pods "orders-2-x" is forbidden: failed quota: cpu: must specify limits.cpu for: app`
		standards = `pods "orders-2-x" is forbidden: violates PodSecurity "restricted:latest": runAsNonRoot != true`
		limits    = `pods "orders-2-x" is forbidden: maximum memory usage per Container is 1Gi, but limit is 4Gi`
	)
	pods := func(reason, words string) want {
		return want{reason: reason, phase: appstatus.PhaseDegraded, reconciling: true, available: true, says: []string{words}, image: oldImage}
	}
	return []row{
		{"a quota keeps new pods from being made", refused(quota), pods(appstatus.ReasonQuotaExceeded, quota)},
		{"a quota demands a limit", refused(noLimit), pods(appstatus.ReasonQuotaExceeded, noLimit)},
		{"Pod Security keeps new pods from being made", refused(standards), pods(appstatus.ReasonPodRefused, standards)},
		{"a LimitRange keeps new pods from being made", refused(limits), pods(appstatus.ReasonPodRefused, limits)},
		{"a refusal of the specification before", refused(quota).with(func(s *scene) { s.deployment.Generation = 5 }), want{
			reason: appstatus.ReasonRollingOut, phase: appstatus.PhaseUpdating, reconciling: true, available: true, image: oldImage,
		}},
		{"a refusal that is over", refused(quota).with(func(s *scene) {
			s.condition(appsv1.DeploymentReplicaFailure, corev1.ConditionFalse, "", "")
		}), want{reason: appstatus.ReasonRollingOut, phase: appstatus.PhaseUpdating, reconciling: true, available: true, image: oldImage}},
	}
}

func podRows() []row {
	down := func(change func(*corev1.Pod)) *scene {
		return running(2).with(func(s *scene) {
			s.down(change)
			s.previous.Image = oldImage
			s.condition(appsv1.DeploymentProgressing, corev1.ConditionTrue, "ReplicaSetUpdated", "")
		})
	}
	degraded := func(reason string, says ...string) want {
		return want{reason: reason, phase: appstatus.PhaseDegraded, reconciling: true, says: says, image: oldImage}
	}
	all := []row{
		{"no node has room", down(unschedulable("0/3 nodes are available: 3 Insufficient memory.")),
			degraded(appstatus.ReasonUnschedulable, "orders-2-000", "0/3 nodes are available: 3 Insufficient memory.")},
		{"a key is missing", down(waiting("CreateContainerConfigError", `couldn't find key "url" in ConfigMap team-a/settings`)),
			degraded(appstatus.ReasonConfigMissing, "app", "orders-2-000", `couldn't find key "url" in ConfigMap team-a/settings`)},
		{"a Secret is missing", down(waiting("CreateContainerConfigError", `secret "db" not found`)),
			degraded(appstatus.ReasonConfigMissing, `secret "db" not found`)},
		{"the new pod's image cannot be pulled while the old ones serve", rollingOut(2).with(func(s *scene) {
			s.pods[2] = pod("orders-2-000", newRevision, waiting("ImagePullBackOff", "not found"))
		}), want{
			reason: appstatus.ReasonImagePullFailed, phase: appstatus.PhaseDegraded, reconciling: true, available: true, image: oldImage,
			says:   []string{newImage, "ImagePullBackOff", "not found"},
			states: map[string][]string{"Running": {"orders-1-000", "orders-1-001"}, "ImagePullBackOff": {"orders-2-000"}},
		}},
		{"the pod's sandbox is being made", down(waiting("ContainerCreating", "")), want{
			reason: appstatus.ReasonRollingOut, phase: appstatus.PhaseUpdating, reconciling: true, image: oldImage,
			states: map[string][]string{"Pending": {"orders-2-000", "orders-2-001"}},
		}},
	}
	for _, reason := range []string{"ImagePullBackOff", "ErrImagePull", "InvalidImageName", "ErrImageNeverPull", "ImageInspectError", "RegistryUnavailable", "SignatureValidationFailed"} {
		all = append(all, row{"image: " + reason, down(waiting(reason, "the kubelet's words")),
			degraded(appstatus.ReasonImagePullFailed, "app", "orders-2-000", newImage, reason, "the kubelet's words")})
	}
	for _, reason := range []string{"CreateContainerError", "RunContainerError", "PostStartHookError", "SomethingNew"} {
		all = append(all, row{"start: " + reason, down(waiting(reason, "the kubelet's words")),
			degraded(appstatus.ReasonContainerStartFailed, "app", "orders-2-000", reason, "the kubelet's words")})
	}
	return all
}

func crashRows() []row {
	down := func(change func(*corev1.Pod)) *scene {
		return running(1).with(func(s *scene) {
			s.down(change)
			s.previous.Image = oldImage
			s.condition(appsv1.DeploymentProgressing, corev1.ConditionTrue, "ReplicaSetUpdated", "")
		})
	}
	crashes := func(says, silent []string) want {
		return want{reason: appstatus.ReasonCrashLoop, phase: appstatus.PhaseDegraded, reconciling: true, says: says, silent: silent, image: oldImage}
	}
	main := []string{"init container", "sidecar"}
	return []row{
		{"the application crashes", down(crashing(failure)), crashes([]string{"app", "orders-2-000", "exit code 3", "Error"}, main)},
		{"the application needs too much memory", down(crashing(oom)), crashes([]string{"app", "exit code 137", "OOMKilled"}, main)},
		{"the application is done", down(crashing(completed)), crashes([]string{"app", "exit code 0", "Completed", "a service must keep running"}, main)},
		{"the image is of another architecture", down(crashing(execFormat)), crashes([]string{"app", "exit code 128", "StartError", "exec format error"}, main)},
		{"the application crashes in a way that is not known", down(func(p *corev1.Pod) {
			crashing(failure)(p)
			p.Status.ContainerStatuses[0].LastTerminationState = corev1.ContainerState{}
		}), crashes([]string{"app", "ends again and again."}, main)},
		{"the init container crashes", down(crashingInit(failure)), crashes([]string{"init container", "migrate", "orders-2-000", "exit code 3"}, nil)},
		{"the init container needs too much memory", down(crashingInit(oom)), crashes([]string{"init container", "migrate", "OOMKilled"}, nil)},
		{"a sidecar crashes", down(crashingSidecar(oom)), crashes([]string{"sidecar", "proxy", "orders-2-000", "OOMKilled"}, nil)},
		{"a sidecar among the init containers crashes", down(crashingNativeSidecar(oom)), crashes([]string{"sidecar", "proxy", "orders-2-000", "exit code 137", "OOMKilled"}, []string{"init container"})},
		{"an init container crashes beside a sidecar", down(func(p *corev1.Pod) {
			nativeSidecar(p)
			crashingInit(failure)(p)
		}), crashes([]string{"init container", "migrate", "exit code 3"}, []string{"sidecar"})},
		{"init container and application crash", down(func(p *corev1.Pod) {
			crashing(failure)(p)
			crash(&p.Status.InitContainerStatuses[0], oom)
		}), crashes([]string{"migrate", "OOMKilled"}, []string{"exit code 3"})},
		{"the application has ended and waits to be started", down(ended(oom)), crashes([]string{"app", "orders-2-000", "exit code 137", "OOMKilled"}, main)},
		{"the application is done and waits to be started", down(ended(completed)), crashes([]string{"exit code 0", "a service must keep running"}, main)},
		{"the init container has failed and waits to be started", down(func(p *corev1.Pod) {
			pending(p)
			p.Status.InitContainerStatuses[0].State = corev1.ContainerState{Terminated: &failure}
		}), crashes([]string{"init container", "migrate", "exit code 3"}, nil)},
		{"the application crashes after it has served", running(1).with(func(s *scene) { s.down(crashing(failure)) }), want{
			reason: appstatus.ReasonCrashLoop, phase: appstatus.PhaseDegraded, anyReconciling: true, says: []string{"exit code 3"},
			states: map[string][]string{"CrashLoopBackOff": {"orders-2-000"}},
		}},
		{"a pod crashes and the Deployment does not know yet", running(3).with(func(s *scene) { crashing(oom)(&s.pods[1]) }), want{
			reason: appstatus.ReasonCrashLoop, phase: appstatus.PhaseDegraded, anyReconciling: true, available: true, says: []string{"orders-2-001", "OOMKilled"},
		}},
	}
}

func leftoverRows() []row {
	withLeftovers := func(s *scene) {
		s.pods = append(s.pods,
			pod("orders-2-100", newRevision, crashing(failure), terminating),
			pod("orders-2-101", newRevision, evicted),
			pod("orders-2-102", newRevision, waiting("ImagePullBackOff", "not found"), terminating),
			pod("orders-2-103", newRevision, func(p *corev1.Pod) {
				crashing(oom)(p)
				p.Status.Phase = corev1.PodFailed
			}),
			pod("orders-2-104", newRevision, ended(completed), func(p *corev1.Pod) { p.Status.Phase = corev1.PodSucceeded }))
	}
	return []row{
		{"evicted, failed and terminating pods are left", running(1).with(withLeftovers), want{
			reason: appstatus.ReasonReady, phase: appstatus.PhaseRunning, available: true, says: []string{"The pod serves."},
			states: map[string][]string{
				"Running": {"orders-2-000"}, "Terminating": {"orders-2-100", "orders-2-102"},
				"Failed": {"orders-2-101", "orders-2-103"}, "Succeeded": {"orders-2-104"},
			},
		}},
		{"leftovers beside a pod that starts", running(1).with(func(s *scene) {
			s.down(pending)
			withLeftovers(s)
		}), want{reason: appstatus.ReasonRollingOut, phase: appstatus.PhaseUpdating, reconciling: true, says: []string{"0 of 1 pod"}}},
		{"the old pods crash while a new one starts", rollingOut(2).with(func(s *scene) {
			crashing(failure)(&s.pods[0])
			unschedulable("0/3 nodes are available")(&s.pods[1])
			s.counts(3, 1, 0, 0)
			s.condition(appsv1.DeploymentAvailable, corev1.ConditionFalse, "MinimumReplicasUnavailable", "")
		}), want{
			reason: appstatus.ReasonRollingOut, phase: appstatus.PhaseUpdating, reconciling: true, says: []string{"0 of 2 pods"}, image: oldImage,
			states: map[string][]string{"CrashLoopBackOff": {"orders-1-000"}, "Pending": {"orders-1-001"}, "NotReady": {"orders-2-000"}},
		}},
		{"the pod of another's ReplicaSet crashes", running(1).with(func(s *scene) {
			s.pods = append(s.pods, pod("orders-3-000", "3", crashing(failure)))
		}), want{reason: appstatus.ReasonReady, phase: appstatus.PhaseRunning, available: true}},
	}
}

func standstillRows() []row {
	paused := func(s *scene) {
		s.deployment.Spec.Paused = true
		s.condition(appsv1.DeploymentProgressing, corev1.ConditionUnknown, "DeploymentPaused", "Deployment is paused")
	}
	late := func(s *scene) {
		s.condition(appsv1.DeploymentProgressing, corev1.ConditionFalse, "ProgressDeadlineExceeded", `ReplicaSet "orders-2" has timed out progressing.`)
	}
	return []row{
		{"somebody paused the Deployment amid a rollout", rollingOut(3).with(paused), want{
			reason: appstatus.ReasonDeploymentPaused, phase: appstatus.PhaseDegraded, stalled: true, available: true, image: oldImage,
			says: []string{"paused", "kubectl rollout resume deployment/orders"},
		}},
		// No ReplicaSet is made while it is paused: the pods that are there are the old ones.
		{"somebody paused the Deployment before a rollout that would mend a crash", running(3).with(func(s *scene) {
			s.down(crashing(failure))
			s.previous.Image = oldImage
			s.counts(3, 0, 0, 0)
			paused(s)
		}), want{reason: appstatus.ReasonDeploymentPaused, phase: appstatus.PhaseDegraded, stalled: true, image: oldImage}},
		{"the rollout stands still", rollingOut(3).with(late), want{
			reason: appstatus.ReasonProgressDeadlineExceeded, phase: appstatus.PhaseDegraded, stalled: true, available: true, image: oldImage,
			says: []string{`ReplicaSet "orders-2" has timed out progressing.`},
		}},
		{"the rollout of the specification before stood still", rollingOut(3).with(late).with(func(s *scene) { s.deployment.Generation = 5 }), want{
			reason: appstatus.ReasonRollingOut, phase: appstatus.PhaseUpdating, reconciling: true, available: true, image: oldImage,
		}},
		{"the rollout stood still and went on", running(3).with(late), want{
			reason: appstatus.ReasonReady, phase: appstatus.PhaseRunning, available: true,
		}},
		// The rollout is done: no change is under way, whoever of the kubelet and the
		// Deployment controller was faster to tell.
		{"pods have stopped serving", running(3).with(func(s *scene) {
			notReady(&s.pods[0])
			notReady(&s.pods[2])
			s.counts(3, 3, 1, 1)
		}), want{
			reason: appstatus.ReasonPodsNotReady, phase: appstatus.PhaseDegraded, available: true, says: []string{"1 of 3 pods"},
			states: map[string][]string{"NotReady": {"orders-2-000", "orders-2-002"}, "Running": {"orders-2-001"}},
		}},
		{"pods have stopped serving and the Deployment does not know yet", running(3).with(func(s *scene) {
			notReady(&s.pods[0])
			notReady(&s.pods[2])
		}), want{reason: appstatus.ReasonPodsNotReady, phase: appstatus.PhaseDegraded, available: true, says: []string{"1 of 3 pods"}}},
		{"the kubelet has started a pod's container again", running(3).with(func(s *scene) {
			starting(&s.pods[1])
			c := &s.pods[1].Status.ContainerStatuses[0]
			c.RestartCount, c.LastTerminationState.Terminated = 1, &failure
			s.counts(3, 3, 2, 2)
		}), want{reason: appstatus.ReasonCrashLoop, phase: appstatus.PhaseDegraded, available: true, says: []string{"orders-2-001", "exit code 3"}}},
		{"a pod that crashed long ago and has served since fails its probe", running(3).with(func(s *scene) {
			pod := &s.pods[1]
			notReady(pod)
			start := metav1.NewTime(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC))
			c := &pod.Status.ContainerStatuses[0]
			c.Ready, c.RestartCount, c.LastTerminationState.Terminated = false, 1, &oom
			c.State = corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: start}}
			for i := range pod.Status.Conditions {
				pod.Status.Conditions[i].LastTransitionTime = metav1.NewTime(start.Add(time.Hour))
			}
			s.counts(3, 3, 2, 2)
		}), want{reason: appstatus.ReasonPodsNotReady, phase: appstatus.PhaseDegraded, available: true, says: []string{"2 of 3 pods"}}},
		{"all pods were evicted and the Deployment does not know yet", running(3).with(func(s *scene) {
			for i := range s.pods {
				evicted(&s.pods[i])
			}
		}), want{reason: appstatus.ReasonPodsNotReady, phase: appstatus.PhaseDegraded, available: true, says: []string{"0 of 3 pods"}}},
	}
}

func TestStatusOfEachSituation(t *testing.T) {
	names := map[string]bool{}
	for _, test := range rows() {
		if names[test.name] {
			t.Errorf("two rows are named %q", test.name)
		}
		names[test.name] = true
		t.Run(test.name, func(t *testing.T) {
			got := test.scene.compute()
			for _, violation := range violations(test.scene, got) {
				t.Error(violation)
			}
			expect(t, got, test.want)
		})
	}
}

func expect(t *testing.T, got appstatus.Status, w want) {
	t.Helper()
	ready := condition(t, got, appstatus.ConditionReady)
	if ready.Reason != w.reason || got.Phase != w.phase {
		t.Errorf("is %s for %s, want %s for %s; the message is %q", got.Phase, ready.Reason, w.phase, w.reason, ready.Message)
	}
	for conditionType, wanted := range map[string]bool{
		appstatus.ConditionAvailable: w.available, appstatus.ConditionReconciling: w.reconciling, appstatus.ConditionStalled: w.stalled,
	} {
		if conditionType == appstatus.ConditionReconciling && w.anyReconciling {
			continue
		}
		if c := condition(t, got, conditionType); (c.Status == metav1.ConditionTrue) != wanted {
			t.Errorf("%s is %s (%s: %s), want it true: %t", conditionType, c.Status, c.Reason, c.Message, wanted)
		}
	}
	message := strings.ToLower(ready.Message)
	for _, part := range w.says {
		if !strings.Contains(message, strings.ToLower(part)) {
			t.Errorf("the message %q does not say %q", ready.Message, part)
		}
	}
	for _, part := range w.silent {
		if strings.Contains(message, strings.ToLower(part)) {
			t.Errorf("the message %q says %q", ready.Message, part)
		}
	}
	image := w.image
	switch image {
	case "":
		image = newImage
	case "none":
		image = ""
	}
	if got.Image != image {
		t.Errorf("image is %q, want %q", got.Image, image)
	}
	if w.states != nil {
		states := got.PodStatuses
		if len(states) == 0 {
			states = map[string][]string{}
		}
		if diff := cmp.Diff(w.states, states); diff != "" {
			t.Errorf("pods by state (-want +got):\n%s", diff)
		}
	}
}

// A reason that nothing produces misleads those who look for it.
func TestEveryReasonIsProducedBySomeSituation(t *testing.T) {
	produced := map[string]bool{}
	for _, test := range rows() {
		for _, c := range test.scene.compute().Conditions {
			produced[c.Reason] = true
		}
	}
	declared := reasons(t)
	if len(declared) == 0 {
		t.Fatal("no reasons in package appstatus")
	}
	for _, reason := range declared {
		if !produced[reason] {
			t.Errorf("reason %s is produced by no row", reason)
		}
		delete(produced, reason)
	}
	for reason := range produced {
		t.Errorf("reason %s is not declared in package appstatus", reason)
	}
}

// reasons returns the values of the constants Reason... of package appstatus.
func reasons(t *testing.T) []string {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), "../../api/appstatus/reasons.go", nil, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	var found []string
	ast.Inspect(file, func(node ast.Node) bool {
		spec, ok := node.(*ast.ValueSpec)
		if !ok {
			return true
		}
		for i, name := range spec.Names {
			literal, isLiteral := spec.Values[i].(*ast.BasicLit)
			if !strings.HasPrefix(name.Name, "Reason") || !isLiteral {
				continue
			}
			reason, err := strconv.Unquote(literal.Value)
			if err != nil {
				t.Fatal(err)
			}
			found = append(found, reason)
		}
		return true
	})
	return found
}

// Of two causes the one is named that a person must act on first.
func TestFirstCauseIsNamed(t *testing.T) {
	podWith := func(name string, change func(*corev1.Pod)) func(*scene) {
		return func(s *scene) {
			s.pods = append(s.pods, pod(name, newRevision, change))
			s.counts(4, 1, 3, 3)
		}
	}
	fails := func(reason workload.FailureReason) func(*scene) {
		return func(s *scene) { s.applied.Failure = &workload.Failure{Reason: reason, Kind: "Service", Message: "m"} }
	}
	// The names of the pods are in the opposite order: not the first pod counts, but the first cause.
	ranked := []struct {
		reason string
		add    func(*scene)
	}{
		{appstatus.ReasonInvalidSpec, func(s *scene) { s.invalid = errors.New("spec.framework: Required value") }},
		{appstatus.ReasonNameConflict, func(s *scene) { s.applied.Conflicts = []workload.Conflict{{Kind: "Service"}} }},
		{appstatus.ReasonForbidden, fails(workload.FailureForbidden)},
		{appstatus.ReasonTerminating, func(s *scene) { s.applied.Terminating = []string{"Service"} }},
		{appstatus.ReasonQuotaExceeded, func(s *scene) {
			s.condition(appsv1.DeploymentReplicaFailure, corev1.ConditionTrue, "FailedCreate", "exceeded quota: pods")
		}},
		{appstatus.ReasonUnschedulable, podWith("orders-2-e", unschedulable("0/3 nodes are available"))},
		{appstatus.ReasonImagePullFailed, podWith("orders-2-d", waiting("ImagePullBackOff", "not found"))},
		{appstatus.ReasonConfigMissing, podWith("orders-2-c", waiting("CreateContainerConfigError", "not found"))},
		{appstatus.ReasonCrashLoop, podWith("orders-2-b", crashing(failure))},
		{appstatus.ReasonContainerStartFailed, podWith("orders-2-a", waiting("RunContainerError", "m"))},
		{appstatus.ReasonDeploymentPaused, func(s *scene) { s.deployment.Spec.Paused = true }},
		{appstatus.ReasonProgressDeadlineExceeded, func(s *scene) {
			s.condition(appsv1.DeploymentProgressing, corev1.ConditionFalse, "ProgressDeadlineExceeded", "m")
		}},
		{appstatus.ReasonRollingOut, func(*scene) {}},
	}
	for i, first := range ranked {
		for _, second := range ranked[i+1:] {
			s := rollingOut(3)
			second.add(s)
			first.add(s)
			slices.SortFunc(s.pods, func(a, b corev1.Pod) int { return strings.Compare(a.Name, b.Name) })
			got := s.compute()
			if ready := condition(t, got, appstatus.ConditionReady); ready.Reason != first.reason {
				t.Errorf("with %s and %s the reason is %s: %s", first.reason, second.reason, ready.Reason, ready.Message)
			}
			for _, violation := range violations(s, got) {
				t.Errorf("with %s and %s: %s", first.reason, second.reason, violation)
			}
		}
	}
}

func TestManyPodsAreListedToABoundAndCountedExactly(t *testing.T) {
	s := running(500)
	notReady(&s.pods[7])
	crashing(oom)(&s.pods[450])
	s.counts(500, 500, 498, 498)
	got := s.compute()
	for _, violation := range violations(s, got) {
		t.Error(violation)
	}
	if len(got.Pods) != 100 || got.Pods[0] != "orders-2-000" || got.Pods[99] != "orders-2-099" {
		t.Errorf("%d pods are listed: %v, want the first 100", len(got.Pods), got.Pods)
	}
	if len(got.PodStatuses["Running"]) != 99 || len(got.PodStatuses["NotReady"]) != 1 {
		t.Errorf("pods by state are %v, want 99 that run and one that is not ready", got.PodStatuses)
	}
	counts := [...]int32{got.Replicas, got.UpdatedReplicas, got.ReadyReplicas, got.AvailableReplicas}
	if want := [...]int32{500, 500, 498, 498}; counts != want {
		t.Errorf("counts are %v, want %v", counts, want)
	}
	// What is not listed is looked at all the same.
	ready := condition(t, got, appstatus.ConditionReady)
	if ready.Reason != appstatus.ReasonCrashLoop || !strings.Contains(ready.Message, "orders-2-450") {
		t.Errorf("Ready is False for %s: %s; want the crash of orders-2-450", ready.Reason, ready.Message)
	}
}

func TestImageIsThatOfTheLastCompletedRollout(t *testing.T) {
	s := rollingOut(2)
	if got := s.compute().Image; got != oldImage {
		t.Errorf("during the rollout the image is %q, want %q", got, oldImage)
	}
	done := running(2)
	done.previous = s.compute()
	if got := done.compute().Image; got != newImage {
		t.Errorf("after the rollout the image is %q, want %q", got, newImage)
	}
	done.previous = done.compute()
	done.deployment, done.pods = nil, nil
	if got := done.compute().Image; got != newImage {
		t.Errorf("with the Deployment deleted the image is %q, want that of the last rollout, %q", got, newImage)
	}
}

// Half a character at the end would be stored as another one, and be written again for ever.
func TestLongMessageEndsWithAWholeCharacter(t *testing.T) {
	for offset := range 3 {
		s := running(3)
		s.invalid = errors.New(strings.Repeat("x", offset) + strings.Repeat("€", 20000))
		got := s.compute()
		for _, violation := range violations(s, got) {
			t.Errorf("with %d letters before: %s", offset, violation)
		}
		if ready := condition(t, got, appstatus.ConditionReady); len(ready.Message) < 30000 {
			t.Errorf("with %d letters before: %d bytes are left of the message, want about 32 KB", offset, len(ready.Message))
		}
	}
}

// The image is all that is read of the status before: else a lost status would not come back.
func TestStatusIsComputedAnew(t *testing.T) {
	for _, test := range rows() {
		image := test.scene.previous.Image
		want := test.scene.compute()
		test.scene.previous = appstatus.Status{
			ObservedGeneration: 99, Phase: "Odd", Replicas: 99, ReadyReplicas: 99, UpdatedReplicas: 99, AvailableReplicas: 99, Selector: "odd", Image: image,
			Pods: []string{"odd"}, PodStatuses: map[string][]string{"Odd": {"odd"}},
			Conditions: []metav1.Condition{{Type: appstatus.ConditionReady, Status: metav1.ConditionTrue, Reason: "Odd", Message: "odd"}},
		}
		if diff := cmp.Diff(want, test.scene.compute()); diff != "" {
			t.Errorf("%s: another status before gives another status:\n%s", test.name, diff)
		}
	}
}
