// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package status_test

import (
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"platformapp/api/appstatus"
	"platformapp/internal/workload"
)

func stallRows() []row {
	const invalid = `spec.image: Invalid value: "docker://nginx:1"`
	spoil := func(s *scene) { s.invalid(invalid) }
	return []row{
		{"invalid from the start", running(3).with(spoil).with(func(s *scene) {
			s.deployment, s.replicaSets, s.pods, s.previous.Image = nil, nil, nil, ""
		}), want{reason: appstatus.ReasonInvalidSpec, phase: appstatus.PhaseInvalid, stalled: true, says: []string{invalid}, silent: []string{"runs on"}, image: "none"}},
		{"became invalid while pods serve", running(3).with(spoil), want{
			reason: appstatus.ReasonInvalidSpec, phase: appstatus.PhaseInvalid, stalled: true, available: true, says: []string{invalid, "What ran before runs on"}, documented: true,
			states: map[string][]string{"Running": {"orders-2-000", "orders-2-001", "orders-2-002"}},
		}},
		{"became invalid while pods crash", running(3).with(spoil).with(func(s *scene) { s.down(crashing(failure)) }), want{
			reason: appstatus.ReasonInvalidSpec, phase: appstatus.PhaseInvalid, stalled: true, says: []string{invalid},
		}},
		{"became invalid while a rollout was under way", rollingOut(3).with(spoil), want{
			reason: appstatus.ReasonInvalidSpec, phase: appstatus.PhaseInvalid, stalled: true, available: true, image: oldImage,
		}},
		{"N23 an older application has the appId", running(3).with(func(s *scene) {
			s.deployment, s.replicaSets, s.pods, s.previous.Image = nil, nil, nil, ""
			s.stall = &workload.Stall{Reason: workload.StallDuplicateAppID, Message: "EGApp orders-v1 has appId app-00123 in environment prod as well, and is older. This one starts by itself when that one is deleted or has another appId or environment."}
		}), want{
			reason: appstatus.ReasonDuplicateAppID, phase: appstatus.PhaseConflict, stalled: true, image: "none", documented: true,
			says: []string{"EGApp orders-v1 has appId app-00123"}, silent: []string{"runs on", ".."},
		}},
		{"the ServiceAccount ceased to let EGApps run as it", running(3).with(func(s *scene) {
			s.stall = &workload.Stall{Reason: workload.StallServiceAccount, Message: "ServiceAccount deployer, which spec.serviceAccountName names, does not let EGApps run as it. Whoever may edit that ServiceAccount can allow it: kubectl annotate serviceaccount deployer --namespace team-a platform.evillgenius.com/allow-egapps=true. The platform can allow it as well, by the operator's flag --allowed-service-accounts."}
		}), want{
			reason: appstatus.ReasonServiceAccountNotAllowed, phase: appstatus.PhaseInvalid, stalled: true, available: true, documented: true,
			says: []string{"does not let EGApps run as it", "--allowed-service-accounts. What ran before runs on."},
		}},
		{"invalid and paused", running(3).with(spoil).with(func(s *scene) { s.workload.Paused = true }), want{
			reason: appstatus.ReasonInvalidSpec, phase: appstatus.PhaseInvalid, stalled: true, available: true,
		}},
		{"invalid with many words", running(3).with(func(s *scene) { s.invalid(strings.Repeat("word ", 20000)) }), want{
			reason: appstatus.ReasonInvalidSpec, phase: appstatus.PhaseInvalid, stalled: true, available: true,
		}},
	}
}

