// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package fault

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"platformapp/api/appstatus"
	"platformapp/internal/workload"
	"platformapp/test/fault/proxy"
)

const (
	// occupation is how long the object of somebody else is left under the name that it took, recheck how long the operator
	// takes at most to look whether the name is free again.
	occupation = 3 * time.Second
	recheck    = 15 * time.Second
)

// childFaults are those of a write to a child that have to do with what the operator knows of the child.
func childFaults(s Scenario, t target) []Fault {
	kind := t.child()
	if kind == "" {
		return nil
	}
	faults := []Fault{lostFault(t)}
	if s.TakenNames == 0 {
		faults = append(faults, takenFaults(t, kind)...)
	}
	if kind == "Ingress" {
		faults = append(faults, refusedTwice(t))
	}
	return faults
}

// refusedTwice is a refusal that outlasts the turn which the report of it leads to: it is looked at again after a minute.
// Such plans take that long, so that few kinds meet it.
func refusedTwice(t target) Fault {
	return writeFault{
		class: "403 twice", slug: "403-twice", effect: effectOf(http.StatusForbidden, 2), times: 2,
		action: func(_ *Stage, t target) proxy.Action { return answer(http.StatusForbidden, t.key) },
	}.at(t)
}

// lostFault is that of an answer that is lost while what was written is seen late: the operator meets its own object where
// it expects none, or an earlier one.
func lostFault(t target) Fault {
	effect := stopped
	effect.Struck, effect.Writes, effect.Blind, effect.Delay = []string{t.key}, 2, delay+time.Second, 2*delay
	return Fault{
		Class: "answer lost, seen late", Name: "answer-lost-late/" + t.String(), Effect: effect,
		arm: func(s *Stage) armed {
			rule := s.Proxy.DelayWatches(proxy.Matches("watch "+resourceOf(t.key)), delay)
			a := t.strike(s, 1, proxy.ResetAfter())
			remove := a.release
			a.release = func() {
				remove()
				rule.Remove()
			}
			return a
		},
	}
}

// takenFaults are those of a write to a child where somebody else is faster: they delete the child, if it is there, and make
// an object of their own under its name, which the operator meets with what it decided before. It must neither change nor
// delete that object, and goes on when the name is free. Of a Deployment there is none: with it go its pods.
func takenFaults(t target, kind string) []Fault {
	if _, err := foreignObject(kind); err != nil || kind == workload.KindDeployment {
		return nil
	}
	others := othersOfTurn
	if kind == "HorizontalPodAutoscaler" {
		// Without the autoscaler the number of pods is taken back into the Deployment, and handed over again.
		others += 2
	}
	return []Fault{{
		Class: "name taken before a write", Name: "taken-before/" + t.String(),
		Effect: Effect{
			Reasons: []string{appstatus.ReasonNameConflict}, Struck: []string{t.key, "apply " + resourceOf(t.key)},
			Writes: 2, Others: others, Replaced: []string{kind}, Delay: recheck,
		},
		arm: func(s *Stage) armed {
			o := &occupant{stage: s, kind: kind}
			a := t.strike(s, 1, proxy.Before(o.take))
			a.pending, a.wrong = o.isThere, o.wrong
			return a
		},
	}}
}

// resourceOf is what a key of requests says after the verb.
func resourceOf(key string) string {
	_, resource, _ := strings.Cut(key, " ")
	return resource
}

// child is the kind of child that the target writes, or empty.
func (t target) child() string {
	verb, resource, _ := strings.Cut(t.key, " ")
	if verb != "apply" && verb != "delete" {
		return ""
	}
	name, _, _ := strings.Cut(resource, ".")
	i := slices.IndexFunc(childKinds, func(kind string) bool { return recordedKinds[kind].Resource == name })
	if i < 0 {
		return ""
	}
	return childKinds[i]
}

// occupant is the object of somebody else.
type occupant struct {
	stage *Stage
	kind  string

	mu       sync.Mutex
	there    bool
	failures []string
}

// take takes the name, and gives it back after a while.
func (o *occupant) take() {
	o.mu.Lock()
	o.there = true
	o.mu.Unlock()
	ctx, cancel := context.WithTimeout(context.Background(), convergence)
	uid, err := o.create(ctx)
	if err != nil {
		o.end(err)
		cancel()
		return
	}
	go func() {
		defer cancel()
		pause(ctx, occupation)
		o.end(o.remove(ctx, uid))
	}()
}

// create makes the object in place of the child.
func (o *occupant) create(ctx context.Context) (types.UID, error) {
	if o.stage.History.View().Get(o.kind, childName(o.kind)) != nil {
		// The garbage collector may have been faster.
		if err := o.stage.Delete(ctx, o.kind, childName(o.kind)); client.IgnoreNotFound(err) != nil {
			return "", err
		}
	}
	object, err := foreignObject(o.kind)
	if err != nil {
		return "", err
	}
	err = o.stage.Create(ctx, o.kind, object, meddler)
	return object.GetUID(), err
}

// remove deletes the object, unless the operator has done what it must not.
func (o *occupant) remove(ctx context.Context, uid types.UID) error {
	view := o.stage.History.View()
	if err := isForeign(o.kind, childName(o.kind))(view); err != nil {
		return err
	}
	if now := view.Get(o.kind, childName(o.kind)); now.GetUID() != uid {
		return fmt.Errorf("the %s of somebody else was deleted", o.kind)
	}
	return o.stage.Delete(ctx, o.kind, childName(o.kind))
}

func (o *occupant) end(err error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.there = false
	if err != nil {
		o.failures = append(o.failures, err.Error())
	}
}

func (o *occupant) isThere() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.there
}

func (o *occupant) wrong() []string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.failures
}
