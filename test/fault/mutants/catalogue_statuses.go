// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package mutants

// statuses are the mutants whose status does not tell what is, or not at the right time.
var statuses = []Mutant{
	{
		Name: "believes-a-stale-deployment",
		Bug: "the status of a Deployment counts before its controller has seen the present specification: Ready is told of " +
			"the one before",
		Source: "knative/serving#12048, #4192",
		Plans:  []string{"DemoMicroService/update/delayed/deployments"},
		Changes: []Change{
			{
				"internal/status/facts.go",
				`	return f.deployment.Status.ObservedGeneration >= since
`,
				`	return f.deployment.Status.ObservedGeneration >= min(since, 1)
`,
			},
		},
	},
	{
		Name:   "is-ready-when-applied",
		Bug:    "an application is Ready when its children are applied, whether or not its pods run",
		Source: "open-telemetry/opentelemetry-operator, status/collector/handle.go",
		Plans:  []string{"DemoMicroService/create"},
		Quick:  true,
		Changes: []Change{
			{"internal/status/causes.go", `progressDeadline, rollingOut, podsNotReady,`, `progressDeadline,`},
		},
	},
	{
		Name: "writes-the-time",
		Bug: "the status holds the time of each turn, so that it is written at every turn, which is an event that makes " +
			"the next",
		Source: "noobaa/noobaa-operator#1282",
		Plans:  []string{"DemoMicroService/create"},
		Quick:  true,
		Changes: []Change{
			{
				fileReporter,
				`keepTransitionTimes(in.PreviousStatus.Conditions, next.Status.Conditions)`,
				`keepTransitionTimes(nil, next.Status.Conditions)`,
			},
		},
	},
	{
		Name:  "drops-the-last-counts",
		Bug:   "counts that come too soon after the last write are never written",
		Plans: []string{"DemoMicroService/pods-falter"},
		Changes: []Change{
			{
				fileReporter,
				`			return due, nil
`,
				`			return 0, nil
`,
			},
		},
	},
	{
		Name:   "hides-a-refusal-of-pods",
		Bug:    "that pods are refused, by a quota say, is not told",
		Source: "knative/serving#4416, ray-project/kuberay#603",
		Plans:  []string{"outage/admission/quota"},
		Changes: []Change{
			{"internal/status/causes.go", `		replicaFailure, podFailure,`, `		podFailure,`},
			{
				"internal/status/causes.go",
				`type cause struct {`,
				`var _ = replicaFailure

type cause struct {`,
			},
		},
	},
}
