// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package corpus

import (
	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"platformapp/internal/translate"
	"platformapp/internal/workload"
)

// Cluster is what an application finds beside itself; its zero is a plain cluster where
// nothing runs yet.
type Cluster struct {
	// OpenShift and Kinds are the cluster's facts; Kinds are the optional kinds it has.
	OpenShift bool     `json:"openShift,omitempty"`
	Kinds     []string `json:"kinds,omitempty"`
	// IngressNamespaces and MonitoringNamespaces are the platform's settings.
	IngressNamespaces    []string `json:"ingressNamespaces,omitempty"`
	MonitoringNamespaces []string `json:"monitoringNamespaces,omitempty"`
	// Autoscalers are names of HorizontalPodAutoscalers of others on the Deployment.
	Autoscalers []string `json:"autoscalers,omitempty"`
	// OneNodeClaims and SharedClaims are names of claims by how many nodes may use them.
	OneNodeClaims []string `json:"oneNodeClaims,omitempty"`
	SharedClaims  []string `json:"sharedClaims,omitempty"`
	// ConfigMaps are keys and values by name.
	ConfigMaps map[string]map[string]string `json:"configMaps,omitempty"`
	// Deployment is what runs already.
	Deployment *Deployment `json:"deployment,omitempty"`
}

// Deployment is what of a running Deployment bears on the number of pods.
type Deployment struct {
	Replicas int32 `json:"replicas"`
	// Overridden and Held are the values of the annotations that record a hand-over to an
	// autoscaler and back; empty means that there is none.
	Overridden string `json:"overridden,omitempty"`
	Held       string `json:"held,omitempty"`
}

func (c Cluster) options() translate.Options {
	return translate.Options{IngressNamespaces: c.IngressNamespaces, MonitoringNamespaces: c.MonitoringNamespaces}
}

// observed returns what the loop sees of the cluster.
func (c Cluster) observed(owner workload.Owner) workload.Observed {
	o := workload.Observed{
		Platform:              workload.Platform{OpenShift: c.OpenShift, Kinds: map[string]bool{}},
		Children:              map[string]workload.Object{},
		ConfigMaps:            map[string]workload.ConfigMap{},
		Claims:                map[string]workload.Claim{},
		ServiceAccountAllowed: true,
		ServiceAccountExists:  true,
	}
	for _, kind := range c.Kinds {
		o.Platform.Kinds[kind] = true
	}
	for _, name := range c.Autoscalers {
		o.Autoscalers = append(o.Autoscalers, workload.Autoscaler{Name: name, TargetKind: workload.KindDeployment})
	}
	for _, name := range c.OneNodeClaims {
		o.Claims[name] = workload.Claim{OneNode: true}
	}
	for _, name := range c.SharedClaims {
		o.Claims[name] = workload.Claim{}
	}
	for name, values := range c.ConfigMaps {
		o.ConfigMaps[name] = workload.ConfigMap{}
		for key, value := range values {
			o.ConfigMaps[name][key] = workload.ValueHash([]byte(value))
		}
	}
	if d := c.Deployment; d != nil {
		o.Children[workload.KindDeployment] = &appsv1.Deployment{
			ObjectMeta: metav1.ObjectMeta{
				Namespace: owner.Namespace, Name: owner.Name, Labels: owner.ChildLabels(), Annotations: d.annotations(),
			},
			Spec: appsv1.DeploymentSpec{Replicas: &d.Replicas},
		}
	}
	return o
}

func (d Deployment) annotations() map[string]string {
	annotations := map[string]string{}
	for key, value := range map[string]string{workload.AnnotationOverriddenReplicas: d.Overridden, workload.AnnotationHeldReplicas: d.Held} {
		if value != "" {
			annotations[key] = value
		}
	}
	return annotations
}
