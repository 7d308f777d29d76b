// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package workload_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation"
	"pgregory.net/rapid"

	"platformapp/internal/workload"
)

// Running objects carry these names: a change of one loses the objects, restarts the pods
// or leaves fields behind that nobody owns.
func TestNamesOnTheWireAreFrozen(t *testing.T) {
	for _, name := range [][2]string{
		{workload.FieldManager, "platformapp"},
		{workload.LabelManagedBy, "platform.evillgenius.com/managed-by"},
		{workload.ManagedBy, "platformapp"},
		{workload.LabelEGApp, "platform.evillgenius.com/egapp"},
		{workload.LabelDemoMicroService, "devops.my.domain/demomicroservice"},
		{workload.LabelOwnerUID, "platform.evillgenius.com/owner-uid"},
		{workload.LabelName, "app.kubernetes.io/name"},
		{workload.LabelAppManagedBy, "app.kubernetes.io/managed-by"},
		{workload.AnnotationAppliedHash, "platform.evillgenius.com/applied-hash"},
		{workload.AnnotationDefaultContainer, "kubectl.kubernetes.io/default-container"},
		{workload.FieldManagerReplicas, "platformapp-replicas"},
		{workload.AnnotationAdoptBy, "platform.evillgenius.com/adopt-by"},
		{workload.AnnotationAllowEGApps, "platform.evillgenius.com/allow-egapps"},
		{workload.AnnotationConfigHash, "platform.evillgenius.com/config-hash"},
		{workload.AnnotationRuntimeEnvHash, "platform.evillgenius.com/runtime-env-hash"},
		{workload.AnnotationRemove, "platform.evillgenius.com/remove"},
		{workload.AnnotationOverriddenReplicas, "platform.evillgenius.com/overridden-replicas"},
		{workload.AnnotationHeldReplicas, "platform.evillgenius.com/held-replicas"},
		{workload.AnnotationDefaultImage, "platform.evillgenius.com/default-image"},
		{workload.AnnotationRevision, "deployment.kubernetes.io/revision"},
	} {
		if name[0] != name[1] {
			t.Errorf("a name is %q, want %q", name[0], name[1])
		}
	}
}

func TestLabelsByPurpose(t *testing.T) {
	owner := workload.Owner{
		GroupVersionKind: schema.GroupVersionKind{Group: "g", Version: "v1", Kind: "EGApp"},
		Namespace:        "team-a", Name: "orders", UID: "uid-1", SelectorKey: workload.LabelEGApp,
		Labels: map[string]string{
			"cost-center":                         "42",
			"app.kubernetes.io/name":              "other",
			"platform.evillgenius.com/owner-uid":  "other",
			"platform.evillgenius.com/managed-by": "other",
		},
	}
	selector := map[string]string{"platform.evillgenius.com/egapp": "orders"}
	pod := map[string]string{
		"platform.evillgenius.com/egapp":      "orders",
		"platform.evillgenius.com/managed-by": "platformapp",
		"app.kubernetes.io/name":              "orders",
		"app.kubernetes.io/managed-by":        "platformapp",
	}
	child := map[string]string{
		"platform.evillgenius.com/egapp":      "orders",
		"platform.evillgenius.com/managed-by": "platformapp",
		"platform.evillgenius.com/owner-uid":  "uid-1",
		"app.kubernetes.io/name":              "orders",
		"app.kubernetes.io/managed-by":        "platformapp",
		"cost-center":                         "42",
	}
	if diff := cmp.Diff(selector, owner.Selector()); diff != "" {
		t.Errorf("selector:\n%s", diff)
	}
	if diff := cmp.Diff(pod, owner.PodLabels()); diff != "" {
		t.Errorf("labels of a pod:\n%s", diff)
	}
	if diff := cmp.Diff(child, owner.ChildLabels()); diff != "" {
		t.Errorf("labels of a child:\n%s", diff)
	}
}

