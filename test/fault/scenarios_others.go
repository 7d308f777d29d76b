// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package fault

import (
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"platformapp/api/appstatus"
)

// routedRestartName is the scenario whose discovery at the start of the operator meets faults.
const routedRestartName = "restart-routed"

// meetsAtStart tells whether a request of the scenario, at the start of the operator, meets faults.
func meetsAtStart(s Scenario, t target) bool {
	return s.Name == restartName || (s.Name == routedRestartName && t.key == "/apis")
}

// others are the scenarios in which what others do keeps an application from coming or from going.
func others(s subject) []Scenario {
	return []Scenario{
		{
			Kind: s.kind, Name: "held", Collects: true,
			Before: []Step{
				s.created(), edit(s.kind, orders, `{"metadata":{"finalizers":["example.com/hold"]}}`, s.runsAll(image1, 1)),
			},
			Steps: append(held(s), letGo(s.kind, gone(s.kind))),
		},
		{
			// Of two changes in a moment the second shows too.
			Kind: s.kind, Name: "pods-falter", Before: []Step{s.created()}, Steps: []Step{falter(s.kind, s.runsAll(image1, 1))},
			Uses: []string{watchKey("Deployment"), watchKey("Pod")},
		},
		{
			// Pods that look like the application's own, and are not, do not count.
			Kind: s.kind, Name: "lookalikes", Before: []Step{s.created()},
			Steps: []Step{create("Deployment", func() client.Object { return lookalike(s) }, s.runsAll(image1, 1))},
		},
		{
			// What a person has to put right is looked at now and then, and not again and again.
			Kind: s.kind, Name: "refused", Rechecks: true, Before: []Step{allow("count/deployments.apps", 0)},
			Steps: []Step{create(s.kind, s.newApp, reports(s.kind, orders, appstatus.ReasonQuotaExceeded))},
		},
	}
}

// held are the steps in which an application that a finalizer holds is deleted, and then its children but for the
// Deployment: what is on its way out is not carried out any more.
func held(s subject) []Step {
	steps := []Step{deleteHeld(s.kind, all(isLeaving(s.kind), s.complete()))}
	for _, kind := range s.children[1:] {
		steps = append(steps, remove(kind, orders, all(isLeaving(s.kind), absent(orders, kind))))
	}
	return steps
}

// othersOfEGApp are those for what only an EGApp has.
func othersOfEGApp() []Scenario {
	s := egappSubject
	created := create(EGApp, small, runs(EGApp, orders, 1))
	update := func(patch string, holds check) Step { return edit(EGApp, orders, patch, holds) }
	// The autoscaler is of no use to the application, which wants none.
	taken := []string{"Service", "PodDisruptionBudget", "NetworkPolicy", "Ingress"}
	return []Scenario{
		{
			Kind: EGApp, Name: "names-taken", TakenNames: len(taken),
			Before: []Step{
				together("take the names", all(), createForeign(append(taken, "HorizontalPodAutoscaler", "ConfigMap")...)...),
			},
			Steps: []Step{
				create(EGApp, s.newApp, reports(EGApp, orders, appstatus.ReasonNameConflict)),
				together("give the names back",
					all(s.runsAll(image1, 1), isForeign("HorizontalPodAutoscaler", orders)), removeAll(taken...)...),
			},
		},
		{
			// The same in other words, or in another order, rolls nothing.
			Kind: EGApp, Name: "said-otherwise", Before: []Step{created},
			Steps: []Step{
				update(`{"spec":{"resources":{"limits":{"cpu":"1","memory":"2Gi"}},"env":[{"name":"E","value":"1"},
					{"name":"D","value":"2"},{"name":"C","value":"3"},{"name":"B","value":"4"},{"name":"A","value":"$(E)"}]}}`,
					all(runs(EGApp, orders, 1), rolledOut(orders, 2))),
				update(`{"spec":{"resources":{"limits":{"cpu":"1e0","memory":"2147483648"}}}}`, all(runs(EGApp, orders, 1), rolledOut(orders, 2))),
			},
		},
		{
			// What the cluster has is not known at once: an application is not exposed by another kind until it is.
			Kind: EGApp, Name: routedRestartName,
			Before: []Step{
				created,
				update(`{"spec":{"expose":{"hosts":["a.example.com"]}}}`, reports(EGApp, orders, appstatus.ReasonExposePending)),
				accepted("Route", `{"status":{"ingress":[{"host":"a.example.com","routerName":"default",
					"conditions":[{"type":"Admitted","status":"True"}]}]}}`, all(runs(EGApp, orders, 1), present(orders, "Route"))),
			},
			Steps: []Step{restart(false, all(runs(EGApp, orders, 1), present(orders, "Route"), absent(orders, "Ingress")))},
		},
		{
			// Of two ports of one name in a Service the API server takes neither.
			Kind: EGApp, Name: "shared-ports", Before: []Step{created},
			Steps: []Step{
				patchAs(injector, "Service", orders, types.StrategicMergePatchType,
					`{"spec":{"ports":[{"name":"metrics","port":9090,"targetPort":9090,"protocol":"TCP"}]}}`, runs(EGApp, orders, 1)),
				update(`{"spec":{"ports":[{"name":"http","containerPort":8080,"servicePort":80},
					{"name":"metrics","containerPort":9091}]}}`, runs(EGApp, orders, 1)),
			},
		},
		{
			// The number is handed to the autoscaler as it is then, not as it was when the operator looked.
			Kind: EGApp, Name: "autoscaling-raced", Before: []Step{created},
			Uses: []string{"apply-deployments-1", watchKey(EGApp)},
			Steps: []Step{raced(
				update(`{"spec":{"autoscaling":{"minReplicas":1,"maxReplicas":5,"targetCPUUtilizationPercentage":70}}}`,
					all(runs(EGApp, orders, 3), present(orders, "HorizontalPodAutoscaler"))),
				scale(autoscaler, orders, 3, nil),
			)},
		},
		{
			Kind: EGApp, Name: "autoscaling-three",
			Before: []Step{created, update(`{"spec":{"replicaCount":3}}`, runs(EGApp, orders, 3))},
			Steps: []Step{
				update(`{"spec":{"autoscaling":{"maxReplicas":5,"targetCPUUtilizationPercentage":70}}}`,
					all(runs(EGApp, orders, 3), present(orders, "HorizontalPodAutoscaler"))),
				scale(autoscaler, orders, 4, runs(EGApp, orders, 4)),
				update(`{"spec":{"autoscaling":null}}`, all(runs(EGApp, orders, 4), absent(orders, "HorizontalPodAutoscaler"))),
			},
		},
	}
}
