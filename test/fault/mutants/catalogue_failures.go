// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package mutants

// failures are the mutants that make the wrong thing of an error of the API server.
var failures = []Mutant{
	{
		Name:   "swallows-the-error-of-an-apply",
		Bug:    "an apply that failed is taken for one that went well, and not tried again",
		Source: "l4wei/kubebuilder-example",
		Plans:  []string{"EGApp/expose/500-three-times/apply-ingresses-1"},
		Changes: []Change{
			{
				fileApply,
				`			return t.failed(s.child, err)
		}
	}
	a.applied`,
				`			return t.result, nil
		}
	}
	a.applied`,
			},
		},
	},
	{
		Name:  "gives-up-after-an-error",
		Bug:   "an error of the API server that passes is not tried again",
		Plans: []string{"EGApp/expose/500-three-times/apply-ingresses-1"},
		Changes: []Change{
			{
				fileOutcome,
				`applied.Failure.Reason == workload.FailureUnserved):
		return outcome{err: err}`,
				`applied.Failure.Reason == workload.FailureUnserved):
		return outcome{}`,
			},
		},
	},
	{
		Name:   "takes-a-conflict-for-an-end",
		Bug:    "a write that met a newer object is dropped instead of decided again",
		Source: "runtime-component-operator, ManageError",
		Plans:  []string{"EGApp/expose/409/apply-ingresses-1"},
		Changes: []Change{
			{fileOutcome, `return outcome{wait: staleRecheck, stale: true}`, `return outcome{stale: true}`},
		},
	},
	{
		Name:   "drops-a-status-in-conflict",
		Bug:    "a status that met a newer object is not written again",
		Source: "runtime-component-operator, ManageError",
		Plans:  []string{"EGApp/paused/409/patch-egapps-status-1"},
		Changes: []Change{
			{
				fileOutcome,
				`	case apierrors.IsConflict(err):
		o.wait = staleRecheck
	case !apierrors.IsNotFound(err):`,
				`	case apierrors.IsConflict(err):
	case !apierrors.IsNotFound(err):`,
			},
		},
	},
	{
		Name:   "swallows-the-error-of-a-status",
		Bug:    "a status that could not be written is taken to be written",
		Source: "kubernetes-sigs/jobset",
		Plans:  []string{"EGApp/paused/500/patch-egapps-status-1"},
		Changes: []Change{
			{fileReporter, `return 0, fmt.Errorf("write status of %T %s: %w", app, key, err)`, `return 0, nil`},
		},
	},
	{
		Name:   "takes-forbidden-for-success",
		Bug:    "what the operator may not do is taken to be done, and never told",
		Source: "knative/serving#4416, ray-project/kuberay#603",
		Plans:  []string{"EGApp/expose/403-twice/apply-ingresses-1"},
		Changes: []Change{
			{
				fileApply,
				`		if err != nil {
			return t.failed(s.child, err)
		}
`,
				`		if err != nil && !apierrors.IsForbidden(err) {
			return t.failed(s.child, err)
		}
`,
			},
		},
	},
	{
		Name:  "never-tries-a-refusal-again",
		Bug:   "what was refused for want of a right, by a quota or a policy, is not tried again when those have changed",
		Plans: []string{"EGApp/expose/403-twice/apply-ingresses-1"},
		Changes: []Change{
			{fileOutcome, `return outcome{wait: refusalRecheck}`, `return outcome{}`},
		},
	},
	{
		Name:   "tries-a-refusal-hot",
		Bug:    "what a person has to change is tried again many times a second",
		Source: "Azure/azure-service-operator#4734, GalleyBytes/terraform-operator#169",
		Plans:  []string{"DemoMicroService/refused"},
		Changes: []Change{
			{fileOutcome, `return outcome{wait: refusalRecheck}`, `return outcome{wait: staleRecheck}`},
		},
	},
	{
		Name: "backs-off-without-bound",
		Bug: "the delay after an error grows to a quarter of an hour, so that an application sleeps on long after an " +
			"outage",
		Source: "the default of controller-runtime",
		Plans:  []string{"outage/api-server-stopped/alone"},
		Changes: []Change{
			{"controllers/setup.go", `lastRetry  = 30 * time.Second`, `lastRetry  = 1000 * time.Second`},
		},
	},
	{
		Name:  "keeps-a-lock-after-an-error",
		Bug:   "a lock is not given back on the way of an error, so that every application of the kind stands still",
		Plans: []string{"DemoMicroService/create/500/apply-deployments-1"},
		Changes: []Change{
			{
				fileReporter,
				`	defer r.mu.Unlock()
	before := r.failed[key]
	if o.err == nil {
		delete(r.failed, key)
		return false
	}
`,
				`	before := r.failed[key]
	if o.err == nil {
		delete(r.failed, key)
		r.mu.Unlock()
		return false
	}
`,
			},
		},
	},
	{
		Name:   "panics-at-an-optional-field",
		Bug:    "an optional field is read without a look whether it is there",
		Source: "application-stacks/runtime-component-operator#93",
		Plans:  []string{"EGApp/autoscaling-three"},
		Changes: []Change{
			{"internal/translate/pod.go", `MinReplicas: valueOr(a.MinReplicas, 1)`, `MinReplicas: *a.MinReplicas`},
		},
	},
	{
		Name:  "leaks-a-goroutine",
		Bug:   "each turn leaves a goroutine behind",
		Plans: []string{"EGApp/features"},
		Changes: []Change{
			{
				fileReconciler,
				`	app := r.newObject()
`,
				`	slow := time.NewTimer(time.Minute)
	defer slow.Stop()
	go func() { <-slow.C }()
	app := r.newObject()
`,
			},
		},
	},
	{
		Name:  "turns-unready-at-one-error",
		Bug:   "a single error of the API server, over by the next try, makes an application that serves unready",
		Plans: []string{"EGApp/service-types/500/apply-services-1"},
		Changes: []Change{
			{
				fileReporter,
				`	return !before
`,
				`	return !before && r.kind == ""
`,
			},
		},
	},
	{
		Name: "takes-its-own-for-anothers",
		Bug: "a child that turns out to be there already is a conflict of names, without a look at whose it is: the " +
			"operator's own, when the answer to its creation was lost",
		Plans: []string{"EGApp/create/answer-lost-late/apply-services-1"},
		Changes: []Change{
			{
				fileApply,
				`		return t.meet(ctx, s, err)
`,
				`		s.standing = taken
		t.result.Conflicts = append(t.result.Conflicts, workload.Conflict{Kind: s.child.Kind, Name: s.child.Name})
		return nil
`,
			},
		},
	},
	{
		Name: "wedges-at-an-immutable-field",
		Bug: "a change of a field that the API server does not let change is applied again and again, and refused each " +
			"time",
		Source: "kubernetes-sigs/kro#541",
		Plans:  []string{"EGApp/service-types"},
		Changes: []Change{
			{"internal/apply/immutable.go", `return kind != workload.KindDeployment }`, `return kind == "" }`},
		},
	},
	{
		Name:  "wedges-at-a-shared-list",
		Bug:   "what another manager put into a list that the operator writes has every apply refused, for ever",
		Plans: []string{"EGApp/shared-ports"},
		Changes: []Change{
			{
				fileWrite,
				`	if apierrors.IsInvalid(err) {
`,
				`	if apierrors.IsInvalid(err) && in == nil {
`,
			},
		},
	},
}
