// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/util/cert"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"platformapp/api/appstatus"
	"platformapp/internal/localcluster"
)

// renameSucceeds plays GitOps: what is new is created before what is old is deleted.
func renameSucceeds(s *scene, withWebhook bool) {
	namespace := s.namespace("rename")
	user, warnings := s.userWithWarnings()
	options := operatorOptions{account: s.account("operator", namespace), watch: namespace}
	if withWebhook {
		s.serveWebhook(namespace, &options)
	}
	s.start(options)

	before, after := newEGApp(namespace, "orders", 2), newEGApp(namespace, "orders-v2", 2)
	before.Spec.AppID, after.Spec.AppID = "app-00123", "app-00123"
	for _, app := range []client.Object{before, after} {
		if err := user.Create(s.Context(), app); err != nil {
			s.Fatal(err)
		}
		if app == before {
			s.ready(before)
		}
	}
	s.reports(shortWait, after, metav1.ConditionFalse, appstatus.ReasonDuplicateAppID)
	if warned := strings.Contains(warnings.all(), "EGApp orders has appId app-00123"); warned != withWebhook {
		s.Errorf("the user is warned: %v, want %v: %s", warned, withWebhook, warnings.all())
	}
	s.delete(before)
	s.runs(after, 2)

	broken := newEGApp(namespace, "broken", 1)
	broken.Spec.Image = "registry.example.com/Team/App:1"
	err := user.Create(s.Context(), broken)
	switch {
	case withWebhook && (err == nil || !strings.Contains(err.Error(), "spec.image")):
		s.Errorf("the webhook answers %v, want a refusal of spec.image", err)
	case !withWebhook && err != nil:
		s.Error(err)
	case !withWebhook:
		s.reports(shortWait, broken, metav1.ConditionFalse, appstatus.ReasonInvalidSpec)
	}
}

// serveWebhook makes the API server ask the webhook about a namespace, and the operator with these options serve it.
func (s *scene) serveWebhook(namespace string, options *operatorOptions) {
	s.Helper()
	certificate, key, err := cert.GenerateSelfSignedCertKey("localhost", []net.IP{net.IPv4(127, 0, 0, 1)}, nil)
	dir := s.TempDir()
	ports, portsErr := localcluster.FreePorts(1)
	content, readErr := os.ReadFile(filepath.Join(s.root, "config", "webhook", "manifests.yaml"))
	if err := errors.Join(err, portsErr, readErr,
		os.WriteFile(filepath.Join(dir, "tls.crt"), certificate, 0o600), os.WriteFile(filepath.Join(dir, "tls.key"), key, 0o600)); err != nil {
		s.Fatal(err)
	}
	configuration := &admissionregistrationv1.ValidatingWebhookConfiguration{}
	if err := yaml.UnmarshalStrict(content, configuration); err != nil {
		s.Fatal(err)
	}
	configuration.Name = namespace
	for i := range configuration.Webhooks {
		hook := &configuration.Webhooks[i]
		hook.ClientConfig = admissionregistrationv1.WebhookClientConfig{
			URL: new(fmt.Sprintf("https://127.0.0.1:%d%s", ports[0], *hook.ClientConfig.Service.Path)), CABundle: certificate,
		}
		hook.NamespaceSelector = &metav1.LabelSelector{MatchLabels: map[string]string{"kubernetes.io/metadata.name": namespace}}
	}
	s.create(configuration)
	s.Cleanup(func() {
		if err := s.admin.Delete(context.WithoutCancel(s.Context()), configuration); err != nil {
			s.Error(err)
		}
	})
	options.args, options.webhookPort = append(options.args, "--webhook-cert-path="+dir), ports[0]
}

// userWithWarnings returns a client, and what the API server warns it of.
func (s *scene) userWithWarnings() (client.Client, *warnings) {
	s.Helper()
	w := &warnings{}
	config := rest.CopyConfig(s.cluster.Config)
	config.WarningHandler = w
	user, err := client.New(config, client.Options{Scheme: s.admin.Scheme()})
	if err != nil {
		s.Fatal(err)
	}
	return user, w
}

// warnings are what the API server warns of.
type warnings struct {
	mu    sync.Mutex
	lines []string
}

// HandleWarningHeader keeps one warning.
func (w *warnings) HandleWarningHeader(_ int, _, message string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.lines = append(w.lines, message)
}

func (w *warnings) all() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return strings.Join(w.lines, "\n")
}
