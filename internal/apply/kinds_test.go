// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package apply_test

import (
	"strings"
	"testing"

	routev1 "github.com/openshift/api/route/v1"
	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	appsv1ac "k8s.io/client-go/applyconfigurations/apps/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	"platformapp/internal/resources"
	"platformapp/internal/workload"
)

// everything switches on what an application may have, exposed by the given kind.
func everything(s *stage, exposure workload.ExposureType) {
	s.w.Container.PresetEnv = []workload.EnvVar{{Name: "GOMEMLIMIT", Value: "900MiB"}}
	s.w.Container.EnvFrom = []corev1.EnvFromSource{{ConfigMapRef: &corev1.ConfigMapEnvSource{LocalObjectReference: corev1.LocalObjectReference{Name: "settings"}}}}
	s.w.Autoscaling = &workload.Autoscaling{MinReplicas: 2, MaxReplicas: 10, TargetCPU: new(int32(70)), TargetMemory: new(int32(80))}
	s.w.Disruption = new(intstr.FromInt32(1))
	s.w.Exposure = &workload.Exposure{
		Type: exposure, Hosts: []string{"orders.example.com"}, Paths: []workload.Path{{Path: "/"}}, Port: s.w.Ports[0],
	}
	if exposure == workload.ExposureHTTPRoute {
		s.w.Exposure.Gateway = &workload.Gateway{Namespace: "gateways", Name: "public", SectionName: "https"}
		s.w.Exposure.Paths = append(s.w.Exposure.Paths, workload.Path{Path: "/exact", Exact: true})
	}
	s.w.Monitoring = &workload.Monitoring{Port: "http", Path: "/metrics", Interval: "30s", Labels: map[string]string{"release": "prometheus"}}
	s.w.NetworkPolicy = &workload.NetworkPolicy{
		SameNamespace: true, From: []workload.Peer{{Namespace: "shop", Name: "billing"}},
		IngressNamespaces: []string{"ingress-nginx"}, MonitoringNamespaces: []string{"monitoring"},
	}
}

func TestC29_EveryKindIsAtRestAlsoAfterARestart(t *testing.T) {
	t.Parallel()
	for _, exposure := range []workload.ExposureType{workload.ExposureIngress, workload.ExposureHTTPRoute, workload.ExposureRoute} {
		t.Run(string(exposure), func(t *testing.T) {
			s := newStage(t)
			everything(s, exposure)
			applied := s.settle()
			if len(applied.Modified) > 0 || len(applied.Repaired) > 0 {
				t.Errorf("modified %v, repaired %v", applied.Modified, applied.Repaired)
			}
			for _, kind := range []string{"ConfigMap", "Deployment", "Service", "HorizontalPodAutoscaler", "PodDisruptionBudget", "NetworkPolicy", string(exposure), "ServiceMonitor"} {
				if s.child(kind) == nil {
					t.Errorf("there is no %s", kind)
				}
			}
			s.atRest()
		})
	}
}

// drift is a change of a child by somebody else.
func drift[T client.Object](kind string, exposure workload.ExposureType, change func(T)) driftCase {
	return driftCase{kind, exposure, func(s *stage) { s.Helper(); edit(s, kind, change) }}
}

type driftCase struct {
	kind     string
	exposure workload.ExposureType
	edit     func(*stage)
}

