// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package mutants

// crash are the mutants that a stop between two writes leads astray, or that take the beginning of the work for its end.
var crash = []Mutant{
	{
		Name: "looks-at-the-first-child-alone",
		Bug: "the work counts as done when the Deployment is as it should be: after a stop between two writes the other " +
			"children are never made",
		Source: "konpyutaika/nifikop#49, Orange-OpenSource/casskop#370 (Sieve: intermediate state)",
		Plans:  []string{"EGApp/recreate/killed-after/apply-deployments-1"},
		Changes: []Change{
			{
				fileApply,
				`	for _, s := range t.steps {
		if t.mustWait() {`,
				`	for _, s := range t.steps {
		isDeployment := s.child.Kind == workload.KindDeployment && s.live != nil
		if isDeployment && s.live.GetAnnotations()[workload.AnnotationAppliedHash] == s.hash {
			return t.result, nil
		}
		if t.mustWait() {`,
			},
		},
	},
	{
		Name: "prunes-once",
		Bug: "what is no longer wanted is deleted in the turn that carries a specification out, and never after: a delete " +
			"that is refused once is forgotten",
		Source: "konpyutaika/nifikop#49 (Sieve: intermediate state)",
		Plans:  []string{"EGApp/features/403/delete-horizontalpodautoscalers-1"},
		Changes: []Change{
			{
				fileReconciler,
				`	if err == nil {
		err = r.applier.Prune(`,
				`	if err == nil && app.AppStatus().ObservedGeneration != app.GetGeneration() {
		err = r.applier.Prune(`,
			},
		},
	},
	{
		Name: "remembers-by-name",
		Bug: "a child that was made once is taken to be there, by its name: that of a new owner of the same name, or one " +
			"that somebody deleted, is never made",
		Plans: []string{"DemoMicroService/recreate"},
		Changes: []Change{
			{
				fileApply,
				`	last, known := t.applied.get(s.memoryKey())
	s.child`,
				`	last, known := t.applied.get(s.memoryKey())
	if known {
		return nil
	}
	s.child`,
			},
			{
				fileApply,
				`func (a *Applier) Forget(owner types.NamespacedName) { a.applied.forget(owner, nil) }`,
				`func (a *Applier) Forget(types.NamespacedName) {}`,
			},
		},
	},
	{
		Name: "reports-before-the-work",
		Bug: "the status says that a specification is observed before anything of it is carried out, beside the conditions " +
			"of the one before",
		Plans: []string{"DemoMicroService/update"},
		Quick: true,
		Changes: []Change{
			{
				fileReconciler,
				`	w, invalid := r.translate(app)
`,
				`	if written, ok := app.DeepCopyObject().(T); ok && app.AppStatus().ObservedGeneration != app.GetGeneration() {
		written.AppStatus().ObservedGeneration = app.GetGeneration()
		if err := r.reporter.client.Status().Patch(ctx, written, client.MergeFrom(app)); err != nil {
			return reconcile.Result{}, err
		}
		app = written
	}
	w, invalid := r.translate(app)
`,
			},
		},
	},
	{
		Name: "trusts-the-hash-alone",
		Bug: "a child counts as it should be when it carries the hash of what was applied, whatever somebody has made of " +
			"it since",
		Source: "kubernetes-sigs/kro#753; knative/serving, which leaves changes alone while the hash fits",
		Plans:  []string{"DemoMicroService/children-edited"},
		Changes: []Change{
			{
				fileWrite,
				`t.applied.accepts(in, live, before) {`,
				`t.applied.accepts(in, live, before) || live.GetAnnotations()[workload.AnnotationAppliedHash] == in.hash {`,
			},
		},
	},
	{
		Name:   "leaves-what-was-switched-off",
		Bug:    "a feature that is switched off leaves its child behind",
		Source: "apache/solr-operator#673, open-telemetry/opentelemetry-operator#2651",
		Plans:  []string{"EGApp/features"},
		Changes: []Change{
			{
				fileReconciler,
				`	if err == nil {
		err = r.applier.Prune(ctx, surplus, confirm, &applied)
	}
`,
				``,
			},
		},
	},
	{
		Name:   "deletes-when-stalled",
		Bug:    "a specification that breaks a rule takes down what runs",
		Source: "xlab-uiuc/acto#62, xlab-uiuc/acto#197 (Acto)",
		Plans:  []string{"DemoMicroService/bad-spec"},
		Changes: []Change{
			{
				fileReconciler,
				`	case stall != nil:
`,
				`	case stall != nil && observed.Deployment() != nil:
		confirm := func() error { return nil }
		err := r.applier.Prune(ctx, []workload.Object{observed.Deployment()}, confirm, &workload.Applied{})
		return r.finish(ctx, app, w, observed, workload.Applied{}, outcome{stall: stall, err: err})
	case stall != nil:
`,
			},
		},
	},
	{
		Name: "stays-stalled",
		Bug: "an application whose status says that it is stalled is not looked at again, also when its specification was " +
			"mended",
		Source: "xlab-uiuc/acto#62 (Acto)",
		Plans:  []string{"DemoMicroService/bad-spec"},
		Changes: []Change{
			{
				fileReconciler,
				`	desired := resources.Desired(w, observed)
`,
				`	for _, c := range app.AppStatus().Conditions {
		if c.Type == "Stalled" && c.Status == "True" && c.Reason == "InvalidSpec" {
			return reconcile.Result{}, nil
		}
	}
	desired := resources.Desired(w, observed)
`,
			},
		},
	},
	{
		Name:  "works-while-paused",
		Bug:   "children are changed although the application is paused",
		Plans: []string{"EGApp/paused"},
		Changes: []Change{
			{
				fileReconciler,
				`	if w.Paused {
`,
				`	if w.Paused && len(desired) == 0 {
`,
			},
		},
	},
}
