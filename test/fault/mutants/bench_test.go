// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package mutants

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"platformapp/internal/localcluster"
	"platformapp/test/fault"
	"platformapp/test/operator"
)

const (
	// nodes of the cluster: each takes 110 pods, and every plan leaves one to four.
	nodes = 5
	// rest is how long nothing may happen at the end of a plan.
	rest = 3 * time.Second
	// buildsAtOnce is how many mutants are built at once: the linker takes a core each.
	buildsAtOnce = 2
	// nextVersion is that of the build which an upgrade leads to.
	nextVersion = "99.0.0"
)

// bench is where mutants meet the plans that are to find them.
type bench struct {
	root string
	// folder takes the builds of the operator; what runs out of it ends with the test.
	folder string
	// campaign carries out plans against the reference of the true operator.
	campaign *fault.Campaign
	// truth is the operator without any bug.
	truth  fault.Binaries
	builds chan struct{}

	mu sync.Mutex
	// suites are the compiled tests of the packages of other plans.
	suites map[string]func() (string, error)
}

func newBench(t *testing.T) *bench {
	t.Helper()
	root, err := localcluster.CheckoutRoot()
	if err != nil {
		t.Fatal(err)
	}
	tools, err := localcluster.EnsureTools(t.Context(), os.Stderr)
	if err != nil {
		t.Fatal(err)
	}
	cluster := localcluster.StartForTest(t, localcluster.Options{Tools: tools, Name: "mutants", Nodes: nodes})
	b := &bench{
		root: root, folder: filepath.Join(filepath.Dir(cluster.Kubeconfig()), "operator"),
		builds: make(chan struct{}, buildsAtOnce), suites: map[string]func() (string, error){},
	}
	// The test's own context ends before what it started does.
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	t.Cleanup(cancel)
	b.truth = b.build(t, Mutant{Name: "none"}, true)
	b.campaign, err = fault.NewCampaign(ctx, fault.Options{
		Cluster: cluster, Tools: tools, Binaries: b.truth, Folder: t.TempDir(), Rest: rest, Seed: 1,
	})
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// build builds a mutant, and if it is to be upgraded what it is upgraded to.
func (b *bench) build(t *testing.T, m Mutant, isUpgraded bool) fault.Binaries {
	t.Helper()
	b.builds <- struct{}{}
	defer func() { <-b.builds }()
	built := fault.Binaries{Present: filepath.Join(b.folder, m.Name, "present", "platformapp")}
	overlay := b.overlay(t, m)
	if err := operator.Build(t.Context(), operator.BuildOptions{Output: built.Present, Overlay: overlay}); err != nil {
		t.Fatal(err)
	}
	if built.Next = built.Present; isUpgraded {
		built.Next = filepath.Join(b.folder, m.Name, "next", "platformapp")
		err := operator.Build(t.Context(), operator.BuildOptions{Output: built.Next, Overlay: overlay, Version: nextVersion})
		if err != nil {
			t.Fatal(err)
		}
	}
	return built
}

func (b *bench) overlay(t *testing.T, m Mutant) string {
	t.Helper()
	overlay, err := m.Overlay(b.root, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return overlay
}

// examine carries out the plans that are to find a mutant, until one does, and returns its name and what it shows.
func (b *bench) examine(t *testing.T, m Mutant) (plan string, violations []string) {
	t.Helper()
	var built *fault.Binaries
	for _, name := range m.Plans {
		if isOfPackage(name) {
			violations = b.carryOutIn(t, m, name)
		} else {
			if built == nil {
				built = new(b.build(t, m, strings.Contains(name, "/upgrade")))
			}
			violations = b.carryOut(t, name, *built)
		}
		if len(violations) > 0 {
			return name, violations
		}
	}
	return "", nil
}

// carryOut carries out a plan of the campaign.
func (b *bench) carryOut(t *testing.T, name string, binaries fault.Binaries) []string {
	t.Helper()
	report, err := b.campaign.CarryOut(t.Context(), b.plan(t, name), binaries)
	if err != nil {
		t.Fatal(err)
	}
	if !report.Fired && len(report.Violations) == 0 {
		t.Logf("the fault of %s found nothing to strike", name)
	}
	return report.Violations
}

// plan returns the plan of the campaign with a name. The first call for a scenario makes its reference.
func (b *bench) plan(t *testing.T, name string) fault.Plan {
	t.Helper()
	for _, s := range fault.Scenarios() {
		if s.String() == name {
			return fault.Plan{Scenario: s}
		}
		if !strings.HasPrefix(name, s.String()+"/") {
			continue
		}
		plans, err := b.campaign.Plans(t.Context(), s)
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range plans {
			if p.String() == name {
				return p
			}
		}
	}
	t.Fatalf("the campaign has no plan %s", name)
	return fault.Plan{}
}
