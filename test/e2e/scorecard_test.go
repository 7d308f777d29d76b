// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/operator-framework/api/pkg/apis/scorecard/v1alpha3"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"platformapp/test/audit"
)

// The tests of the scorecard image pass with the operator, with the rights of their ServiceAccount and with no more.
func TestTheScorecardPasses(t *testing.T) {
	s := newSharedScene(t)
	binary := s.buildScorecard()
	namespace := s.namespace("scorecard")
	a := s.installScorecard(namespace)
	kubeconfig, err := s.kubeconfigFor(t.Context(), a)
	if err != nil {
		t.Fatal(err)
	}
	list, err := exec.CommandContext(t.Context(), binary, "list").Output()
	if err != nil {
		t.Fatal(err)
	}
	stop := s.refuseImages(namespace, "registry.invalid/")
	t.Run("tests", func(t *testing.T) {
		for line := range strings.Lines(string(list)) {
			name := strings.Fields(line)[0]
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				s.in(t).passes(binary, kubeconfig, namespace, name)
			})
		}
	})
	stop()
	if apps, err := s.applications(t.Context(), namespace); err != nil || len(apps) > 0 {
		t.Errorf("%d applications are left, %v", len(apps), err)
	}
	s.expectNothingRefused(a)
	role := &rbacv1.Role{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: a.name}}
	s.get(role)
	if diff := cmp.Diff(rightsOf(role.Rules), s.rightsUsedBy(a)); diff != "" {
		t.Errorf("the rights that the Role grants and those that are used differ (-granted +used):\n%s", diff)
	}
}

// buildScorecard builds the program of the scorecard image, beside the operator.
func (s *scene) buildScorecard() string {
	s.Helper()
	binary := filepath.Join(filepath.Dir(s.binary), "scorecard")
	cmd := exec.CommandContext(s.Context(), "go", "build", "-o", binary, "./test/scorecard")
	cmd.Dir = s.root
	cmd.Env = append(os.Environ(), "GOOS=", "GOARCH=")
	if out, err := cmd.CombinedOutput(); err != nil {
		s.Fatalf("build the scorecard: %v\n%s", err, out)
	}
	return binary
}

// installScorecard applies the ServiceAccount and the rights of the tests to a namespace, as make scorecard does.
func (s *scene) installScorecard(namespace string) account {
	s.Helper()
	a := account{namespace, "platformapp-scorecard"}
	manifest, err := os.ReadFile(filepath.Join(s.root, "test", "scorecard", "rbac.yaml"))
	if err != nil {
		s.Fatal(err)
	}
	adapted := filepath.Join(s.TempDir(), "rbac.yaml")
	text := strings.ReplaceAll(string(manifest), "namespace: platformapp-scorecard", "namespace: "+namespace)
	if err := os.WriteFile(adapted, []byte(text), 0o600); err != nil {
		s.Fatal(err)
	}
	s.kubectl("apply", "--filename", adapted)
	return a
}

// passes runs a test of the scorecard as its pod does, and fails unless its result says that it passed, and unless
// that is all it prints: the log of a pod holds both outputs.
func (s *scene) passes(binary, kubeconfig, namespace, name string) {
	s.Helper()
	cmd := exec.CommandContext(s.Context(), binary, "--bundle="+filepath.Join(s.root, "bundle"), name)
	cmd.Env = []string{"KUBECONFIG=" + kubeconfig, "SCORECARD_NAMESPACE=" + namespace}
	var log bytes.Buffer
	cmd.Stdout, cmd.Stderr = &log, &log
	err := cmd.Run()
	var status v1alpha3.TestStatus
	if err := json.Unmarshal(log.Bytes(), &status); err != nil || len(status.Results) != 1 {
		s.Fatalf("no result: %v\n%s", err, &log)
	}
	result := status.Results[0]
	s.Logf("%s\n%s", result.State, result.Log)
	if err != nil || result.State != v1alpha3.PassState || result.Name != name {
		s.Errorf("%v: %s %s\n%s", err, result.Name, result.State, strings.Join(result.Errors, "\n"))
	}
}

// refuseImages plays the kubelet that cannot pull the images below a prefix, until the returned function is called.
func (s *scene) refuseImages(namespace, prefix string) (stop func()) {
	ctx, cancel := context.WithCancel(s.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for ctx.Err() == nil {
			var pods corev1.PodList
			err := s.admin.List(ctx, &pods, client.InNamespace(namespace))
			for i := range pods.Items {
				if pod := &pods.Items[i]; strings.HasPrefix(pod.Spec.Containers[0].Image, prefix) && podIsReady(*pod) {
					err = errors.Join(err, s.refuseImage(ctx, pod))
				}
			}
			if err != nil && ctx.Err() == nil {
				s.Logf("refuse images: %v", err)
			}
			time.Sleep(pollInterval)
		}
	}()
	return func() {
		cancel()
		<-ended
	}
}

// refuseImage plays the kubelet that cannot pull the image of a pod. The phase stays Running: KWOK heals a pod that is
// Pending.
func (s *scene) refuseImage(ctx context.Context, pod *corev1.Pod) error {
	setContainer(&pod.Status, waiting(pod.Spec.Containers[0].Name, "ErrImagePull", "dial tcp: lookup registry.invalid: no such host"))
	for i := range pod.Status.Conditions {
		if c := &pod.Status.Conditions[i]; c.Type == corev1.PodReady || c.Type == corev1.ContainersReady {
			c.Status = corev1.ConditionFalse
		}
	}
	return client.IgnoreNotFound(s.admin.Status().Update(ctx, pod))
}

// rightsOf returns what rules grant, each as verb and resource.
func rightsOf(rules []rbacv1.PolicyRule) map[string]bool {
	rights := map[string]bool{}
	for _, rule := range rules {
		for _, group := range rule.APIGroups {
			for _, resource := range rule.Resources {
				for _, verb := range rule.Verbs {
					rights[verb+" "+audit.Qualified(group, resource)] = true
				}
			}
		}
	}
	return rights
}
