// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package resources_test

import (
	"encoding/json"
	"maps"
	"os"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"platformapp/api/egplatform/v1alpha1"
	"platformapp/internal/resources"
	"platformapp/internal/translate"
	"platformapp/internal/workload"
)

// attack is a row of testdata/attacks.yaml.
type attack struct {
	Name  string         `json:"name"`
	Spec  map[string]any `json:"spec"`
	Error string         `json:"error"`
}

func TestEGAppGivesNoMoreThanItsAuthorHas(t *testing.T) {
	raw, err := os.ReadFile("testdata/attacks.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var attacks []attack
	if err := yaml.UnmarshalStrict(raw, &attacks); err != nil {
		t.Fatal(err)
	}
	if len(attacks) < 40 {
		t.Errorf("%d attacks, want at least 40", len(attacks))
	}
	names := map[string]bool{}
	for _, attack := range attacks {
		if names[attack.Name] {
			t.Errorf("two attacks are named %s", attack.Name)
		}
		names[attack.Name] = true
		t.Run(attack.Name, func(t *testing.T) {
			_, err := translate.EGApp(egAppWith(t, attack.Spec), translate.Options{})
			if err == nil {
				t.Fatal("is not refused")
			}
			if !strings.Contains(err.Error(), attack.Error) {
				t.Errorf("is refused with\n%s\nwant the text\n%s", err, attack.Error)
			}
			if strings.Contains(err.Error(), "\n") {
				t.Errorf("the message has several lines: %q", err)
			}
		})
	}
}

// An attack that is refused for another reason than it should be proves nothing: what is
// laid over it must be an ordinary application.
func TestApplicationUnderTheAttacksIsOrdinary(t *testing.T) {
	if _, err := translate.EGApp(egAppWith(t, nil), translate.Options{}); err != nil {
		t.Error(err)
	}
}

// What is not refused because it does no harm.
func TestPatchCannotChangeWhatTheOperatorGives(t *testing.T) {
	for name, patch := range map[string]string{
		"another container first":           `{spec: {containers: [{name: first, image: "busybox:1.37"}, {name: main, workingDir: /srv}]}}`,
		"metadata left out":                 `{metadata: null}`,
		"labels and annotations left out":   `{metadata: {labels: null, annotations: null}}`,
		"security context left out":         `{spec: {containers: [{name: main, securityContext: null}]}}`,
		"capabilities left out":             `{spec: {containers: [{name: main, securityContext: {capabilities: null, allowPrivilegeEscalation: null}}]}}`,
		"account left out":                  `{spec: {serviceAccountName: null, serviceAccount: null}}`,
		"our labels repeated":               `{metadata: {labels: {platform.evillgenius.com/egapp: orders}}}`,
		"account of the application again":  `{spec: {serviceAccountName: orders-sa, serviceAccount: orders-sa}}`,
		"default container repeated":        `{metadata: {annotations: {kubectl.kubernetes.io/default-container: orders}}}`,
		"sidecar and init container silent": `{spec: {initContainers: [{name: a, image: "a:1"}], containers: [{name: b, image: "b:1"}]}}`,
	} {
		t.Run(name, func(t *testing.T) {
			w := mustTranslate(t, egAppWith(t, map[string]any{"serviceAccountName": "orders-sa", "podTemplatePatch": fromYAML(t, patch)}))
			template := deploymentOf(t, resources.Desired(w, workload.Observed{})).Spec.Template
			for key, value := range w.Owner.PodLabels() {
				if template.Labels[key] != value {
					t.Errorf("label %s is %q, want %q", key, template.Labels[key], value)
				}
			}
			if template.Spec.Containers[0].Name != "orders" || template.Annotations[workload.AnnotationDefaultContainer] != "orders" {
				t.Errorf("the application's container is not the first and default one: %s", toYAML(t, template))
			}
			if template.Spec.ServiceAccountName != "orders-sa" || template.Spec.DeprecatedServiceAccount != "orders-sa" {
				t.Errorf("the pods run as %q (%q)", template.Spec.ServiceAccountName, template.Spec.DeprecatedServiceAccount)
			}
			if verdict := podSecurityJudge(t)(t, w); !verdict.Allowed {
				t.Error(verdict.ForbiddenDetail())
			}
		})
	}
}

// egAppWith returns an ordinary EGApp named orders with more fields of its spec.
func egAppWith(t testing.TB, spec map[string]any) *v1alpha1.EGApp {
	t.Helper()
	full := map[string]any{"framework": "java", "environment": "prod", "replicaCount": 3}
	maps.Copy(full, spec)
	serialized, err := json.Marshal(full)
	if err != nil {
		t.Fatal(err)
	}
	app := &v1alpha1.EGApp{ObjectMeta: metav1.ObjectMeta{Namespace: "team-a", Name: "orders", UID: "1"}}
	if err := yaml.UnmarshalStrict(serialized, &app.Spec); err != nil {
		t.Fatal(err)
	}
	return app
}

// fromYAML reads a value as a client does that sends it to the API server.
func fromYAML(t testing.TB, text string) any {
	t.Helper()
	var value any
	if err := yaml.Unmarshal([]byte(text), &value); err != nil {
		t.Fatal(err)
	}
	return value
}
