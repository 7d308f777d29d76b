// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package workload_test

import (
	"testing"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"platformapp/internal/workload"
)

func TestWhoScales(t *testing.T) {
	own := &workload.Autoscaling{MinReplicas: 2, MaxReplicas: 10}
	theirs := []workload.Autoscaler{{Name: "keda-hpa-orders", TargetKind: "Deployment"}}
	onTheApp := []workload.Autoscaler{{Name: "orders-hpa", TargetKind: "EGApp"}}
	ours := &autoscalingv2.HorizontalPodAutoscaler{ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{workload.LabelOwnerUID: "1"}}}
	foreign := &autoscalingv2.HorizontalPodAutoscaler{}
	for _, test := range []struct {
		name        string
		replicas    int32
		autoscaling *workload.Autoscaling
		autoscalers []workload.Autoscaler
		object      workload.Object
		wants, is   bool
	}{
		{"nobody", 3, nil, nil, nil, false, false},
		{"its own, yet to be made", 3, own, nil, nil, true, true},
		{"its own", 3, own, nil, ours, true, true},
		{"its own, whose name is taken", 3, own, nil, foreign, true, false},
		{"somebody else's", 3, nil, theirs, nil, false, true},
		{"N21 somebody else's, though it asks for its own", 3, own, theirs, ours, false, true},
		{"N21 somebody else's, that asks the application", 3, nil, onTheApp, nil, false, false},
		{"N21 somebody else's, that asks the application, though it asks for its own", 3, own, onTheApp, ours, false, false},
		{"C21 stopped", 0, own, nil, ours, false, false},
		{"C21 stopped beside somebody else's", 0, own, theirs, ours, false, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			w := workload.Workload{Owner: workload.Owner{Name: "orders", UID: "1"}, Replicas: test.replicas, Autoscaling: test.autoscaling}
			o := workload.Observed{Autoscalers: test.autoscalers, Children: map[string]workload.Object{}}
			if test.object != nil {
				o.Children[workload.KindHorizontalPodAutoscaler] = test.object
			}
			if got := w.WantsAutoscaler(o); got != test.wants {
				t.Errorf("wants an autoscaler of its own: %t, want %t", got, test.wants)
			}
			if got := w.IsAutoscaled(o); got != test.is {
				t.Errorf("is autoscaled: %t, want %t", got, test.is)
			}
		})
	}
}
