// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package resources_test

import (
	"maps"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"pgregory.net/rapid"

	"platformapp/internal/resources"
	"platformapp/internal/workload"
)

// ownedField is a field as server-side apply sees it: its value and who owns it.
type ownedField struct {
	value  string
	owners map[string]bool
}

// scaledCluster is a Deployment and its autoscalers, in a server that keeps field
// ownership as Kubernetes does
// (https://kubernetes.io/docs/reference/using-api/server-side-apply/#field-management).
type scaledCluster struct {
	t *rapid.T
	w workload.Workload
	// fields of the Deployment, by name; nil while there is none.
	fields map[string]*ownedField
	// ownHPA and theirHPA tell which autoscalers there are.
	ownHPA, theirHPA bool
	// writes counts what the operator wrote.
	writes int
	// lastApplied is what FieldManager last applied.
	lastApplied map[string]string
}

const (
	replicasField   = "replicas"
	overriddenField = workload.AnnotationOverriddenReplicas
	heldField       = workload.AnnotationHeldReplicas
)

// apply is a forced server-side apply of exactly these fields.
func (c *scaledCluster) apply(manager string, wanted map[string]string) {
	c.writes++
	for name, value := range wanted {
		field := c.fields[name]
		if field == nil {
			field = &ownedField{owners: map[string]bool{}}
			c.fields[name] = field
		}
		if field.value != value {
			field.value, field.owners = value, map[string]bool{}
		}
		field.owners[manager] = true
	}
	for name, field := range c.fields {
		if _, ok := wanted[name]; ok || !field.owners[manager] {
			continue
		}
		delete(field.owners, manager)
		if len(field.owners) > 0 {
			continue
		}
		if name == replicasField {
			c.t.Fatalf("%s dropped the number of pods that it owned alone: %s pods become 1", manager, field.value)
		}
		delete(c.fields, name)
	}
}

// update changes the number of pods as kubectl scale and an autoscaler do.
func (c *scaledCluster) update(manager string, count int32) {
	field := c.fields[replicasField]
	if value := countText(&count); field.value != value {
		field.value, field.owners = value, map[string]bool{manager: true}
	}
}

func (c *scaledCluster) count() int32 {
	return *c.live().Spec.Replicas
}

func (c *scaledCluster) live() *appsv1.Deployment {
	d := liveDeployment(0, "-", "-")
	for name, field := range c.fields {
		if name == replicasField {
			readInto(c.t, map[string]any{"spec": map[string]any{"replicas": jsonNumber(field.value)}}, d)
		} else {
			d.Annotations[name] = field.value
		}
	}
	return d
}

type jsonNumber string

func (n jsonNumber) MarshalJSON() ([]byte, error) { return []byte(n), nil }

func (c *scaledCluster) observed() workload.Observed {
	o := workload.Observed{Children: map[string]workload.Object{}}
	if c.fields != nil {
		o.Children[workload.KindDeployment] = c.live()
	}
	if c.ownHPA {
		o.Children[workload.KindHorizontalPodAutoscaler] = &autoscalingv2.HorizontalPodAutoscaler{
			ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{workload.LabelOwnerUID: string(c.w.Owner.UID)}},
		}
	}
	if c.theirHPA {
		o.Autoscalers = []workload.Autoscaler{{Name: "theirs", TargetKind: "Deployment"}}
	}
	return o
}

// turn is one turn of the operator, which ends after so many writes, and tells whether it
// had any to do.
func (c *scaledCluster) turn(writes int) bool {
	o := c.observed()
	desired := resources.Desired(c.w, o)
	var steps []func()
	for _, child := range desired {
		switch child.Kind {
		case workload.KindDeployment:
			steps = append(steps, c.deploymentSteps(child)...)
		case workload.KindHorizontalPodAutoscaler:
			if !c.ownHPA {
				steps = append(steps, func() { c.writes++; c.ownHPA = true })
			}
		}
	}
	for range resources.Surplus(c.w, desired, o) {
		steps = append(steps, func() { c.writes++; c.ownHPA = false })
	}
	for i, step := range steps {
		if i == writes {
			break
		}
		step()
	}
	return len(steps) > 0
}

func (c *scaledCluster) deploymentSteps(child resources.Child) []func() {
	var steps []func()
	if child.Replicas != nil {
		handover := fieldsOf(c.t, child.Replicas)
		steps = append(steps, func() { c.apply(workload.FieldManagerReplicas, handover) })
	}
	wanted := fieldsOf(c.t, child.Config)
	if c.fields == nil || !maps.Equal(wanted, c.lastApplied) || c.differs(wanted) {
		steps = append(steps, func() {
			if c.fields == nil {
				c.fields = map[string]*ownedField{}
			}
			c.apply(workload.FieldManager, wanted)
			c.lastApplied = wanted
		})
	}
	return steps
}

// differs tells whether the live object lacks a wanted field or has another value there.
func (c *scaledCluster) differs(wanted map[string]string) bool {
	for name, value := range wanted {
		if field := c.fields[name]; field == nil || field.value != value {
			return true
		}
	}
	return false
}

// fieldsOf returns the fields of this story that an apply configuration has.
func fieldsOf(t rapid.TB, config any) map[string]string {
	var d appsv1.Deployment
	readInto(t, config, &d)
	fields := map[string]string{}
	if d.Spec.Replicas != nil {
		fields[replicasField] = countText(d.Spec.Replicas)
	}
	for _, annotation := range []string{overriddenField, heldField} {
		if text, ok := d.Annotations[annotation]; ok {
			fields[annotation] = text
		}
	}
	return fields
}

// settle lets the operator work undisturbed until it has nothing to do.
func (c *scaledCluster) settle() {
	const enough = 5
	for range enough {
		if !c.turn(-1) {
			return
		}
	}
	c.t.Fatalf("the operator still writes after %d turns: %v", enough, c.live().Annotations)
}

