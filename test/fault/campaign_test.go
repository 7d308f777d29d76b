// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package fault

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"platformapp/internal/localcluster"
	"platformapp/test/fault/results"
	"platformapp/test/operator"
)

// podsOfPlan is how many pods a plan needs, most of which it leaves behind, and podsOfNode how many a node takes.
const (
	podsOfPlan = 3
	podsOfNode = 110
)

// allPlans is about how many plans there are, and plansOfNames how many are asked for by their names at most, unless all are.
const (
	allPlans     = 8000
	plansOfNames = 1000
)

// nodes is how many nodes a campaign needs.
func nodes(c config) int {
	plans := 0
	switch {
	case c.Plans.Given():
		plans = plansOfNames
	case c.Full && c.limit == 0:
		plans = allPlans
	case c.Full:
		plans = c.limit
	}
	return 5 + plans*podsOfPlan/podsOfNode
}

// TestPlans carries out the plans that the environment asks for: a sample, all of them, or those of a name.
func TestPlans(t *testing.T) {
	config, err := configOfTest()
	if err != nil {
		t.Fatal(err)
	}
	scenarios := Scenarios()
	switch {
	case config.Plans.Given():
		scenarios = slices.DeleteFunc(scenarios, func(s Scenario) bool { return !config.Plans.MayHave(s.String() + "/") })
		if len(scenarios) == 0 {
			return // Plans of other packages are asked for.
		}
	case !config.Full:
		scenarios = SampleScenarios(scenarios, config.Seed)
	}
	c := startCampaign(t, config)
	plans := enumerate(t, c, scenarios)
	switch {
	case config.Plans.Given():
		plans = slices.DeleteFunc(plans, func(p Plan) bool { return !config.Plans.Has(p.String()) })
	case config.Full:
		plans = Spread(plans, config.limit, config.Seed)
	default:
		plans = Sample(plans, config.Seed)
	}
	if len(plans) == 0 {
		t.Fatal("there is no such plan")
	}
	carryOut(t, c, config, plans)
	writes, err := c.AtRest(t.Context(), config.restOfAll())
	if err != nil {
		t.Error(err)
	}
	if len(writes) > 0 {
		t.Errorf("an operator that is started on what the plans left writes %d times:\n%s", len(writes), strings.Join(writes[:min(len(writes), 20)], "\n"))
	}
}

// startCampaign starts the cluster of a campaign and builds the operator.
func startCampaign(t *testing.T, config config) *Campaign {
	t.Helper()
	tools, err := localcluster.EnsureTools(t.Context(), os.Stderr)
	if err != nil {
		t.Fatal(err)
	}
	cluster := localcluster.StartForTest(t, localcluster.Options{Tools: tools, Name: "fault", Nodes: nodes(config)})
	folder := filepath.Join(filepath.Dir(cluster.Kubeconfig()), "operator")
	binaries := Binaries{Present: filepath.Join(folder, "present", "platformapp"), Next: filepath.Join(folder, "next", "platformapp")}
	for output, version := range map[string]string{binaries.Present: "", binaries.Next: "99.0.0"} {
		if err := operator.Build(t.Context(), operator.BuildOptions{Output: output, Version: version}); err != nil {
			t.Fatal(err)
		}
	}
	// The test's own context ends before what it started does.
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	t.Cleanup(cancel)
	campaign, err := NewCampaign(ctx, Options{
		Cluster: cluster, Tools: tools, Binaries: binaries, Folder: t.TempDir(), Rest: config.rest(), Seed: config.Seed,
	})
	if err != nil {
		t.Fatal(err)
	}
	return campaign
}

// enumerate makes the references of the scenarios and returns all their plans, in a fixed order.
func enumerate(t *testing.T, c *Campaign, scenarios []Scenario) []Plan {
	t.Helper()
	found := make([][]Plan, len(scenarios))
	t.Run("reference", func(t *testing.T) {
		for i, s := range scenarios {
			t.Run(s.String(), func(t *testing.T) {
				t.Parallel()
				var err error
				if found[i], err = c.Plans(t.Context(), s); err != nil {
					t.Fatal(err)
				}
			})
		}
	})
	var all []Plan
	for _, plans := range found {
		all = append(all, plans...)
	}
	return all
}

// mostUnfired is the share of plans, in percent, whose faults may find nothing to strike: chance moves the requests.
const mostUnfired = 10

// carryOut carries out the plans.
func carryOut(t *testing.T, c *Campaign, config config, plans []Plan) {
	t.Helper()
	var mu sync.Mutex
	var unfired []string
	binaries := c.options.Binaries
	if config.binary != "" {
		binaries = Binaries{Present: config.binary, Next: config.binary}
	}
	t.Run("plan", func(t *testing.T) {
		for _, p := range plans {
			t.Run(p.String(), func(t *testing.T) {
				t.Parallel()
				report, err := c.CarryOut(t.Context(), p, binaries)
				if err != nil {
					t.Fatal(err)
				}
				if !report.Fired && len(report.Violations) == 0 {
					mu.Lock()
					defer mu.Unlock()
					unfired = append(unfired, p.String())
					return
				}
				results.Record(p.Class(), p.Scenario.Kind, p.String(), report.Violations...)
				if len(report.Violations) > 0 {
					t.Errorf("%s\n\n%s\n\nthe end of the operator's log:\n%s", strings.Join(report.Violations, "\n"), config.Replay(p.String()), tail(report.Log))
				}
			})
		}
	})
	if config.Full && !config.Plans.Given() && len(plans) >= plansOfFull {
		for _, class := range unstruck(plans, unfired) {
			t.Errorf("no plan of %s found anything to strike", class)
		}
	}
	t.Logf("%d of %d plans found nothing to strike:\n%s", len(unfired), len(plans), strings.Join(unfired, "\n"))
	if len(unfired)*100 > len(plans)*mostUnfired {
		t.Errorf("%d of %d plans found nothing to strike", len(unfired), len(plans))
	}
}
