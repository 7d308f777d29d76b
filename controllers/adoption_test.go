// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package controllers_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"platformapp/api/appstatus"
	"platformapp/api/egplatform/v1alpha1"
	"platformapp/internal/resources"
)

// savedChildren are all children of an application, as a backup tool saves them.
func (l *loop) savedChildren(name string) map[string]client.Object {
	l.Helper()
	saved := map[string]client.Object{}
	for _, kind := range resources.Kinds {
		object := kind.New().(client.Object)
		object.SetName(name + kind.Suffix)
		if !kind.Optional && l.exists(object) {
			saved[kind.Name] = object
		}
	}
	return saved
}

// restore makes an object as a backup tool does: without UID, owner references and
// managed fields.
func (l *loop) restore(object client.Object) {
	l.Helper()
	object.SetUID("")
	object.SetResourceVersion("")
	object.SetOwnerReferences(nil)
	object.SetManagedFields(nil)
	object.SetCreationTimestamp(metav1.Time{})
	l.must(l.user.Create(l.ctx, object, client.FieldOwner("velero")))
}

func protectedApp() *v1alpha1.EGApp {
	app := ordersApp()
	app.Spec.Environment = v1alpha1.EnvironmentProd
	app.Spec.EnvFrom = []corev1.EnvFromSource{{SecretRef: &corev1.SecretEnvSource{LocalObjectReference: corev1.LocalObjectReference{Name: "settings"}}}}
	app.Spec.Expose = &v1alpha1.Expose{Hosts: []string{"orders.example.com"}}
	app.Spec.Autoscaling = &v1alpha1.Autoscaling{MinReplicas: new(int32(2)), MaxReplicas: 10, TargetCPUUtilizationPercentage: new(int32(70))}
	return app
}

func TestN24_ARestoredApplicationIsAdoptedByConsentWithoutARestart(t *testing.T) {
	t.Parallel()
	for name, startedLast := range map[string]bool{"the operator runs all the time": false, "the operator is started last": true} {
		t.Run(name, func(t *testing.T) {
			l := newLoop(t)
			app := protectedApp()
			l.running(app)
			l.scale("orders", 7)
			l.come(app)
			pods := l.deployment("orders").Spec.Template

			saved := l.savedChildren("orders")
			l.must(l.user.Delete(l.ctx, app))
			for _, object := range saved {
				l.must(l.user.Delete(l.ctx, object.DeepCopyObject().(client.Object)))
			}
			_, err := l.turn(app)
			l.must(err)
			for _, object := range saved {
				l.restore(object)
			}
			restored := protectedApp()
			l.create(restored)
			if startedLast {
				l = l.restarted()
			}

			l.reconcile(restored)
			ready := meta.FindStatusCondition(restored.Status.Conditions, appstatus.ConditionReady)
			if ready.Reason != appstatus.ReasonNameConflict {
				t.Fatalf("Ready is %s: %s", ready.Reason, ready.Message)
			}
			for kind, object := range saved {
				if kind != "HorizontalPodAutoscaler" && !strings.Contains(ready.Message, kind) {
					t.Errorf("the message does not name the %s: %s", kind, ready.Message)
				}
				now := l.savedChildren("orders")[kind]
				if now == nil || now.GetResourceVersion() != object.GetResourceVersion() {
					t.Errorf("the %s was touched without consent", kind)
				}
			}

			for _, object := range saved {
				patch := `{"metadata":{"annotations":{"platform.evillgenius.com/adopt-by":"orders"}}}`
				l.must(l.user.Patch(l.ctx, object, client.RawPatch(types.MergePatchType, []byte(patch)), client.FieldOwner("kubectl-annotate")))
			}
			l.come(restored)
			for kind, object := range l.savedChildren("orders") {
				if object.GetUID() != saved[kind].GetUID() || !metav1.IsControlledBy(object, restored) {
					t.Errorf("the %s is another one, or not the application's", kind)
				}
			}
			if diff := cmp.Diff(pods, l.deployment("orders").Spec.Template); diff != "" {
				t.Errorf("the pods are restarted (-want +got):\n%s", diff)
			}
			l.wantReplicas(restored, 7)
			if restored.Status.Phase != appstatus.PhaseRunning {
				t.Errorf("phase is %s: %v", restored.Status.Phase, restored.Status.Conditions)
			}
			writes := l.requests.writes()
			again := l.restarted()
			again.reconcile(restored)
			if n := again.requests.writes(); n != 0 || l.requests.writes() != writes {
				t.Errorf("%d writes after a restart: %v", n, again.requests.list())
			}
		})
	}
}
