// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package fault

import (
	"context"
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	"platformapp/test/fault/proxy"
)

// falter is the step in which a controller of others closes the readiness gates of the pods, says another reason a moment
// later, a third one when the application tells that, and opens them when it tells that too.
func falter(kind string, holds check) Step {
	const second, third = "the second gate is closed", "the third gate is closed"
	return Step{Name: "close and open the gates of the pods", Holds: holds, Do: func(ctx context.Context, s *Stage) error {
		for _, message := range []string{"the first gate is closed", second} {
			if err := s.gate(ctx, corev1.ConditionFalse, message); err != nil {
				return err
			}
		}
		patience, cancel := context.WithTimeout(ctx, convergence)
		defer cancel()
		shows := func(message string) bool {
			return s.History.Await(patience, func() error { return says(kind, message)(s.History.View()) }) == nil
		}
		if !shows(second) {
			return nil // The gates stay closed, which is told at the end.
		}
		// Of this change nothing but the pod tells.
		if err := s.gate(ctx, corev1.ConditionFalse, third); err != nil || !shows(third) {
			return err
		}
		return s.gate(ctx, corev1.ConditionTrue, "")
	}}
}

// aSecondLater is a step that is done when a second has begun after the one in which an application was made: the times of
// objects count seconds.
func aSecondLater(kind, name string, step Step) Step {
	do := step.Do
	step.Do = func(ctx context.Context, s *Stage) error {
		if app := s.History.View().Get(kind, name); app != nil {
			pause(ctx, time.Until(app.GetCreationTimestamp().Add(2*time.Second)))
		}
		return do(ctx, s)
	}
	return step
}

// gate sets what the pods report of their readiness.
func (s *Stage) gate(ctx context.Context, ready corev1.ConditionStatus, message string) error {
	const closed = "ReadinessGatesNotReady"
	patch := fmt.Sprintf(`{"status":{"conditions":[{"type":"Ready","status":%q,"reason":%q,"message":%q}]}}`,
		ready, closed, message)
	for _, pod := range s.History.View().Of("Pod") {
		if err := s.Patch(ctx, "Pod", pod.GetName(), types.StrategicMergePatchType, patch, "gatekeeper", "status"); err != nil {
			return err
		}
	}
	return nil
}

// says holds when the application reports Ready=False with a text in its message.
func says(kind, text string) check {
	return func(v View) error {
		ready, err := v.Ready(kind, orders)
		if err == nil && (ready.Status != metav1.ConditionFalse || !strings.Contains(ready.Message, text)) {
			err = fmt.Errorf("%s %s reports Ready=%s %s: %s", kind, orders, ready.Status, ready.Reason, ready.Message)
		}
		return err
	}
}

// raced is a step with another between the operator's look and its first write of the Deployment.
func raced(step, between Step) Step {
	do := step.Do
	step.Do = func(ctx context.Context, s *Stage) error {
		failed := make(chan error, 1)
		ctx, cancel := context.WithTimeout(ctx, convergence)
		defer cancel()
		race := proxy.Before(func() { failed <- between.Do(ctx, s) })
		raced := s.Proxy.Inject(proxy.Fault{Match: proxy.Matches("apply deployments.apps"), Action: race})
		defer raced.Remove()
		if err := do(ctx, s); err != nil {
			return err
		}
		select {
		case err := <-failed:
			return err
		case <-ctx.Done():
			return wrongdoing{fmt.Errorf("the operator does not apply the Deployment: %w", context.Cause(ctx))}
		}
	}
	return step
}

// deleteHeld is the step in which a user deletes an application that a finalizer holds.
func deleteHeld(kind string, holds check) Step {
	return Step{Name: "delete " + kind, Holds: holds, Do: func(ctx context.Context, s *Stage) error {
		apps := s.objects.Resource(recordedKinds[kind]).Namespace(s.Namespace)
		if err := apps.Delete(ctx, orders, metav1.DeleteOptions{}); err != nil {
			return err
		}
		return s.History.Await(ctx, func() error { return isLeaving(kind)(s.History.View()) })
	}}
}

// letGo is the step in which the holder of an application's finalizer lets it go.
func letGo(kind string, holds check) Step {
	return Step{Name: "let " + kind + " go", Holds: holds, Do: func(ctx context.Context, s *Stage) error {
		live := s.History.View().Get(kind, orders)
		if live == nil {
			return fmt.Errorf("there is no %s %s", kind, orders)
		}
		patch := []byte(`{"metadata":{"finalizers":null}}`)
		_, err := s.objects.Resource(recordedKinds[kind]).Namespace(s.Namespace).
			Patch(ctx, orders, types.MergePatchType, patch, metav1.PatchOptions{FieldManager: user})
		if err != nil {
			return err
		}
		return s.History.AwaitGone(ctx, objectKey{kind, orders}, live.GetUID())
	}}
}

// isLeaving holds while an application is on its way out.
func isLeaving(kind string) check {
	return func(v View) error {
		if app := v.Get(kind, orders); app == nil || app.GetDeletionTimestamp() == nil {
			return fmt.Errorf("%s %s is not on its way out", kind, orders)
		}
		return nil
	}
}

// allow is the step in which an administrator sets how much of a resource the namespace may have; it ends when that is in
// force.
func allow(name corev1.ResourceName, most int64) Step {
	return Step{Name: fmt.Sprintf("allow %d %s", most, name), Holds: all(), Do: func(ctx context.Context, s *Stage) error {
		quota := &corev1.ResourceQuota{ObjectMeta: metav1.ObjectMeta{Namespace: s.Namespace, Name: "most"}}
		_, err := controllerutil.CreateOrUpdate(ctx, s.admin, quota, func() error {
			quota.Spec.Hard = corev1.ResourceList{name: *resource.NewQuantity(most, resource.DecimalSI)}
			return nil
		})
		if err != nil {
			return err
		}
		return s.History.Await(ctx, func() error {
			if err := s.admin.Get(ctx, client.ObjectKeyFromObject(quota), quota); err != nil {
				return err
			}
			hard, isKnown := quota.Status.Hard[name]
			if _, isCounted := quota.Status.Used[name]; !isKnown || !isCounted || hard.Value() != most {
				return fmt.Errorf("the quota of %d %s is not in force", most, name)
			}
			return nil
		})
	}}
}

// removeAll are the steps in which somebody deletes objects of the application's name.
func removeAll(kinds ...string) []Step {
	var steps []Step
	for _, kind := range kinds {
		steps = append(steps, remove(kind, orders, nil))
	}
	return steps
}
