// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package security

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"
	"sigs.k8s.io/yaml"
)

// maxRights is how many pairs of a resource and a verb the operator's role may have. There are ten kinds of children, each
// of which needs list, watch, create, patch and, but for the Deployment, delete, and get to see what another party has put
// there meanwhile; the rest is what children and applications are judged by. A new kind of child raises it by six.
const maxRights = 79

// operatorsRoles are the roles in config/rbac that the operator itself has; all others there are for people.
var operatorsRoles = []string{"manager-role", "leader-election-role", "metrics-auth-role"}

// role is a Role or a ClusterRole.
type role struct {
	Kind     string
	Metadata struct{ Name string }
	Rules    []rbacv1.PolicyRule
}

// roles returns all roles in config/rbac by name.
func roles(t *testing.T) map[string]role {
	t.Helper()
	found := map[string]role{}
	for _, file := range matching(t, `^config/rbac/.*\.yaml$`) {
		for _, document := range documents(t, file) {
			var r role
			if err := yaml.Unmarshal(document, &r); err != nil {
				t.Fatalf("%s: %v", file, err)
			}
			if r.Kind == "Role" || r.Kind == "ClusterRole" {
				found[r.Metadata.Name] = r
			}
		}
	}
	for _, name := range operatorsRoles {
		if len(found[name].Rules) == 0 {
			t.Fatalf("there is no role %s: found are %d", name, len(found))
		}
	}
	return found
}

// pair is a verb and what it is used on, as group/resource.
type pair struct{ verb, resource string }

func pairs(rules []rbacv1.PolicyRule) []pair {
	var found []pair
	for _, rule := range rules {
		for _, verb := range rule.Verbs {
			for _, group := range rule.APIGroups {
				for _, resource := range rule.Resources {
					found = append(found, pair{verb, group + "/" + resource})
				}
			}
			for _, url := range rule.NonResourceURLs {
				found = append(found, pair{verb, url})
			}
		}
	}
	return found
}

// S1, S2. Rights by which the operator, or whoever takes its token, would come by further rights, or by what others keep
// secret.
func TestNobodyGetsARightThatLeadsToMore(t *testing.T) {
	isPowerful := func(p pair) bool {
		group, resource, _ := strings.Cut(p.resource, "/")
		switch {
		case p.verb == "*", group == "*", strings.Contains(resource, "*"):
			return true
		case slices.Contains([]string{"escalate", "bind", "impersonate", "approve", "sign", "proxy", "deletecollection"}, p.verb):
			return true
		case slices.Contains([]string{
			"rbac.authorization.k8s.io", "certificates.k8s.io", "admissionregistration.k8s.io", "apiextensions.k8s.io",
			"apiregistration.k8s.io", "policy.networking.k8s.io", "security.openshift.io", "authorization.openshift.io",
		}, group):
			return true
		}
		name, subresource, _ := strings.Cut(resource, "/")
		switch name {
		case "secrets", "nodes", "users", "groups", "persistentvolumes", "namespaces":
			return true
		case "pods":
			return subresource != "" || p.verb != "list" && p.verb != "watch"
		case "serviceaccounts":
			return subresource != "" || p.verb != "list" && p.verb != "watch"
		}
		return false
	}
	for _, p := range []pair{
		{"get", "/secrets"}, {"create", "/pods"}, {"create", "/pods/exec"}, {"create", "/serviceaccounts/token"}, {"list", "*/pods"},
		{"*", "apps/deployments"}, {"get", "apps/*"}, {"create", "rbac.authorization.k8s.io/roles"}, {"impersonate", "/users"},
	} {
		if !isPowerful(p) {
			t.Errorf("%v is let pass: this test sees nothing", p)
		}
	}
	for name, r := range roles(t) {
		isOperators := slices.Contains(operatorsRoles, name)
		for _, p := range pairs(r.Rules) {
			// Who may delete one application of a namespace may delete all.
			isPeoples := !isOperators && p.verb == "deletecollection"
			isUnlimited := !isOperators && p.verb == "*" && strings.HasSuffix(name, "-admin-role") && isOurKind(p.resource)
			if isPowerful(p) && !isPeoples && !isUnlimited {
				t.Errorf("%s %s may %s %s", r.Kind, name, p.verb, p.resource)
			}
			if !isOperators && !isOurKind(p.resource) && p.resource != "/metrics" {
				t.Errorf("%s %s, which is for people, is about %s", r.Kind, name, p.resource)
			}
		}
	}
}

// isOurKind tells whether a resource is one of the kinds that the operator serves.
func isOurKind(resource string) bool {
	return strings.HasPrefix(resource, "egplatform.platform.evillgenius.com/egapps") ||
		strings.HasPrefix(resource, "devops.my.domain/demomicroservices")
}

// S3
func TestRightsAreFewAndTheOthersLieInTheOperatorsNamespace(t *testing.T) {
	all := roles(t)
	got := pairs(all["manager-role"].Rules)
	slices.SortFunc(got, func(a, b pair) int { return strings.Compare(fmt.Sprint(a), fmt.Sprint(b)) })
	if len(slices.Compact(got)) != maxRights {
		t.Errorf("the operator has %d rights, want %d: if it needs another one, say what for; if one less, lower the bound", len(got), maxRights)
	}
	for _, p := range got {
		if strings.Contains(p.resource, "leases") || p.resource == "/events" {
			t.Errorf("in every namespace the operator may %s %s", p.verb, p.resource)
		}
		// Applications are the user's: the operator writes their status alone. What it makes it applies, and never
		// replaces.
		if isOurKind(p.resource) && !slices.Contains([]string{"get", "list", "watch"}, p.verb) && !strings.HasSuffix(p.resource, "/status") {
			t.Errorf("the operator may %s %s", p.verb, p.resource)
		}
		if p.verb == "update" && p.resource != "route.openshift.io/routes/custom-host" {
			t.Errorf("the operator may update %s", p.resource)
		}
	}
	if slices.Contains(got, pair{"delete", "apps/deployments"}) {
		t.Error("the operator may delete Deployments, which it never does: with one go its pods")
	}
	if kind := all["leader-election-role"].Kind; kind != "Role" {
		t.Errorf("leader election has a %s", kind)
	}
	want := []pair{{"create", "authentication.k8s.io/tokenreviews"}, {"create", "authorization.k8s.io/subjectaccessreviews"}}
	if got := pairs(all["metrics-auth-role"].Rules); !slices.Equal(got, want) {
		t.Errorf("to know the callers of the metrics the operator has %v, want %v", got, want)
	}
}
