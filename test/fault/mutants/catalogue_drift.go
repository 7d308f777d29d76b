// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package mutants

// drift are the mutants that fight what others do to children, or roll pods that nobody asked to roll.
var drift = []Mutant{
	{
		Name:   "fights-admission",
		Bug:    "what admission rewrites counts as drift, and is written at every turn",
		Source: "kubernetes-sigs/controller-runtime#2733, paperclipinc/openclaw-operator#28 (generation 184,000)",
		Plans:  []string{"outage/admission/policy-mutates"},
		Changes: []Change{
			{
				"internal/apply/memory.go",
				`last.isOf(in, live) && last.accepted == d.digest)`,
				`last.isOf(in, live) && last.accepted == "" && last.accepted == d.digest)`,
			},
			{
				"internal/apply/memory.go",
				`return known && last.isOf(in, live) && last`,
				`return known && last.isOf(in, live) && last.accepted == "" && last`,
			},
			{
				fileWrite,
				`known && last.isOf(in, live) && last.resourceVersion`,
				`known && last.isOf(in, live) && last.accepted == "" && last.resourceVersion`,
			},
		},
	},
	{
		Name:   "replaces-whole-lists",
		Bug:    "a child is updated by a merge patch, which replaces its lists: containers that others injected are lost",
		Source: "runtime-component-operator, which replaces the maps of others",
		Plans:  []string{"DemoMicroService/foreign-fields"},
		Changes: []Change{
			{
				fileWrite,
				`	a.fence.Expect(in.child.Kind, in.key, *apply.ResourceVersion)
`,
				`	if manager == workload.FieldManager && apply.UID != nil && in.child.Kind == workload.KindDeployment {
		merged, err := in.newObject()
		if err != nil {
			return nil, err
		}
		merged.SetNamespace(in.key.Namespace)
		merged.SetName(in.key.Name)
		patch := client.RawPatch(types.MergePatchType, content)
		if err := a.writer.Patch(ctx, merged, patch, client.FieldOwner(manager)); err != nil {
			return nil, err
		}
		a.fence.Expect(in.child.Kind, in.key, merged.GetResourceVersion())
		return merged, nil
	}
	a.fence.Expect(in.child.Kind, in.key, *apply.ResourceVersion)
`,
			},
			{
				fileWrite,
				`	"k8s.io/apimachinery/pkg/runtime"
`,
				`	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
`,
			},
		},
	},
	{
		Name:   "compares-quantities-as-text",
		Bug:    "an amount that is spelt in another way counts as another amount",
		Source: "strimzi/strimzi-kafka-operator#648, Altinity/clickhouse-operator#1904",
		Plans:  []string{"EGApp/said-otherwise"},
		Changes: []Change{
			{
				"internal/translate/size.go",
				`return resource.MustParse(resource.NewDecimalQuantity(*decimal.AsDec(), format).String())`,
				`_, _ = decimal, format
	return quantity`,
			},
		},
	},
	{
		Name:   "hashes-the-version-of-the-configuration",
		Bug:    "the hash of the configuration holds the resource version of the ConfigMap: a label on that rolls the pods",
		Source: "runtime-component-operator, SA_RESOURCE_VERSION",
		Plans:  []string{"EGApp/config"},
		Changes: []Change{
			{
				"internal/observe/foreign.go",
				`		hashes[key] = workload.ValueHash([]byte(value))
`,
				`		hashes[key] = workload.ValueHash([]byte(object.ResourceVersion + value))
`,
			},
		},
	},
	{
		Name:   "renders-in-random-order",
		Bug:    "the variables of a container come in the order of a map, another one at each turn",
		Source: "knative/serving#11092",
		Plans:  []string{"EGApp/said-otherwise"},
		Changes: []Change{
			{
				"internal/translate/env.go",
				`	var out []corev1.EnvVar
	for _, v := range given {
		out = append(out, corev1.EnvVar{Name: v.Name, Value: v.Value, ValueFrom: valueFrom(v.ValueFrom)})
	}
`,
				`	byName := map[string]corev1.EnvVar{}
	for _, v := range given {
		byName[v.Name] = corev1.EnvVar{Name: v.Name, Value: v.Value, ValueFrom: valueFrom(v.ValueFrom)}
	}
	var out []corev1.EnvVar
	for _, v := range byName {
		out = append(out, v)
	}
`,
			},
		},
	},
	{
		Name:   "marks-pods-with-the-build",
		Bug:    "the pods carry what tells one build of the operator from another: an upgrade restarts everything",
		Source: "Altinity/clickhouse-operator#1845, opensearch-project/opensearch-k8s-operator#1580",
		Plans:  []string{"DemoMicroService/upgrade"},
		Changes: []Change{
			{
				"internal/resources/podtemplate.go",
				`	if hash := configHash(w, o); hash != "" {
`,
				`	if build, ok := debug.ReadBuildInfo(); ok {
		annotations["platform.evillgenius.com/build"] = workload.ValueHash([]byte(build.String()))
	}
	if hash := configHash(w, o); hash != "" {
`,
			},
			{
				"internal/resources/podtemplate.go",
				`	"fmt"
`,
				`	"fmt"
	"runtime/debug"
`,
			},
		},
	},
}
