// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package resources_test

import (
	"strconv"

	"pgregory.net/rapid"

	"platformapp/internal/resources"
	"platformapp/internal/workload"
)

// anyObserved is what an application of anySpec may find, without children beside the
// Deployment.
var anyObserved = rapid.Custom(func(t *rapid.T) workload.Observed {
	o := workload.Observed{
		Platform:   workload.Platform{OpenShift: rapid.Bool().Draw(t, "OpenShift"), Kinds: map[string]bool{}},
		Children:   map[string]workload.Object{},
		ConfigMaps: map[string]workload.ConfigMap{},
		Claims:     map[string]workload.Claim{},
	}
	for _, kind := range resources.Kinds {
		if kind.Optional {
			o.Platform.Kinds[kind.Name] = rapid.Bool().Draw(t, "has "+kind.Name)
		}
	}
	if rapid.Bool().Draw(t, "somebody else scales it") {
		o.Autoscalers = []workload.Autoscaler{{Name: "keda-hpa-orders", TargetKind: "Deployment"}}
	}
	if rapid.Bool().Draw(t, "the ConfigMap is there") {
		o.ConfigMaps["cfg"] = workload.ConfigMap{}
		for _, key := range []string{"LEVEL", "app.yaml", "other"} {
			if rapid.Bool().Draw(t, "has the key "+key) {
				o.ConfigMaps["cfg"][key] = workload.ValueHash([]byte(key))
			}
		}
	}
	for _, name := range []string{"orders-data", "shared-data"} {
		if rapid.Bool().Draw(t, name+" is there") {
			o.Claims[name] = workload.Claim{OneNode: rapid.Bool().Draw(t, name+" is of one node")}
		}
	}
	if rapid.Bool().Draw(t, "it runs") {
		annotation := func(label string) string {
			if rapid.Bool().Draw(t, label) {
				return strconv.Itoa(rapid.IntRange(0, 20).Draw(t, label+" number"))
			}
			return "-"
		}
		o.Children[workload.KindDeployment] = liveDeployment(rapid.Int32Range(0, 20).Draw(t, "live"), annotation("overridden"), annotation("held"))
	}
	return o
})
