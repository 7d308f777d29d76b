// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"platformapp/api/appstatus"
)

// failure is a way in which applications fail for ever.
type failure struct {
	name string
	// reason is that of their Ready condition.
	reason string
	// prepare makes the namespace one where they fail, given the rights that the operator needs there at least.
	prepare func(s *scene, namespace string, a account)
	// spoil makes an application one that fails, and creates what it fails at.
	spoil func(s *scene, app application)
	// perMinute is how many requests each may cause in a minute in the long run; atOnce is how many more at the start.
	perMinute, atOnce int
}

// failures are what the failing applications share in equal parts. A refusal is tried again each minute, a name that is
// taken is looked at each ten seconds, and what is invalid is left alone. A few requests each are spent at the start.
var failures = []failure{
	{
		name: "quota", reason: appstatus.ReasonQuotaExceeded, perMinute: 2, atOnce: 6,
		prepare: func(s *scene, namespace string, a account) {
			s.allow(a, namespace, "ClusterRole", managerRole)
			s.create(&corev1.ResourceQuota{
				ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "none"},
				Spec:       corev1.ResourceQuotaSpec{Hard: corev1.ResourceList{"count/deployments.apps": resource.MustParse("0")}},
			})
		},
		spoil: func(*scene, application) {},
	},
	{
		name: "invalid", reason: appstatus.ReasonInvalidSpec, perMinute: 0, atOnce: 3,
		prepare: func(s *scene, namespace string, a account) { s.allow(a, namespace, "ClusterRole", managerRole) },
		spoil:   func(_ *scene, app application) { setImage(app, "registry.example.com/Team/App:1") },
	},
	{
		name: "taken", reason: appstatus.ReasonNameConflict, perMinute: 14, atOnce: 8,
		prepare: func(s *scene, namespace string, a account) { s.allow(a, namespace, "ClusterRole", managerRole) },
		spoil:   func(s *scene, app application) { s.create(foreignDeployment(app.GetNamespace(), app.GetName())) },
	},
	{
		name: "forbidden", reason: appstatus.ReasonForbidden, perMinute: 2, atOnce: 6,
		prepare: func(s *scene, namespace string, a account) {
			role := &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: managerRole}}
			s.get(role)
			s.create(&rbacv1.Role{
				ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: a.name}, Rules: withoutDeployments(role.Rules),
			})
			s.allow(a, namespace, "Role", a.name)
		},
		spoil: func(*scene, application) {},
	},
}

// foreignDeployment is one that somebody else has made, without pods.
func foreignDeployment(namespace, name string) *appsv1.Deployment {
	labels := map[string]string{"app": name}
	return &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name},
		Spec: appsv1.DeploymentSpec{
			Replicas: new(int32(0)),
			Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: labels},
				Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "main", Image: imageOf(1)}}},
			},
		},
	}
}

// withoutDeployments returns the rules without the rights to write Deployments.
func withoutDeployments(rules []rbacv1.PolicyRule) []rbacv1.PolicyRule {
	const deployments = "deployments"
	var kept []rbacv1.PolicyRule
	for _, rule := range rules {
		if slices.Contains(rule.Resources, deployments) {
			readOnly := rbacv1.PolicyRule{APIGroups: rule.APIGroups, Resources: []string{deployments}, Verbs: []string{"get", "list", "watch"}}
			kept = append(kept, readOnly)
			rule.Resources = slices.DeleteFunc(slices.Clone(rule.Resources), func(r string) bool { return r == deployments })
		}
		if len(rule.Resources) > 0 {
			kept = append(kept, rule)
		}
	}
	return kept
}
