// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package outage

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/cert"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"platformapp/api/appstatus"
	"platformapp/internal/localcluster"
)

// webhookPlans let the operator's own webhook be down, and those of others that the API server asks about Deployments.
func webhookPlans() [][]plan {
	own := func(name string, serve func(*scene) (string, []byte)) plan {
		return plan{class: "own webhook down", name: "outage/own-webhook/" + name, kinds: bothKinds, run: func(s *scene) {
			url, ca := serve(s)
			ownWebhookDown(s, url, ca)
		}}
	}
	foreign := func(name string, serve func(*scene) (string, []byte)) plan {
		return plan{class: "webhook of others down", name: "outage/foreign-webhook/" + name, kinds: bothKinds, run: func(s *scene) {
			url, ca := serve(s)
			foreignWebhookDown(s, url, ca)
		}}
	}
	return [][]plan{
		{own("refuses-connections", nobody), own("hangs", silence)},
		{foreign("refuses-connections", nobody), foreign("hangs", silence)},
	}
}

// nobody returns the URL of a webhook that nobody serves.
func nobody(s *scene) (url string, ca []byte) {
	s.Helper()
	ca, _, err := cert.GenerateSelfSignedCertKey("127.0.0.1", []net.IP{net.IPv4(127, 0, 0, 1)}, nil)
	s.must(err)
	ports, err := localcluster.FreePorts(1)
	s.must(err)
	return fmt.Sprintf("https://127.0.0.1:%d", ports[0]), ca
}

// silence returns the URL of a webhook that takes every question and never answers.
func silence(s *scene) (url string, ca []byte) {
	s.Helper()
	ca, key, err := cert.GenerateSelfSignedCertKey("127.0.0.1", []net.IP{net.IPv4(127, 0, 0, 1)}, nil)
	s.must(err)
	pair, err := tls.X509KeyPair(ca, key)
	s.must(err)
	listener, err := tls.Listen("tcp", "127.0.0.1:0", &tls.Config{Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12})
	s.must(err)
	server := &http.Server{ReadHeaderTimeout: patience, Handler: http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		<-r.Context().Done()
	})}
	go func() { _ = server.Serve(listener) }()
	s.Cleanup(func() { _ = server.Close() })
	return "https://" + listener.Addr().String(), ca
}

// inNamespace selects a namespace by its name.
func inNamespace(namespace string) *metav1.LabelSelector {
	return &metav1.LabelSelector{MatchLabels: map[string]string{"kubernetes.io/metadata.name": namespace}}
}

// applicationsIn creates an application of each kind and waits until they are Ready.
func (s *scene) applicationsIn(namespace string) []application {
	s.Helper()
	apps := []application{newEGApp(namespace, "orders", everyChild), newDemoMicroService(namespace, "podinfo", image)}
	for _, app := range apps {
		s.create(app)
	}
	for _, app := range apps {
		s.awaitReports(app, appstatus.ReasonReady)
	}
	return apps
}

// label gives the applications a label that is to be on each of their children.
func (s *scene) label(apps []application, value string) {
	s.Helper()
	for _, app := range apps {
		s.edit(app, func() { app.SetLabels(map[string]string{"cost-center": value}) })
	}
}

// awaitLabelled waits until the applications are Ready, the children that are expected of them are there, and their label is
// on all, and returns how long that took.
func (s *scene) awaitLabelled(apps []application, expected map[string]child) time.Duration {
	s.Helper()
	return s.eventually(patience, "the label is on all children", func(ctx context.Context) error {
		var failures []error
		for _, app := range apps {
			failures = append(failures, s.reports(ctx, app, appstatus.ReasonReady), s.labelled(ctx, app, expected))
		}
		return errors.Join(failures...)
	})
}

// ownWebhookDown registers the operator's webhook, as config/webhook does, where nothing answers.
func ownWebhookDown(s *scene, url string, ca []byte) {
	namespace := s.newNamespace("own-webhook")
	op, a := s.startOperator([]string{namespace})
	apps := s.applicationsIn(namespace)
	before := s.children(namespace)
	content, err := os.ReadFile(filepath.Join(s.root, "config", "webhook", "manifests.yaml"))
	s.must(err)
	configuration := &admissionregistrationv1.ValidatingWebhookConfiguration{}
	s.must(yaml.UnmarshalStrict(content, configuration))
	configuration.Name = namespace
	for i := range configuration.Webhooks {
		hook := &configuration.Webhooks[i]
		at := url + *hook.ClientConfig.Service.Path
		hook.ClientConfig = admissionregistrationv1.WebhookClientConfig{URL: &at, CABundle: ca}
		hook.NamespaceSelector = inNamespace(namespace)
		// The API server counts by name.
		hook.Name = namespace + "." + hook.Name
	}
	s.register(configuration)
	for _, hook := range configuration.Webhooks {
		s.eventually(patience, "the API server asks "+hook.Name, func(ctx context.Context) error {
			failures := []error{s.wasLetPass(ctx, hook.Name)}
			if failures[0] == nil {
				return nil
			}
			for _, app := range apps {
				failures = append(failures, s.admin.Patch(ctx, app.DeepCopyObject().(client.Object), dryPatch, client.DryRunAll))
			}
			return errors.Join(failures...)
		})
	}
	start := time.Now()
	s.label(apps, "unasked")
	s.create(newEGApp(namespace, "late"), newDemoMicroService(namespace, "late-ms", image))
	wrote := time.Since(start)
	took := s.awaitLabelled(apps, before)
	s.Logf("four writes take %s, the changes are carried out %s later", wrote, took)
	if took > convergence {
		s.violate("", "changes take %s while the webhook is down", took)
	}
	s.awaitReports(newEGApp(namespace, "late"), appstatus.ReasonReady)
	s.awaitReports(newDemoMicroService(namespace, "late-ms", image), appstatus.ReasonReady)
	s.expectSame(before, s.children(namespace))
	s.expectQuiet(a)
	s.expectSound(op, 0)
}