func TestPropagatedLabels(t *testing.T) {
	for _, test := range []struct {
		key        string
		propagated bool
	}{
		{"cost-center", true},
		{"team", true},
		{"app", true},
		{"kubernetes.io", true}, // A name without a prefix.

		{"tags.datadoghq.com/service", false},
		{"example.com/owner", false},
		{"objectset.rio.cattle.io/hash", false},
		{"kapp.k14s.io/app", false},
		{"app.kubernetes.io/instance", false},
		{"app.kubernetes.io/name", false},
		{"app.kubernetes.io/part-of", false},
		{"kubernetes.io/metadata.name", false},
		{"kubectl.kubernetes.io/restartedAt", false},
		{"pod-security.kubernetes.io/enforce", false},
		{"applyset.kubernetes.io/part-of", false},
		{"config.k8s.io/owning-inventory", false},
		{"argocd.argoproj.io/instance", false},
		{"argocd.argoproj.io/tracking-id", false},
		{"argoproj.io/instance", false},
		{"kustomize.toolkit.fluxcd.io/name", false},
		{"helm.toolkit.fluxcd.io/name", false},
		{"helm.sh/chart", false},
		{"template.openshift.io/template-instance-owner", false},
		{"platform.evillgenius.com/egapp", false},
		{"platform.evillgenius.com/managed-by", false},
		{"platform.evillgenius.com/owner-uid", false},
		{"egplatform.platform.evillgenius.com/x", false},
		{"devops.my.domain/demomicroservice", false},
	} {
		t.Run(test.key, func(t *testing.T) {
			want := map[string]string{}
			if test.propagated {
				want[test.key] = "v"
			}
			if diff := cmp.Diff(want, workload.PropagatedLabels(map[string]string{test.key: "v"})); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// The labels come from an object of the cache, which is shared.
func TestPropagatedLabelsIsNoAlias(t *testing.T) {
	labels := map[string]string{"team": "a"}
	workload.PropagatedLabels(labels)["team"] = "b"
	if labels["team"] != "a" {
		t.Error("a change of the result changes the argument")
	}
	if got := workload.PropagatedLabels(nil); got == nil {
		t.Error("no labels give no map, into which no other can be put")
	}
}

func TestContainerName(t *testing.T) {
	for _, test := range []struct{ id, want string }{
		{"app-00123", "app-00123"},
		{"Orders_API.v2", "orders-api-v2"},
		{"007", "007"},
		{"A", "a"},
		{"", "fallback"},
		{"-_.", "fallback"},
		{"_orders_", "orders"},
		{"a..b", "a--b"},
		{"Ünïcode", "n-code"},
		{strings.Repeat("x", 63), strings.Repeat("x", 63)},
		{strings.Repeat("x", 64), strings.Repeat("x", 63)},
		{strings.Repeat("x", 60) + "____y", strings.Repeat("x", 60)},
	} {
		if got := workload.ContainerName(test.id, "fallback"); got != test.want {
			t.Errorf("ContainerName(%q) = %q, want %q", test.id, got, test.want)
		}
	}
}

func TestContainerNameIsADNSLabel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		id := rapid.OneOf(rapid.String(), rapid.StringMatching(`[-_.A-Za-z0-9]{0,80}`)).Draw(t, "id")
		name := workload.ContainerName(id, "fallback")
		for _, problem := range validation.IsDNS1123Label(name) {
			t.Errorf("ContainerName(%q) = %q: %s", id, name, problem)
		}
		if again := workload.ContainerName(name, "fallback"); again != name {
			t.Errorf("ContainerName(%q) = %q, want a name to stay as it is", name, again)
		}
	})
}

func FuzzContainerName(f *testing.F) {
	for _, id := range []string{"", "app-00123", "Orders_API.v2", "-", strings.Repeat("-a", 40), "\xff\xfe", "日本"} {
		f.Add(id)
	}
	f.Fuzz(func(t *testing.T, id string) {
		name := workload.ContainerName(id, "fallback")
		for _, problem := range validation.IsDNS1123Label(name) {
			t.Errorf("ContainerName(%q) = %q: %s", id, name, problem)
		}
	})
}
