// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package olm

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	operatorsv1alpha1 "github.com/operator-framework/api/pkg/operators/v1alpha1"
	rbacv1 "k8s.io/api/rbac/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"platformapp/test/audit"
)

// account is a ServiceAccount.
type account struct{ namespace, name string }

// user is the name that the API server knows the account by.
func (a account) user() string { return "system:serviceaccount:" + a.namespace + ":" + a.name }

// right is one thing that an account may do: in a namespace or, without one, everywhere; to the object of that name
// or, without one, to all.
type right struct{ namespace, verb, resource, name string }

func (r right) String() string {
	return strings.TrimRight(fmt.Sprintf("%s %s in %q %s", r.verb, r.resource, r.namespace, r.name), " ")
}

// rights are a set of them.
type rights map[right]bool

// add adds what the rules allow in a namespace or, without one, everywhere.
func (r rights) add(namespace string, rules []rbacv1.PolicyRule) {
	for _, rule := range rules {
		names := rule.ResourceNames
		if len(names) == 0 {
			names = []string{""}
		}
		for _, group := range rule.APIGroups {
			for _, resource := range rule.Resources {
				for _, verb := range rule.Verbs {
					for _, name := range names {
						r[right{namespace, verb, audit.Qualified(group, resource), name}] = true
					}
				}
			}
		}
	}
}

// without returns those that others lack, in words and in order.
func (r rights) without(others rights) []string {
	var missing []string
	for _, one := range slices.SortedFunc(maps.Keys(r), func(a, b right) int { return strings.Compare(a.String(), b.String()) }) {
		if !others[one] {
			missing = append(missing, one.String())
		}
	}
	return missing
}

// rightsOf returns what the bindings of the cluster give to an account by its name.
func (s *suite) rightsOf(ctx context.Context, a account) (rights, error) {
	var bindings rbacv1.RoleBindingList
	var clusterBindings rbacv1.ClusterRoleBindingList
	for _, list := range []client.ObjectList{&bindings, &clusterBindings} {
		if err := s.admin.List(ctx, list); err != nil {
			return nil, err
		}
	}
	found := rights{}
	add := func(bound, namespace string, ref rbacv1.RoleRef, subjects []rbacv1.Subject) error {
		if !slices.ContainsFunc(subjects, func(subject rbacv1.Subject) bool { return a.is(subject, bound) }) {
			return nil
		}
		rules, err := s.rules(ctx, bound, ref)
		found.add(namespace, rules)
		return err
	}
	for _, b := range bindings.Items {
		if err := add(b.Namespace, b.Namespace, b.RoleRef, b.Subjects); err != nil {
			return nil, err
		}
	}
	for _, b := range clusterBindings.Items {
		if err := add("", "", b.RoleRef, b.Subjects); err != nil {
			return nil, err
		}
	}
	return found, nil
}

// is tells whether a subject of a binding in a namespace is the account.
func (a account) is(subject rbacv1.Subject, namespace string) bool {
	if subject.Namespace != "" {
		namespace = subject.Namespace
	}
	return subject.Kind == rbacv1.ServiceAccountKind && subject.Name == a.name && namespace == a.namespace
}

func (s *suite) rules(ctx context.Context, namespace string, ref rbacv1.RoleRef) ([]rbacv1.PolicyRule, error) {
	if ref.Kind == "ClusterRole" {
		role := &rbacv1.ClusterRole{}
		err := s.admin.Get(ctx, client.ObjectKey{Name: ref.Name}, role)
		return role.Rules, err
	}
	role := &rbacv1.Role{}
	err := s.admin.Get(ctx, client.ObjectKey{Namespace: namespace, Name: ref.Name}, role)
	return role.Rules, err
}

// rights returns what the manager may do by the ClusterServiceVersion when it is installed in a namespace and watches
// the targets or, without any, all namespaces. OLM gives the permissions in the namespace of the installation too.
func (b *bundle) rights(namespace string, targets []string) rights {
	granted := rights{}
	strategy := b.csv.Spec.InstallStrategy.StrategySpec
	places := append([]string{namespace}, targets...)
	if len(targets) == 0 {
		places = append(places, "")
	}
	for _, place := range places {
		granted.addAll(place, strategy.Permissions)
	}
	granted.addAll("", strategy.ClusterPermissions)
	return granted
}

func (r rights) addAll(namespace string, permissions []operatorsv1alpha1.StrategyDeploymentPermissions) {
	for _, p := range permissions {
		r.add(namespace, p.Rules)
	}
}

// rightsByOLM returns what OLM gives to the manager of its own accord: to read the certificate that it made for the
// webhook, to serve an aggregated API, which shares the certificate's machinery, to say whether it may be upgraded, and
// to see namespaces where it watches all of them.
func (b *bundle) rightsByOLM(namespace string, targets []string) rights {
	granted := rights{}
	granted.add(namespace, []rbacv1.PolicyRule{
		{APIGroups: []string{""}, Resources: []string{"secrets"}, ResourceNames: []string{b.certificateSecret()}, Verbs: []string{"get"}},
		{APIGroups: []string{"operators.coreos.com"}, Resources: []string{"operatorconditions"}, ResourceNames: []string{b.csv.Name},
			Verbs: []string{"get", "update", "patch"}},
	})
	granted.add("kube-system", []rbacv1.PolicyRule{{APIGroups: []string{""}, Resources: []string{"configmaps"},
		ResourceNames: []string{"extension-apiserver-authentication"}, Verbs: []string{"get", "list", "watch"}}})
	granted.add("", []rbacv1.PolicyRule{
		{APIGroups: []string{"authentication.k8s.io"}, Resources: []string{"tokenreviews"}, Verbs: []string{"create"}},
		{APIGroups: []string{"authorization.k8s.io"}, Resources: []string{"subjectaccessreviews"}, Verbs: []string{"create"}},
	})
	if len(targets) == 0 {
		granted.add("", []rbacv1.PolicyRule{{APIGroups: []string{""}, Resources: []string{"namespaces"}, Verbs: []string{"get", "list", "watch"}}})
	}
	return granted
}

// webhookService and certificateSecret are the names that OLM gives.
func (b *bundle) webhookService() string    { return b.deployment().Name + "-service" }
func (b *bundle) certificateSecret() string { return b.webhookService() + "-cert" }
