// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package webhook_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"platformapp/api/appstatus"
	devopsv1 "platformapp/api/devops/v1"
	"platformapp/api/egplatform/v1alpha1"
)

const (
	goodImage = "registry.example.com/team/app@sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
	// unpullable passes the schema, and no runtime can pull it.
	unpullable = "registry.example.com/Team/App:1"
)

func (s *scene) egapp(name, appID string) *v1alpha1.EGApp {
	return &v1alpha1.EGApp{
		ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: name},
		Spec: v1alpha1.EGAppSpec{
			AppID: appID, Framework: v1alpha1.FrameworkGo, Environment: v1alpha1.EnvironmentProd,
			ReplicaCount: new(int32(2)), Image: goodImage,
		},
	}
}

// refused fails unless the error is a refusal of the webhook that says the words.
func (s *scene) refused(err error, words ...string) {
	s.Helper()
	if !apierrors.IsInvalid(err) {
		s.Fatalf("the write gives %v, want a refusal", err)
	}
	for _, w := range append(words, "denied the request") {
		if !strings.Contains(err.Error(), w) {
			s.Errorf("the refusal does not say %q: %v", w, err)
		}
	}
}

// warned fails unless each of the words stands in a warning, and there is no other one.
func (s *scene) warned(words ...string) {
	s.Helper()
	got := s.warnings.take()
	if len(got) != len(words) {
		s.Errorf("there are %d warnings, want %d: %q", len(got), len(words), got)
	}
	for _, w := range words {
		if !strings.Contains(strings.Join(got, "\n"), w) {
			s.Errorf("no warning says %q: %q", w, got)
		}
	}
}

// reports waits until the application's Ready condition has the reason.
func (s *scene) reports(app *v1alpha1.EGApp, reason string) {
	s.Helper()
	s.eventually(func() error {
		if err := s.user.Get(s.Context(), client.ObjectKeyFromObject(app), app); err != nil {
			return err
		}
		ready := meta.FindStatusCondition(app.Status.Conditions, appstatus.ConditionReady)
		if ready == nil || ready.Reason != reason || ready.ObservedGeneration != app.Generation {
			return fmt.Errorf("%s reports %v, want %s", app.Name, ready, reason)
		}
		return nil
	})
}

func TestWhatTheLoopWouldRefuseIsRefusedAtOnce(t *testing.T) {
	s := newScene(t)
	s.start(true)

	bad := s.egapp("orders", "")
	bad.Spec.Image = unpullable
	s.refused(s.user.Create(t.Context(), bad), "spec.image", unpullable, "vegapp.platform.evillgenius.com")
	s.refused(s.user.Create(t.Context(), &devopsv1.DemoMicroService{
		ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: "podinfo"}, Spec: devopsv1.DemoMicroServiceSpec{Image: unpullable},
	}), "spec.image", unpullable, "vdemomicroservice.platform.evillgenius.com")

	good := s.egapp("orders", "")
	s.must(s.user.Create(t.Context(), good))
	s.warned()
	s.eventually(func() error {
		good.Spec.Image = unpullable
		err := s.user.Update(t.Context(), good)
		if apierrors.IsConflict(err) {
			return errors.Join(err, s.user.Get(t.Context(), client.ObjectKeyFromObject(good), good))
		}
		s.refused(err, "spec.image")
		return nil
	})
}

