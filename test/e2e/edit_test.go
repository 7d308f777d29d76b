// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/util/retry"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"platformapp/api/appstatus"
	"platformapp/api/egplatform/v1alpha1"
)

// set sets fields of an EGApp's specification, which are given as YAML.
func (s *scene) set(app *v1alpha1.EGApp, fields string) {
	s.Helper()
	if err := yaml.UnmarshalStrict([]byte(fields), &app.Spec); err != nil {
		s.Fatal(err)
	}
}

// patch is a podTemplatePatch that is given as YAML.
func (s *scene) patch(fields string) *runtime.RawExtension {
	s.Helper()
	raw, err := yaml.YAMLToJSON([]byte(fields))
	if err != nil {
		s.Fatal(err)
	}
	return &runtime.RawExtension{Raw: raw}
}

// edit reads an object, changes it and writes it back, as kubectl edit does.
func (s *scene) edit(object client.Object, change func()) {
	s.Helper()
	err := retry.RetryOnConflict(retry.DefaultRetry, func() error {
		if err := s.admin.Get(s.Context(), client.ObjectKeyFromObject(object), object); err != nil {
			return err
		}
		change()
		return s.admin.Update(s.Context(), object)
	})
	if err != nil {
		s.Fatalf("edit %T %s: %v", object, object.GetName(), err)
	}
}

// says fails unless a message holds all the words.
func (s *scene) says(condition *metav1.Condition, words ...string) {
	s.Helper()
	for _, word := range words {
		if !strings.Contains(condition.Message, word) {
			s.Errorf("the message of %s lacks %q: %s", condition.Reason, word, condition.Message)
		}
	}
}

// replicaSetsOf returns the ReplicaSets of an application's Deployment.
func (s *scene) replicaSetsOf(app application) []appsv1.ReplicaSet {
	s.Helper()
	deployment := s.deploymentOf(app)
	var list appsv1.ReplicaSetList
	if err := s.admin.List(s.Context(), &list, client.InNamespace(app.GetNamespace())); err != nil {
		s.Fatal(err)
	}
	return slices.DeleteFunc(list.Items, func(r appsv1.ReplicaSet) bool { return !metav1.IsControlledBy(&r, deployment) })
}

// uids are the identities of pods, in the order of their names.
func uids(pods []corev1.Pod) []string {
	out := make([]string, 0, len(pods))
	for _, pod := range pods {
		out = append(out, string(pod.UID))
	}
	return out
}

// defaultAccount waits for the ServiceAccount that each namespace gets, and reads it.
func (s *scene) defaultAccount(namespace string) *corev1.ServiceAccount {
	s.Helper()
	account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "default"}}
	s.eventually(shortWait, "the namespace has a ServiceAccount", func(ctx context.Context) error {
		return s.admin.Get(ctx, client.ObjectKeyFromObject(account), account)
	})
	return account
}

// isRefused tells whether an error is the API server's refusal with the words.
func isRefused(err error, words string) bool {
	return (apierrors.IsForbidden(err) || apierrors.IsInvalid(err)) && strings.Contains(err.Error(), words)
}

// tells waits until an application is not Ready, for the reason and with all the words.
func (s *scene) tells(app application, reason string, words ...string) {
	s.Helper()
	s.eventually(shortWait, fmt.Sprintf("%T %s tells %s with %q", app, app.GetName(), reason, words), func(ctx context.Context) error {
		if err := s.admin.Get(ctx, client.ObjectKeyFromObject(app), app); err != nil {
			return err
		}
		ready := meta.FindStatusCondition(app.AppStatus().Conditions, appstatus.ConditionReady)
		if ready == nil || ready.Status != metav1.ConditionFalse || ready.Reason != reason {
			return fmt.Errorf("its condition is %+v", ready)
		}
		for _, word := range words {
			if !strings.Contains(ready.Message, word) {
				return fmt.Errorf("the message lacks %q: %s", word, ready.Message)
			}
		}
		return nil
	})
}

// file writes a file of the test and returns its path.
func (s *scene) file(name, content string) string {
	s.Helper()
	path := filepath.Join(s.TempDir(), name)
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		s.Fatal(err)
	}
	return path
}
