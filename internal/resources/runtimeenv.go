// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package resources

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"

	"platformapp/internal/workload"
)

// runtimeEnvSuffix is what the name of the ConfigMap has after the owner's.
const runtimeEnvSuffix = "-runtime-env"

func runtimeEnvName(o workload.Owner) string { return o.Name + runtimeEnvSuffix }

// runtimeEnv holds the preset's variables of a workload that takes variables from ConfigMaps
// or Secrets. Set one by one they would win over those of the same name in there; as the
// first source they give way to them.
func runtimeEnv(w workload.Workload, _ workload.Observed) *Child {
	data := runtimeEnvData(w)
	if len(data) == 0 {
		return nil
	}
	config := corev1ac.ConfigMap(runtimeEnvName(w.Owner), w.Owner.Namespace).
		WithLabels(w.Owner.ChildLabels()).
		WithOwnerReferences(ownerReference(w.Owner)).
		WithData(data)
	return &Child{Config: config, Meta: config.ObjectMetaApplyConfiguration}
}

func runtimeEnvData(w workload.Workload) map[string]string {
	if len(w.Container.EnvFrom) == 0 {
		return nil
	}
	data := map[string]string{}
	for _, v := range presetEnv(w.Container) {
		data[v.Name] = v.Value
	}
	return data
}

// runtimeEnvHash changes with the content of the ConfigMap, so that the pods take up another
// preset; it is empty where there is none.
func runtimeEnvHash(w workload.Workload) string {
	data := runtimeEnvData(w)
	if len(data) == 0 {
		return ""
	}
	var text strings.Builder
	for _, name := range slices.Sorted(maps.Keys(data)) {
		fmt.Fprintf(&text, "%s=%s\n", name, data[name])
	}
	return workload.ValueHash([]byte(text.String()))
}
