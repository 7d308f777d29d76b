// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package outage

import (
	"context"
	"errors"
	"maps"
	"path/filepath"
	"slices"
	"time"

	"platformapp/api/appstatus"
	"platformapp/api/egplatform/v1alpha1"
	"platformapp/internal/testutil"
	"platformapp/test/fault"
)

// definitionPlans remove CustomResourceDefinitions while the operator runs and install them again: the optional ones, and
// the operator's own, with which all applications go. Nothing else may run on the cluster meanwhile.
func definitionPlans() [][]plan {
	uses := map[string]func(*v1alpha1.EGAppSpec){
		"ServiceMonitor": func(spec *v1alpha1.EGAppSpec) { spec.Monitoring = &v1alpha1.Monitoring{Port: "http"} },
		"Route": func(spec *v1alpha1.EGAppSpec) {
			spec.Expose = &v1alpha1.Expose{Type: v1alpha1.ExposeTypeRoute}
		},
		"HTTPRoute": func(spec *v1alpha1.EGAppSpec) {
			spec.Expose = &v1alpha1.Expose{
				Type: v1alpha1.ExposeTypeHTTPRoute, Hosts: []string{"app.example.com"},
				HTTPRoute: &v1alpha1.ExposeHTTPRoute{GatewayRef: v1alpha1.GatewayRef{Name: "gateway"}},
			}
		},
	}
	var optional []plan
	for _, kind := range slices.Sorted(maps.Keys(uses)) {
		optional = append(optional, plan{
			class: "optional definition removed", name: "outage/definitions/" + kind, kinds: []string{fault.EGApp}, alone: true,
			run: func(s *scene) { optionalDefinitionRemoved(s, kind, uses[kind]) },
		})
	}
	own := plan{class: "own definitions removed", name: "outage/definitions/own", kinds: bothKinds, alone: true, run: ownDefinitionsRemoved}
	return [][]plan{optional, {own}}
}

// discovered is how long the operator may take to use an API that comes: it looks for them once a minute.
var discovered = limit(time.Minute + 15*time.Second)

func optionalDefinitionRemoved(s *scene, kind string, use func(*v1alpha1.EGAppSpec)) {
	files, err := testutil.OptionalCRDs(s.Context())
	s.must(err)
	namespace := s.newNamespace("definitions")
	op, a := s.startOperator([]string{namespace})
	user, other := newEGApp(namespace, "orders", use), newEGApp(namespace, "billing", everyChild)
	s.create(user, other)
	s.awaitReports(other, appstatus.ReasonReady)
	has := func(ctx context.Context) error {
		view, err := fault.List(ctx, s.objects, namespace)
		if err != nil {
			return err
		}
		if view.Get(kind, "orders") == nil {
			return errors.New("there is none")
		}
		return nil
	}
	s.eventually(patience, "there is a "+kind, has)
	s.settledState(namespace)
	before := s.children(namespace)
	delete(before, kind+" orders")

	s.must(s.kubectl(s.Context(), "delete", "--filename", files[kind], "--wait"))
	start := len(s.requestsOf(a))
	s.label([]application{user, other}, "without")
	s.eventually(patience, "the other children are served", func(ctx context.Context) error {
		return errors.Join(s.labelled(ctx, user, before), s.labelled(ctx, other, before))
	})
	s.pauseFor(revokedPeriod())
	if n := len(s.requestsOf(a)) - start; n > requestBudget {
		s.violate("", "%d requests without the definition", n)
	}

	s.must(s.kubectl(s.Context(), "apply", "--server-side", "--filename", files[kind]))
	took := s.eventually(patience, "there is a "+kind+" again", has)
	s.Logf("the %s is there again %s after its definition", kind, took)
	if took > discovered {
		s.violate(fault.EGApp, "the %s is there only %s after its definition", kind, took)
	}
	s.expectSame(before, s.children(namespace))
	s.eventually(patience, "the user is as asked for", func(ctx context.Context) error { return s.labelled(ctx, user, before) })
	s.expectQuiet(a)
	s.expectSound(op, 0)
}

func ownDefinitionsRemoved(s *scene) {
	namespace := s.newNamespace("definitions")
	op, a := s.startOperator([]string{namespace})
	s.applicationsIn(namespace)
	definitions := filepath.Join(s.root, "config", "crd")
	s.must(s.kubectl(s.Context(), "delete", "--kustomize", definitions, "--wait"))
	s.eventually(patience, "the children are gone with their applications", func(context.Context) error {
		if left := s.children(namespace); len(left) > 0 {
			return errors.New("there are some")
		}
		return nil
	})
	s.pauseFor(revokedPeriod())

	s.must(s.kubectl(s.Context(), "apply", "--server-side", "--kustomize", definitions))
	s.must(s.awaitOwnKinds(s.Context()))
	back := time.Now()
	apps := s.applicationsIn(namespace)
	took := time.Since(back)
	s.Logf("applications are Ready %s after the definitions are back", took)
	if took > convergence {
		s.violate("", "applications are Ready only %s after the definitions are back", took)
	}
	before := s.children(namespace)
	s.label(apps, "back")
	s.awaitLabelled(apps, before)
	s.expectSame(before, s.children(namespace))
	s.expectQuiet(a)
	s.expectSound(op, 0)
}
