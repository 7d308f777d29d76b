// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package resources_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"pgregory.net/rapid"

	"platformapp/internal/resources"
	"platformapp/internal/workload"
)

// replicasDecision is what the rendering says about the number of pods: what the main
// apply has of it, and what the handover before it has. A dash is what is not applied.
type replicasDecision struct {
	Count, Held, Takes, Overrides string
	Releases                      bool
}

func decisionOf(t rapid.TB, w workload.Workload, o workload.Observed) replicasDecision {
	t.Helper()
	for _, child := range resources.Desired(w, o) {
		if child.Kind != workload.KindDeployment {
			continue
		}
		d := replicasDecision{Takes: "-", Overrides: "-"}
		var applied appsv1.Deployment
		readInto(t, child.Config, &applied)
		d.Count, d.Held = countText(applied.Spec.Replicas), annotationText(applied, workload.AnnotationHeldReplicas)
		if child.Replicas == nil {
			return d
		}
		var handover appsv1.Deployment
		readInto(t, child.Replicas, &handover)
		d.Takes, d.Overrides = countText(handover.Spec.Replicas), annotationText(handover, workload.AnnotationOverriddenReplicas)
		d.Releases = handover.Spec.Replicas == nil && len(handover.Annotations) == 0
		return d
	}
	t.Fatal("there is no Deployment")
	return replicasDecision{}
}

func countText(count *int32) string {
	if count == nil {
		return "-"
	}
	return fmt.Sprint(*count)
}

func annotationText(d appsv1.Deployment, annotation string) string {
	if text, ok := d.Annotations[annotation]; ok {
		return text
	}
	return "-"
}

// scaledWorkload asks for three pods, or as many as the test says.
func scaledWorkload(replicas int32, autoscaling *workload.Autoscaling) workload.Workload {
	return workload.Workload{
		Owner: workload.Owner{
			Namespace: "team-a", Name: "orders", UID: "1", SelectorKey: workload.LabelEGApp,
		},
		Container: workload.Container{Name: "orders", Image: "nginx:1"}, Replicas: replicas, Autoscaling: autoscaling,
		Security: workload.SecurityRestricted,
	}
}

// liveDeployment is a Deployment with a number of pods and the annotations, unless they
// are a dash.
func liveDeployment(count int32, overridden, held string) *appsv1.Deployment {
	d := &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Namespace: "team-a", Name: "orders", Annotations: map[string]string{}},
		Spec:       appsv1.DeploymentSpec{Replicas: &count},
	}
	for annotation, text := range map[string]string{
		workload.AnnotationOverriddenReplicas: overridden, workload.AnnotationHeldReplicas: held,
	} {
		if text != "-" {
			d.Annotations[annotation] = text
		}
	}
	return d
}

