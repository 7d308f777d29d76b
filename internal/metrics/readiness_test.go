// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package metrics

import (
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"platformapp/api/appstatus"
	"platformapp/api/egplatform/v1alpha1"
)

func TestTimeToReadyIsMeasuredOnceAndFromTheFirstStatusOn(t *testing.T) {
	created := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	status := func(generation int64, ready metav1.ConditionStatus, reason string) appstatus.Status {
		return appstatus.Status{ObservedGeneration: generation, Conditions: []metav1.Condition{{Type: appstatus.ConditionReady, Status: ready, Reason: reason}}}
	}
	starting := status(1, metav1.ConditionFalse, appstatus.ReasonRollingOut)
	ready := status(1, metav1.ConditionTrue, appstatus.ReasonReady)
	stopped := status(1, metav1.ConditionTrue, appstatus.ReasonStopped)
	for _, test := range []struct {
		name     string
		statuses []appstatus.Status
		// want is how often and how long, in seconds: each status comes 10 s after the one before.
		wantCount uint64
		wantSum   float64
	}{
		{"ready at the second status", []appstatus.Status{{}, starting, ready}, 1, 20},
		{"ready again", []appstatus.Status{{}, starting, ready, starting, ready}, 1, 20},
		{"never ready", []appstatus.Status{{}, starting}, 0, 0},
		{"begun by another process", []appstatus.Status{starting, ready}, 0, 0},
		{"stopped from the start, and started later by a person", []appstatus.Status{{}, stopped, starting, ready}, 0, 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			kind := "Test " + test.name
			r := NewReadiness(kind)
			app := &v1alpha1.EGApp{ObjectMeta: metav1.ObjectMeta{Namespace: "team-a", Name: "orders", UID: "1", CreationTimestamp: metav1.NewTime(created)}}
			for i := 1; i < len(test.statuses); i++ {
				r.Reported(app, test.statuses[i-1], test.statuses[i], created.Add(time.Duration(i)*10*time.Second))
			}
			var metric dto.Metric
			if err := readySeconds.WithLabelValues(kind).(prometheus.Histogram).Write(&metric); err != nil {
				t.Fatal(err)
			}
			if n, sum := metric.GetHistogram().GetSampleCount(), metric.GetHistogram().GetSampleSum(); n != test.wantCount || sum != test.wantSum {
				t.Errorf("%d measures of %g s in all, want %d of %g s", n, sum, test.wantCount, test.wantSum)
			}
		})
	}
}

func TestTimeToReadyForgetsWhatIsGone(t *testing.T) {
	r := NewReadiness("Test forgotten")
	app := &v1alpha1.EGApp{ObjectMeta: metav1.ObjectMeta{Namespace: "team-a", Name: "orders", UID: "1"}}
	r.Reported(app, appstatus.Status{ObservedGeneration: -1}, appstatus.Status{ObservedGeneration: 1}, time.Now())
	if len(r.pending) != 1 {
		t.Fatalf("%d applications are pending, want 1", len(r.pending))
	}
	r.Forget(types.NamespacedName{Namespace: "team-a", Name: "orders"})
	if len(r.pending) != 0 {
		t.Errorf("%d applications are pending after it was forgotten", len(r.pending))
	}
}
