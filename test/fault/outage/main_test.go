// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package outage

import (
	"os"
	"slices"
	"testing"

	"github.com/go-logr/logr"
	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"

	"platformapp/internal/localcluster"
	"platformapp/internal/testutil"
)

// parallelPlans is how many plans are carried out at once, on the clusters that allow it.
const parallelPlans = 6

func TestMain(m *testing.M) {
	localcluster.ServeReaper()
	if errAsked != nil {
		panic(errAsked)
	}
	// What client-go tells of clusters that come and go, and of those that are gone, is of no use.
	ctrl.SetLogger(logr.Discard())
	klog.SetLogger(logr.Discard())
	if err := testutil.RunInParallel(parallelPlans); err != nil {
		panic(err)
	}
	os.Exit(m.Run())
}

// How many plans the sample has of each test. Outages take minutes each: they are carried out in full alone.
const (
	sampledOutages      = 0
	sampledDisturbances = 2
)

// TestOutages takes the control plane away, one plan after the other.
func TestOutages(t *testing.T) {
	t.Parallel()
	plans := selected(sampledOutages, slices.Concat(apiServerPlans(), etcdPlans())...)
	if len(plans) == 0 {
		return
	}
	s := newSite(t, "outages")
	for _, p := range plans {
		s.carryOut(t, p)
	}
}

// TestDisturbances disturbs single operators, several at once, on a control plane that works, and then all of them.
func TestDisturbances(t *testing.T) {
	t.Parallel()
	plans := selected(sampledDisturbances,
		slices.Concat(stalePlans(), conflictPlans(), rightsPlans(), webhookPlans(), admissionPlans(), definitionPlans())...)
	if len(plans) == 0 {
		t.Skip("no plan of these is asked for")
	}
	s := newSite(t, "disturbances")
	t.Run("at once", func(t *testing.T) {
		for _, p := range plans {
			if !p.alone {
				s.carryOut(t, p)
			}
		}
	})
	for _, p := range plans {
		if p.alone {
			s.carryOut(t, p)
		}
	}
}
