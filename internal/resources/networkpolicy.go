// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package resources

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	metav1ac "k8s.io/client-go/applyconfigurations/meta/v1"
	networkingv1ac "k8s.io/client-go/applyconfigurations/networking/v1"

	"platformapp/internal/workload"
)

// The labels by which OpenShift marks the namespaces of its routers, of what runs in the
// network of the nodes, where routers may run as well, and of its Prometheus
// (https://docs.redhat.com/en/documentation/openshift_container_platform/4.19/html/network_security/network-policy).
const (
	labelOpenShiftIngress     = "policy-group.network.openshift.io/ingress"
	labelOpenShiftHostNetwork = "policy-group.network.openshift.io/host-network"
	labelOpenShiftPolicyGroup = "network.openshift.io/policy-group"
	openShiftMonitoring       = "monitoring"
)

// networkPolicy says who may connect. It says nothing of where the pods may connect to,
// so that name resolution works. The kubelet's probes are not subject to policies.
func networkPolicy(w workload.Workload, o workload.Observed) *Child {
	if w.NetworkPolicy == nil {
		return nil
	}
	spec := networkingv1ac.NetworkPolicySpec().
		WithPodSelector(metav1ac.LabelSelector().WithMatchLabels(w.Owner.Selector())).
		WithPolicyTypes(networkingv1.PolicyTypeIngress)
	// A rule without peers would let everybody connect, so there is none.
	if peers := clients(*w.NetworkPolicy); len(peers) > 0 {
		spec.WithIngress(networkingv1ac.NetworkPolicyIngressRule().WithFrom(peers...))
	}
	if peers := exposers(w, o); len(peers) > 0 {
		spec.WithIngress(onPorts(exposedPorts(w, o)...).WithFrom(peers...))
	}
	if port, peers := scrapers(w, o); len(peers) > 0 {
		spec.WithIngress(onPorts(port).WithFrom(peers...))
	}
	config := networkingv1ac.NetworkPolicy(w.Owner.Name, w.Owner.Namespace).
		WithLabels(w.Owner.ChildLabels()).
		WithOwnerReferences(ownerReference(w.Owner)).
		WithSpec(spec)
	return &Child{Config: config, Meta: config.ObjectMetaApplyConfiguration}
}

// clients are the applications that the policy lets in.
func clients(policy workload.NetworkPolicy) []*networkingv1ac.NetworkPolicyPeerApplyConfiguration {
	var peers []*networkingv1ac.NetworkPolicyPeerApplyConfiguration
	if policy.SameNamespace {
		peers = append(peers, networkingv1ac.NetworkPolicyPeer().WithPodSelector(metav1ac.LabelSelector()))
	}
	for _, peer := range policy.From {
		peers = append(peers, namespaceNamed(peer.Namespace).
			WithPodSelector(metav1ac.LabelSelector().WithMatchLabels(map[string]string{workload.LabelEGApp: peer.Name})))
	}
	return peers
}

// exposers are what carries the traffic from outside to an application that is exposed.
func exposers(w workload.Workload, o workload.Observed) []*networkingv1ac.NetworkPolicyPeerApplyConfiguration {
	if w.Exposure == nil {
		return nil
	}
	var peers []*networkingv1ac.NetworkPolicyPeerApplyConfiguration
	for _, namespace := range w.NetworkPolicy.IngressNamespaces {
		peers = append(peers, namespaceNamed(namespace))
	}
	for _, namespace := range gatewayNamespaces(w, o) {
		if !slices.Contains(w.NetworkPolicy.IngressNamespaces, namespace) {
			peers = append(peers, namespaceNamed(namespace))
		}
	}
	if o.Platform.OpenShift {
		peers = append(peers,
			namespaceLabelled(labelOpenShiftIngress, ""),
			namespaceLabelled(labelOpenShiftHostNetwork, ""))
	}
	return peers
}

// scrapers are what reads the metrics of an application that is monitored, and where.
func scrapers(w workload.Workload, o workload.Observed) (workload.Port, []*networkingv1ac.NetworkPolicyPeerApplyConfiguration) {
	if w.Monitoring == nil {
		return workload.Port{}, nil
	}
	port, ok := w.PortNamed(w.Monitoring.Port)
	if !ok {
		return port, nil
	}
	var peers []*networkingv1ac.NetworkPolicyPeerApplyConfiguration
	for _, namespace := range w.NetworkPolicy.MonitoringNamespaces {
		peers = append(peers, namespaceNamed(namespace))
	}
	if o.Platform.OpenShift {
		peers = append(peers, namespaceLabelled(labelOpenShiftPolicyGroup, openShiftMonitoring))
	}
	return port, peers
}

// onPorts begins a rule that opens ports of the pods. A policy sees the traffic after the
// Service, so they are the container's ports.
func onPorts(ports ...workload.Port) *networkingv1ac.NetworkPolicyIngressRuleApplyConfiguration {
	rule := networkingv1ac.NetworkPolicyIngressRule()
	for _, port := range ports {
		rule.WithPorts(networkingv1ac.NetworkPolicyPort().
			WithProtocol(port.Protocol).
			WithPort(intstr.FromInt32(port.ContainerPort)))
	}
	return rule
}

func namespaceNamed(name string) *networkingv1ac.NetworkPolicyPeerApplyConfiguration {
	return namespaceLabelled(corev1.LabelMetadataName, name)
}

func namespaceLabelled(key, value string) *networkingv1ac.NetworkPolicyPeerApplyConfiguration {
	return networkingv1ac.NetworkPolicyPeer().
		WithNamespaceSelector(metav1ac.LabelSelector().WithMatchLabels(map[string]string{key: value}))
}
