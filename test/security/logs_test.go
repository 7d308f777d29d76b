// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package security

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"strings"
	"testing"

	admissionv1 "k8s.io/api/admission/v1"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"platformapp/api/appstatus"
	devopsv1 "platformapp/api/devops/v1"
	"platformapp/api/egplatform/v1alpha1"
	"platformapp/internal/testutil"
)

// canary is in every value of these tests that may be a secret: what follows it says which one.
const canary = "canary-7f3a"

// secretive is the specification of applications whose author has put secrets wherever they can be put.
var secretive = map[string]string{
	"good": `
command: [run, --password=CANARY-command]
args: [--token, CANARY-args]
env: [{name: PASSWORD, value: CANARY-env}, {name: FROM, valueFrom: {secretKeyRef: {name: secret, key: password}}}]
envFrom: [{secretRef: {name: secret}}, {configMapRef: {name: config}}]
files: [{mountPath: /config, configMap: {name: config}}, {mountPath: /secret, secret: {secretName: secret}}]
probes: {readiness: {httpGet: {path: /ready, port: http, httpHeaders: [{name: Authorization, value: CANARY-header}]}}}
podTemplatePatch:
  metadata: {annotations: {example.com/note: CANARY-annotation}}
  spec: {containers: [{name: sidecar, image: "example.com/sidecar:1", env: [{name: A, value: CANARY-sidecar}]}]}
`,
	"refused by a rule": `
env: [{name: PASSWORD, value: CANARY-refused}]
args: [CANARY-refused-args]
podTemplatePatch: {spec: {containers: [{name: main, securityContext: {privileged: true}, env: [{name: A, value: CANARY-refused-patch}]}]}}
`,
	"refused for an unknown field": `
podTemplatePatch: {spec: {password: CANARY-unknown, containers: [{name: main, env: [{name: A, vale: CANARY-typo}]}]}}
`,
	"refused by a policy of the cluster": `
env: [{name: DENY, value: CANARY-denied}]
`,
	"refused by the API server": `
env: [{name: PASSWORD, value: CANARY-invalid}]
podTemplatePatch: {spec: {hostAliases: [{ip: not-an-ip}], containers: [{name: sidecar, image: "example.com/sidecar:1", args: [CANARY-invalid-args]}]}}
`,
	"waiting for a ConfigMap": `
env: [{name: PASSWORD, value: CANARY-waiting}, {name: B, valueFrom: {configMapKeyRef: {name: none, key: b}}}]
`,
}

// S13. Values that may be secrets are told to nobody: not in the log, whatever its level is, nor in events, conditions and
// metrics.
func TestNoValueIsTold(t *testing.T) {
	t.Parallel()
	for name, args := range map[string][]string{
		"as it is installed":  nil,
		"in detail":           {"--zap-log-level=debug"},
		"in the most detail":  {"--zap-log-level=127"},
		"as developers do it": {"--zap-devel", "--zap-log-level=10", "--zap-stacktrace-level=info"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newScene(t)
			s.denyWhatSaysSo()
			s.create(
				&corev1.Secret{ObjectMeta: s.in("secret"), StringData: map[string]string{"password": canary + "-secret"}},
				&corev1.ConfigMap{ObjectMeta: s.in("config"), Data: map[string]string{"key": canary + "-config"}},
			)
			certificates := t.TempDir()
			testutil.MountCertificate(t, certificates, "webhook")
			process, _ := s.start(nil, append(args, "--metrics-secure=false", "--webhook-cert-path="+certificates)...)
			told := s.carriesOutSecrets()
			told["an answer of the webhook"] = s.asksTheWebhook(process.WebhookPort)
			metrics, err := process.Metrics(t.Context())
			s.must(err)
			told["the metrics"] = metrics
			told["the log"] = process.Log()
			for where, text := range told {
				if hits := regexp.MustCompile(canary+"-[a-z-]+").FindAllString(text, -1); len(hits) > 0 {
					t.Errorf("%s tells %d values, such as %s", where, len(hits), hits[0])
				}
			}
			if !strings.Contains(told["the log"], "starting") || !strings.Contains(told["the events"], "EGApp") || len(metrics) < 1000 {
				t.Errorf("there is nothing to look at: this test sees nothing\n%s", told["the log"])
			}
			details := regexp.MustCompile(`"level":"(debug|Level\(-[0-9]+\))"|\t(DEBUG|LEVEL\(-[0-9]+\))\t`)
			if details.MatchString(told["the log"]) != (len(args) > 0) {
				t.Errorf("with %v the log is not as detailed as it should be:\n%s", args, told["the log"])
			}
		})
	}
}

