// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"platformapp/internal/translate"
)

// docs/operator.md has a row for each flag that the help names.
func TestPageListsExactlyTheFlags(t *testing.T) {
	page, err := os.ReadFile("docs/operator.md")
	if err != nil {
		t.Fatal(err)
	}
	var listed []string
	for line := range strings.Lines(string(page)) {
		if !strings.HasPrefix(line, "| `--") {
			continue
		}
		cell, _, _ := strings.Cut(line[1:], "|")
		for _, match := range regexp.MustCompile("`--([a-z-]+)`").FindAllStringSubmatch(cell, -1) {
			listed = append(listed, match[1])
		}
	}
	help, _, _ := runOperator(t, nil, "--help")
	var flags []string
	for _, match := range regexp.MustCompile(`(?m)^  -([a-z-]+)`).FindAllStringSubmatch(help, -1) {
		flags = append(flags, match[1])
	}
	slices.Sort(listed)
	slices.Sort(flags)
	if diff := cmp.Diff(flags, listed); diff != "" {
		t.Errorf("-flags +listed in docs/operator.md:\n%s", diff)
	}
}

// Both lists of well-known namespaces are on the page too.
func TestPageNamesTheDefaultNamespaces(t *testing.T) {
	page, err := os.ReadFile("docs/operator.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, namespace := range slices.Concat(split(defaultIngressNamespaces), split(defaultMonitoringNamespaces)) {
		if !strings.Contains(string(page), "`"+namespace+"`") {
			t.Errorf("docs/operator.md does not name %s", namespace)
		}
	}
}

// So are the annotations that a Service may have on every platform.
func TestPageNamesTheDefaultAnnotationsOfServices(t *testing.T) {
	page, err := os.ReadFile("docs/operator.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, prefix := range translate.ServiceAnnotationPrefixes() {
		if !strings.Contains(string(page), "`"+prefix+"`") {
			t.Errorf("docs/operator.md does not name %s", prefix)
		}
	}
}

// The overlay for cert-manager mounts the certificate where the manager looks for one, at the port that it serves at.
func TestOverlayMountsTheCertificateWhereTheManagerLooks(t *testing.T) {
	for path, want := range map[string]string{
		"config/default-certmanager/manager_webhook_patch.yaml": "mountPath: " + defaultWebhookCertPath + "\n",
		"config/manager/manager.yaml":                           "- name: webhook\n          containerPort: 9443\n",
	} {
		content, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(content), want) {
			t.Errorf("%s lacks %q", path, want)
		}
	}
}
