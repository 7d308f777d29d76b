// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package inputs

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/util/validation"
)

// applicationNames are names as a person may choose them.
var applicationNames = []string{
	strings.Repeat("n", 62), strings.Repeat("n", 63), strings.Repeat("n", 64),
	strings.Repeat("n", 253), strings.Repeat("n", 254),
	"a", "1a", "9", "a.b", "a.example.com", "a-", "-a", "A", "Orders", "a_b", "a b", "a/b", "a\nb", "..", "\u0430pp", "a%2fb",
	"orders-runtime-env", "default", "kubernetes",
}

// namePlans make an application of each name and of each kind.
func (s *suite) namePlans(t *testing.T) []plan {
	t.Helper()
	var plans []plan
	for _, seed := range s.seeds {
		if seed.Name != "size" && seed.Name != "demomicroservice" {
			continue
		}
		state, err := seed.asItIs()
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range applicationNames {
			p := plan{class: "a name", kind: seed.Kind.Kind, name: fmt.Sprintf("name/%s: %q", seed.Kind.Kind, name)}
			p.run = func() []string { return s.judgeName(t.Context(), state, name) }
			plans = append(plans, p)
		}
	}
	return plans
}

// judgeName: a name that children and labels can have is carried out, any other is refused.
func (s *suite) judgeName(ctx context.Context, state State, name string) []string {
	quoted := text(name)
	// Two kinds of one name would want the same names for their children.
	namespace := map[string]string{"EGApp": freshNamespace, "DemoMicroService": walkNamespace}[state.Kind.Kind]
	a, err := s.server.create(ctx, state.Kind, namespace, state.named(quoted[1:len(quoted)-1]))
	isLegal := len(validation.IsDNS1035Label(name)) == 0
	switch {
	case err != nil:
		return []string{err.Error()}
	case isLegal != a.isAccepted():
		return []string{fmt.Sprintf("the API server answers %d: %s", a.code, excerpt(a.message))}
	case !isLegal && (!a.isRefusal() || !strings.Contains(a.message, "name")):
		return []string{fmt.Sprintf("the refusal %d does not name metadata.name: %s", a.code, excerpt(a.message))}
	case !isLegal:
		return nil
	}
	at, problem := s.settle(ctx, key{state.Kind.Kind, namespace, name}, a.generation)
	if problem == "" && !at.isReady {
		problem = fmt.Sprintf("it is not ready: %s: %s", at.reason, excerpt(at.message))
	}
	if problem != "" {
		return []string{problem}
	}
	return nil
}
