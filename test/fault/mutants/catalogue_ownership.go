// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package mutants

// ownership are the mutants that take or delete what is not theirs, or lose what is.
var ownership = []Mutant{
	{
		Name: "acts-on-a-stale-deletion",
		Bug: "the children of an application that is seen to be on its way out are deleted by their names: seen late, " +
			"those are the children of the next one of its name",
		Source: "rabbitmq/cluster-operator#648 (Sieve: stale state)",
		Plans:  []string{"EGApp/held"},
		Changes: []Change{
			{
				fileReconciler,
				`if app.GetDeletionTimestamp() != nil {
		return reconcile.Result{}, nil`,
				`if app.GetDeletionTimestamp() != nil {
		return reconcile.Result{}, r.applier.DeleteByName(ctx, request.NamespacedName)`,
			},
			{
				filePrune,
				`	"platformapp/internal/workload"
)`,
				`	"k8s.io/apimachinery/pkg/types"
	"platformapp/internal/resources"
	"platformapp/internal/workload"
)`,
			},
			{
				filePrune,
				`// delete deletes the object, which may be gone already`,
				`// DeleteByName deletes what has the names of an owner's children.
func (a *Applier) DeleteByName(ctx context.Context, owner types.NamespacedName) error {
	for _, kind := range resources.Kinds {
		if kind.Optional {
			continue
		}
		object := kind.New()
		object.SetNamespace(owner.Namespace)
		object.SetName(owner.Name + kind.Suffix)
		if err := client.IgnoreNotFound(a.writer.Delete(ctx, object)); err != nil {
			return err
		}
	}
	return nil
}

// delete deletes the object, which may be gone already`,
			},
		},
	},
	{
		Name: "remakes-children-of-a-deleted-owner",
		Bug: "an application that is on its way out is carried out as if it were not: its children come back while they " +
			"are being removed",
		Plans: []string{"EGApp/held"},
		Changes: []Change{
			{
				fileReconciler,
				`	if app.GetDeletionTimestamp() != nil {
		return reconcile.Result{}, nil
	}
`,
				``,
			},
		},
	},
	{
		Name:   "deletes-by-name",
		Bug:    "a delete does not say which object it means, and removes what has the name by then",
		Source: "kubevela/kubevela#4320",
		Plans:  []string{"EGApp/features/taken-before/delete-horizontalpodautoscalers-1"},
		Changes: []Change{
			{
				filePrune,
				`asSeen := client.Preconditions{UID: new(object.GetUID()), ResourceVersion: new(object.GetResourceVersion())}`,
				``,
			},
			{filePrune, `object, asSeen, client.PropagationPolicy`, `object, client.PropagationPolicy`},
		},
	},
	{
		Name:   "prunes-what-is-not-its-own",
		Bug:    "what has the name of a child that is not wanted is deleted, whosever it is",
		Source: "OpenLiberty/open-liberty-operator#433; runtime-component-operator, DeleteResource",
		Plans:  []string{"EGApp/names-taken"},
		Changes: []Change{
			{
				"internal/resources/desired.go",
				`if w.Owner.OwnershipOf(object) == workload.Ours {
			surplus = append(surplus, object)
		}`,
				`surplus = append(surplus, object)`,
			},
		},
	},
	{
		Name:   "creates-over-others",
		Bug:    "a child that is not seen is applied by force, which takes an object of somebody else that has its name",
		Source: "WASdev/websphere-liberty-operator#179",
		Plans:  []string{"EGApp/names-taken"},
		Changes: []Change{
			{fileApply, `s.child.Meta.WithResourceVersion("1")`, ``},
		},
	},
	{
		Name:   "updates-by-name",
		Bug:    "an apply does not say which object it means, and takes what has got the name since the look",
		Source: "WASdev/websphere-liberty-operator#179",
		Plans:  []string{"EGApp/update/taken-before/apply-services-1"},
		Changes: []Change{
			{fileWrite, `in.child.Meta.WithUID(live.GetUID())`, ``},
		},
	},
	{
		Name:   "takes-what-nobody-controls",
		Bug:    "an object without a controller counts as the application's own, without its consent",
		Source: "runtime-component-operator, CreateOrUpdate",
		Plans:  []string{"DemoMicroService/name-taken"},
		Changes: []Change{
			{
				fileOwnership,
				`case controller == nil:
		return Foreign`,
				`case controller == nil:
		return Ours`,
			},
		},
	},
	{
		Name:   "loses-a-stripped-child",
		Bug:    "a child from which somebody took the owner reference counts as foreign, and is left alone for good",
		Source: "runtime-component-operator, CreateOrUpdate",
		Plans:  []string{"DemoMicroService/children-stripped"},
		Changes: []Change{
			{
				fileOwnership,
				`case controller == nil && o.UID != "" && obj.GetLabels()[LabelOwnerUID] == string(o.UID):
		return Ours
`,
				``,
			},
		},
	},
	{
		Name:   "orphans-a-child",
		Bug:    "a child has no owner reference, so that it stays when the application is deleted",
		Source: "kubevela/kubevela#7052",
		Plans:  []string{"EGApp/delete"},
		Changes: []Change{
			{"internal/resources/service.go", `WithOwnerReferences(ownerReference(w.Owner)).`, ``},
		},
	},
	{
		Name:   "leaves-a-finalizer",
		Bug:    "a child has a finalizer that nobody removes, so that it never goes",
		Source: "operator-framework/operator-sdk#1513",
		Plans:  []string{"DemoMicroService/delete"},
		Changes: []Change{
			{
				fileDeployment,
				`WithOwnerReferences(ownerReference(w.Owner)).`,
				`WithOwnerReferences(ownerReference(w.Owner)).
		WithFinalizers("platform.evillgenius.com/cleanup").`,
			},
		},
	},
	{
		Name:   "selects-by-the-users-labels",
		Bug:    "the selector, which may never change, is made of labels that users change",
		Source: "jaegertracing/jaeger-operator#2370, redhat-cop/group-sync-operator#325",
		Plans:  []string{"EGApp/labels"},
		Changes: []Change{
			{
				fileNames,
				`return map[string]string{o.SelectorKey: o.Name}`,
				`labels := PropagatedLabels(o.Labels)
	labels[o.SelectorKey] = o.Name
	return labels`,
			},
			{
				fileNames,
				`return map[string]string{
		o.SelectorKey:     o.Name,
		LabelManagedBy:    ManagedBy,
		LabelName:         o.Name,
		LabelAppManagedBy: ManagedBy,
	}`,
				`labels := o.Selector()
	maps.Copy(labels, map[string]string{LabelManagedBy: ManagedBy, LabelName: o.Name, LabelAppManagedBy: ManagedBy})
	return labels`,
			},
		},
	},
}
