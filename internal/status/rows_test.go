// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package status_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"platformapp/api/appstatus"
	"platformapp/internal/status"
)

// want is what a person sees of a scene.
type want struct {
	reason string
	phase  appstatus.Phase
	// stalled, reconciling and available are the other conditions.
	stalled, reconciling, available bool
	// unready: Paused is a reason to be Ready, unless something waits or has never run.
	unready bool
	// says and silent are what the message of Ready holds, and what it does not.
	says, silent []string
	// image is what the status names; empty stands for the new image.
	image string
	// documented: docs/troubleshooting.md has the reason with this very message.
	documented bool
	// recheck is in how many seconds time alone may change the status.
	recheck int64
	// states are the pods by state, where they matter.
	states map[string][]string
}

type row struct {
	name  string
	scene *scene
	want  want
}

// with returns the scene after a change.
func (s *scene) with(change func(*scene)) *scene {
	change(s)
	return s
}

var (
	oom        = corev1.ContainerStateTerminated{ExitCode: 137, Reason: "OOMKilled"}
	failure    = corev1.ContainerStateTerminated{ExitCode: 3, Reason: "Error"}
	completed  = corev1.ContainerStateTerminated{ExitCode: 0, Reason: "Completed"}
	execFormat = corev1.ContainerStateTerminated{ExitCode: 128, Reason: "StartError", Message: "exec /app: exec format error"}
)

func rows() []row {
	var all []row
	for _, group := range [][]row{
		restRows(), rolloutRows(), stallRows(), conflictRows(), applyRows(), creationRows(), podRows(), crashRows(), leftoverRows(), standstillRows(),
		startRows(), probeRows(), startupRows(), pausedRows(), autoscalerRows(), exposureRows(), httpRouteRows(), routeRows(),
	} {
		all = append(all, group...)
	}
	return all
}

func expect(t *testing.T, result status.Result, w want) {
	t.Helper()
	got := result.Status
	if result.RecheckAfter != w.recheck {
		t.Errorf("it is looked at again after %d s, want %d", result.RecheckAfter, w.recheck)
	}
	ready := condition(t, got, appstatus.ConditionReady)
	if ready.Reason != w.reason || got.Phase != w.phase {
		t.Errorf("is %s for %s, want %s for %s; the message is %q", got.Phase, ready.Reason, w.phase, w.reason, ready.Message)
	}
	if w.reason == appstatus.ReasonPaused && (ready.Status == metav1.ConditionTrue) == w.unready {
		t.Errorf("Ready is %s: %s", ready.Status, ready.Message)
	}
	for conditionType, wanted := range map[string]bool{
		appstatus.ConditionAvailable: w.available, appstatus.ConditionReconciling: w.reconciling, appstatus.ConditionStalled: w.stalled,
	} {
		if c := condition(t, got, conditionType); (c.Status == metav1.ConditionTrue) != wanted {
			t.Errorf("%s is %s (%s: %s), want it true: %t", conditionType, c.Status, c.Reason, c.Message, wanted)
		}
	}
	message := strings.ToLower(ready.Message)
	for _, part := range w.says {
		if !strings.Contains(message, strings.ToLower(part)) {
			t.Errorf("the message %q does not say %q", ready.Message, part)
		}
	}
	for _, part := range w.silent {
		if strings.Contains(message, strings.ToLower(part)) {
			t.Errorf("the message %q says %q", ready.Message, part)
		}
	}
	image := w.image
	switch image {
	case "":
		image = newImage
	case "none":
		image = ""
	}
	if got.Image != image {
		t.Errorf("image is %q, want %q", got.Image, image)
	}
	if got.PodStatuses == nil {
		t.Error("pods by state are left out, which OpenShift's console takes for a fault")
	}
	if w.states != nil {
		if diff := cmp.Diff(w.states, got.PodStatuses); diff != "" {
			t.Errorf("pods by state (-want +got):\n%s", diff)
		}
	}
}