// foreignWebhookDown registers a webhook of somebody else that is to be asked about each Deployment, where nothing answers.
func foreignWebhookDown(s *scene, url string, ca []byte) {
	namespace, neighbours := s.newNamespace("foreign-webhook"), s.newNamespace("neighbours")
	op, a := s.startOperator([]string{namespace, neighbours})
	apps, others := s.applicationsIn(namespace), s.applicationsIn(neighbours)
	before, beside := s.children(namespace), s.children(neighbours)
	configuration := &admissionregistrationv1.ValidatingWebhookConfiguration{
		ObjectMeta: metav1.ObjectMeta{Name: namespace},
		Webhooks: []admissionregistrationv1.ValidatingWebhook{{
			Name:         "deployments.example.com",
			ClientConfig: admissionregistrationv1.WebhookClientConfig{URL: &url, CABundle: ca},
			Rules: []admissionregistrationv1.RuleWithOperations{{
				Operations: []admissionregistrationv1.OperationType{admissionregistrationv1.Create, admissionregistrationv1.Update},
				Rule:       admissionregistrationv1.Rule{APIGroups: []string{"apps"}, APIVersions: []string{"v1"}, Resources: []string{"deployments"}},
			}},
			FailurePolicy: new(admissionregistrationv1.Fail), SideEffects: new(admissionregistrationv1.SideEffectClassNone),
			AdmissionReviewVersions: []string{"v1"}, TimeoutSeconds: new(int32(3)), NamespaceSelector: inNamespace(namespace),
		}},
	}
	s.register(configuration)
	deployment := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: apps[0].GetName()}}
	s.eventually(patience, "the API server asks the webhook", func(ctx context.Context) error {
		return refused(s.admin.Patch(ctx, deployment, dryPatch, client.DryRunAll), "deployments.example.com")
	})
	start := len(s.requestsOf(a))
	s.label(apps, "refused")
	s.label(others, "served")
	if took := s.awaitLabelled(others, beside); took > convergence/2 {
		s.violate("", "the neighbours wait %s", took)
	}
	for _, app := range apps {
		ready, _ := s.awaitCondition(app, appstatus.ReasonApplyFailed, appstatus.ReasonRefused)
		if !strings.Contains(ready.Message, "deployments.example.com") {
			s.violate(kindOf(app), "%s does not tell which webhook fails: %s", app.GetName(), ready.Message)
		}
	}
	s.pauseFor(revokedPeriod())
	if n := len(s.requestsOf(a)) - start; n > 2*requestBudget {
		s.violate("", "%d requests while the webhook is down", n)
	}
	s.expectSame(before, s.children(namespace))
	s.must(s.admin.Delete(s.Context(), configuration))
	took := s.awaitLabelled(apps, before)
	s.Logf("the change is carried out %s after the webhook is gone", took)
	if took > convergence {
		s.violate("", "the change is carried out %s after the webhook is gone", took)
	}
	s.expectSame(before, s.children(namespace))
	s.expectSame(beside, s.children(neighbours))
	s.expectQuiet(a, neighbours)
	s.expectSound(op, 0)
}

// dryPatch changes nothing of any object when it is made as a dry run, and is asked about all the same.
var dryPatch = client.RawPatch(types.MergePatchType, []byte(`{"metadata":{"annotations":{"example.com/dry-run":"true"}}}`))

// refused fails unless a request was refused with these words.
func refused(err error, words string) error {
	if err == nil || !strings.Contains(err.Error(), words) {
		return fmt.Errorf("the answer is %w, not a refusal: %s", err, words)
	}
	return nil
}

// wasLetPass fails unless the API server counts that it let a request pass since a webhook did not answer.
func (s *scene) wasLetPass(ctx context.Context, webhook string) error {
	metrics, err := s.clientset.Discovery().RESTClient().Get().AbsPath("/metrics").DoRaw(ctx)
	if err == nil && !strings.Contains(string(metrics), fmt.Sprintf("apiserver_admission_webhook_fail_open_count{name=%q", webhook)) {
		err = errors.New("it does not count it")
	}
	return err
}

// register creates the configuration of a webhook, which goes with the test.
func (s *scene) register(configuration *admissionregistrationv1.ValidatingWebhookConfiguration) {
	s.Helper()
	s.create(configuration)
	s.Cleanup(func() {
		// It may be gone already.
		_ = s.admin.Delete(context.WithoutCancel(s.Context()), configuration)
	})
}
