// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package controllers_test

import (
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"platformapp/api/appstatus"
	"platformapp/api/egplatform/v1alpha1"
)

// Property 18. What the author of an EGApp tries comes to nothing, on a real API server and
// by an author who has no other right than to edit EGApps: neither with an application that
// is new nor with one that runs already.
func TestAttacksOfAnAuthorOfEGAppsComeToNothing(t *testing.T) {
	t.Parallel()
	victim, runs := newLoop(t), newLoop(t)
	author, runner := victim.authorOfEGApps(), runs.authorOfEGApps()
	running := ordinary("orders", nil)
	running.SetNamespace(runs.namespace)
	runs.must(runner.Create(t.Context(), running))
	runs.reconcile(running)
	runs.rollOut("orders")
	runs.reconcile(running)
	before := runs.childrenOf(ordersApp())
	if len(before) < 2 {
		t.Fatalf("the application under the attacks is not an ordinary one: its children are %v", before)
	}

	for _, attack := range attacks(t) {
		t.Run(attack.Name, func(t *testing.T) {
			isNew := victim.in(t)
			app := ordinary("orders", attack.Spec)
			app.SetNamespace(isNew.namespace)
			isNew.isRefused(attack, author.Create(t.Context(), app))
			if children := isNew.childrenOf(ordersApp()); len(children) > 0 {
				t.Errorf("the new application has the children %v", children)
			}
			isNew.must(client.IgnoreNotFound(author.Delete(t.Context(), app)))

			isOld := runs.in(t)
			isOld.read(running)
			running.Object["spec"] = ordinary("orders", attack.Spec).Object["spec"]
			isOld.isRefused(attack, runner.Update(t.Context(), running))
			for name, content := range isOld.childrenOf(ordersApp()) {
				if content != before[name] {
					t.Errorf("%s of the application that runs became\n%s\nit was\n%s", name, content, before[name])
				}
			}
		})
	}
}

// attack is a row of the table that internal/resources proves too, without an API server.
type attack struct {
	Name  string         `json:"name"`
	Spec  map[string]any `json:"spec"`
	Error string         `json:"error"`
}

func attacks(t *testing.T) []attack {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join("..", "internal", "resources", "testdata", "attacks.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	var rows []attack
	if err := yaml.UnmarshalStrict(raw, &rows); err != nil {
		t.Fatal(err)
	}
	return rows
}

// ordinary is an application that is carried out, but for what is laid over it.
func ordinary(name string, change map[string]any) *unstructured.Unstructured {
	spec := map[string]any{"framework": "java", "environment": "prod", "replicaCount": int64(3)}
	maps.Copy(spec, change)
	return asWritten("egplatform.platform.evillgenius.com/v1alpha1", "EGApp", name, spec)
}

// in returns the loop for a subtest.
func (l *loop) in(t *testing.T) *loop {
	sub := *l
	sub.TB, sub.ctx = t, t.Context()
	return &sub
}

// isRefused fails unless the API server answered a write of an attack with its error, or
// the loop says it of the stored application.
func (l *loop) isRefused(attack attack, answer error) {
	l.Helper()
	if answer != nil {
		if !apierrors.IsInvalid(answer) || !strings.Contains(answer.Error(), attack.Error) {
			l.Errorf("the API server answers\n%v\nwant the text\n%s", answer, attack.Error)
		}
		return
	}
	app := ordersApp()
	app.SetNamespace(l.namespace)
	if _, err := l.turn(app); err != nil {
		l.Error(err)
	}
	l.read(app)
	stalled := meta.FindStatusCondition(app.Status.Conditions, appstatus.ConditionStalled)
	if stalled == nil || stalled.Status != metav1.ConditionTrue || stalled.Reason != appstatus.ReasonInvalidSpec {
		l.Errorf("it is not Stalled with %s: %v", appstatus.ReasonInvalidSpec, app.Status.Conditions)
		return
	}
	if stalled.ObservedGeneration != app.Generation || !strings.Contains(stalled.Message, attack.Error) {
		l.Errorf("generation %d of %d is Stalled with\n%s\nwant the text\n%s", stalled.ObservedGeneration, app.Generation, stalled.Message, attack.Error)
	}
}

// authorOfEGApps returns the client of a user who may edit the EGApps of the namespace and
// nothing else, which it proves.
func (l *loop) authorOfEGApps() client.Client {
	l.Helper()
	const user = "author"
	role := &rbacv1.Role{
		ObjectMeta: metav1.ObjectMeta{Name: user},
		Rules: []rbacv1.PolicyRule{{
			APIGroups: []string{"egplatform.platform.evillgenius.com"}, Resources: []string{"egapps"},
			Verbs: []string{"get", "list", "watch", "create", "update", "patch", "delete"},
		}},
	}
	l.create(role)
	l.create(&rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: user},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: user},
		Subjects:   []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: user}},
	})
	config := rest.CopyConfig(cluster)
	config.Impersonate = rest.ImpersonationConfig{UserName: user}
	author, err := client.New(config, client.Options{Scheme: scheme})
	l.must(err)

	// The authorizer takes a moment to know of the role.
	probe := ordinary("probe", nil)
	probe.SetNamespace(l.namespace)
	eventually(l.TB, func() error { return author.Create(l.ctx, probe, client.DryRunAll) })
	name := metav1.ObjectMeta{Namespace: l.namespace, Name: "probe"}
	container := corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Image: "busybox:1.37"}}}
	for what, attempt := range map[string]func() error{
		"create a pod":        func() error { return author.Create(l.ctx, &corev1.Pod{ObjectMeta: name, Spec: container}) },
		"create a Deployment": func() error { return author.Create(l.ctx, &appsv1.Deployment{ObjectMeta: name}) },
		"read Secrets":        func() error { return author.List(l.ctx, &corev1.SecretList{}, client.InNamespace(l.namespace)) },
		"read ConfigMaps":     func() error { return author.List(l.ctx, &corev1.ConfigMapList{}, client.InNamespace(l.namespace)) },
		"read elsewhere": func() error {
			return author.List(l.ctx, &v1alpha1.EGAppList{}, client.InNamespace(metav1.NamespaceDefault))
		},
	} {
		if err := attempt(); !apierrors.IsForbidden(err) {
			l.Errorf("the author may %s: %v", what, err)
		}
	}
	return author
}
