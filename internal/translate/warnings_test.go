// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package translate_test

import (
	"strings"
	"testing"

	"platformapp/internal/translate"
)

func TestWarningsTellWhatIsLikelyNotMeant(t *testing.T) {
	const pinned = `replicaCount: 2, image: "app:1@` + digest + `"`
	options := translate.Options{IngressNamespaces: []string{"ingress-nginx", "traefik"}, MonitoringNamespaces: []string{"monitoring"}}
	for _, test := range []struct {
		name, spec string
		// want begins each warning, in this order.
		want []string
	}{
		{"dev may be alone and move", `{image: app:latest}`, nil},
		{"stage may be alone and move", `{environment: stage, image: app}`, nil},
		{"prod as it should be", `{environment: prod, ` + pinned + `}`, nil},
		{"prod with the platform's image", `{environment: prod, replicaCount: 2}`, nil},
		{"prod alone", `{environment: prod}`, []string{"spec.replicaCount: one pod in prod"}},
		{"prod alone, said so", `{environment: prod, replicaCount: 1}`, []string{"spec.replicaCount: one pod in prod"}},
		{"prod stopped", `{environment: prod, replicaCount: 0}`, nil},
		{"prod scaled from one", `{environment: prod, replicaCount: 3, autoscaling: {maxReplicas: 3, targetCPUUtilizationPercentage: 50}}`, []string{"spec.replicaCount: one pod in prod"}},
		{"prod scaled from two", `{environment: prod, autoscaling: {minReplicas: 2, maxReplicas: 3, targetCPUUtilizationPercentage: 50}}`, nil},
		{"N31 prod with latest", `{environment: prod, replicaCount: 2, image: "my_app:latest"}`, []string{"spec.image: it is whatever is newest"}},
		{"prod without tag", `{environment: prod, replicaCount: 2, image: "registry.example.com:5000/app"}`, []string{"spec.image: it is whatever is newest"}},
		{"prod with a tag", `{environment: prod, replicaCount: 2, image: "app:1.2"}`, []string{"spec.image: the tag 1.2 can be moved"}},
		{"prod with latest that is pinned", `{environment: prod, replicaCount: 2, image: "app:latest@` + digest + `"}`, nil},
		{"prod as Baseline", `{environment: prod, ` + pinned + `, securityProfile: Baseline}`, []string{"spec.securityProfile: Baseline in prod"}},
		{"dev as Baseline", `{securityProfile: Baseline}`, nil},
		{"N30 several pods on a claim", `{replicaCount: 2, files: [{mountPath: /data, persistentVolumeClaim: {claimName: orders-data}}]}`, []string{"spec.files: several pods will use the claim orders-data"}},
		{"N30 several pods by autoscaling", `{autoscaling: {maxReplicas: 2, targetCPUUtilizationPercentage: 50}, files: [{mountPath: /data, persistentVolumeClaim: {claimName: orders-data}}]}`, []string{"spec.files: several pods"}},
		{"N30 one pod on a claim", `{files: [{mountPath: /data, persistentVolumeClaim: {claimName: orders-data}}]}`, nil},
		{"N30 several pods read a claim", `{replicaCount: 2, files: [{mountPath: /cfg, secret: {secretName: a}}, {mountPath: /data, readOnly: true, persistentVolumeClaim: {claimName: orders-data}}]}`, []string{"spec.files: several pods will use the claim orders-data"}},
		{"several pods without claim", `{replicaCount: 2, files: [{mountPath: /data, emptyDir: {}}]}`, nil},
		{"N35 policy and exposure", `{networkPolicy: {isolation: Listed}, expose: {hosts: [a.example.com]}}`, []string{"spec.networkPolicy: for spec.expose the namespaces ingress-nginx, traefik may connect too"}},
		{"N35 policy and gateway", `{networkPolicy: {isolation: Listed}, expose: {hosts: [a.example.com], httpRoute: {gatewayRef: {name: a, namespace: gateways}}}}`, []string{"spec.networkPolicy: for spec.expose the namespaces gateways, ingress-nginx, traefik"}},
		{"N35 policy and gateway here", `{networkPolicy: {isolation: Listed}, expose: {hosts: [a.example.com], httpRoute: {gatewayRef: {name: a}}}}`, []string{"spec.networkPolicy: for spec.expose the namespaces team-a, ingress-nginx, traefik may"}},
		{"N35 policy and gateway of the list", `{networkPolicy: {isolation: Listed}, expose: {hosts: [a.example.com], httpRoute: {gatewayRef: {name: a, namespace: traefik}}}}`, []string{"spec.networkPolicy: for spec.expose the namespaces ingress-nginx, traefik may"}},
		{"N35 policy and a gateway that is not used", `{networkPolicy: {isolation: Listed}, expose: {type: Ingress, hosts: [a.example.com], httpRoute: {gatewayRef: {name: a, namespace: gateways}}}}`, []string{"spec.networkPolicy: for spec.expose the namespaces ingress-nginx, traefik may"}},
		{"N35 policy and load balancer", `{networkPolicy: {isolation: Listed}, service: {type: LoadBalancer}}`, []string{"spec.networkPolicy: what comes from outside by the Service of type LoadBalancer is kept out"}},
		{"N35 policy and port of the nodes", `{networkPolicy: {isolation: Namespace}, service: {type: NodePort}}`, []string{"spec.networkPolicy: what comes from outside by the Service of type NodePort is kept out"}},
		{"load balancer without policy", `{service: {type: LoadBalancer}}`, nil},
		{"N35 policy and Service inside", `{networkPolicy: {isolation: Listed}, service: {type: Headless}}`, nil},
		{"N35 policy and monitoring", `{networkPolicy: {isolation: Listed}, monitoring: {port: http}}`, nil},
		{"N35 policy alone", `{networkPolicy: {isolation: Listed}}`, nil},
		{
			"several at once", `{environment: prod, image: app, securityProfile: Baseline}`,
			[]string{"spec.replicaCount", "spec.image", "spec.securityProfile"},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			app := specOf(t, test.spec)
			if _, err := translate.EGApp(app, options); err != nil {
				t.Fatal(err)
			}
			got := translate.Warnings(app, options)
			if len(got) != len(test.want) {
				t.Fatalf("warns of %q, want %q", got, test.want)
			}
			for i, want := range test.want {
				if !strings.HasPrefix(got[i], want) || strings.Contains(got[i], "\n") {
					t.Errorf("warns %q, want %q...", got[i], want)
				}
			}
		})
	}
}

// N35: what the platform leaves out, the policy keeps out.
func TestWarningsTellWhomThePlatformNamesNowhere(t *testing.T) {
	for _, test := range []struct {
		spec, want string
		options    translate.Options
	}{
		{`{networkPolicy: {isolation: Listed}, expose: {hosts: [a.example.com]}}`, "no namespace of ingress controllers", translate.Options{MonitoringNamespaces: []string{"monitoring"}}},
		{`{networkPolicy: {isolation: Listed}, expose: {hosts: [a.example.com], httpRoute: {gatewayRef: {name: a}}}}`, "the namespace team-a may connect too", translate.Options{}},
		{`{networkPolicy: {isolation: Listed}, monitoring: {port: http}}`, "no namespace of Prometheus", translate.Options{IngressNamespaces: []string{"traefik"}}},
	} {
		if got := translate.Warnings(specOf(t, test.spec), test.options); len(got) != 1 || !strings.Contains(got[0], test.want) {
			t.Errorf("%s: it warns %q, want %q", test.spec, got, test.want)
		}
	}
}
