// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package mutants

// replicas are the mutants that decide how many pods run when an autoscaler does.
var replicas = []Mutant{
	{
		Name:   "fights-the-autoscaler",
		Bug:    "the number of pods is applied although an autoscaler chooses it",
		Source: "defilantech/LLMKube#484, apache/superset-kubernetes-operator#151",
		Plans:  []string{"EGApp/autoscaling"},
		Changes: []Change{
			{
				"internal/resources/replicas.go",
				`	case w.IsAutoscaled(o):
`,
				`	case w.IsAutoscaled(o) && live.Spec.Replicas == nil:
`,
			},
		},
	},
	{
		Name:   "drops-to-one-at-a-handover",
		Bug:    "the number of pods is dropped without a handover, so that the API server sets it to 1",
		Source: "runtime-component-operator, whose nil is set to 1",
		Plans:  []string{"EGApp/autoscaling-three"},
		Changes: []Change{
			{
				fileDeployment,
				`ObjectMetaApplyConfiguration, Replicas: replicas.handover}`,
				`ObjectMetaApplyConfiguration}`,
			},
		},
	},
	{
		Name:   "forgets-the-number-of-the-autoscaler",
		Bug:    "when the autoscaler goes, the number of pods falls to what the application asked for before it came",
		Source: "runtime-component-operator, where N pods drop to 1",
		Plans:  []string{"EGApp/autoscaling"},
		Changes: []Change{
			{
				"internal/resources/replicas.go",
				`	case !owned && overridden == w.Replicas && current > 0:
`,
				`	case !owned && overridden == w.Replicas && current < 0:
`,
			},
		},
	},
}
