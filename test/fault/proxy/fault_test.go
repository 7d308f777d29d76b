// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package proxy_test

import (
	"slices"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"platformapp/test/fault/proxy"
)

// TestSkipAndTimes tells which of six creates a fault strikes; reads in between do not count.
func TestSkipAndTimes(t *testing.T) {
	for name, test := range map[string]struct {
		skip, times int
		struck      []int
	}{
		"the first":      {0, 0, []int{0}},
		"the third":      {2, 0, []int{2}},
		"two of them":    {1, 2, []int{1, 2}},
		"all":            {0, -1, []int{0, 1, 2, 3, 4, 5}},
		"all from later": {4, -1, []int{4, 5}},
		"never":          {6, 0, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newServer(t).start()
			c := newClient(t, p, encodings["JSON"])
			injection := p.Inject(proxy.Fault{
				Match: proxy.Matches(creates), Skip: test.skip, Times: test.times, Action: proxy.Reset(),
			})
			var struck []int
			for i := range 6 {
				if create(t, c) != nil {
					struck = append(struck, i)
				}
				if _, err := c.CoreV1().ConfigMaps("team").List(t.Context(), metav1.ListOptions{}); err != nil {
					t.Fatal(err)
				}
			}
			if !slices.Equal(struck, test.struck) || injection.Fired() != len(test.struck) {
				t.Errorf("struck %v, fired %d times", struck, injection.Fired())
			}
			select {
			case <-injection.Done():
				if len(test.struck) == 0 {
					t.Error("a fault that never fired is done")
				}
			default:
				if len(test.struck) > 0 {
					t.Error("a fault that fired is not done")
				}
			}
		})
	}
}

// TestSeveralFaults tells that each fault counts for itself, and that two do not strike one request.
func TestSeveralFaults(t *testing.T) {
	p := newServer(t).start()
	c := newClient(t, p, encodings["JSON"])
	for _, name := range []string{"first", "second"} {
		p.Inject(proxy.Fault{Skip: 1, Action: proxy.Reset().Named(name)})
	}
	p.Inject(proxy.Fault{Skip: 3, Action: proxy.Reset().Named("third")})
	removed := p.Inject(proxy.Fault{Times: -1, Action: proxy.Reset().Named("removed")})
	removed.Remove()
	for range 5 {
		_ = create(t, c)
	}
	var faults []string
	for _, request := range p.Requests() {
		faults = append(faults, request.Fault)
	}
	if want := []string{"", "first", "second", "third", ""}; !slices.Equal(faults, want) {
		t.Errorf("struck by %q, want %q", faults, want)
	}
}