// What was stored before the rule, or past the webhook, must stay writable but for its specification.
func TestInvalidObjectCanBeLabelledScaledMendedAndDeleted(t *testing.T) {
	s := newScene(t)
	app := s.egapp("orders", "")
	app.Spec.Image = unpullable
	// Nobody serves the webhook yet, and its failure policy is Ignore.
	s.must(s.user.Create(t.Context(), app))
	s.start(true)
	s.reports(app, appstatus.ReasonInvalidSpec)

	patch := func(change func()) error {
		before := app.DeepCopy()
		change()
		return s.user.Patch(t.Context(), app, client.MergeFrom(before))
	}
	s.must(patch(func() { app.Labels = map[string]string{"team": "a"} }))
	s.must(patch(func() { app.Finalizers = []string{"example.com/wait"} }))
	s.refused(patch(func() { app.Spec.ReplicaCount = new(int32(5)) }), "spec.image")
	// The webhook is not asked about the scale subresource.
	s.must(s.user.SubResource("scale").Update(t.Context(), app, client.WithSubResourceBody(&autoscalingv1.Scale{
		ObjectMeta: metav1.ObjectMeta{Namespace: app.Namespace, Name: app.Name}, Spec: autoscalingv1.ScaleSpec{Replicas: 3},
	})))
	s.must(s.user.Get(t.Context(), client.ObjectKeyFromObject(app), app))
	s.must(patch(func() { app.Spec.Image = goodImage }))
	s.reports(app, appstatus.ReasonRollingOut)
	s.must(s.user.Delete(t.Context(), app))
	s.must(patch(func() { app.Finalizers = nil }))
}

func TestWebhookThatIsDownStopsNobodyAndTheLoopHolds(t *testing.T) {
	s := newScene(t)
	stop := s.start(true)
	bad := s.egapp("orders", "")
	bad.Spec.Image = unpullable
	s.refused(s.user.Create(t.Context(), bad), "spec.image")
	stop()

	s.must(s.user.Create(t.Context(), bad))
	s.start(false)
	s.reports(bad, appstatus.ReasonInvalidSpec)
	if stalled := meta.FindStatusCondition(bad.Status.Conditions, appstatus.ConditionStalled); stalled == nil || stalled.Status != metav1.ConditionTrue {
		t.Errorf("it is not stalled: %v", stalled)
	}
	if err := s.user.Get(t.Context(), client.ObjectKeyFromObject(bad), &appsv1.Deployment{}); !apierrors.IsNotFound(err) {
		t.Errorf("get of its Deployment gives %v, want NotFound", err)
	}
}

func TestWhatIsLikelyNotMeantIsWarnedOf(t *testing.T) {
	s := newScene(t)
	s.start(true)
	s.must(s.user.Create(t.Context(), &corev1.Service{
		ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: "orders"},
		Spec:       corev1.ServiceSpec{Ports: []corev1.ServicePort{{Port: 80}}},
	}))
	app := s.egapp("orders", "")
	app.Spec.ReplicaCount = new(int32(1))
	app.Spec.Image = "registry.example.com/team/app:1"
	s.must(s.user.Create(t.Context(), app, client.DryRunAll))
	s.warned("spec.replicaCount", "spec.image", "Service orders")
}

// N23: a rename by GitOps creates the new object before it deletes the old one.
func TestRenameByGitOpsSucceedsAndIsWarnedOf(t *testing.T) {
	for _, withWebhook := range []bool{true, false} {
		t.Run(fmt.Sprintf("N23 webhook %v", withWebhook), func(t *testing.T) {
			s := newScene(t)
			s.start(withWebhook)
			before, after := s.egapp("orders", "app-00123"), s.egapp("orders-v2", "app-00123")
			s.must(s.user.Create(t.Context(), before))
			s.reports(before, appstatus.ReasonRollingOut)
			s.warned()
			// Of two that are created in one second the UID says which is the newcomer.
			s.eventually(func() error {
				if time.Since(before.CreationTimestamp.Time) < time.Second {
					return errors.New("it is the second in which orders was created")
				}
				return nil
			})
			s.must(s.user.Create(t.Context(), after))
			if withWebhook {
				s.warned("spec.appId: EGApp orders has appId app-00123")
			} else {
				s.warned()
			}
			s.reports(after, appstatus.ReasonDuplicateAppID)
			s.must(s.user.Delete(t.Context(), before))
			s.reports(after, appstatus.ReasonRollingOut)
			s.must(s.user.Get(t.Context(), client.ObjectKeyFromObject(after), &appsv1.Deployment{}))
		})
	}
}
