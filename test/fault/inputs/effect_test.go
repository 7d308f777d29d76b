// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package inputs

import (
	"context"
	"fmt"
	"maps"
	"testing"
	"time"
)

// withoutEffect are the fields of EGApps, by pattern, of which no value changes the children of an application that is carried
// out, each with the reason.
var withoutEffect = fieldsWithoutEffect()

func fieldsWithoutEffect() map[string]string {
	fields := map[string]string{
		"spec.paused":                              "what is paused is not carried out",
		"spec.rollout.configChangePolicy":          "it is about configuration that changes later",
		"spec.env[].valueFrom.fieldRef.apiVersion": "v1 is all that there is",
	}
	for _, probe := range []string{"liveness", "readiness", "startup"} {
		of := "spec.probes." + probe
		fields[of+".httpGet.host"] = "Pod Security lets no probe ask another host"
		fields[of+".tcpSocket.host"] = "Pod Security lets no probe ask another host"
		fields[of+".httpGet.protocol"] = "the API server of the tests drops what it does not know yet"
		fields[of+".grpc.mode"] = "the API server of the tests drops what it does not know yet"
		if probe != "readiness" {
			fields[of+".successThreshold"] = "Kubernetes takes 1 alone"
		}
	}
	return fields
}

// effectPlans show of each field that some value of it, or its absence, makes other children than the seed's: that an
// application is Ready does not tell that the field was looked at.
func (s *suite) effectPlans(t *testing.T) []plan {
	t.Helper()
	var plans []plan
	chosen := chosenFields(s.seeds)
	unknown := maps.Clone(withoutEffect)
	for _, seed := range s.seeds {
		for _, f := range chosen[seed.Name] {
			delete(unknown, f.Pattern)
			states, err := seed.states(f)
			if err != nil {
				t.Fatal(err)
			}
			p := plan{class: "a field has an effect", kind: seed.Kind.Kind, name: fmt.Sprintf("effect/%s/%s", seed.Name, f.Path)}
			p.run = func() []string { return s.judgeEffect(t.Context(), p.name, states) }
			plans = append(plans, p)
		}
	}
	for pattern := range unknown {
		t.Errorf("there is no field %s, of which no effect is expected", pattern)
	}
	return plans
}

// judgeEffect makes applications of the states of a field, of which the first is the seed, until one is carried out by other
// children.
func (s *suite) judgeEffect(ctx context.Context, name string, states []State) []string {
	reason, isExcepted := withoutEffect[states[0].Field.Pattern]
	seed := s.fresh(ctx, name, states[0])
	if !seed.standing.isReady {
		return []string{"the seed is not carried out"}
	}
	accepted := 0
	for _, state := range states[1:] {
		if state.Refused {
			continue
		}
		o := s.fresh(ctx, name, state)
		if o.problem != "" || !o.answer.isAccepted() || !o.standing.isReady {
			continue
		}
		accepted++
		if !s.isLike(ctx, o, seed) {
			if isExcepted {
				return []string{fmt.Sprintf("%s makes other children, though there is a reason why not: %s", state.Name, reason)}
			}
			return nil
		}
	}
	if isExcepted || accepted == 0 {
		// Where nothing but the seed is carried out nothing can pass unseen.
		return nil
	}
	return []string{fmt.Sprintf("of %d states that are carried out none makes other children than the seed's", accepted)}
}

// isLike tells whether the children of an application are those of another one, once all of both have been seen.
func (s *suite) isLike(ctx context.Context, one, other *outcome) bool {
	for begin := time.Now(); ; {
		a, b := s.store.get(one.key), s.store.get(other.key)
		if maps.Equal(a.normal(leniency{}), b.normal(leniency{})) {
			return true
		}
		if time.Since(begin) > versionsRest {
			return false
		}
		select {
		case <-ctx.Done():
			return false
		case <-a.changed:
		case <-b.changed:
		case <-time.After(pollInterval):
		}
	}
}
