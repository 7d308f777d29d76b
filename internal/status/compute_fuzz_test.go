// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package status_test

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
	routev1 "github.com/openshift/api/route/v1"
	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	"platformapp/internal/workload"
)

// FuzzCompute: whatever others write into the status of a Deployment, of pods and of what exposes or scales an
// application, the application's own status keeps its invariants.
func FuzzCompute(f *testing.F) {
	const deployment = `{"observedGeneration":4,"replicas":2,"updatedReplicas":1,"conditions":[{"type":"Progressing","status":"False","reason":"ProgressDeadlineExceeded"},{"type":"ReplicaFailure","status":"True","message":"exceeded quota: q, must specify limits.cpu for: app"}]}`
	for _, seed := range []struct{ deployment, pod, child string }{
		{`{}`, `{}`, `{}`},
		{deployment, `{"phase":"Pending","conditions":[{"type":"PodScheduled","status":"False","reason":"Unschedulable","message":"0/3 nodes"}]}`, `{}`},
		{deployment, `{"phase":"Running","containerStatuses":[{"name":"app","restartCount":3,"state":{"waiting":{"reason":"CrashLoopBackOff"}},"lastState":{"terminated":{"exitCode":137,"reason":"OOMKilled","finishedAt":"2026-01-01T00:01:00Z"}}}]}`, `{"loadBalancer":{"ingress":[{"ip":"1.2.3.4"}]}}`},
		{deployment, `{"phase":"Failed","reason":"Evicted","initContainerStatuses":[{"name":"migrate","state":{"waiting":{"reason":"ErrImagePull","message":"\ud83d"}}}]}`, `{"parents":[{"parentRef":{"name":"public"},"conditions":[{"type":"Accepted","status":"False","reason":"NotAllowed","observedGeneration":9}]}]}`},
		{`{"replicas":-1,"availableReplicas":2147483647}`, `{"containerStatuses":[{}],"conditions":[{}]}`, `{"ingress":[{"host":"a.example.com","conditions":[{"type":"Admitted","status":"False"}]}]}`},
		{deployment, `{"containerStatuses":[{"name":"app","state":{"terminated":{"exitCode":0}}}]}`, `{"conditions":[{"type":"ScalingActive","status":"False","reason":"FailedGetResourceMetric"}],"desiredReplicas":-1}`},
	} {
		for kind := range uint8(4) {
			f.Add([]byte(seed.deployment), []byte(seed.pod), []byte(seed.child), kind, int64(100), false)
		}
	}
	f.Fuzz(func(t *testing.T, deployment, pod, child []byte, kind uint8, after int64, paused bool) {
		s := running(2)
		s.deployment.Status, s.pods[1].Status = appsv1.DeploymentStatus{}, corev1.PodStatus{}
		if json.Unmarshal(deployment, &s.deployment.Status) != nil || json.Unmarshal(pod, &s.pods[1].Status) != nil {
			return
		}
		exposedBy := workload.ExposureIngress
		var object workload.Object
		var status any
		switch kind % 4 {
		case 0:
			o := &networkingv1.Ingress{}
			object, status = o, &o.Status
		case 1:
			o := &gatewayv1.HTTPRoute{}
			object, status, exposedBy = o, &o.Status, workload.ExposureHTTPRoute
		case 2:
			o := &routev1.Route{}
			object, status, exposedBy = o, &o.Status, workload.ExposureRoute
		case 3:
			o := &autoscalingv2.HorizontalPodAutoscaler{}
			object, status = o, &o.Status
			s.workload.Autoscaling = &workload.Autoscaling{MinReplicas: 1, MaxReplicas: 3}
		}
		if json.Unmarshal(child, status) != nil {
			return
		}
		exposed(exposedBy, oneHost, "HTTPRoute", "Route")(s)
		object.SetNamespace("team-a")
		object.SetName("orders")
		object.SetOwnerReferences(s.deployment.OwnerReferences)
		if s.children == nil {
			s.children = map[string]workload.Object{}
		}
		s.children[[]string{"Ingress", "HTTPRoute", "Route", "HorizontalPodAutoscaler"}[kind%4]] = object
		// Times are those of a cluster: from its first day on, for some centuries.
		s.after = max(0, after%(1<<33))
		s.workload.Paused = paused

		result := s.result()
		for _, violation := range violations(s, result.Status) {
			t.Errorf("%s", violation)
		}
		if diff := cmp.Diff(result, s.result()); diff != "" {
			t.Errorf("a second time the status is another:\n%s", diff)
		}
		if result.RecheckAfter < 0 {
			t.Errorf("it is looked at again after %d s", result.RecheckAfter)
		}
	})
}
