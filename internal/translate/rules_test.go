// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package translate_test

import (
	"testing"

	"platformapp/internal/translate"
)

func TestRulesOfPlatformAndPresetsAreKept(t *testing.T) {
	nginx := translate.Options{IngressAnnotationPrefixes: []string{"nginx.ingress.kubernetes.io/"}}
	annotated := func(key string) string {
		return `{expose: {hosts: [a.example.com], ingress: {annotations: {` + key + `: x}}}}`
	}
	served := func(key string) string { return `{service: {annotations: {` + key + `: x}}}` }
	services := func(prefix string) translate.Options {
		return translate.Options{ServiceAnnotationPrefixes: []string{prefix}}
	}
	const ours = "is the platform's own"
	for _, test := range []struct {
		name, spec string
		options    translate.Options
		want       []string
	}{
		{"N38 cert-manager", annotated("cert-manager.io/cluster-issuer"), translate.Options{}, nil},
		{"N38 external-dns", annotated("external-dns.alpha.kubernetes.io/ttl"), translate.Options{}, nil},
		{"N38 a controller's", annotated("nginx.ingress.kubernetes.io/proxy-body-size"), translate.Options{}, []string{"spec.expose.ingress.annotations[nginx.ingress.kubernetes.io/proxy-body-size]", "cert-manager.io/, external-dns.alpha.kubernetes.io/"}},
		{"N38 a controller's that the platform allows", annotated("nginx.ingress.kubernetes.io/proxy-body-size"), nginx, nil},
		{"N38 cert-manager's beside it", annotated("cert-manager.io/cluster-issuer"), nginx, nil},
		{"N38 a snippet", annotated("nginx.ingress.kubernetes.io/configuration-snippet"), nginx, []string{"spec.expose.ingress.annotations[nginx.ingress.kubernetes.io/configuration-snippet]", "snippets are not allowed"}},
		{"N38 a snippet in other words", annotated("nginx.org/location-Snippets"), translate.Options{IngressAnnotationPrefixes: []string{"nginx.org/"}}, []string{"snippets are not allowed"}},
		{"an empty prefix allows nothing", annotated("nginx.ingress.kubernetes.io/proxy-body-size"), translate.Options{IngressAnnotationPrefixes: []string{""}}, []string{"must begin with one of the prefixes"}},
		{"an Ingress that would be adopted", annotated("platform.evillgenius.com/adopt-by"), translate.Options{IngressAnnotationPrefixes: []string{"platform.evillgenius.com/"}}, []string{"spec.expose.ingress.annotations[platform.evillgenius.com/adopt-by]", ours}},

		{"a cloud's load balancer", served("service.beta.kubernetes.io/aws-load-balancer-type"), translate.Options{}, nil},
		{"a name for a Service", served("external-dns.alpha.kubernetes.io/hostname"), translate.Options{}, nil},
		{"a certificate for a Service", served("service.beta.openshift.io/serving-cert-secret-name"), translate.Options{}, nil},
		{"a snippet on a Service", served("haproxy.org/backend-config-snippet"), translate.Options{}, []string{"spec.service.annotations[haproxy.org/backend-config-snippet]", "snippets are not allowed"}},
		{"a snippet on a Service that the platform would allow", served("haproxy.org/backend-config-Snippet"), services("haproxy.org/"), []string{"snippets are not allowed"}},
		{"configuration of a gateway on a Service", served("getambassador.io/config"), translate.Options{}, []string{"spec.service.annotations[getambassador.io/config]", "must begin with one of the prefixes", "metallb.io/"}},
		{"an annotation without domain", served("config"), translate.Options{}, []string{"spec.service.annotations[config]", "must begin with one of the prefixes"}},
		{"an annotation that the platform allows", served("traefik.io/service.sticky"), services("traefik.io/service."), nil},
		{"a load balancer's beside it", served("metallb.io/address-pool"), services("traefik.io/"), nil},
		{"an Ingress' prefix is not a Service's", served("nginx.ingress.kubernetes.io/proxy-body-size"), nginx, []string{"must begin with one of the prefixes"}},
		{"an empty prefix allows no annotation", served("getambassador.io/config"), services(""), []string{"must begin with one of the prefixes"}},
		{"a Service that would be adopted", served("platform.evillgenius.com/adopt-by"), services("platform.evillgenius.com/"), []string{"spec.service.annotations[platform.evillgenius.com/adopt-by]", ours}},
		{"a domain of ours in capitals", served("Platform.evillgenius.com/adopt-by"), services("Platform.evillgenius.com/"), []string{ours}},
		{"the other kind's domain", served("devops.my.domain/x"), services("devops.my.domain/"), []string{ours}},
		{"a domain below ours", served("egplatform.platform.evillgenius.com/x"), services("egplatform.platform.evillgenius.com/"), []string{ours}},
		{"a domain that only ends like ours", served("notplatform.evillgenius.com/x"), services("notplatform.evillgenius.com/"), nil},

		{"a label of a ServiceMonitor", `{monitoring: {port: http, labels: {release: x, app.kubernetes.io/part-of: y}}}`, translate.Options{}, nil},
		{"a label that is ours", `{monitoring: {port: http, labels: {platform.evillgenius.com/owner-uid: x}}}`, translate.Options{}, []string{"spec.monitoring.labels[platform.evillgenius.com/owner-uid]", "is set by the platform"}},
		{"a label of the other kind", `{monitoring: {port: http, labels: {devops.my.domain/demomicroservice: x}}}`, translate.Options{}, []string{"spec.monitoring.labels[devops.my.domain/demomicroservice]", "is set by the platform"}},
		{"a label that tells the tool", `{monitoring: {port: http, labels: {app.kubernetes.io/managed-by: x}}}`, translate.Options{}, []string{"spec.monitoring.labels[app.kubernetes.io/managed-by]"}},
		{
			"a target without request", `{resources: {requests: {cpu: 0}}, autoscaling: {maxReplicas: 2, targetCPUUtilizationPercentage: 50}}`,
			translate.Options{}, []string{"spec.autoscaling.targetCPUUtilizationPercentage", "needs a request of cpu", "spec.resources.requests.cpu is 0"},
		},
		{
			"a target of memory without request", `{resources: {requests: {memory: 0}}, autoscaling: {maxReplicas: 2, targetMemoryUtilizationPercentage: 50}}`,
			translate.Options{}, []string{"spec.autoscaling.targetMemoryUtilizationPercentage", "needs a request of memory"},
		},
		{"a target beside another request", `{resources: {requests: {memory: 0}}, autoscaling: {maxReplicas: 2, targetCPUUtilizationPercentage: 50}}`, translate.Options{}, nil},
		{
			"a deadline within the settling time", `{environment: prod, rollout: {progressDeadlineSeconds: 10}}`,
			translate.Options{}, []string{"spec.rollout.progressDeadlineSeconds", "10", "must be greater than 10", "prod"},
		},
		{"a deadline above the settling time", `{environment: prod, rollout: {progressDeadlineSeconds: 11}}`, translate.Options{}, nil},
		{"a short deadline where nothing settles", `{rollout: {progressDeadlineSeconds: 1}}`, translate.Options{}, nil},
		// C14: the rules of pods end here too.
		{"C14 a patch of an unknown field", `{podTemplatePatch: {spec: {restartpolicy: Always}}}`, translate.Options{}, []string{"spec.podTemplatePatch", "restartpolicy"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, err := translate.EGApp(specOf(t, test.spec), test.options)
			if test.want == nil {
				if err != nil {
					t.Error(err)
				}
				return
			}
			expectError(t, err, test.want)
		})
	}
}
