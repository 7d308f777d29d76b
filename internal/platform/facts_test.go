// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package platform

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"platformapp/internal/workload"
)

func facts(openShift bool, kinds map[string]bool, unknown ...string) Facts {
	f := Facts{Platform: workload.Platform{OpenShift: openShift, Kinds: kinds}, Unknown: map[string]bool{}}
	for _, kind := range unknown {
		f.Unknown[kind] = true
	}
	return f
}

func TestWhatIsKnownFollowsWhatIsFound(t *testing.T) {
	for name, test := range map[string]struct {
		before    Facts
		openShift bool
		found     map[string]presence
		want      Facts
	}{
		"the first look": {
			Facts{}, false, map[string]presence{"Route": present, "HTTPRoute": absent},
			facts(false, map[string]bool{"Route": true, "HTTPRoute": false}),
		},
		"a kind comes": {
			facts(false, map[string]bool{"Route": false}), false, map[string]presence{"Route": present},
			facts(false, map[string]bool{"Route": true}),
		},
		"a kind goes": {
			facts(false, map[string]bool{"Route": true}), false, map[string]presence{"Route": absent},
			facts(false, map[string]bool{"Route": false}),
		},
		"a kind that was there cannot be told of": {
			facts(true, map[string]bool{"Route": true}), true, map[string]presence{"Route": unknown},
			facts(true, map[string]bool{"Route": true}),
		},
		"a kind that was not there cannot be told of": {
			facts(false, map[string]bool{"Route": false}), false, map[string]presence{"Route": unknown},
			facts(false, map[string]bool{"Route": false}),
		},
		"a kind cannot be told of at the first look, the other can": {
			Facts{}, true, map[string]presence{"Route": unknown, "HTTPRoute": present},
			facts(true, map[string]bool{"HTTPRoute": true}, "Route"),
		},
		"a kind that could not be told of is there": {
			facts(true, map[string]bool{}, "Route"), true, map[string]presence{"Route": present},
			facts(true, map[string]bool{"Route": true}),
		},
		"an OpenShift stays one": {
			facts(true, map[string]bool{}), false, nil, facts(true, map[string]bool{}),
		},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, test.before.next(test.openShift, test.found)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}
