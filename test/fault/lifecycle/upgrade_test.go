// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"platformapp/api/egplatform/v1alpha1"
	"platformapp/test/audit"
	"platformapp/test/operator"
)

// The operator is replaced by its next version, and that by the present one again, as the rollout of its Deployment does it:
// the new one is ready before the old one is asked to end. Then the present one is killed and started again. The next
// version is this tree under another version, so that nothing but the replacement itself can show.
func TestAnUpgradeAndADowngradeTouchNoApplication(t *testing.T) {
	carryOut(t, course{"operator upgraded, downgraded, restarted", 1, func(s *scene) {
		next, err := s.binary(s.Context(), "platformapp-next", operator.BuildOptions{Version: nextVersion})
		if err != nil {
			s.Fatal(err)
		}
		namespace := s.namespace("upgrade")
		s.create(settings(namespace))
		apps := s.fleet(namespace)
		f := &fleet{scene: s, namespace: namespace, applications: len(apps)}
		present := s.options(s.candidate("present", namespace), namespace)
		f.replace(present, present.Binary)
		for _, app := range apps {
			s.create(app)
		}
		f.remember()
		for step, binary := range []string{next, present.Binary, present.Binary} {
			name := []string{"upgrade", "downgrade", "restart"}[step]
			a := s.candidate(name, namespace)
			start := time.Now()
			if name == "restart" {
				f.operator.Kill()
			}
			f.replace(s.options(a, namespace), binary)
			s.looksAtAll(f.operator, len(apps))
			f.expectUntouched(name, a, start)
		}
	}})
}

// nextVersion is what the operator says that it is after the upgrade.
const nextVersion = "v99.0.0-next"

// fleet returns applications in every mix of features: of EGApps each pair of levels of two features, as far as their number
// goes; in full it goes all the way.
func (s *scene) fleet(namespace string) []application {
	s.Helper()
	if s.kind.name != egapp.name {
		return s.kind.makeMany(namespace, s.size(3, 10))
	}
	mixes, missing := mixesOf(s.size(12, 50), s.random())
	s.Logf("%d EGApps, in which %d pairs of features do not occur", len(mixes), missing)
	if s.full && missing > 0 {
		s.Errorf("%d pairs of features do not occur in %d EGApps", missing, len(mixes))
	}
	apps := make([]application, len(mixes))
	for i, m := range mixes {
		app := &v1alpha1.EGApp{Spec: m.spec()}
		app.Namespace, app.Name = namespace, fmt.Sprintf("app-%d", i)
		// A host belongs to one application.
		if expose := app.Spec.Expose; expose != nil {
			expose.Hosts = []string{app.Name + ".example.com"}
		}
		apps[i] = app
	}
	return apps
}

// fleet is applications at rest, and the operator that looks after them.
type fleet struct {
	*scene
	namespace    string
	applications int
	operator     *operator.Process
	before       map[string]string
	statuses     map[string]any
	versions     map[string]string
}

// replace starts an operator beside the present one, if any, and ends that.
func (f *fleet) replace(o operator.Options, binary string) {
	f.Helper()
	o.Binary = binary
	o.Args = append(slices.Clone(o.Args), "--leader-elect", "--leader-election-namespace="+f.namespace)
	op := f.start(o)
	if f.operator != nil && f.operator.Runs() {
		f.terminate(f.operator)
	}
	f.operator = op
	if isNext := strings.Contains(op.Log(), nextVersion); isNext != strings.HasSuffix(binary, "-next") {
		f.Errorf("the operator says %t that it is the next version", isNext)
	}
}

// remember brings the applications to rest and takes down what is there.
func (f *fleet) remember() {
	f.Helper()
	f.looksAtAll(f.operator, f.applications)
	f.versions = f.settled(f.namespace)
	f.before, f.statuses = f.snapshot(f.namespace), f.scene.statuses(f.namespace)
	f.Logf("%d applications with %d children, ReplicaSets and pods are at rest", f.applications, len(f.before))
	for name, status := range f.statuses {
		if s, ok := status.(map[string]any); !ok || s["observedGeneration"] != int64(1) {
			f.Errorf("%s was not looked at: %v", name, status)
		}
	}
}

// expectUntouched fails when the operator that came has changed more than the statuses, and those otherwise than by
// additions. Since this is the same tree, there is nothing to add either.
func (f *fleet) expectUntouched(step string, a account, since time.Time) {
	f.Helper()
	time.Sleep(quiet)
	if diff := cmp.Diff(f.before, f.snapshot(f.namespace)); diff != "" {
		f.Errorf("%s has changed children, ReplicaSets or pods (-before +after):\n%s", step, diff)
	}
	after := f.scene.statuses(f.namespace)
	for name, status := range f.statuses {
		for _, what := range lost(name, status, after[name]) {
			f.Errorf("%s: the status of %s", step, what)
		}
	}
	now, err := f.scene.versions(f.Context(), f.namespace)
	if err != nil {
		f.Fatal(err)
	}
	if !maps.Equal(f.versions, now) {
		f.Errorf("%s has changed resource versions (-before +after):\n%s", step, cmp.Diff(f.versions, now))
	}
	audit.ExpectNone(f, "writes through the "+step, audit.Filter(f.requestsOf(a, since), audit.Request.IsWrite))
}
