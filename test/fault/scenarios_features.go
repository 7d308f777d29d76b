// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package fault

import (
	"context"

	"k8s.io/apimachinery/pkg/types"

	"platformapp/api/appstatus"
)

// featuresOfEGApp are the scenarios of single features, each used, changed and given up.
func featuresOfEGApp() []Scenario {
	created := create(EGApp, small, runs(EGApp, orders, 1))
	configured := create("ConfigMap", newSettings, all())
	update := func(patch string, holds check) Step { return edit(EGApp, orders, patch, holds) }
	return []Scenario{
		{
			Kind: EGApp, Name: "expose", Before: []Step{created},
			Steps: []Step{
				update(`{"spec":{"expose":{"type":"Ingress","hosts":["a.example.com"]}}}`, all(runs(EGApp, orders, 1), present(orders, "Ingress"))),
				// The Ingress serves until the HTTPRoute does.
				update(`{"spec":{"expose":{"type":"HTTPRoute","httpRoute":{"gatewayRef":{"name":"gateway"}}}}}`,
					all(reports(EGApp, orders, appstatus.ReasonExposePending), present(orders, "Ingress", "HTTPRoute"))),
				accepted("HTTPRoute", `{"status":{"parents":[{"parentRef":{"name":"gateway"},"controllerName":"example.com/gateway","conditions":[
					{"type":"Accepted","status":"True","reason":"Accepted","message":"","observedGeneration":1,"lastTransitionTime":"2026-01-01T00:00:00Z"},
					{"type":"ResolvedRefs","status":"True","reason":"ResolvedRefs","message":"","observedGeneration":1,"lastTransitionTime":"2026-01-01T00:00:00Z"}]}]}}`,
					all(runs(EGApp, orders, 1), present(orders, "HTTPRoute"), absent(orders, "Ingress"))),
				update(`{"spec":{"expose":{"type":"Route","httpRoute":null}}}`,
					all(reports(EGApp, orders, appstatus.ReasonExposePending), present(orders, "HTTPRoute", "Route"))),
				accepted("Route", `{"status":{"ingress":[{"host":"a.example.com","routerName":"default","conditions":[{"type":"Admitted","status":"True"}]}]}}`,
					all(runs(EGApp, orders, 1), present(orders, "Route"), absent(orders, "HTTPRoute"))),
				update(`{"spec":{"expose":null}}`, all(runs(EGApp, orders, 1), absent(orders, "Ingress", "HTTPRoute", "Route"))),
			},
		},
		{
			Kind: EGApp, Name: "service-types", Before: []Step{created},
			Steps: []Step{
				update(`{"spec":{"service":{"type":"Headless"}}}`, all(runs(EGApp, orders, 1), has("Service", orders, "None", "spec", "clusterIP"))),
				update(`{"spec":{"service":{"type":"NodePort"}}}`, all(runs(EGApp, orders, 1), has("Service", orders, "NodePort", "spec", "type"))),
				update(`{"spec":{"service":{"type":"None"}}}`, all(runs(EGApp, orders, 1), absent(orders, "Service"))),
				update(`{"spec":{"service":null}}`, all(runs(EGApp, orders, 1), has("Service", orders, "ClusterIP", "spec", "type"))),
			},
		},
		{
			Kind: EGApp, Name: "config", Before: []Step{configured, created},
			Steps: []Step{
				update(`{"spec":{"env":[{"name":"COLOUR","valueFrom":{"configMapKeyRef":{"name":"settings","key":"COLOUR"}}}],
					"files":[{"mountPath":"/etc/orders","configMap":{"name":"settings","items":[{"key":"config.yaml","path":"config.yaml"}]}}]}}`, all(runs(EGApp, orders, 1), rolledOut(orders, 2))),
				patchAs(user, "ConfigMap", settings, types.MergePatchType, `{"data":{"COLOUR":"blue"}}`, all(runs(EGApp, orders, 1), rolledOut(orders, 3))),
				patchAs(user, "ConfigMap", settings, types.MergePatchType, `{"data":{"UNUSED":"x"},"metadata":{"labels":{"a":"b"}}}`, all(runs(EGApp, orders, 1), rolledOut(orders, 3))),
				update(`{"spec":{"rollout":{"configChangePolicy":"Ignore"}}}`, all(runs(EGApp, orders, 1), rolledOut(orders, 3))),
				patchAs(user, "ConfigMap", settings, types.MergePatchType, `{"data":{"COLOUR":"green"}}`, all(runs(EGApp, orders, 1), rolledOut(orders, 3))),
				update(`{"spec":{"env":null,"files":null}}`, all(runs(EGApp, orders, 1), rolledOut(orders, 4))),
			},
		},
		{
			Kind: EGApp, Name: "probes", Before: []Step{created},
			Steps: []Step{
				update(`{"spec":{"probes":{"path":"/healthz"}}}`, runs(EGApp, orders, 1)),
				update(`{"spec":{"probes":{"path":"/ready","readiness":{"periodSeconds":3}},"podTemplatePatch":{"spec":{"priority":null,"containers":[{"name":"main","workingDir":"/srv"}]}}}}`, runs(EGApp, orders, 1)),
				update(`{"spec":{"probes":null,"podTemplatePatch":null}}`, runs(EGApp, orders, 1)),
			},
		},
		{
			Kind: EGApp, Name: "autoscaling", Before: []Step{created},
			Steps: []Step{
				update(`{"spec":{"autoscaling":{"minReplicas":1,"maxReplicas":5,"targetCPUUtilizationPercentage":70}}}`,
					all(runs(EGApp, orders, 1), present(orders, "HorizontalPodAutoscaler"))),
				scale(autoscaler, orders, 3, runs(EGApp, orders, 3)),
				update(`{"spec":{"replicaCount":0}}`, runs(EGApp, orders, 0)),
				update(`{"spec":{"replicaCount":2}}`, runs(EGApp, orders, 2)),
				// What the autoscaler left behind is held until another number is asked for.
				update(`{"spec":{"autoscaling":null}}`, all(runs(EGApp, orders, 2), absent(orders, "HorizontalPodAutoscaler"))),
				update(`{"spec":{"replicaCount":1}}`, runs(EGApp, orders, 1)),
			},
		},
		{
			Kind: EGApp, Name: "paused", Before: []Step{created},
			Steps: []Step{
				update(`{"spec":{"paused":true}}`, reports(EGApp, orders, appstatus.ReasonPaused)),
				update(`{"spec":{"image":"`+image2+`"}}`, all(reports(EGApp, orders, appstatus.ReasonPaused), container(orders, image1, 1))),
				remove("Service", orders, all(reports(EGApp, orders, appstatus.ReasonPaused), absent(orders, "Service"))),
				update(`{"spec":{"paused":false}}`, all(runs(EGApp, orders, 1), container(orders, image2, 1), present(orders, "Service"))),
			},
		},
		{
			Kind: EGApp, Name: "labels", Before: []Step{egappSubject.created()},
			Steps: []Step{
				update(`{"metadata":{"labels":{"team":"a","argocd.argoproj.io/instance":"x"}}}`,
					all(egappSubject.runsAll(image1, 1), has("Service", orders, "a", "metadata", "labels", "team"), rolledOut(orders, 1))),
				update(`{"metadata":{"labels":{"team":null}}}`,
					all(egappSubject.runsAll(image1, 1), has("Service", orders, nil, "metadata", "labels", "team"), rolledOut(orders, 1))),
			},
		},
	}
}

// accepted is the step in which a gateway or a router takes up the object of the kind that exposes the application.
func accepted(kind, status string, holds check) Step {
	return Step{Name: "take up the " + kind, Holds: holds, Do: func(ctx context.Context, s *Stage) error {
		return s.Patch(ctx, kind, orders, types.MergePatchType, status, "router", "status")
	}}
}