// denyWhatSaysSo has the API server deny Deployments of the scene with a variable DENY.
func (s *scene) denyWhatSaysSo() {
	s.Helper()
	name := metav1.ObjectMeta{Name: s.namespace}
	inHere := &metav1.LabelSelector{MatchLabels: map[string]string{corev1.LabelMetadataName: s.namespace}}
	s.create(&admissionregistrationv1.ValidatingAdmissionPolicy{ObjectMeta: name, Spec: admissionregistrationv1.ValidatingAdmissionPolicySpec{
		MatchConstraints: &admissionregistrationv1.MatchResources{ResourceRules: []admissionregistrationv1.NamedRuleWithOperations{{
			RuleWithOperations: admissionregistrationv1.RuleWithOperations{
				Operations: []admissionregistrationv1.OperationType{admissionregistrationv1.OperationAll},
				Rule:       admissionregistrationv1.Rule{APIGroups: []string{"apps"}, APIVersions: []string{"v1"}, Resources: []string{"deployments"}},
			},
		}}},
		Validations: []admissionregistrationv1.Validation{{
			Expression: `!object.spec.template.spec.containers.exists(c, has(c.env) && c.env.exists(e, e.name == "DENY"))`,
		}},
	}}, &admissionregistrationv1.ValidatingAdmissionPolicyBinding{ObjectMeta: name, Spec: admissionregistrationv1.ValidatingAdmissionPolicyBindingSpec{
		PolicyName: name.Name, ValidationActions: []admissionregistrationv1.ValidationAction{admissionregistrationv1.Deny},
		MatchResources: &admissionregistrationv1.MatchResources{NamespaceSelector: inHere},
	}})
	labels := map[string]string{"app": "denied"}
	denied := &appsv1.Deployment{ObjectMeta: s.in("denied"), Spec: appsv1.DeploymentSpec{
		Selector: &metav1.LabelSelector{MatchLabels: labels},
		Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: labels}, Spec: corev1.PodSpec{
			Containers: []corev1.Container{{Name: "main", Image: "example.com/app:1", Env: []corev1.EnvVar{{Name: "DENY", Value: "1"}}}},
		}},
	}}
	// The API server takes a moment to know of the policy.
	s.eventually("the policy denies", func(ctx context.Context) error {
		err := s.admin.Create(ctx, denied.DeepCopy(), client.DryRunAll)
		if apierrors.IsInvalid(err) || apierrors.IsForbidden(err) {
			return nil
		}
		return fmt.Errorf("it is answered %w", errors.Join(err, errors.New("want a denial")))
	})
}

// carriesOutSecrets makes the secretive applications, waits until each is carried out or refused, and returns what is told
// of them.
func (s *scene) carriesOutSecrets() map[string]string {
	s.Helper()
	want := map[string]string{
		"good": "", "waiting for a ConfigMap": "",
		"refused by a rule": appstatus.ReasonInvalidSpec, "refused for an unknown field": appstatus.ReasonInvalidSpec,
		"refused by a policy of the cluster": appstatus.ReasonRefused, "refused by the API server": appstatus.ReasonRefused,
	}
	for name := range secretive {
		s.create(s.secretiveApp(name))
	}
	s.create(&devopsv1.DemoMicroService{ObjectMeta: s.in("demo"), Spec: devopsv1.DemoMicroServiceSpec{Image: "example.com/demo:1"}})
	var apps v1alpha1.EGAppList
	s.eventually("every application is looked at", func(ctx context.Context) error {
		if err := s.admin.List(ctx, &apps, client.InNamespace(s.namespace)); err != nil {
			return err
		}
		for _, app := range apps.Items {
			name := app.Annotations["case"]
			if app.Status.ObservedGeneration != app.Generation || len(app.Status.Conditions) == 0 {
				return fmt.Errorf("%s: it is not looked at", name)
			}
			reasons := fmt.Sprint(app.Status.Conditions)
			isRefused := strings.Contains(reasons, appstatus.ReasonRefused) || strings.Contains(reasons, appstatus.ReasonInvalidSpec)
			if isRefused != (want[name] != "") || !strings.Contains(reasons, want[name]) {
				return fmt.Errorf("%s: its conditions are %s", name, reasons)
			}
		}
		return nil
	})
	told := map[string]string{}
	for _, app := range apps.Items {
		told["the status of "+app.Annotations["case"]] = s.written(app.Status)
	}
	var events eventsv1.EventList
	s.eventually("events are told", func(ctx context.Context) error {
		if err := s.admin.List(ctx, &events, client.InNamespace(s.namespace)); err != nil {
			return err
		}
		if len(events.Items) < len(secretive) {
			return fmt.Errorf("%d", len(events.Items))
		}
		return nil
	})
	told["the events"] = s.written(events)
	return told
}

