// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package mutants

// staleness are the mutants that act on a view of the cluster that is late, or do not see what happens.
var staleness = []Mutant{
	{
		Name:   "does-not-see-its-own-writes",
		Bug:    "a look does not wait for the operator's own writes, so that a cache that lags has them made again",
		Source: "kubernetes-sigs/controller-runtime#3472",
		Plans:  []string{"DemoMicroService/update/frozen/deployments"},
		Changes: []Change{
			{
				fileFence,
				`	f.awaited[fenceKey{kind, name}] = awaited{version: resourceVersion}
`,
				``,
			},
		},
	},
	{
		Name: "waits-for-ever-for-its-own-writes",
		Bug: "a look waits for a write that the cache never shows, since somebody took the label away by which the cache " +
			"selects",
		Source: "the read-your-writes of controller-runtime",
		Plans:  []string{"DemoMicroService/children-stripped"},
		Changes: []Change{
			{fileFence, `fenceTimeout = 100 * time.Millisecond`, `fenceTimeout = time.Hour`},
		},
	},
	{
		Name: "writes-a-status-over-a-newer-object",
		Bug: "a status is written without the resource version that it was computed from, also onto a successor of the " +
			"same name",
		Source: "rabbitmq/cluster-operator#648 (Sieve: stale state)",
		Plans:  []string{"DemoMicroService/recreate/frozen/demomicroservices"},
		Changes: []Change{
			{
				fileReporter,
				`client.MergeFromWithOptions(app, client.MergeFromWithOptimisticLock{})`,
				`client.MergeFrom(app)`,
			},
			{
				fileReporter,
				`"metadata": map[string]any{"resourceVersion": object.GetResourceVersion()},
`,
				`"metadata": map[string]any{},
`,
			},
		},
	},
	{
		Name: "makes-children-of-the-gone",
		Bug: "an application counts as being there as long as the cache shows it: the children that garbage collection removes " +
			"are made again, and removed again",
		Plans: []string{"DemoMicroService/delete/frozen/demomicroservices"},
		Changes: []Change{
			{
				fileStale,
				`sync.OnceValue(func() error { return r.confirm(ctx, app) })`,
				`sync.OnceValue(func() error { return nil })`,
			},
		},
	},
	{
		Name: "rolls-back-at-a-takeover",
		Bug: "the first write of a process to a child goes by the application as it was seen, which may be as it was before the " +
			"last change: what runs goes back to what was asked for then",
		Plans: []string{"outage/stale/application-at-a-takeover"},
		Changes: []Change{
			{fileStale, `present.GetGeneration() != app.GetGeneration() || `, ``},
		},
	},
	{
		Name: "takes-back-what-was-orphaned",
		Bug: "an owner reference that garbage collection took away, since the application is deleted without its children, is " +
			"put back: the child goes with the application",
		Plans: []string{"outage/stale/orphaning-deletion"},
		Changes: []Change{
			{
				"internal/apply/confirm.go",
				`metav1.GetControllerOfNoCopy(live) != nil {`,
				`(live != nil || metav1.GetControllerOfNoCopy(live) != nil) {`,
			},
		},
	},
	{
		Name: "finds-children-by-controller-alone",
		Bug: "events of children lead to the application by their owner reference alone: one that loses it is never looked " +
			"at",
		Plans: []string{"DemoMicroService/children-stripped"},
		Changes: []Change{
			{
				fileWatches,
				`	if name, ok := object.GetLabels()[selectorKey]; ok {
		add(name)
	}
`,
				``,
			},
		},
	},
	{
		Name: "counts-only-new-generations",
		Bug: "events of children count only when their generation changes: what becomes of their pods is seen at the next " +
			"event by chance",
		Source: "runtime-component-operator, whose Ready lags by up to 120 s",
		Plans:  []string{"DemoMicroService/create"},
		Changes: []Change{
			{
				fileWatches,
				`	if !isAutoscaler || !isAutoscalerStill {
		return true
	}
`,
				`	if !isAutoscaler || !isAutoscalerStill {
		return e.ObjectOld.GetGeneration() != e.ObjectNew.GetGeneration()
	}
`,
			},
		},
	},
	{
		Name:   "does-not-see-pods-go",
		Bug:    "events of pods are not heard",
		Source: "instaclustr/cassandra-operator#398 (Sieve: unobserved state), kubevela/kubevela#6639",
		Plans:  []string{"DemoMicroService/pods-falter"},
		Changes: []Change{
			{"controllers/setup.go", `Watches(&corev1.Pod{}, owner).`, `Watches(&corev1.Pod{}, handler.Funcs{}).`},
			{
				"controllers/setup.go",
				`	"sigs.k8s.io/controller-runtime/pkg/manager"
`,
				`	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/manager"
`,
			},
		},
	},
	{
		Name:   "does-not-see-configuration-change",
		Bug:    "a change of a ConfigMap that the pods use is not heard",
		Source: "kubernetes-sigs/mcp-lifecycle-operator#95, minio/operator#650",
		Plans:  []string{"EGApp/config"},
		Changes: []Change{
			{
				fileWatches,
				`			add(q, references.OwnersOfChange(e.ObjectOld, e.ObjectNew))
`,
				`			_, _, _ = q, e, add
`,
			},
		},
	},
	{
		Name:   "takes-no-answer-for-no-api",
		Bug:    "when discovery fails, the cluster counts as one without any of the optional kinds",
		Source: "kiali/kiali#3239, cryostatio/cryostat-operator#529; runtime-component-operator, IsOpenShift",
		Plans:  []string{"EGApp/restart-routed/start-503/apis-1", "EGApp/restart-routed/start-503/apis-2"},
		Changes: []Change{
			{
				"internal/platform/watcher.go",
				`"What is known of the cluster's APIs stays as it is")
		}
		return
`,
				`"What is known of the cluster's APIs stays as it is")
		}
`,
			},
		},
	},
	{
		Name:   "hands-over-a-stale-number",
		Bug:    "the number of pods is handed to the autoscaler as it was seen, over a number that somebody has set since",
		Source: "apache/superset-kubernetes-operator#151",
		Plans:  []string{"EGApp/autoscaling-raced"},
		Changes: []Change{
			{
				"internal/apply/handover.go",
				`		config.WithResourceVersion(live.GetResourceVersion())
`,
				``,
			},
		},
	},
	{
		Name:  "counts-pods-by-label",
		Bug:   "pods count by their labels, those of a predecessor of the same name included",
		Plans: []string{"DemoMicroService/lookalikes"},
		Changes: []Change{
			{
				"internal/observe/observe.go",
				`		if isControlledBy(&replicaSet, deployment) {
`,
				`		if isControlledBy(&replicaSet, deployment) || replicaSet.Name != "" {
`,
			},
		},
	},
}
