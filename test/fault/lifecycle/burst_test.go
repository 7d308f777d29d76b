// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"testing"
	"time"

	"golang.org/x/sync/errgroup"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"platformapp/test/audit"
)

// burst is how many changes of one application come within a second.
const burst = 5

// The specifications of all applications change at once, then several times within a second. Each change is carried out with
// one write at most, and what is overtaken by a later one is not carried out.
func TestAllSpecificationsChangeAtOnce(t *testing.T) {
	carryOut(t, course{"all change at once", 2, func(s *scene) {
		namespace := s.namespace("burst")
		a := s.account("operator", namespace)
		s.start(s.options(a, namespace))
		apps := s.kind.makeMany(namespace, s.size(10, 100))
		for _, app := range apps {
			s.create(app)
		}
		s.carriedOut(apps...)
		s.atRest(namespace)

		once := s.changeAll(a, apps, 2)
		s.Logf("%d changes took %d writes of Deployments", len(apps), once)
		if once > len(apps) {
			s.Errorf("%d changes took %d writes of Deployments", len(apps), once)
		}
		several := s.changeAll(a, apps, 2+burst)
		s.Logf("%d changes took %d writes of Deployments", burst*len(apps), several)
		// In a sample, of few applications, each change may be carried out before the next one comes.
		if several > burst*len(apps) || s.full && several == burst*len(apps) {
			s.Errorf("%d changes took %d writes of Deployments", burst*len(apps), several)
		}
		s.expectMadeOnce(apps, a)
	}})
}

// changeAll takes all applications, release by release, to the given one, as fast as the API server lets it, and returns how
// often the operator wrote Deployments for it.
func (s *scene) changeAll(a account, apps []application, last int) int {
	s.Helper()
	start := time.Now()
	var group errgroup.Group
	const writers = 8
	group.SetLimit(writers)
	for _, app := range apps {
		group.Go(func() error {
			first := releaseIn(app) + 1
			for release := first; release <= last; release++ {
				before, _ := app.DeepCopyObject().(client.Object)
				setImage(app, imageOf(release))
				if err := s.admin.Patch(s.Context(), app, client.MergeFrom(before)); err != nil {
					return err
				}
			}
			return nil
		})
	}
	if err := group.Wait(); err != nil {
		s.Fatal(err)
	}
	asked := time.Since(start)
	s.carriedOut(apps...)
	carriedOut := time.Since(start)
	s.Logf("release %d: asked for within %s, carried out after %s", last, asked.Round(time.Millisecond), carriedOut.Round(time.Millisecond))
	s.atRest(apps[0].GetNamespace())
	return len(audit.Filter(s.requestsOf(a, start), func(r audit.Request) bool {
		return r.IsWrite() && r.Resource == "deployments.apps"
	}))
}