func (c *scaledCluster) hasAutoscaler() bool { return c.ownHPA || c.theirHPA }

// Whatever the order of edits, autoscalers that come, work and go, and operators that are
// stopped between two writes: the number of pods is never reset, an autoscaler's number is
// never changed, and what is left behind is held.
func TestReplicasChangeHandsWithoutADip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := &scaledCluster{t: t, w: scaledWorkload(rapid.Int32Range(0, 5).Draw(t, "replicaCount"), nil)}
		c.w.Owner.Kind, c.w.Owner.Group, c.w.Owner.Version = "EGApp", "g", "v1"
		c.settle()
		own := func() *workload.Autoscaling {
			least := rapid.Int32Range(1, 4).Draw(t, "least")
			return &workload.Autoscaling{MinReplicas: least, MaxReplicas: rapid.Int32Range(least, 12).Draw(t, "most"), TargetCPU: new(int32(70))}
		}
		// The operator may see several events at once, and may be stopped between two writes.
		then := func(event func(*rapid.T)) func(*rapid.T) {
			return func(t *rapid.T) {
				event(t)
				switch rapid.SampledFrom([]string{"works", "works", "stops", "sleeps"}).Draw(t, "the operator") {
				case "works":
					c.work()
				case "stops":
					c.turn(rapid.IntRange(1, 2).Draw(t, "writes"))
				}
			}
		}
		t.Repeat(map[string]func(*rapid.T){
			"edit replicaCount":              then(func(t *rapid.T) { c.w.Replicas = rapid.Int32Range(0, 5).Draw(t, "replicaCount") }),
			"add autoscaling":                then(func(*rapid.T) { c.w.Autoscaling = own() }),
			"remove autoscaling":             then(func(*rapid.T) { c.w.Autoscaling = nil }),
			"their autoscaler comes or goes": then(func(*rapid.T) { c.theirHPA = !c.theirHPA }),
			"an autoscaler scales": then(func(t *rapid.T) {
				// It leaves alone what is stopped.
				if c.hasAutoscaler() && c.count() > 0 {
					c.update("kube-controller-manager", rapid.Int32Range(1, 12).Draw(t, "count"))
				}
			}),
			"their autoscaler stops it": then(func(*rapid.T) {
				if c.theirHPA {
					c.update("keda-operator", 0)
				}
			}),
			"somebody scales the Deployment": then(func(t *rapid.T) {
				c.update("kubectl", rapid.Int32Range(0, 12).Draw(t, "count"))
			}),
		})
	})
}

// work lets the operator work and holds what it makes of the number of pods to the rules.
func (c *scaledCluster) work() {
	before, autoscaled := c.count(), c.w.IsAutoscaled(c.observed())
	c.settle()
	switch after := c.count(); {
	case autoscaled && before > 0 && after != before:
		c.t.Errorf("%d pods become %d while an autoscaler decides", before, after)
	case autoscaled && c.fields[replicasField].owners[workload.FieldManager]:
		c.t.Error("the operator owns a number that an autoscaler decides about")
	case c.w.Replicas == 0 && after != 0:
		c.t.Errorf("%d pods run though none is asked for", after)
	case !autoscaled && c.fields[overriddenField] == nil && after != c.w.Replicas:
		c.t.Errorf("%d pods run, but %d are asked for and no number is held", after, c.w.Replicas)
	}
	writes := c.writes
	if c.turn(-1); c.writes != writes {
		c.t.Errorf("%d writes at rest", c.writes-writes)
	}
}

// C11, C12: what an autoscaler leaves behind stays until another number is asked for, and
// somebody else's change of it is undone.
func TestWhatAnAutoscalerLeavesIsHeld(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		asked := rapid.Int32Range(1, 5).Draw(t, "replicaCount")
		left := rapid.Int32Range(1, 12).Draw(t, "left")
		c := &scaledCluster{t: t, w: scaledWorkload(asked, nil)}
		c.w.Owner.Kind, c.w.Owner.Group, c.w.Owner.Version = "EGApp", "g", "v1"
		own := rapid.Bool().Draw(t, "an autoscaler of its own")
		if own {
			c.w.Autoscaling = &workload.Autoscaling{MinReplicas: 1, MaxReplicas: 12, TargetCPU: new(int32(70))}
		} else {
			c.theirHPA = true
		}
		c.settle()
		c.update("kube-controller-manager", left)
		c.settle()

		c.w.Autoscaling, c.theirHPA = nil, false
		c.turn(rapid.IntRange(0, 1).Draw(t, "writes before a stop"))
		c.settle()
		if got := c.count(); got != left {
			t.Fatalf("%d pods become %d when the autoscaler goes", left, got)
		}
		c.update("kubectl", rapid.Int32Range(0, 12).Draw(t, "drift"))
		c.settle()
		if got := c.count(); got != left {
			t.Fatalf("%d pods run, want the %d that are held", got, left)
		}
		edited := rapid.Int32Range(0, 5).Filter(func(n int32) bool { return n != asked }).Draw(t, "edited")
		c.w.Replicas = edited
		c.turn(rapid.IntRange(0, 1).Draw(t, "writes before another stop"))
		c.settle()
		if got := c.count(); got != edited {
			t.Fatalf("%d pods run, want the %d that are asked for now", got, edited)
		}
		c.w.Replicas = asked
		c.settle()
		if got := c.count(); got != asked {
			t.Fatalf("%d pods run, want the %d that are asked for again", got, asked)
		}
		for _, annotation := range []string{overriddenField, heldField} {
			if _, ok := c.fields[annotation]; ok {
				t.Errorf("the annotation %s is left behind", annotation)
			}
		}
	})
}