func TestC25_DriftOfEveryKindIsRepairedOnceAndNamed(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]driftCase{
		"another metric": drift("HorizontalPodAutoscaler", "Ingress", func(h *autoscalingv2.HorizontalPodAutoscaler) {
			h.Spec.Metrics = h.Spec.Metrics[:1]
		}),
		"bounds": drift("HorizontalPodAutoscaler", "Ingress", func(h *autoscalingv2.HorizontalPodAutoscaler) {
			h.Spec.MinReplicas, h.Spec.MaxReplicas = new(int32(11)), 20
		}),
		"minAvailable in place of maxUnavailable": drift("PodDisruptionBudget", "Ingress", func(p *policyv1.PodDisruptionBudget) {
			p.Spec.MaxUnavailable, p.Spec.MinAvailable = nil, new(intstr.FromInt32(3))
		}),
		"one peer more": drift("NetworkPolicy", "Ingress", func(p *networkingv1.NetworkPolicy) {
			p.Spec.Ingress = append(p.Spec.Ingress, networkingv1.NetworkPolicyIngressRule{})
		}),
		"egress closed": drift("NetworkPolicy", "Ingress", func(p *networkingv1.NetworkPolicy) {
			p.Spec.PolicyTypes = append(p.Spec.PolicyTypes, networkingv1.PolicyTypeEgress)
		}),
		"one rule more": drift("Ingress", "Ingress", func(i *networkingv1.Ingress) {
			rule := i.Spec.Rules[0].DeepCopy()
			rule.Host = "else.example.com"
			i.Spec.Rules = append(i.Spec.Rules, *rule)
		}),
		"another backend": drift("Ingress", "Ingress", func(i *networkingv1.Ingress) {
			i.Spec.Rules[0].HTTP.Paths[0].Backend.Service.Name = "else"
		}),
		"a filter in a rule": drift("HTTPRoute", "HTTPRoute", func(r *gatewayv1.HTTPRoute) {
			r.Spec.Rules[0].Filters = []gatewayv1.HTTPRouteFilter{{
				Type: gatewayv1.HTTPRouteFilterRequestHeaderModifier, RequestHeaderModifier: &gatewayv1.HTTPHeaderFilter{Remove: []string{"x-request-id"}},
			}}
		}),
		"another gateway": drift("HTTPRoute", "HTTPRoute", func(r *gatewayv1.HTTPRoute) { r.Spec.ParentRefs[0].Name = "else" }),
		"another weight":  drift("Route", "Route", func(r *routev1.Route) { r.Spec.To.Weight = new(int32(0)) }),
		"another path":    drift("ServiceMonitor", "Ingress", func(m *resources.ServiceMonitor) { m.Spec.Endpoints[0].Path = "/else" }),
		"other values":    drift("ConfigMap", "Ingress", func(c *corev1.ConfigMap) { c.Data["GOMEMLIMIT"] = "1" }),
		"made immutable with other values": drift("ConfigMap", "Ingress", func(c *corev1.ConfigMap) {
			c.Data["GOMEMLIMIT"], c.Immutable = "1", new(true)
		}),
		"a port of our name": drift("Service", "Ingress", func(s *corev1.Service) {
			s.Spec.Ports = []corev1.ServicePort{{Name: "http", Port: 8000}}
		}),
	} {
		t.Run(test.kind+": "+name, func(t *testing.T) {
			s := newStage(t)
			everything(s, test.exposure)
			s.settle()
			test.edit(s)
			applied, err := s.turn()
			s.must(err)
			if len(applied.Repaired) != 1 || applied.Repaired[0] != test.kind {
				t.Errorf("repaired are %v", applied.Repaired)
			}
			s.atRest()
			if applied := s.settle(); len(applied.Modified) > 0 {
				t.Errorf("not repaired: %v", applied.Modified)
			}
		})
	}
}

func TestADeletedChildIsBackAndNamedButNoFirstOrPrunedOne(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	everything(s, workload.ExposureIngress)
	if applied := s.settle(); len(applied.Repaired) > 0 {
		t.Errorf("repaired at creation: %v", applied.Repaired)
	}
	s.must(s.user.Delete(t.Context(), s.child("PodDisruptionBudget")))
	if applied := s.settle(); len(applied.Repaired) != 1 || applied.Repaired[0] != "PodDisruptionBudget" {
		t.Errorf("repaired are %v", applied.Repaired)
	}
	disruption := s.w.Disruption
	for _, wanted := range []bool{false, true} {
		if s.w.Disruption = nil; wanted {
			s.w.Disruption = disruption
		}
		if applied := s.settle(); len(applied.Repaired) > 0 || (s.child("PodDisruptionBudget") != nil) != wanted {
			t.Errorf("wanted %t: repaired are %v", wanted, applied.Repaired)
		}
	}
	s.w.Container.Image = "registry.example.com/orders:2"
	if applied := s.settle(); len(applied.Repaired) > 0 {
		t.Errorf("repaired after a change of the specification: %v", applied.Repaired)
	}
}

// What a user's edit leaves beside what is desired, the server refuses.
func TestARefusalOfAFieldOutsideOfListsIsCleared(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.w.Rollout.Strategy = appsv1.RecreateDeploymentStrategyType
	s.settle()
	edit(s, "Deployment", func(d *appsv1.Deployment) {
		d.Spec.Strategy.Type = appsv1.RollingUpdateDeploymentStrategyType
		metav1.SetMetaDataAnnotation(&d.ObjectMeta, "example.com/note", "keep")
	})
	if applied := s.settle(); len(applied.Repaired) != 1 {
		t.Errorf("repaired are %v", applied.Repaired)
	}
	got := s.deployment()
	if got.Spec.Strategy.Type != appsv1.RecreateDeploymentStrategyType || got.Spec.Strategy.RollingUpdate != nil {
		t.Errorf("the strategy is %v", got.Spec.Strategy)
	}
	if got.Annotations["example.com/note"] != "keep" {
		t.Error("what the refusal does not name is gone")
	}
	s.atRest()
}

// An API server does not apply a field that it does not know, and says so as if it had failed
// itself: to try again every few seconds is of no use.
func TestAFieldThatTheServerDoesNotKnowIsARule(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	unknown := appsv1ac.Deployment("orders", s.w.Owner.Namespace)
	child := resources.Child{Kind: "Deployment", Name: "orders", Config: &struct {
		*appsv1ac.DeploymentApplyConfiguration
		Spec map[string]any `json:"spec"`
	}{unknown, map[string]any{"fieldOfALaterVersion": true}}, Meta: unknown.ObjectMetaApplyConfiguration}
	applied, err := s.applier.Apply(t.Context(), s.w.Owner, []resources.Child{child}, workload.Observed{}, func() error { return nil })
	if err == nil || applied.Failure == nil || applied.Failure.Reason != workload.FailureInvalid || !strings.Contains(applied.Failure.Message, "fieldOfALaterVersion") {
		t.Errorf("it is told as %+v, %v", applied.Failure, err)
	}
}
