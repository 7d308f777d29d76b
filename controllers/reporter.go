// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/events"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"platformapp/api/appstatus"
	"platformapp/internal/apply"
	"platformapp/internal/metrics"
	"platformapp/internal/status"
)

// statusPace is the least time between two status writes of which the second brings
// nothing but other counts, lists or messages.
const statusPace = time.Second

// reporter writes the status of applications and tells their transitions as events.
type reporter struct {
	client   client.Client
	recorder events.EventRecorder
	clock    clock.PassiveClock

	fence     apply.Fence
	kind      string
	readiness *metrics.Readiness

	mu sync.Mutex
	// written is when the status of an application was last written.
	written map[types.NamespacedName]time.Time
	// failed are the applications whose last turn ended with an error.
	failed map[types.NamespacedName]bool
}

func newReporter(d Dependencies, kind string, fence apply.Fence) *reporter {
	return &reporter{
		client: d.Client, recorder: d.Recorder, clock: d.Clock, kind: kind, fence: fence,
		readiness: metrics.NewReadiness(kind),
		written:   map[types.NamespacedName]time.Time{}, failed: map[types.NamespacedName]bool{},
	}
}

// isFirst tells whether an error is the first in a row. It is tried again at once and not
// told: most are over by then, and what runs is not touched by them.
func (r *reporter) isFirst(app application, o outcome) bool {
	key := client.ObjectKeyFromObject(app)
	r.mu.Lock()
	defer r.mu.Unlock()
	before := r.failed[key]
	if o.err == nil {
		delete(r.failed, key)
		return false
	}
	r.failed[key] = true
	return !before
}

// compute returns what the application reports now.
func (r *reporter) compute(app application, in status.Input) status.Result {
	in.PreviousStatus, in.Now = *app.AppStatus(), metav1.NewTime(r.clock.Now())
	if details := app.AppDetails(); details != nil {
		in.PreviousDetails = *details
	}
	next := status.Compute(in)
	next.Status.Conditions = keepTransitionTimes(in.PreviousStatus.Conditions, next.Status.Conditions)
	return next
}

// report writes next as the status of app, unless it is. When the write is not due yet it returns the time until then.
func (r *reporter) report(ctx context.Context, app application, next status.Result) (time.Duration, error) {
	last := *app.AppStatus()
	if isReported(app, next) {
		return 0, nil
	}
	key := client.ObjectKeyFromObject(app)
	if !isTransition(last, next.Status) {
		if due := r.due(key); due > 0 {
			return due, nil
		}
	}
	// What was read, and what the status keeps of it, is shared with the cache, and the server's answer is read into what
	// is sent.
	written, ok := app.DeepCopyObject().(application)
	if !ok {
		return 0, fmt.Errorf("%T is not an application", app)
	}
	next.Status.DeepCopyInto(written.AppStatus())
	if details := written.AppDetails(); details != nil {
		next.Details.DeepCopyInto(details)
	}
	// The lock keeps the status off an object that has changed since it was read, and off
	// another one that was made under its name.
	patch := client.MergeFromWithOptions(app, client.MergeFromWithOptimisticLock{})
	if last.ObservedGeneration <= 0 {
		// The first status is written whole: a patch of what differs leaves out the zeros.
		patch = wholeStatus{}
	}
	if err := r.client.Status().Patch(ctx, written, patch); err != nil {
		return 0, fmt.Errorf("write status of %T %s: %w", app, key, err)
	}
	app.SetResourceVersion(written.GetResourceVersion())
	r.fence.Expect(r.kind, key, app.GetResourceVersion())
	r.markWritten(key)
	r.readiness.Reported(app, last, next.Status, r.clock.Now())
	recordTransition(r.recorder, app, last, next.Status)
	return 0, nil
}

// isReported tells whether the application reports that already.
func isReported(app application, next status.Result) bool {
	details := app.AppDetails()
	return status.IsSame(*app.AppStatus(), next.Status) && (details == nil || status.AreSameDetails(*details, next.Details))
}

func (r *reporter) due(key types.NamespacedName) time.Duration {
	r.mu.Lock()
	defer r.mu.Unlock()
	last, ok := r.written[key]
	if !ok {
		return 0
	}
	return statusPace - r.clock.Since(last)
}

func (r *reporter) markWritten(key types.NamespacedName) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.written[key] = r.clock.Now()
}

func (r *reporter) forget(key types.NamespacedName) {
	r.readiness.Forget(key)
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.written, key)
	delete(r.failed, key)
}

// keepTransitionTimes returns the conditions of next with the transition times that the
// current ones have; a condition whose status changed has the present time.
func keepTransitionTimes(current, next []metav1.Condition) []metav1.Condition {
	merged := append([]metav1.Condition(nil), current...)
	for _, condition := range next {
		meta.SetStatusCondition(&merged, condition)
	}
	return merged
}

// keepUnseen keeps what a status tells of the pods when their Deployment was not seen, maybe
// since it could not be read.
func keepUnseen(next *appstatus.Status, last appstatus.Status) {
	next.Replicas, next.ReadyReplicas = last.Replicas, last.ReadyReplicas
	next.UpdatedReplicas, next.AvailableReplicas = last.UpdatedReplicas, last.AvailableReplicas
	if last.PodStatuses != nil {
		next.Pods, next.PodStatuses = last.Pods, last.PodStatuses
	}
	if available := meta.FindStatusCondition(last.Conditions, appstatus.ConditionAvailable); available != nil {
		meta.SetStatusCondition(&next.Conditions, *available)
	}
}

// isTransition tells whether more than counts, lists and messages differs.
func isTransition(current, next appstatus.Status) bool {
	if current.Phase != next.Phase || current.ObservedGeneration != next.ObservedGeneration || len(current.Conditions) != len(next.Conditions) {
		return true
	}
	for _, condition := range next.Conditions {
		before := meta.FindStatusCondition(current.Conditions, condition.Type)
		if before == nil || before.Status != condition.Status || before.Reason != condition.Reason {
			return true
		}
	}
	return false
}

// waitsForAName tells whether a name was found taken at the last turn.
func waitsForAName(s *appstatus.Status) bool {
	ready := meta.FindStatusCondition(s.Conditions, appstatus.ConditionReady)
	return ready != nil && (ready.Reason == appstatus.ReasonNameConflict || ready.Reason == appstatus.ReasonTerminating)
}

// wholeStatus is a merge patch with the status of the object and its resource version.
type wholeStatus struct{}

// Type returns the kind of the patch.
func (wholeStatus) Type() types.PatchType { return types.MergePatchType }

// Data returns the patch.
func (wholeStatus) Data(object client.Object) ([]byte, error) {
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(object)
	if err != nil {
		return nil, err
	}
	return json.Marshal(map[string]any{
		"metadata": map[string]any{"resourceVersion": object.GetResourceVersion()},
		"status":   content["status"],
	})
}
