// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	devopsv1 "platformapp/api/devops/v1"
	"platformapp/api/egplatform/v1alpha1"
)

func (s *suite) samples() string { return filepath.Join(s.root, "config", "samples") }

func sampleEGApp(namespace string) *v1alpha1.EGApp {
	return &v1alpha1.EGApp{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "egapp-sample"}}
}

func sampleDemoMicroService(namespace string) *devopsv1.DemoMicroService {
	return &devopsv1.DemoMicroService{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "demomicroservice-sample"}}
}

func TestC01C02SamplesRunAndSayWhatTheyDo(t *testing.T) {
	s := newSharedScene(t)
	namespace := s.namespace("samples")
	s.kubectl("apply", "-k", s.samples(), "--namespace", namespace)
	s.kubectl("wait", "--for=condition=Ready", "--timeout="+podWait.String(), "--namespace", namespace,
		"egapp/egapp-sample", "demomicroservice/demomicroservice-sample")

	app, service := sampleEGApp(namespace), sampleDemoMicroService(namespace)
	pods := s.runs(app, 3)
	if got := s.runs(service, 1)[0].Spec.Containers; len(got) != 1 || got[0].Image != "stefanprodan/podinfo:0.0.1" {
		t.Errorf("the DemoMicroService's pod runs %+v, want the one image", got)
	}
	if got := pods[0].Spec.Containers; len(got) != 1 || got[0].Name != "app-00123" {
		t.Errorf("the EGApp's pod runs %+v, want one container named by its appId", got)
	}
	s.serves(s.serviceOf(app), pods)

	// kubectl prints a table for each kind, with a blank line between them.
	tables := strings.Split(strings.TrimSpace(s.kubectl("get", "egapps,demomicroservices", "--namespace", namespace)), "\n\n")
	if len(tables) != 2 {
		t.Fatalf("kubectl get prints %d tables, want 2:\n%s", len(tables), strings.Join(tables, "\n\n"))
	}
	expectTable(t, tables[0],
		"NAME FRAMEWORK ENVIRONMENT TYPE DESIRED READY STATUS REASON AGE",
		"egapp.egplatform.platform.evillgenius.com/egapp-sample go dev lowMem 3 3 Running Ready")
	expectTable(t, tables[1],
		"NAME READY STATUS REASON AGE",
		"demomicroservice.devops.my.domain/demomicroservice-sample 1 Running Ready")
	expectTable(t, s.kubectl("get", "ega,dms", "--namespace", namespace, "--output=wide", "--no-headers"),
		"egapp.egplatform.platform.evillgenius.com/egapp-sample go dev lowMem 3 3 Running Ready", "")
}

// serves waits until the EndpointSlices of a Service carry exactly the pods, ready, at the application's port.
func (s *scene) serves(service *corev1.Service, pods []corev1.Pod) {
	s.Helper()
	var want []string
	for _, pod := range pods {
		want = append(want, fmt.Sprintf("%s %s:8080 true", pod.Name, pod.Status.PodIP))
	}
	s.eventually(shortWait, "the Service carries the pods", func(ctx context.Context) error {
		var slicesOf discoveryv1.EndpointSliceList
		err := s.admin.List(ctx, &slicesOf, client.InNamespace(service.Namespace), client.MatchingLabels{discoveryv1.LabelServiceName: service.Name})
		if err != nil {
			return err
		}
		var got []string
		for _, slice := range slicesOf.Items {
			for _, endpoint := range slice.Endpoints {
				for _, port := range slice.Ports {
					got = append(got, fmt.Sprintf("%s %s:%d %t", endpoint.TargetRef.Name, endpoint.Addresses[0],
						ptr.Deref(port.Port, 0), ptr.Deref(endpoint.Conditions.Ready, false)))
				}
			}
		}
		slices.Sort(got)
		if diff := cmp.Diff(want, got); diff != "" {
			return fmt.Errorf("(-want +got):\n%s", diff)
		}
		return nil
	})
}

