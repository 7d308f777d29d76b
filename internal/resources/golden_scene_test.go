// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package resources_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"sigs.k8s.io/yaml"

	"platformapp/internal/resources"
	"platformapp/internal/translate"
	"platformapp/internal/workload"
)

// scene is what a golden case finds beside its application: the file observed.yaml, or
// nothing, which is a plain cluster where nothing runs yet.
type scene struct {
	// OpenShift and Kinds are the cluster's facts; Kinds are the optional kinds it has.
	OpenShift bool
	Kinds     []string
	// IngressNamespaces and MonitoringNamespaces are the platform's settings.
	IngressNamespaces, MonitoringNamespaces []string
	// Autoscalers are names of HorizontalPodAutoscalers of others on the Deployment.
	Autoscalers []string
	// OneNodeClaims and SharedClaims are names of claims by how many nodes may use them.
	OneNodeClaims, SharedClaims []string
	// ConfigMaps are keys and values by name.
	ConfigMaps map[string]map[string]string
	// Deployment is what runs already.
	Deployment *struct {
		Replicas         int32
		Overridden, Held string
	}
}

// readScene reads what a case finds from the folder of the case.
func readScene(t testing.TB, folder string) scene {
	t.Helper()
	var s scene
	raw, err := os.ReadFile(filepath.Join(folder, "observed.yaml"))
	if errors.Is(err, fs.ErrNotExist) {
		return s
	}
	if err != nil {
		t.Fatal(err)
	}
	if err := yaml.UnmarshalStrict(raw, &s); err != nil {
		t.Fatal(err)
	}
	return s
}

func (s scene) options() translate.Options {
	return translate.Options{IngressNamespaces: s.IngressNamespaces, MonitoringNamespaces: s.MonitoringNamespaces}
}

func (s scene) observed() workload.Observed {
	o := workload.Observed{
		Platform:   workload.Platform{OpenShift: s.OpenShift, Kinds: map[string]bool{}},
		Children:   map[string]workload.Object{},
		ConfigMaps: map[string]workload.ConfigMap{},
		Claims:     map[string]workload.Claim{},
	}
	for _, kind := range s.Kinds {
		o.Platform.Kinds[kind] = true
	}
	for _, name := range s.Autoscalers {
		o.Autoscalers = append(o.Autoscalers, workload.Autoscaler{Name: name, TargetKind: "Deployment"})
	}
	for _, name := range s.OneNodeClaims {
		o.Claims[name] = workload.Claim{OneNode: true}
	}
	for _, name := range s.SharedClaims {
		o.Claims[name] = workload.Claim{}
	}
	for name, values := range s.ConfigMaps {
		o.ConfigMaps[name] = workload.ConfigMap{}
		for key, value := range values {
			o.ConfigMaps[name][key] = workload.ValueHash([]byte(value))
		}
	}
	if d := s.Deployment; d != nil {
		overridden, held := d.Overridden, d.Held
		if overridden == "" {
			overridden = "-"
		}
		if held == "" {
			held = "-"
		}
		o.Children[workload.KindDeployment] = liveDeployment(d.Replicas, overridden, held)
	}
	return o
}

// handoversYAML writes what FieldManagerReplicas applies before the children, or nothing.
func handoversYAML(t testing.TB, children []resources.Child) string {
	t.Helper()
	var documents string
	for _, child := range children {
		if child.Replicas != nil {
			documents += "# Applied first, as " + workload.FieldManagerReplicas + ":\n" + toYAML(t, child.Replicas) + "---\n"
		}
	}
	return documents
}
