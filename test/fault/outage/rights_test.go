// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package outage

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	rbacv1 "k8s.io/api/rbac/v1"
	"sigs.k8s.io/yaml"

	"platformapp/api/appstatus"
	"platformapp/api/egplatform/v1alpha1"
	"platformapp/internal/localcluster"
	"platformapp/test/fault"
	"platformapp/test/fault/proxy"
	"platformapp/test/operator"
)

// recovery is how long after the return of a right all may take to be as it is asked to be: an application that was refused
// looks again once a minute.
var recovery = limit(time.Minute + 10*time.Second)

// right is what a rule of config/rbac/role.yaml gives on one resource.
type right struct {
	group, resource string
	// verb is one of those that the rule allows.
	verb string
}

// String is the right as RBAC's messages have it.
func (r right) String() string {
	if r.group == "" {
		return r.resource
	}
	return r.resource + "." + r.group
}

// rightsPlans take each right of the operator away while it works, and give it back.
func rightsPlans() [][]plan {
	var plans []plan
	for _, r := range rightsOfManager() {
		plans = append(plans, plan{
			class: "right revoked", name: "outage/rights/" + r.String(), kinds: kindsThatUse(r),
			run: func(s *scene) { rightRevoked(s, r) },
		})
	}
	return [][]plan{plans}
}

// rightsOfManager reads the operator's rights.
func rightsOfManager() []right {
	root, err := localcluster.CheckoutRoot()
	if err != nil {
		panic(err)
	}
	content, err := os.ReadFile(filepath.Join(root, "config", "rbac", "role.yaml"))
	if err != nil {
		panic(err)
	}
	var role rbacv1.ClusterRole
	if err := yaml.UnmarshalStrict(content, &role); err != nil {
		panic(err)
	}
	var rights []right
	for _, rule := range role.Rules {
		for _, group := range rule.APIGroups {
			for _, resource := range rule.Resources {
				rights = append(rights, right{group, resource, rule.Verbs[0]})
			}
		}
	}
	return rights
}

// kindsThatUse returns the kinds of applications whose children, or selves, a right is about.
func kindsThatUse(r right) []string {
	switch {
	case r.group == "egplatform.platform.evillgenius.com":
		return []string{fault.EGApp}
	case r.group == "devops.my.domain":
		return []string{fault.DemoMicroService}
	case slices.Contains([]string{"deployments", "replicasets", "pods", "serviceaccounts", "events"}, r.resource):
		return bothKinds
	default:
		return []string{fault.EGApp}
	}
}

// childrenOfRights are the resources of children that the EGApp of these plans has, and its DemoMicroService.
var (
	childrenOfEGApp = []string{
		"deployments", "services", "ingresses", "networkpolicies", "poddisruptionbudgets", "horizontalpodautoscalers", "servicemonitors",
	}
	childrenOfDemoMicroService = []string{"deployments"}
)

func rightRevoked(s *scene, r right) {
	namespace := s.newNamespace("rights")
	role := s.ownRole(namespace)
	a, err := s.newAccount(s.Context(), namespace, role.Name)
	s.must(err)
	options := s.operatorOptions(a, []string{namespace})
	config, err := s.configOf(s.Context(), a)
	s.must(err)
	between, err := proxy.Start(config)
	s.must(err)
	s.Cleanup(between.Close)
	s.must(operator.Kubeconfig(options.Kubeconfig, between.Config()))
	op := startKubelet(s.T, options)
	egapp, service := newEGApp(namespace, "orders", everyChild), newDemoMicroService(namespace, "podinfo", image)
	egapp.Spec.Monitoring = &v1alpha1.Monitoring{Port: "http"}
	egapp.Spec.Autoscaling = &v1alpha1.Autoscaling{MinReplicas: new(int32(2)), MaxReplicas: 4, TargetCPUUtilizationPercentage: new(int32(70))}
	s.create(egapp, service)
	apps := map[application][]string{egapp: childrenOfEGApp, service: childrenOfDemoMicroService}
	for app := range apps {
		s.awaitReports(app, appstatus.ReasonReady)
	}
	before := s.children(namespace)

	s.revoke(a, role, r, between)
	revoked, from := time.Now(), between.Count()
	// Every child is to be written.
	for app := range apps {
		s.edit(app, func() { app.SetLabels(map[string]string{"cost-center": "after"}) })
	}
	for app, children := range apps {
		if slices.Contains(children, r.resource) {
			s.toldOf(app, r)
		} else if !strings.HasSuffix(r.resource, "/status") && !isKindOf(app, r) {
			s.eventually(patience, "who does not need the right is served", func(ctx context.Context) error { return s.labelled(ctx, app, before) })
		}
	}
	s.pauseFor(time.Until(revoked.Add(revokedPeriod())))
	if n := len(between.RequestsSince(from)); n > requestBudget {
		s.violate("", "%d requests in %s without the right to %s", n, time.Since(revoked), r)
	}

	s.edit(role, func() { role.Rules = s.managerRules() })
	restored := time.Now()
	for app := range apps {
		s.eventually(patience, fmt.Sprintf("%s is as asked for", app.GetName()), func(ctx context.Context) error {
			return errors.Join(s.reports(ctx, app, appstatus.ReasonReady), s.labelled(ctx, app, before))
		})
	}
	took := time.Since(restored)
	s.Logf("all is as asked for %s after the right to %s is back; %d requests while it was missing", took, r, len(between.RequestsSince(from)))
	if took > recovery {
		s.violate("", "it takes %s after the right to %s is back", took, r)
	}
	s.expectSame(before, s.children(namespace))
	s.seesAgain(r, before, egapp, service)
	s.expectQuiet(a)
	s.expectSound(op, 0)
}

// revokedPeriod is how long a right is missing.
func revokedPeriod() time.Duration {
	if isFull {
		return 45 * time.Second
	}
	return 5 * time.Second
}

// requestBudget is how many requests two applications may cost that are changed while a right is missing, for less than a
// minute.
const requestBudget = 80

// isKindOf tells whether a right is about the kind of an application itself.
func isKindOf(app application, r right) bool {
	return strings.HasPrefix(r.resource, strings.ToLower(kindOf(app)))
}