// expectTable compares the header and the first row of what kubectl get prints with words that each begins with; what
// follows the row's is the age and, in a wide table, the image.
func expectTable(t *testing.T, table, header, row string) {
	t.Helper()
	lines := strings.Split(strings.TrimSpace(table), "\n")
	for i, want := range []string{header, row} {
		if want == "" {
			continue
		}
		if i >= len(lines) || !strings.HasPrefix(strings.Join(strings.Fields(lines[i]), " "), want) {
			t.Errorf("line %d of the table is not %q:\n%s", i+1, want, table)
		}
	}
}

// explainedField matches the line of a field in what kubectl explain prints.
var explainedField = regexp.MustCompile(`(?m)^ {2}(\w+)\t<.*$`)

func TestKubectlExplainHasASentenceForEachField(t *testing.T) {
	s := newSharedScene(t)
	for path, want := range map[string][]string{
		"egapp.spec":               {"appId", "environment", "framework", "image", "instanceType", "replicaCount"},
		"demomicroservice.spec":    {"image"},
		"egapp.status":             {"conditions", "image", "observedGeneration", "phase", "pods", "replicas"},
		"demomicroservice.status":  {"conditions", "image", "observedGeneration", "phase", "pods", "replicas"},
		"egapp.status.conditions":  {"message", "reason", "status", "type"},
		"egapp.status.podStatuses": nil,
	} {
		out := s.kubectl("explain", path)
		fields := explainedField.FindAllStringSubmatchIndex(out, -1)
		var names []string
		for i, at := range fields {
			name, end := out[at[2]:at[3]], len(out)
			if i+1 < len(fields) {
				end = fields[i+1][0]
			}
			names = append(names, name)
			if !endsInSentence(out[at[1]:end]) {
				t.Errorf("kubectl explain %s has no sentence for %s:\n%s", path, name, out)
			}
		}
		for _, name := range want {
			if !slices.Contains(names, name) {
				t.Errorf("kubectl explain %s lacks %s:\n%s", path, name, out)
			}
		}
		if description, _, _ := strings.Cut(out, "FIELDS:"); !endsInSentence(description) {
			t.Errorf("kubectl explain %s says nothing about the whole:\n%s", path, out)
		}
	}
	// A recursive one names the fields and no more.
	recursive := s.kubectl("explain", "egapp", "--recursive")
	for _, name := range []string{"appId", "environment", "framework", "image", "instanceType", "replicaCount", "podStatuses", "conditions"} {
		if !regexp.MustCompile(`(?m)^\s+` + name + `\t<`).MatchString(recursive) {
			t.Errorf("kubectl explain egapp --recursive lacks %s:\n%s", name, recursive)
		}
	}
}

func endsInSentence(text string) bool {
	text = strings.TrimSpace(text)
	return strings.Count(text, " ") > 3 && strings.ContainsAny(text[len(text)-1:], ".)")
}

// Each sample is a whole application of another kind; all of them run as they are.
func TestScenariosRun(t *testing.T) {
	s := newSharedScene(t)
	namespace := s.namespace("scenarios")
	s.kubectl("apply", "-k", filepath.Join(s.samples(), "scenarios"), "--namespace", namespace)
	s.kubectl("wait", "--for=condition=Ready", "--timeout="+longWait.String(), "--namespace", namespace, "egapps", "--all")
	for name, want := range map[string]string{"shop": "https://shop.example.com", "invoices": ""} {
		if got := s.kubectl("get", "egapp", name, "--namespace", namespace, "--output=jsonpath={.status.url}"); strings.TrimSuffix(got, "/") != want {
			t.Errorf("EGApp %s is reached at %q, want %q", name, got, want)
		}
	}
	for resource, want := range map[string]string{
		"services":                 "audit catalog orders shop",
		"horizontalpodautoscalers": "shop",
		"poddisruptionbudgets":     "orders shop",
		"ingresses":                "shop",
		"networkpolicies":          "orders",
	} {
		got := strings.Fields(s.kubectl("get", resource, "--namespace", namespace, "--output=jsonpath={.items[*].metadata.name}"))
		slices.Sort(got)
		if strings.Join(got, " ") != want {
			t.Errorf("the scenarios have the %s %v, want %s", resource, got, want)
		}
	}
}
