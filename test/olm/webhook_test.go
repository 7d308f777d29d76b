// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package olm

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"platformapp/api/egplatform/v1alpha1"
)

// webhooks returns those that OLM has made for the present version, by path.
func (i *installation) webhooks() map[string]admissionregistrationv1.ValidatingWebhook {
	i.Helper()
	var configurations admissionregistrationv1.ValidatingWebhookConfigurationList
	err := i.admin.List(i.Context(), &configurations, client.MatchingLabels{"olm.owner": i.present.csv.Name, "olm.owner.namespace": i.own})
	if err != nil {
		i.Fatal(err)
	}
	return byPath(configurations.Items...)
}

func byPath(configurations ...admissionregistrationv1.ValidatingWebhookConfiguration) map[string]admissionregistrationv1.ValidatingWebhook {
	webhooks := map[string]admissionregistrationv1.ValidatingWebhook{}
	for _, configuration := range configurations {
		for _, webhook := range configuration.Webhooks {
			webhooks[*webhook.ClientConfig.Service.Path] = webhook
		}
	}
	return webhooks
}

// expectWebhooks fails unless OLM has made of the bundle what config/webhook says, for the watched namespaces alone, and
// the manager serves it with OLM's certificate.
func (i *installation) expectWebhooks() {
	i.Helper()
	content, err := os.ReadFile(filepath.Join(i.root, "config", "webhook", "manifests.yaml"))
	if err != nil {
		i.Fatal(err)
	}
	var configuration admissionregistrationv1.ValidatingWebhookConfiguration
	if err := yaml.UnmarshalStrict(content, &configuration); err != nil {
		i.Fatal(err)
	}
	// What the API server adds, and what only the cluster of an installation knows.
	ignored := cmp.Options{
		cmpopts.IgnoreFields(admissionregistrationv1.ValidatingWebhook{}, "ClientConfig", "NamespaceSelector", "ObjectSelector", "MatchPolicy"),
		cmpopts.IgnoreFields(admissionregistrationv1.Rule{}, "Scope"),
	}
	want, got := byPath(configuration), i.webhooks()
	if diff := cmp.Diff(want, got, ignored); diff != "" {
		i.Errorf("webhooks (-config/webhook +OLM):\n%s", diff)
	}
	for _, webhook := range got {
		i.expectWatched(webhook.NamespaceSelector)
	}
	i.expectRefusal()
}

// expectWatched fails unless a selector selects the namespaces that are watched and no other.
func (i *installation) expectWatched(selector *metav1.LabelSelector) {
	i.Helper()
	s, err := metav1.LabelSelectorAsSelector(selector)
	if err != nil {
		i.Fatal(err)
	}
	for name, want := range i.expectedScope() {
		namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}
		i.get(namespace)
		if s.Matches(labels.Set(namespace.Labels)) != want {
			i.Errorf("the webhook's selector %s takes namespace %s: %v, want %v", s, name, !want, want)
		}
	}
}

// expectedScope tells of each namespace of the installation whether it is watched.
func (p places) expectedScope() map[string]bool {
	scope := map[string]bool{}
	for _, namespace := range append(append([]string{p.own}, p.watched...), p.unwatched...) {
		scope[namespace] = p.watches(namespace)
	}
	return scope
}

// expectRefusal has the API server ask the webhook about an image that no runtime can pull.
func (i *installation) expectRefusal() {
	i.Helper()
	broken := &v1alpha1.EGApp{
		ObjectMeta: metav1.ObjectMeta{Namespace: i.watched[0], Name: "broken"},
		Spec: v1alpha1.EGAppSpec{
			Framework: v1alpha1.FrameworkGo, Environment: v1alpha1.EnvironmentDev, Image: "registry.example.com/Team/App:1",
		},
	}
	err := i.admin.Create(i.Context(), broken)
	if err == nil || !strings.Contains(err.Error(), "denied the request") || !strings.Contains(err.Error(), "spec.image") {
		i.Errorf("an EGApp with the image %s: %v, want a refusal by the webhook", broken.Spec.Image, err)
	}
}
