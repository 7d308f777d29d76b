// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package inputs

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"platformapp/api/appstatus"
)

// outcome is what becomes of an application that is made in a state.
type outcome struct {
	once sync.Once
	// answer of the API server.
	answer answer
	// key of the application, if it was made.
	key key
	// standing is where it came to.
	standing standing
	// problem is why it came to no rest, or nothing.
	problem string
}

// standing is what the status of an application tells when it is at rest.
type standing struct {
	reason, message string
	isStalled       bool
	isReady         bool
}

// fresh makes an application in a state, once for all that ask, and returns what becomes of it.
func (s *suite) fresh(ctx context.Context, plan string, state State) *outcome {
	s.mu.Lock()
	o := s.outcomes[state.Text]
	if o == nil {
		o = &outcome{}
		s.outcomes[state.Text] = o
	}
	s.mu.Unlock()
	o.once.Do(func() {
		name := s.newName(plan)
		o.key = key{state.Kind.Kind, freshNamespace, name}
		var err error
		if o.answer, err = s.server.create(ctx, state.Kind, freshNamespace, state.named(name)); err != nil {
			o.problem = "it cannot be written: " + err.Error()
			return
		}
		if o.answer.isAccepted() {
			o.standing, o.problem = s.settle(ctx, o.key, 0)
		}
	})
	return o
}

// settle waits until an application is at rest with a generation of at least the given one, or says why that is not so.
func (s *suite) settle(ctx context.Context, k key, generation int64) (standing, string) {
	ctx, cancel := context.WithTimeout(ctx, s.patience())
	defer cancel()
	for {
		r := s.store.get(k)
		at, resting := standingOf(r.app)
		if resting && r.app.GetGeneration() >= generation {
			return at, ""
		}
		select {
		case <-r.changed:
		case <-ctx.Done():
			s.restless.Add(1)
			return at, fmt.Sprintf("it comes to no rest: %s: %s", at.reason, excerpt(at.message))
		}
	}
}

// standingOf returns what the status of an application tells, and whether it is at rest: it is of the specification as it
// is, and no change is under way.
func standingOf(app *unstructured.Unstructured) (standing, bool) {
	if app == nil {
		return standing{message: "it is not there"}, false
	}
	observed, _, _ := unstructured.NestedInt64(app.Object, "status", "observedGeneration")
	conditions, _, _ := unstructured.NestedSlice(app.Object, "status", "conditions")
	var at standing
	moves := true
	for _, c := range conditions {
		c := c.(map[string]any)
		isTrue := c["status"] == "True"
		switch c["type"] {
		case appstatus.ConditionReady:
			at.reason, at.message, at.isReady = fmt.Sprint(c["reason"]), fmt.Sprint(c["message"]), isTrue
		case appstatus.ConditionReconciling:
			moves = isTrue
		case appstatus.ConditionStalled:
			at.isStalled = isTrue
		}
	}
	return at, observed == app.GetGeneration() && !moves
}

// tells tells whether a message leads a person to the field of a state: it names its path, or the path of what holds it and
// its name. Where the value does not fit another field, it names that one, and the field or the value. What comes out of the
// patch of a pod template is named as in the Deployment.
func tells(message string, state State) bool {
	path := state.Field.Path
	if path[0] == "metadata" || nameless.MatchString(message) {
		// Metadata is the API server's own, and so are its words about it.
		return true
	}
	if len(path) > 3 && path[1] == "podTemplatePatch" && names(message, slices.Concat(Path{"spec", "template"}, path[2:]), true) {
		return true
	}
	if names(message, path, state.Field.free || strings.HasSuffix(state.Field.Pattern, "{}")) {
		return true
	}
	value := strings.Trim(state.Value, `"`)
	value = value[:min(len(value), 100)]
	name := fmt.Sprint(path[len(path)-1])
	if slices.Contains([]string{"", "null", "{}", "[]"}, state.Value) {
		// What is not there cannot be quoted: the message is of what needs it.
		return strings.Contains(message, "spec.")
	}
	has := func(word string, least int) bool { return len(word) >= least && strings.Contains(message, word) }
	return strings.Contains(message, "spec.") && (has(value, 4) || has(name, 4))
}

// nameless are refusals for which no field can be named: of what is no number at all, and of what is too large as a whole.
var nameless = regexp.MustCompile("json: cannot unmarshal number|message larger than max|request is too large")

// names tells whether a message has a path, or the path of something that holds it and the name of the field; of an entry of
// a map, the path of the map is enough. The API server spells places and keys in more than one way.
func names(message string, path Path, isEntry bool) bool {
	message = plain(message)
	if strings.Contains(message, plain(path.String())) {
		return true
	}
	if isEntry && strings.Contains(message, plain(path[:len(path)-1].String())) {
		return true
	}
	name := ""
	for len(path) > 2 {
		var last any
		path, last = path.parent()
		if field, ok := last.(string); ok && name == "" {
			name = plain(field)
		}
		if strings.Contains(message, plain(path.String())) && strings.Contains(message, name) {
			return true
		}
	}
	return false
}

var plainer = strings.NewReplacer("[", ".", "]", "", `"`, "", "'", "")

func plain(text string) string { return plainer.Replace(text) }