func conflictRows() []row {
	foreign := func(s *scene) {
		s.deployment.OwnerReferences, s.deployment.Labels = nil, nil
		s.deployment.Spec.Selector = &metav1.LabelSelector{MatchLabels: s.workload.Owner.Selector()}
		s.previous.Image, s.pods, s.replicaSets = "", nil, nil
		s.applied.Conflicts = []workload.Conflict{{Kind: "Deployment", Name: "orders"}}
	}
	controlled := func(s *scene) {
		foreign(s)
		s.deployment.OwnerReferences = []metav1.OwnerReference{controller("argoproj.io/v1alpha1", "Rollout", "orders", "rollout")}
		s.applied.Conflicts[0].Controller = "Rollout orders"
	}
	taken := func(says ...string) want {
		return want{reason: appstatus.ReasonNameConflict, phase: appstatus.PhaseConflict, stalled: true, image: "none", says: says}
	}
	const consent = "kubectl annotate deployment/orders -n team-a platform.evillgenius.com/adopt-by=orders"
	documented := taken("Deployment team-a/orders exists already, has no controller and is left alone.", "To let the EGApp adopt it: "+consent+". Or choose another name for the EGApp, or delete that Deployment if nobody needs it.")
	documented.documented = true
	mayNot := func(says ...string) want {
		w := taken(says...)
		w.silent = []string{"kubectl annotate"}
		return w
	}
	service := taken("Service team-a/orders exists already", "kubectl annotate service/orders -n team-a")
	service.available, service.image = true, ""
	return []row{
		{"the Deployment's name is taken by a controller's", running(3).with(controlled), mayNot("Deployment team-a/orders exists already, is controlled by Rollout orders and is left alone. Either choose another name for the EGApp").onThePage()},
		{"the Deployment's name is taken by one that was not observed", running(3).with(foreign).with(func(s *scene) { s.deployment = nil }), taken("Deployment team-a/orders", consent)},
		{"the Deployment's name is taken by nobody's", running(3).with(foreign), documented},
		{"a Deployment that is in the way selects other pods", running(3).with(foreign).with(func(s *scene) {
			s.deployment.Spec.Selector.MatchLabels = map[string]string{"app": "orders"}
		}), mayNot("It cannot be adopted, since its spec.selector does not fit and cannot be changed: either choose another name")},
		{"a Service that is in the way consents but does not fit", running(3).with(func(s *scene) {
			s.applied.Conflicts = []workload.Conflict{{Kind: "Service", Name: "orders", Obstacle: "spec.clusterIP"}}
		}), want{reason: appstatus.ReasonNameConflict, phase: appstatus.PhaseConflict, stalled: true, available: true, says: []string{"its spec.clusterIP does not fit"}, silent: []string{"kubectl annotate"}}},
		{"the Service's name is taken", running(3).with(func(s *scene) { s.applied.Conflicts = []workload.Conflict{{Kind: "Service", Name: "orders"}} }), service},
		{"C09 N24 many names are taken", running(3).with(func(s *scene) {
			for _, kind := range []string{"Service", "HorizontalPodAutoscaler", "PodDisruptionBudget", "NetworkPolicy", "Ingress", "HTTPRoute"} {
				s.applied.Conflicts = append(s.applied.Conflicts, workload.Conflict{Kind: kind, Name: "orders"})
			}
			s.applied.Conflicts = append(s.applied.Conflicts, workload.Conflict{Kind: "ConfigMap", Name: "orders-runtime-env"})
		}), want{
			reason: appstatus.ReasonNameConflict, phase: appstatus.PhaseConflict, stalled: true, available: true,
			says:   []string{"kubectl annotate service/orders", "kubectl annotate horizontalpodautoscaler/orders", "PodDisruptionBudget team-a/orders", "NetworkPolicy", "Ingress", "Names that are taken beside these: 2."},
			silent: []string{"HTTPRoute"},
		}},
	}
}

func applyRows() []row {
	fails := func(reason workload.FailureReason, message string) func(*scene) {
		return func(s *scene) {
			s.applied.Failure = &workload.Failure{Reason: reason, Kind: "Service", Message: message}
		}
	}
	return []row{
		{"a right is missing", running(3).with(fails(workload.FailureForbidden, `User "op" cannot patch resource "services"`)), want{
			reason: appstatus.ReasonForbidden, phase: appstatus.PhaseDegraded, stalled: true, available: true,
			says: []string{"lacks a right", "Service", `User "op" cannot patch resource "services"`}, documented: true,
		}},
		{"a child is refused", running(3).with(fails(workload.FailureRefused, `services "orders" is forbidden: ValidatingAdmissionPolicy 'no-node-ports' denied request: ask for a ClusterIP`)), want{
			reason: appstatus.ReasonRefused, phase: appstatus.PhaseDegraded, stalled: true, available: true, says: []string{"Service: services", "denied request: ask for a ClusterIP."}, documented: true,
		}},
		{"a child breaks a rule", running(3).with(fails(workload.FailureInvalid, `Service "orders" is invalid: spec.ports[0].port: Invalid value: 0: must be between 1 and 65535`)), want{
			reason: appstatus.ReasonRefused, phase: appstatus.PhaseDegraded, stalled: true, available: true, documented: true,
			says: []string{"Service: Service \"orders\" is invalid: spec.ports[0].port", "tried again when something changes"},
		}},
		{"a child is refused by a quota", running(3).with(fails(workload.FailureQuota, "exceeded quota: services")), want{
			reason: appstatus.ReasonQuotaExceeded, phase: appstatus.PhaseDegraded, stalled: true, available: true, says: []string{"Service: exceeded quota: services"},
		}},
		{"the server fails while a rollout is under way", rollingOut(3).with(fails(workload.FailureTransient, "etcdserver: request timed out")), want{
			reason: appstatus.ReasonApplyFailed, phase: appstatus.PhaseDegraded, reconciling: true, available: true, image: oldImage,
			says: []string{"Service: etcdserver: request timed out"}, documented: true,
		}},
		{"the cluster cannot be read", running(3).with(func(s *scene) {
			s.applied.Failure = unreadable("the cluster does not tell yet whether it has the kind Route")
		}), want{
			reason: appstatus.ReasonApplyFailed, phase: appstatus.PhaseDegraded, reconciling: true, available: true, documented: true,
			says: []string{"The cluster cannot be read: the cluster does not tell yet whether it has the kind Route."},
		}},
		{"the API of a child is gone, and the cluster does not tell", running(3).with(fails(workload.FailureUnserved, "the server could not find the requested resource")), want{
			reason: appstatus.ReasonApplyFailed, phase: appstatus.PhaseDegraded, reconciling: true, available: true, says: []string{"could not find the requested resource"},
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
			reason: appstatus.ReasonTerminating, phase: appstatus.PhaseUpdating, reconciling: true, available: true, says: []string{"Service of the same name"}, documented: true,
		}},
	}
}

// unreadable is what a turn reports that could not see all that it decides by.
func unreadable(message string) *workload.Failure {
	return &workload.Failure{Reason: workload.FailureTransient, Kind: "The cluster cannot be read", Message: message}
}
