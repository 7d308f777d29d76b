// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package resources_test

import (
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"platformapp/api/egplatform/v1alpha1"
	"platformapp/internal/resources"
	"platformapp/internal/translate"
	"platformapp/internal/workload"
)

// caller is a pod that wants to connect.
type caller struct {
	namespace       string
	namespaceLabels map[string]string
	app             string
}

// mayConnect evaluates a policy as a network plugin does for a pod that the policy selects
// (https://kubernetes.io/docs/concepts/services-networking/network-policies/).
func mayConnect(t testing.TB, policy *networkingv1.NetworkPolicy, c caller, port int32) bool {
	t.Helper()
	matches := func(selector *metav1.LabelSelector, set map[string]string) bool {
		s, err := metav1.LabelSelectorAsSelector(selector)
		if err != nil {
			t.Fatal(err)
		}
		return s.Matches(labels.Set(set))
	}
	namespace := labels.Merge(labels.Set{corev1.LabelMetadataName: c.namespace}, c.namespaceLabels)
	pod := map[string]string{workload.LabelEGApp: c.app}
	isPeer := func(peer networkingv1.NetworkPolicyPeer) bool {
		if peer.NamespaceSelector == nil && c.namespace != policy.Namespace {
			return false
		}
		return (peer.NamespaceSelector == nil || matches(peer.NamespaceSelector, namespace)) &&
			(peer.PodSelector == nil || matches(peer.PodSelector, pod))
	}
	return slices.ContainsFunc(policy.Spec.Ingress, func(rule networkingv1.NetworkPolicyIngressRule) bool {
		opens := len(rule.Ports) == 0 || slices.ContainsFunc(rule.Ports, func(p networkingv1.NetworkPolicyPort) bool {
			return p.Port == nil || p.Port.IntVal == port
		})
		return opens && (len(rule.From) == 0 || slices.ContainsFunc(rule.From, isPeer))
	})
}

