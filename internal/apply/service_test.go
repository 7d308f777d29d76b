// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package apply_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"platformapp/internal/workload"
)

// The address of a Service cannot be taken from it or given to it afterwards.
func TestEachOrderedChangeOfTheServiceTypeConverges(t *testing.T) {
	t.Parallel()
	types := map[string]*workload.Service{
		"ClusterIP":    {Type: corev1.ServiceTypeClusterIP},
		"Headless":     {Type: corev1.ServiceTypeClusterIP, Headless: true},
		"NodePort":     {Type: corev1.ServiceTypeNodePort},
		"LoadBalancer": {Type: corev1.ServiceTypeLoadBalancer},
		"None":         nil,
	}
	shape := func(s *stage) string {
		service, ok := s.child("Service").(*corev1.Service)
		if !ok {
			return "none"
		}
		nodePorts := 0
		for _, port := range service.Spec.Ports {
			if port.NodePort != 0 {
				nodePorts++
			}
		}
		return fmt.Sprint(service.Spec.Type, service.Spec.ClusterIP == corev1.ClusterIPNone, nodePorts, service.Spec.ExternalTrafficPolicy,
			service.Spec.AllocateLoadBalancerNodePorts != nil, service.Spec.PublishNotReadyAddresses)
	}
	for from := range types {
		for to := range types {
			t.Run(from+" to "+to, func(t *testing.T) {
				t.Parallel()
				fresh := newStage(t)
				fresh.w.Service = types[to]
				fresh.settle()

				s := newStage(t)
				s.w.Service = types[from]
				s.settle()
				s.w.Service = types[to]
				if applied := s.settle(); len(applied.Modified) > 0 || len(applied.Repaired) > 0 {
					t.Errorf("modified %v, repaired %v", applied.Modified, applied.Repaired)
				}
				if diff := cmp.Diff(shape(fresh), shape(s)); diff != "" {
					t.Errorf("it is not as a fresh one (-want +got):\n%s", diff)
				}
				s.atRest()
			})
		}
	}
}

func TestAReplacedServiceWaitsForWhoHoldsIt(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.settle()
	edit(s, "Service", func(service *corev1.Service) { service.Finalizers = []string{"example.com/load-balancer"} })
	s.w.Service = &workload.Service{Type: corev1.ServiceTypeClusterIP, Headless: true}
	applied, err := s.turn()
	s.must(err)
	if len(applied.Terminating) != 1 || applied.Terminating[0] != "Service" {
		t.Errorf("terminating are %v", applied.Terminating)
	}
	edit(s, "Service", func(service *corev1.Service) { service.Finalizers = nil })
	s.settle()
	if service, ok := s.child("Service").(*corev1.Service); !ok || service.Spec.ClusterIP != corev1.ClusterIPNone {
		t.Errorf("the Service is %v", service)
	}
	s.atRest()
}

// A port whose fields somebody else owns a part of stays behind without a name when it is
// no longer desired, which the server refuses beside another port.
func TestAPortOfWhichOthersOwnAPartGoesWithOurs(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.settle()
	edit(s, "Service", func(service *corev1.Service) { service.Spec.Ports[0].AppProtocol = new("http") })
	s.w.Ports[0].ServicePort = 8080
	s.settle()
	service, ok := s.child("Service").(*corev1.Service)
	if !ok || len(service.Spec.Ports) != 1 || service.Spec.Ports[0].Port != 8080 {
		t.Errorf("the ports are %v", service.Spec.Ports)
	}
	s.atRest()
}

func TestAPruneDeletesOnlyTheObjectThatWasSeen(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.settle()
	observed := s.observe()
	s.must(s.user.Delete(t.Context(), s.child("Service")))
	other := &corev1.Service{Spec: corev1.ServiceSpec{Ports: []corev1.ServicePort{{Port: 1}}}}
	other.Namespace, other.Name = s.w.Owner.Namespace, s.w.Owner.Name
	s.must(s.user.Create(t.Context(), other))
	s.w.Service = nil
	_, _ = s.turnOn(observed)
	if err := s.user.Get(t.Context(), client.ObjectKeyFromObject(other), other); err != nil {
		t.Errorf("the Service of somebody else is gone: %v", err)
	}
}
