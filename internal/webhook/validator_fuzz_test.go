// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package webhook

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"testing"

	admissionv1 "k8s.io/api/admission/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	devopsv1 "platformapp/api/devops/v1"
	"platformapp/api/egplatform/v1alpha1"
)

// FuzzAdmissionReview: whatever reaches the webhook, also what no API server sends, is answered.
func FuzzAdmissionReview(f *testing.F) {
	const (
		app     = `{"apiVersion":"egplatform.platform.evillgenius.com/v1alpha1","kind":"EGApp","metadata":{"namespace":"team-a","name":"orders"},"spec":{"framework":"go","environment":"prod","appId":"a"}}`
		invalid = `{"apiVersion":"egplatform.platform.evillgenius.com/v1alpha1","kind":"EGApp","metadata":{"name":"Orders"},"spec":{"framework":"cobol","ports":[{}],"env":[{}],"podTemplatePatch":{"spec":null}}}`
		service = `{"apiVersion":"devops.my.domain/v1","kind":"DemoMicroService","metadata":{"namespace":"team-a","name":"demo"},"spec":{"image":"nginx:"}}`
	)
	review := func(operation, object, oldObject string) []byte {
		return []byte(`{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","request":{"uid":"1","operation":"` + operation + `","object":` + object + `,"oldObject":` + oldObject + `}}`)
	}
	for _, seed := range [][]byte{
		nil, []byte(`{}`), []byte(`null`), []byte(`{"apiVersion":"admission.k8s.io/v1beta1","kind":"AdmissionReview"}`),
		[]byte(`{"apiVersion":"v1","kind":"Pod"}`), review("", `{}`, `{}`), review("CONNECT", `null`, `null`),
		review("CREATE", app, `null`), review("CREATE", invalid, `null`), review("CREATE", service, `null`), review("CREATE", `null`, `null`), review("CREATE", `[]`, `null`),
		review("UPDATE", app, invalid), review("UPDATE", invalid, app), review("UPDATE", invalid, invalid), review("UPDATE", app, service), review("UPDATE", app, `null`),
		review("DELETE", `null`, app), review("DELETE", `null`, `null`),
	} {
		f.Add(seed, false)
		f.Add(seed, true)
	}
	webhooks := servedWebhooks(f)
	f.Fuzz(func(t *testing.T, raw []byte, demo bool) { expectAnswer(t, webhooks[demo], raw) })
}

// servedWebhooks are the webhooks of both kinds, by whether they are that of the DemoMicroService. A panic is not
// answered for, as the manager's do.
func servedWebhooks(t testing.TB) map[bool]http.Handler {
	t.Helper()
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{v1alpha1.AddToScheme, devopsv1.AddToScheme} {
		if err := add(scheme); err != nil {
			t.Fatal(err)
		}
	}
	return map[bool]http.Handler{
		false: admission.WithValidator(scheme, admission.Validator[*v1alpha1.EGApp](egapps(Options{}, nobody))).WithRecoverPanic(false),
		true:  admission.WithValidator(scheme, admission.Validator[*devopsv1.DemoMicroService](demoMicroServices(Options{}, nobody))).WithRecoverPanic(false),
	}
}

// expectAnswer fails unless the answer to a request is one that an API server takes: an AdmissionReview with the uid of the
// request, and for a refusal its words.
func expectAnswer(t *testing.T, webhook http.Handler, raw []byte) {
	t.Helper()
	request := httptest.NewRequest(http.MethodPost, "/", bytes.NewReader(raw))
	request.Header.Set("Content-Type", "application/json")
	recorder := httptest.NewRecorder()
	webhook.ServeHTTP(recorder, request)
	answer := admissionv1.AdmissionReview{}
	if err := json.Unmarshal(recorder.Body.Bytes(), &answer); err != nil || answer.Response == nil {
		t.Fatalf("the answer is no review (%v): %s", err, recorder.Body)
	}
	if recorder.Code != http.StatusOK {
		t.Errorf("the answer has the status %d", recorder.Code)
	}
	if !answer.Response.Allowed && (answer.Response.Result == nil || answer.Response.Result.Message == "" || answer.Response.Result.Code < 400) {
		t.Errorf("a refusal says nothing: %+v", answer.Response)
	}
	if answer.Response.Result != nil && answer.Response.Result.Code >= http.StatusInternalServerError {
		t.Errorf("the webhook fails: %s", answer.Response.Result.Message)
	}
	sent := admissionv1.AdmissionReview{}
	if json.Unmarshal(raw, &sent) == nil && sent.Request != nil && sent.Kind == "AdmissionReview" && answer.Kind == "AdmissionReview" && answer.Response.UID != sent.Request.UID {
		t.Errorf("the answer is to the request %q, not to %q", answer.Response.UID, sent.Request.UID)
	}
}
