// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"maps"
	"os"
	"path/filepath"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"platformapp/api/egplatform/v1alpha1"
)

// webhookRefusesAttacks plays a user who may edit EGApps and nothing else, and who tries all that an EGApp must not
// give. Where the webhook is served, none of it is even stored.
func webhookRefusesAttacks(s *scene) {
	namespace := s.namespace("attacks")
	options := operatorOptions{account: s.account("operator", namespace), watch: namespace}
	s.serveWebhook(namespace, &options)
	s.start(options)
	author := s.authorOfEGApps(namespace)
	raw, err := os.ReadFile(filepath.Join(s.root, "internal", "resources", "testdata", "attacks.yaml"))
	if err != nil {
		s.Fatal(err)
	}
	var attacks []struct {
		Name  string         `json:"name"`
		Spec  map[string]any `json:"spec"`
		Error string         `json:"error"`
	}
	if err := yaml.UnmarshalStrict(raw, &attacks); err != nil {
		s.Fatal(err)
	}
	for _, attack := range attacks {
		spec := map[string]any{"framework": "java", "environment": "prod", "replicaCount": int64(3)}
		maps.Copy(spec, attack.Spec)
		app := &unstructured.Unstructured{Object: map[string]any{"spec": spec}}
		app.SetGroupVersionKind(v1alpha1.GroupVersion.WithKind("EGApp"))
		app.SetNamespace(namespace)
		app.SetName("orders")
		err := author.Create(s.Context(), app)
		switch {
		case err == nil:
			s.Errorf("%s: it is stored", attack.Name)
			s.delete(app)
		case !isRefused(err, attack.Error):
			s.Errorf("%s: the API server answers\n%v\nwant the text\n%s", attack.Name, err, attack.Error)
		}
	}
	if children := s.children(namespace); len(attacks) == 0 || len(children) > 0 {
		s.Errorf("%d attacks made the children %v", len(attacks), children)
	}
}

// authorOfEGApps returns the client of an account that may edit the EGApps of a namespace and nothing else.
func (s *scene) authorOfEGApps(namespace string) client.Client {
	s.Helper()
	a := s.newAccount(s.T, namespace, "author")
	s.create(&rbacv1.Role{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: a.name},
		Rules: []rbacv1.PolicyRule{{
			APIGroups: []string{v1alpha1.GroupVersion.Group}, Resources: []string{"egapps"},
			Verbs: []string{"get", "list", "watch", "create", "update", "patch", "delete"},
		}},
	})
	s.allow(s.T, a, namespace, "Role", a.name)
	token, err := s.tokenOf(s.Context(), a)
	if err != nil {
		s.Fatal(err)
	}
	config := rest.AnonymousClientConfig(s.cluster.Config)
	config.BearerToken, config.QPS, config.WarningHandler = token, -1, rest.NoWarnings{}
	author, err := client.New(config, client.Options{Scheme: s.admin.Scheme()})
	if err != nil {
		s.Fatal(err)
	}
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "probe"}, Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Image: image}}}}
	if err := author.Create(s.Context(), pod, client.DryRunAll); !apierrors.IsForbidden(err) {
		s.Errorf("the author may create pods: %v", err)
	}
	if err := author.List(s.Context(), &corev1.SecretList{}, client.InNamespace(namespace)); !apierrors.IsForbidden(err) {
		s.Errorf("the author may read Secrets: %v", err)
	}
	return author
}
