// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package security

import (
	"maps"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	networkingv1 "k8s.io/api/networking/v1"
	"sigs.k8s.io/yaml"
)

// S12. The policies that are shipped for the operator select its pods, and let in at the ports that it serves others at,
// and at no other: the kubelet's probes pass any policy. KWOK plays no network that could keep to them.
func TestNetworkPoliciesOfTheOperatorOpenWhatItServes(t *testing.T) {
	var manager appsv1.Deployment
	for _, document := range documents(t, "config/manager/manager.yaml") {
		var head struct{ Kind string }
		if err := yaml.Unmarshal(document, &head); err != nil {
			t.Fatal(err)
		}
		if head.Kind == "Deployment" {
			if err := yaml.UnmarshalStrict(document, &manager); err != nil {
				t.Fatal(err)
			}
		}
	}
	pod := manager.Spec.Template
	if len(pod.Spec.Containers) != 1 {
		t.Fatalf("the manager has %d containers", len(pod.Spec.Containers))
	}
	served := map[string]bool{}
	for _, port := range pod.Spec.Containers[0].Ports {
		served[port.Name] = true
	}
	opened := map[string]bool{}
	for _, file := range []string{"allow-metrics-traffic.yaml", "allow-webhook-traffic.yaml"} {
		var policy networkingv1.NetworkPolicy
		if err := yaml.UnmarshalStrict([]byte(read(t, "config/network-policy/"+file)), &policy); err != nil {
			t.Fatal(err)
		}
		if len(policy.Spec.PodSelector.MatchLabels) == 0 || len(policy.Spec.PodSelector.MatchExpressions) > 0 {
			t.Errorf("%s selects %v", file, policy.Spec.PodSelector)
		}
		for key, value := range policy.Spec.PodSelector.MatchLabels {
			if pod.Labels[key] != value {
				t.Errorf("%s selects %s=%s, the pods have %q", file, key, value, pod.Labels[key])
			}
		}
		if !slices.Contains(policy.Spec.PolicyTypes, networkingv1.PolicyTypeIngress) {
			t.Errorf("%s restricts %v", file, policy.Spec.PolicyTypes)
		}
		for _, rule := range policy.Spec.Ingress {
			if len(rule.Ports) == 0 {
				t.Errorf("%s opens every port", file)
			}
			for _, port := range rule.Ports {
				if port.Port == nil || !served[port.Port.StrVal] || port.EndPort != nil {
					t.Errorf("%s opens the port %v, which is not one of %v", file, port.Port, slices.Sorted(maps.Keys(served)))
					continue
				}
				opened[port.Port.StrVal] = true
				if port.Port.StrVal == "metrics" && len(rule.From) == 0 {
					t.Errorf("%s lets everybody ask for the metrics", file)
				}
			}
		}
	}
	if diff := cmp.Diff(map[string]bool{"metrics": true, "webhook": true}, opened); diff != "" {
		t.Errorf("opened ports (-want +got):\n%s", diff)
	}
}
