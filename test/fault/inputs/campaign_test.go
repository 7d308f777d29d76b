// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package inputs

import (
	"context"
	"fmt"
	"testing"
)

// How many plans and walks make test carries out of each sort.
const (
	sampledValues, sampledEffects, sampledFields, sampledChoices, sampledFeatures = 400, 20, 5, 1, 6
)

// TestCampaign gives the operator all inputs that the schemas let one write, or in make test a sample.
func TestCampaign(t *testing.T) {
	selection := selected(t)
	if selection.isElsewhere() {
		return
	}
	s := startSuite(t)
	stop := s.watchAnother(t, selection.Full)
	t.Run("values", func(t *testing.T) { selection.carryOut(t, sample(selection, s.valuePlans(t), sampledValues)) })
	t.Run("effects", func(t *testing.T) { selection.carryOut(t, sample(selection, s.effectPlans(t), sampledEffects)) })
	t.Run("names", func(t *testing.T) { selection.carryOut(t, s.namePlans(t)) })
	t.Run("fields", func(t *testing.T) { selection.walkAll(t, s, s.fieldWalks(t, selection, sampledFields)) })
	t.Run("choices", func(t *testing.T) { selection.walkAll(t, s, sample(selection, s.choiceWalks(t), sampledChoices)) })
	t.Run("features", func(t *testing.T) { selection.walkAll(t, s, sample(selection, s.featureWalks(t), sampledFeatures)) })
	t.Run("another application", func(t *testing.T) { selection.record(t, another, stop()) })
	t.Run("a second look", func(t *testing.T) { s.lookAgain(t, selection) })
}

// valuePlans try each value of each field of each seed in a new application.
func (s *suite) valuePlans(t *testing.T) []plan {
	t.Helper()
	var plans []plan
	chosen := chosenFields(s.seeds)
	for _, seed := range s.seeds {
		state, err := seed.asItIs()
		if err != nil {
			t.Fatal(err)
		}
		p := plan{class: "a value of a field", kind: seed.Kind.Kind, name: "value/" + seed.Name}
		p.run = func() []string { return s.judgeSeed(t.Context(), p.name, state) }
		plans = append(plans, p)
		for _, f := range chosen[seed.Name] {
			states, err := seed.states(f)
			if err != nil {
				t.Fatal(err)
			}
			for _, state := range states[1:] {
				p := plan{class: "a value of a field", kind: state.Kind.Kind}
				p.name = fmt.Sprintf("value/%s/%s: %s", seed.Name, f.Path, state.Name)
				p.run = func() []string { return s.judge(t.Context(), p.name, state) }
				plans = append(plans, p)
			}
		}
	}
	return plans
}

// judge makes an application in a state and returns what of its outcome must not be.
func (s *suite) judge(ctx context.Context, plan string, state State) []string {
	o := s.fresh(ctx, plan, state)
	switch {
	case o.problem != "":
		return []string{o.problem}
	case o.answer.isRefusal() && tells(o.answer.message, state):
		return nil
	case o.answer.isRefusal():
		return []string{"the refusal does not name the field: " + excerpt(o.answer.message)}
	case !o.answer.isAccepted():
		return []string{fmt.Sprintf("the API server answers %d: %s", o.answer.code, excerpt(o.answer.message))}
	case state.Refused:
		return []string{"the API server takes it"}
	case o.standing.isReady:
		return nil
	case !tells(o.standing.message, state):
		return []string{fmt.Sprintf("the status does not name the field: %s: %s", o.standing.reason, excerpt(o.standing.message))}
	}
	return nil
}

// judgeSeed makes an application as a seed is, from which all others differ in one field: it is carried out.
func (s *suite) judgeSeed(ctx context.Context, plan string, state State) []string {
	o := s.fresh(ctx, plan, state)
	if o.problem != "" || !o.standing.isReady {
		return []string{fmt.Sprintf("the seed is not carried out: %d %s %s %s: %s", o.answer.code,
			excerpt(o.answer.message), o.problem, o.standing.reason, excerpt(o.standing.message))}
	}
	return nil
}

// excerpt shortens a text for a person.
func excerpt(text string) string {
	const most = 600
	if len(text) <= most {
		return text
	}
	return text[:most/2] + " ... " + text[len(text)-most/2:]
}

// lookAgain restarts the operator, which then looks at every application once more: that changes nothing, and the log has
// told of no error.
func (s *suite) lookAgain(t *testing.T, selection selection) {
	before := s.settledVersions(t.Context())
	logged := s.errorsOf()
	panics, err := s.operator.Sum(t.Context(), "controller_runtime_reconcile_panics_total", nil)
	if err != nil || panics > 0 {
		t.Errorf("the operator has panicked %v times (%v)", panics, err)
	}
	byKind := map[string][]string{}
	if err := s.restart(t.Context()); err != nil {
		for kind := range s.kinds {
			byKind[kind] = append(byKind[kind], err.Error())
		}
	}
	after := s.settledVersions(t.Context())
	for k, versions := range before {
		for id, version := range versions {
			if now := after[k][id]; now != version {
				byKind[k.kind] = append(byKind[k.kind],
					fmt.Sprintf("%s of %s (%s) is written again: version %s, then %s", id, k, s.plans[k.name], version, now))
			}
		}
	}
	for _, logged := range []map[string][]string{logged, s.errorsOf()} {
		for name, lines := range logged {
			byKind["EGApp"] = append(byKind["EGApp"],
				fmt.Sprintf("%d errors are logged of %s (%s): %s", len(lines), name, s.plans[name], lines[0]))
		}
	}
	for kind := range s.kinds {
		p := plan{class: "a restart with every input", kind: kind, name: "restart/" + kind}
		selection.record(t, p, byKind[kind])
	}
	t.Logf("%d applications", len(before))
}
