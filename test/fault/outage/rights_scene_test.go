// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package outage

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	authorizationv1 "k8s.io/api/authorization/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"platformapp/api/appstatus"
	"platformapp/test/fault"
	"platformapp/test/fault/proxy"
)

// ownRole makes a cluster role with the rights of the manager, for one namespace's operator.
func (s *scene) ownRole(name string) *rbacv1.ClusterRole {
	s.Helper()
	role := &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: name}, Rules: s.managerRules()}
	s.create(role)
	s.Cleanup(func() {
		if err := s.admin.Delete(context.WithoutCancel(s.Context()), role); err != nil {
			s.Error(err)
		}
	})
	return role
}

func (s *scene) managerRules() []rbacv1.PolicyRule {
	s.Helper()
	role := &rbacv1.ClusterRole{}
	s.must(s.admin.Get(s.Context(), client.ObjectKey{Name: managerRole}, role))
	return role.Rules
}

// revoke takes a right out of a role, waits until that holds, and ends the watches of the resource, which hold by what was
// allowed when they began.
func (s *scene) revoke(a account, role *rbacv1.ClusterRole, r right, between *proxy.Proxy) {
	s.Helper()
	s.edit(role, func() {
		for i := range role.Rules {
			rule := &role.Rules[i]
			if slices.Contains(rule.APIGroups, r.group) {
				rule.Resources = slices.DeleteFunc(rule.Resources, func(resource string) bool { return resource == r.resource })
			}
		}
		role.Rules = slices.DeleteFunc(role.Rules, func(rule rbacv1.PolicyRule) bool { return len(rule.Resources) == 0 })
	})
	// The authorizer learns it by a watch of its own.
	resource, subresource, _ := strings.Cut(r.resource, "/")
	s.eventually(patience, "the right is taken away", func(ctx context.Context) error {
		review := &authorizationv1.SubjectAccessReview{Spec: authorizationv1.SubjectAccessReviewSpec{
			User: a.user(), Groups: []string{"system:serviceaccounts", "system:authenticated"},
			ResourceAttributes: &authorizationv1.ResourceAttributes{
				Namespace: a.namespace, Verb: r.verb, Group: r.group, Resource: resource, Subresource: subresource,
			},
		}}
		answer, err := s.clientset.AuthorizationV1().SubjectAccessReviews().Create(ctx, review, metav1.CreateOptions{})
		if err == nil && answer.Status.Allowed {
			err = errors.New("it is still there")
		}
		return err
	})
	between.EndWatches(func(request proxy.Request) bool { return request.Group == r.group && request.Resource == r.resource })
}

// toldOf waits until an application that needs a right tells that it is missing: of what kind of object, and by what verb.
func (s *scene) toldOf(app application, r right) {
	s.Helper()
	ready, took := s.awaitCondition(app, appstatus.ReasonForbidden)
	s.Logf("%s tells after %s: %s", app.GetName(), took, ready.Message)
	if !strings.Contains(ready.Message, r.resource) || !strings.Contains(ready.Message, "patch") {
		s.violate(kindOf(app), "%s does not tell which right is missing, patch of %s: %s", app.GetName(), r, ready.Message)
	}
}

// labelled fails unless all children of an application have the label that the application was given, and those that are
// expected of it are there.
func (s *scene) labelled(ctx context.Context, app application, expected map[string]child) error {
	view, err := fault.List(ctx, s.objects, app.GetNamespace())
	if err != nil {
		return err
	}
	found := map[string]bool{}
	var failures []error
	eachChildOf(view, app.GetName(), func(name string, child *unstructured.Unstructured) {
		found[name] = true
		if child.GetLabels()["cost-center"] != app.GetLabels()["cost-center"] {
			failures = append(failures, fmt.Errorf("%s has not been written", name))
		}
	})
	for name, child := range expected {
		if child.app == app.GetName() && !found[name] {
			failures = append(failures, fmt.Errorf("%s is gone", name))
		}
	}
	if len(found) == 0 {
		failures = append(failures, fmt.Errorf("%s has no children", app.GetName()))
	}
	return errors.Join(failures...)
}

// seesAgain tells when the operator does not see what happens to its children, the ones of a resource whose right it has
// again among them.
func (s *scene) seesAgain(r right, expected map[string]child, apps ...application) {
	s.Helper()
	for _, app := range apps {
		view, err := fault.List(s.Context(), s.objects, app.GetNamespace())
		s.must(err)
		eachChildOf(view, app.GetName(), func(name string, child *unstructured.Unstructured) {
			if !strings.HasPrefix(r.resource, strings.ToLower(child.GetKind()[:len(child.GetKind())-1])) {
				return
			}
			s.remove(child)
			took := s.eventually(patience, name+" is made anew", func(context.Context) error {
				if now, isThere := s.children(app.GetNamespace())[name]; !isThere || now.uid == child.GetUID() {
					return errors.New("it is not there")
				}
				return nil
			})
			if took > recovery {
				s.violate(kindOf(app), "%s is made anew only after %s", name, took)
			}
		})
		s.edit(app, func() { app.SetLabels(map[string]string{"cost-center": "again"}) })
		s.eventually(patience, "the label is on all children", func(ctx context.Context) error {
			return errors.Join(s.reports(ctx, app, appstatus.ReasonReady), s.labelled(ctx, app, expected))
		})
	}
}