func (s *scene) secretiveApp(name string) *v1alpha1.EGApp {
	s.Helper()
	app := &v1alpha1.EGApp{ObjectMeta: s.in("app-" + strings.ReplaceAll(strings.ToLower(name), " ", "-"))}
	app.Annotations = map[string]string{"case": name, "example.com/note": canary + "-of-the-object"}
	s.must(yaml.UnmarshalStrict([]byte("framework: go\nenvironment: dev\n"+strings.ReplaceAll(secretive[name], "CANARY", canary)), &app.Spec))
	return app
}

func (s *scene) written(object any) string {
	s.Helper()
	text, err := json.Marshal(object)
	s.must(err)
	return string(text)
}

// asksTheWebhook has it judge the secretive applications, and what is no question at all, as anybody can who reaches its
// port. It returns the answers.
func (s *scene) asksTheWebhook(port int) string {
	s.Helper()
	caller := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, DisableKeepAlives: true}}
	url := fmt.Sprintf("https://127.0.0.1:%d/validate-egplatform-platform-evillgenius-com-v1alpha1-egapp", port)
	ask := func(contentType string, body []byte) string {
		request, err := http.NewRequestWithContext(s.Context(), http.MethodPost, url, bytes.NewReader(body))
		s.must(err)
		request.Header.Set("Content-Type", contentType)
		answer, err := caller.Do(request)
		s.must(err)
		defer func() { _ = answer.Body.Close() }()
		text, err := io.ReadAll(answer.Body)
		s.must(err)
		return string(text) + "\n"
	}
	var answers strings.Builder
	for name := range secretive {
		app := s.secretiveApp(name)
		app.SetGroupVersionKind(v1alpha1.GroupVersion.WithKind("EGApp"))
		review := admissionv1.AdmissionReview{
			TypeMeta: metav1.TypeMeta{APIVersion: admissionv1.SchemeGroupVersion.String(), Kind: "AdmissionReview"},
			Request: &admissionv1.AdmissionRequest{
				UID: "1", Kind: metav1.GroupVersionKind(app.GroupVersionKind()), Operation: admissionv1.Create, Namespace: app.Namespace, Name: app.Name,
				Object: runtime.RawExtension{Raw: []byte(s.written(app))},
			},
		}
		answers.WriteString(ask("application/json", []byte(s.written(review))))
	}
	if text := answers.String(); !strings.Contains(text, `"allowed":true`) || !strings.Contains(text, `"allowed":false`) {
		s.Errorf("the webhook answers %s: this test sees nothing", text)
	}
	answers.WriteString(ask("application/json", []byte(`{"request": {"object": "`+canary+`-broken`)))
	answers.WriteString(ask("application/json", []byte(`{"request": {"object": {"spec": {"replicaCount": "`+canary+`-type"}}}}`)))
	answers.WriteString(ask("text/plain", []byte(canary+"-text")))
	// No object is as large as what it is asked to read here.
	const tooLarge = 7<<20 + 1
	if large := ask("application/json", bytes.Repeat([]byte(" "), tooLarge)); !strings.Contains(large, "request entity is too large") {
		s.Errorf("a question of %d bytes is answered %.200s", tooLarge, large)
	}
	return answers.String()
}