// N35: who may connect, on which ports: http is 8080, metrics 9090.
func TestNetworkPolicyKeepsOpenWhatIsNeeded(t *testing.T) {
	clients := map[string]caller{
		"billing":                {namespace: "team-a", app: "billing"},
		"billing elsewhere":      {namespace: "team-b", app: "billing"},
		"reports":                {namespace: "team-b", app: "reports"},
		"reports here":           {namespace: "team-a", app: "reports"},
		"another of the team":    {namespace: "team-a", app: "other"},
		"a stranger":             {namespace: "team-c", app: "other"},
		"ingress controller":     {namespace: "ingress"},
		"gateway":                {namespace: "gateways"},
		"Prometheus":             {namespace: "monitoring"},
		"OpenShift's router":     {namespace: "openshift-ingress", namespaceLabels: map[string]string{"policy-group.network.openshift.io/ingress": ""}},
		"router on the node":     {namespace: "openshift-host-network", namespaceLabels: map[string]string{"policy-group.network.openshift.io/host-network": ""}},
		"OpenShift's Prometheus": {namespace: "openshift-monitoring", namespaceLabels: map[string]string{"network.openshift.io/policy-group": "monitoring"}},
	}
	listed := v1alpha1.NetworkPolicy{Isolation: v1alpha1.IsolationListed, From: []v1alpha1.NetworkPeer{{App: "billing"}, {App: "reports", Namespace: "team-b"}}}
	exposed := &v1alpha1.Expose{Hosts: []string{"a.example.com"}}
	byGateway := &v1alpha1.Expose{Hosts: []string{"a.example.com"}, HTTPRoute: &v1alpha1.ExposeHTTPRoute{GatewayRef: v1alpha1.GatewayRef{Name: "public", Namespace: "gateways"}}}
	monitored := &v1alpha1.Monitoring{Port: "metrics"}
	for _, test := range []struct {
		name       string
		policy     v1alpha1.NetworkPolicy
		expose     *v1alpha1.Expose
		monitoring *v1alpha1.Monitoring
		openShift  bool
		// http and metrics name those that may connect to the port.
		http, metrics []string
	}{
		{"nobody is listed", v1alpha1.NetworkPolicy{Isolation: v1alpha1.IsolationListed}, nil, nil, false, nil, nil},
		{"listed applications", listed, nil, nil, false, []string{"billing", "reports"}, []string{"billing", "reports"}},
		{
			"the namespace", v1alpha1.NetworkPolicy{Isolation: v1alpha1.IsolationNamespace}, nil, nil, false,
			[]string{"another of the team", "billing", "reports here"}, []string{"another of the team", "billing", "reports here"},
		},
		{
			"the namespace and one listed", v1alpha1.NetworkPolicy{Isolation: v1alpha1.IsolationNamespace, From: []v1alpha1.NetworkPeer{{App: "reports", Namespace: "team-b"}}}, nil, nil, false,
			[]string{"another of the team", "billing", "reports", "reports here"}, []string{"another of the team", "billing", "reports", "reports here"},
		},
		{"exposed", listed, exposed, nil, false, []string{"billing", "ingress controller", "reports"}, []string{"billing", "reports"}},
		{"exposed by a gateway", listed, byGateway, nil, false, []string{"billing", "gateway", "ingress controller", "reports"}, []string{"billing", "reports"}},
		{"monitored", listed, nil, monitored, false, []string{"billing", "reports"}, []string{"Prometheus", "billing", "reports"}},
		{"exposed and monitored", listed, exposed, monitored, false, []string{"billing", "ingress controller", "reports"}, []string{"Prometheus", "billing", "reports"}},
		{
			"exposed and monitored on OpenShift", listed, exposed, monitored, true,
			[]string{"OpenShift's router", "billing", "ingress controller", "reports", "router on the node"},
			[]string{"OpenShift's Prometheus", "Prometheus", "billing", "reports"},
		},
		{"neither on OpenShift", listed, nil, nil, true, []string{"billing", "reports"}, []string{"billing", "reports"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			w, err := translate.EGApp(&v1alpha1.EGApp{
				ObjectMeta: metav1.ObjectMeta{Namespace: "team-a", Name: "orders", UID: "1"},
				Spec: v1alpha1.EGAppSpec{
					Framework: v1alpha1.FrameworkGo, Environment: v1alpha1.EnvironmentDev,
					Ports:  []v1alpha1.Port{{Name: "http", ContainerPort: 8080, ServicePort: new(int32(80))}, {Name: "metrics", ContainerPort: 9090}},
					Expose: test.expose, Monitoring: test.monitoring, NetworkPolicy: &test.policy,
				},
			}, translate.Options{IngressNamespaces: []string{"ingress"}, MonitoringNamespaces: []string{"monitoring"}})
			if err != nil {
				t.Fatal(err)
			}
			policy := &networkingv1.NetworkPolicy{}
			o := workload.Observed{Platform: workload.Platform{OpenShift: test.openShift, Kinds: map[string]bool{"HTTPRoute": true, "Route": test.openShift}}}
			if !readChild(t, resources.Desired(w, o), "NetworkPolicy", policy) {
				t.Fatal("there is no NetworkPolicy")
			}
			for name, c := range clients {
				if got, want := mayConnect(t, policy, c, 8080), slices.Contains(test.http, name); got != want {
					t.Errorf("%s may connect to http: %t, want %t", name, got, want)
				}
				if got, want := mayConnect(t, policy, c, 9090), slices.Contains(test.metrics, name); got != want {
					t.Errorf("%s may connect to metrics: %t, want %t", name, got, want)
				}
			}
			if !slices.Equal(policy.Spec.PolicyTypes, []networkingv1.PolicyType{networkingv1.PolicyTypeIngress}) || policy.Spec.Egress != nil {
				t.Error("the policy is about where the pods may connect to")
			}
		})
	}
}
