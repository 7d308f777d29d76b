// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package olm

import (
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	operatorsv1alpha1 "github.com/operator-framework/api/pkg/operators/v1alpha1"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// TestOLMSubscriptionConfig configures the manager by the Subscription, which wins over the bundle, after an upgrade and a
// new installation too.
//
// OLM applies the configuration to a ClusterServiceVersion only while status.installedCSV of the Subscription names it. So
// for some seconds of an installation, and of some upgrades, a manager runs without it. No application may come to feel
// that.
func TestOLMSubscriptionConfig(t *testing.T) {
	s, olm := olmScene(t)
	p := s.places(mode{name: operatorsv1alpha1.InstallModeTypeAllNamespaces, all: true})
	watched, unwatched := p.watched[0], s.namespace("unwatched")
	const platformImage = "registry.example.com/platform/go:2"
	config := &operatorsv1alpha1.SubscriptionConfig{
		Env: []corev1.EnvVar{
			{Name: "RELATED_IMAGE_GO", Value: platformImage},
			// A platform of one namespace, although OLM would have all watched.
			{Name: "WATCH_NAMESPACE", Value: watched},
		},
		Resources: &corev1.ResourceRequirements{
			Requests: corev1.ResourceList{corev1.ResourceMemory: resource.MustParse("128Mi")},
			Limits:   corev1.ResourceList{corev1.ResourceMemory: resource.MustParse("512Mi")},
		},
		NodeSelector: map[string]string{corev1.LabelOSStable: "linux"},
	}
	i := olm.install(s, p, config)
	i.isConfigured(config)

	inside, outside := s.createApplications(watched), s.createApplications(unwatched)
	deployment := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: watched, Name: inside[0].GetName()}}
	s.eventually(longWait, "the EGApp's Deployment is made", func() error {
		return s.admin.Get(s.Context(), client.ObjectKeyFromObject(deployment), deployment)
	})
	if got := deployment.Spec.Template.Spec.Containers[0].Image; got != platformImage {
		t.Errorf("an EGApp that names no image runs %s, want that of the Subscription, %s", got, platformImage)
	}
	s.ready(inside[1])
	s.expectUntouched(outside...)

	if !s.isLocal() {
		// There the nodes would have to pull that image.
		i.upgrade()
		i.isConfigured(config)
		return
	}
	l := &lifeCycle{installation: i, namespace: watched}
	l.children, l.applications = l.atRest(watched, settled), l.versions()
	i.upgrade()
	l.isTakenUp("the upgrade", config)
	i.uninstall()
	i.subscribe(config)
	l.isTakenUp("the return of the operator", config)

	for _, m := range olm.kubelet.managersIn(p.own) {
		env, err := environment(m.pod, &m.pod.Spec.Containers[0])
		t.Logf("the manager of pod %s ran with the Subscription's configuration: %v %v", m.pod.Name,
			slices.Contains(env, "RELATED_IMAGE_GO="+platformImage), err)
	}
}

// isTakenUp waits until a manager with the configuration has looked at every application, and fails when a child or a pod
// is another than before.
func (l *lifeCycle) isTakenUp(event string, config *operatorsv1alpha1.SubscriptionConfig) {
	l.Helper()
	l.isConfigured(config)
	l.hasCaughtUp()
	if diff := cmp.Diff(l.children, l.childrenNow(), cmp.AllowUnexported(state{})); diff != "" {
		l.Errorf("%s has changed the children and pods (-before +after):\n%s", event, diff)
	}
}

// isConfigured waits until the manager's Deployment has what the Subscription says, and its pod alone works.
func (i *installation) isConfigured(config *operatorsv1alpha1.SubscriptionConfig) {
	i.Helper()
	i.eventually(longWait, "the manager has the Subscription's configuration", func() error {
		template := i.deployment().Spec.Template.Spec
		if diff := cmp.Diff(*config.Resources, template.Containers[0].Resources); diff != "" {
			return fmt.Errorf("resources (-Subscription +Deployment):\n%s", diff)
		}
		if diff := cmp.Diff(config.NodeSelector, template.NodeSelector); diff != "" {
			return fmt.Errorf("node selector (-Subscription +Deployment):\n%s", diff)
		}
		for _, variable := range config.Env {
			if !slices.Contains(template.Containers[0].Env, variable) {
				return fmt.Errorf("the environment %v lacks %v", template.Containers[0].Env, variable)
			}
		}
		return nil
	})
	i.works()
}
