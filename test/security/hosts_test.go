// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package security

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"platformapp/api/egplatform/v1alpha1"
)

// The policy that docs/security.md offers to keep each namespace to hosts of its own.
func TestPolicyOfTheDocumentationKeepsNamespacesToTheirHosts(t *testing.T) {
	s := newScene(t)
	block := regexp.MustCompile("(?s)```yaml\n(apiVersion: admissionregistration.*?)```").FindStringSubmatch(read(t, "docs/security.md"))
	if block == nil {
		t.Fatal("docs/security.md has no policy")
	}
	for _, document := range split(t, block[1]) {
		object := &unstructured.Unstructured{}
		s.must(yaml.Unmarshal(document, object))
		s.create(object)
		t.Cleanup(func() {
			if err := s.admin.Delete(context.WithoutCancel(t.Context()), object); err != nil {
				t.Error(err)
			}
		})
	}
	try := func(hosts ...string) error {
		app := &v1alpha1.EGApp{ObjectMeta: s.in("orders"), Spec: v1alpha1.EGAppSpec{Framework: v1alpha1.FrameworkGo, Environment: v1alpha1.EnvironmentDev}}
		if len(hosts) > 0 {
			app.Spec.Expose = &v1alpha1.Expose{Hosts: hosts}
		}
		return s.admin.Create(t.Context(), app, client.DryRunAll)
	}
	own := "shop." + s.namespace + ".apps.example.com"
	// The API server takes a moment to know of the policy.
	s.eventually("the host of others is refused", func(context.Context) error {
		err := try(own, "shop.other.apps.example.com")
		if err != nil && strings.Contains(err.Error(), "hosts must end with ."+s.namespace+".apps.example.com") {
			return nil
		}
		return fmt.Errorf("it is answered %w", errors.Join(err, errors.New("want the words of the policy")))
	})
	for _, hosts := range [][]string{nil, {own}} {
		if err := try(hosts...); err != nil {
			t.Errorf("the hosts %v are refused: %v", hosts, err)
		}
	}
	for _, host := range []string{"*.apps.example.com", s.namespace + ".apps.example.com", "shopx" + s.namespace + ".apps.example.com", "example.com"} {
		if err := try(host); err == nil {
			t.Errorf("the host %s is let pass", host)
		}
	}
}