func TestReplicasYieldToAnAutoscaler(t *testing.T) {
	nobody := replicasDecision{Count: "-", Held: "-", Takes: "-", Overrides: "-"}
	owns := func(count string) replicasDecision {
		return replicasDecision{Count: count, Held: "-", Takes: "-", Overrides: "-"}
	}
	holds := func(count, held string) replicasDecision {
		return replicasDecision{Count: count, Held: held, Takes: "-", Overrides: "-"}
	}
	handsOver := func(count, overridden string) replicasDecision {
		return replicasDecision{Count: "-", Held: "-", Takes: count, Overrides: overridden}
	}
	releases := func(count string) replicasDecision {
		return replicasDecision{Count: count, Held: "-", Takes: "-", Overrides: "-", Releases: true}
	}
	own := &workload.Autoscaling{MinReplicas: 4, MaxReplicas: 10, TargetCPU: new(int32(70))}
	for _, test := range []struct {
		name        string
		replicas    int32
		autoscaling *workload.Autoscaling
		theirs      bool
		live        *appsv1.Deployment
		want        replicasDecision
	}{
		{"at creation", 3, nil, false, nil, owns("3")},
		{"at creation, stopped", 0, nil, false, nil, owns("0")},
		{"at creation with an autoscaler, which takes over what it finds", 5, own, false, nil, owns("5")},
		{"at creation below the autoscaler's least", 3, own, false, nil, owns("4")},
		{"at creation above the autoscaler's most", 30, own, false, nil, owns("10")},
		{"at creation, stopped in spite of an autoscaler", 0, own, false, nil, owns("0")},
		{"at creation beside an autoscaler of somebody else", 3, own, true, nil, owns("3")},

		{"at rest", 3, nil, false, liveDeployment(3, "-", "-"), owns("3")},
		{"kubectl scale deployment is drift", 3, nil, false, liveDeployment(9, "-", "-"), owns("3")},
		{"C11 an autoscaler comes", 3, own, false, liveDeployment(7, "-", "-"), handsOver("7", "3")},
		{"C12 an autoscaler of somebody else comes", 3, nil, true, liveDeployment(5, "-", "-"), handsOver("5", "3")},
		{"C11 an autoscaler works", 3, own, false, liveDeployment(7, "3", "-"), nobody},
		{"an edit of the number while an autoscaler works", 5, own, false, liveDeployment(7, "3", "-"), nobody},
		{"an autoscaler of somebody else has stopped it", 3, nil, true, liveDeployment(0, "3", "-"), nobody},
		{"somebody has stopped what its own autoscaler would never start", 3, own, false, liveDeployment(0, "3", "-"), holds("4", "0")},

		{"C11 the autoscaler goes", 3, nil, false, liveDeployment(7, "3", "-"), holds("7", "7")},
		{"C11 the number is held", 3, nil, false, liveDeployment(7, "3", "7"), holds("7", "7")},
		{"kubectl scale deployment is drift while the number is held", 3, nil, false, liveDeployment(9, "3", "7"), holds("7", "7")},
		{"C11 the autoscaler returns", 3, own, false, liveDeployment(7, "3", "7"), handsOver("7", "3")},
		{"C11 an edit of the number while it is held", 5, nil, false, liveDeployment(7, "3", "7"), releases("5")},
		{"C12 the autoscaler goes after an edit of the number", 5, nil, false, liveDeployment(7, "3", "-"), holds("5", "0")},
		{"and then nothing is held any more", 5, nil, false, liveDeployment(5, "3", "0"), releases("5")},
		{"or the edit is undone before that", 3, nil, false, liveDeployment(5, "3", "0"), releases("3")},
		{"or an autoscaler comes before that", 5, own, false, liveDeployment(5, "3", "0"), handsOver("5", "5")},
		{"the autoscaler goes after it has stopped the application", 3, nil, false, liveDeployment(0, "3", "-"), holds("3", "0")},

		{"C21 zero wins over an autoscaler", 0, own, false, liveDeployment(7, "3", "-"), holds("0", "0")},
		{"C21 zero wins over an autoscaler of somebody else", 0, nil, true, liveDeployment(7, "3", "-"), holds("0", "0")},
		{"C21 zero wins over a held number", 0, nil, false, liveDeployment(7, "3", "7"), releases("0")},
		{"C21 stopped", 0, own, false, liveDeployment(0, "3", "0"), releases("0")},
		{"C21 at rest", 0, own, false, liveDeployment(0, "-", "-"), owns("0")},
		{"C21 and back", 3, own, false, liveDeployment(0, "-", "-"), owns("4")},
		{"C21 and back beside an autoscaler of somebody else", 3, nil, true, liveDeployment(0, "-", "-"), owns("3")},

		{"somebody has spoilt the annotation of what is overridden", 3, own, false, liveDeployment(7, "many", "-"), handsOver("7", "3")},
		{"somebody has removed the annotation of what is overridden", 3, nil, false, liveDeployment(7, "-", "7"), owns("3")},
		{"somebody has spoilt the annotation of what is held", 3, nil, false, liveDeployment(7, "3", "-1"), holds("7", "7")},
	} {
		t.Run(test.name, func(t *testing.T) {
			o := workload.Observed{Children: map[string]workload.Object{}}
			if test.live != nil {
				o.Children[workload.KindDeployment] = test.live
			}
			if test.theirs {
				o.Autoscalers = []workload.Autoscaler{{Name: "theirs", TargetKind: "Deployment"}}
			}
			if diff := cmp.Diff(test.want, decisionOf(t, scaledWorkload(test.replicas, test.autoscaling), o)); diff != "" {
				t.Errorf("decision (-want +got):\n%s", diff)
			}
		})
	}
}

// An autoscaler that cannot be made decides nothing: the application follows its number.
func TestAnAutoscalerWhoseNameIsTakenScalesNothing(t *testing.T) {
	w := scaledWorkload(3, &workload.Autoscaling{MinReplicas: 2, MaxReplicas: 10})
	o := workload.Observed{Children: map[string]workload.Object{
		workload.KindDeployment: liveDeployment(3, "-", "-"),
		workload.KindHorizontalPodAutoscaler: &autoscalingv2.HorizontalPodAutoscaler{
			ObjectMeta: metav1.ObjectMeta{Namespace: "team-a", Name: "orders"},
		},
	}}
	if got := decisionOf(t, w, o); got.Count != "3" {
		t.Errorf("the number of pods is %s, want 3", got.Count)
	}
}

// The live number is the server's default when nobody owns it.
func TestLiveReplicasOfNobodyAreOne(t *testing.T) {
	live := liveDeployment(1, "-", "-")
	live.Spec.Replicas = nil
	o := workload.Observed{
		Children:    map[string]workload.Object{workload.KindDeployment: live},
		Autoscalers: []workload.Autoscaler{{Name: "theirs", TargetKind: "Deployment"}},
	}
	if got := decisionOf(t, scaledWorkload(3, nil), o); got.Takes != "1" {
		t.Errorf("takes over %s pods, want 1", got.Takes)
	}
	if ptr.Deref(live.Spec.Replicas, -1) != -1 {
		t.Error("the observed Deployment was changed")
	}
}
