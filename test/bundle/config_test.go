// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package bundle

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	operatorsv1alpha1 "github.com/operator-framework/api/pkg/operators/v1alpha1"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/kyaml/filesys"
	"sigs.k8s.io/yaml"
)

// rendered are the objects that kustomize makes of config/manifests, in its order: what make bundle gives to operator-sdk.
var rendered = sync.OnceValues(func() ([]unstructured.Unstructured, error) {
	options := krusty.MakeDefaultOptions()
	options.Reorder = krusty.ReorderOptionUnspecified // The kustomization says it.
	resources, err := krusty.MakeKustomizer(options).Run(filesys.MakeFsOnDisk(), root+"/config/manifests")
	if err != nil {
		return nil, err
	}
	var objects []unstructured.Unstructured
	for _, resource := range resources.Resources() {
		content, err := resource.Map()
		if err != nil {
			return nil, err
		}
		// As read from a file: numbers of every size are of one type.
		raw, err := json.Marshal(content)
		if err != nil {
			return nil, err
		}
		var object unstructured.Unstructured
		if err := yaml.Unmarshal(raw, &object.Object); err != nil {
			return nil, err
		}
		objects = append(objects, object)
	}
	return objects, nil
})

// ofKind returns the rendered objects of a kind, with their types.
func ofKind[T any](t *testing.T, kind string) []T {
	t.Helper()
	objects, err := rendered()
	if err != nil {
		t.Fatal(err)
	}
	var typed []T
	for _, object := range objects {
		if object.GetKind() != kind {
			continue
		}
		var of T
		if err := runtime.DefaultUnstructuredConverter.FromUnstructuredWithValidation(object.Object, &of, true); err != nil {
			t.Fatalf("%s %s: %v", kind, object.GetName(), err)
		}
		typed = append(typed, of)
	}
	if len(typed) == 0 {
		t.Fatalf("config/manifests has no %s", kind)
	}
	return typed
}

// one returns the one rendered object of a kind.
func one[T any](t *testing.T, kind string) T {
	t.Helper()
	all := ofKind[T](t, kind)
	if len(all) != 1 {
		t.Fatalf("config/manifests has %d of %s, want 1", len(all), kind)
	}
	return all[0]
}

const staleHint = "make bundle brings the bundle up to date with config/"

// What people write stands in config/, what OLM reads in bundle/. This does without operator-sdk what operator-sdk does
// with config/, so that nothing that is not in step is committed.
func TestCSVIsThatOfConfig(t *testing.T) {
	got := readCSV(t, bundleDir)
	want := one[operatorsv1alpha1.ClusterServiceVersion](t, "ClusterServiceVersion")
	version := variable(t, "VERSION")
	want.Name = packageName + ".v" + version
	if err := want.Spec.Version.UnmarshalJSON([]byte(`"` + version + `"`)); err != nil {
		t.Fatal(err)
	}
	want.Annotations["createdAt"] = got.Annotations["createdAt"]
	want.Annotations["alm-examples"] = ""
	want.Annotations["operators.operatorframework.io/builder"] = "operator-sdk-" + variable(t, "OPERATOR_SDK_VERSION")
	want.Annotations["operators.operatorframework.io/project_layout"] = "go.kubebuilder.io/v4"
	want.Spec.InstallStrategy = installStrategy(t)
	want.Spec.WebhookDefinitions = webhookDefinitions(t)
	want.Spec.RelatedImages = got.Spec.RelatedImages // TestImagesAreRelated compares them with the Deployment.
	examples := got.Annotations["alm-examples"]
	got.Annotations["alm-examples"] = ""
	if diff := cmp.Diff(asJSON(t, want), asJSON(t, got)); diff != "" {
		t.Errorf("%s (-config +bundle):\n%s", staleHint, diff)
	}

	var samples, inCSV []map[string]any
	for _, kind := range []string{"EGApp", "DemoMicroService"} {
		samples = append(samples, one[unstructured.Unstructured](t, kind).Object)
	}
	if err := yaml.Unmarshal([]byte(examples), &inCSV); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(asJSON(t, samples), asJSON(t, inCSV)); diff != "" {
		t.Errorf("alm-examples: %s (-config +bundle):\n%s", staleHint, diff)
	}
}

// installStrategy returns the Deployment with the rights of its account: what a RoleBinding gives it are permissions, what
// a ClusterRoleBinding gives it are permissions in the cluster.
func installStrategy(t *testing.T) operatorsv1alpha1.NamedInstallStrategy {
	t.Helper()
	manager := one[appsv1.Deployment](t, "Deployment")
	containers := manager.Spec.Template.Spec.Containers
	for i, variable := range containers[0].Env {
		if variable.Name == "WATCH_NAMESPACE" {
			containers[0].Env[i] = corev1.EnvVar{Name: variable.Name, ValueFrom: &corev1.EnvVarSource{
				FieldRef: &corev1.ObjectFieldSelector{FieldPath: "metadata.annotations['olm.targetNamespaces']"},
			}}
		}
	}
	account := manager.Spec.Template.Spec.ServiceAccountName
	rules := map[string][]rbacv1.PolicyRule{}
	for _, role := range ofKind[rbacv1.Role](t, "Role") {
		rules["Role "+role.Name] = role.Rules
	}
	for _, role := range ofKind[rbacv1.ClusterRole](t, "ClusterRole") {
		rules["ClusterRole "+role.Name] = role.Rules
	}
	permissions := operatorsv1alpha1.StrategyDeploymentPermissions{ServiceAccountName: account}
	for _, binding := range ofKind[rbacv1.RoleBinding](t, "RoleBinding") {
		permissions.Rules = append(permissions.Rules, rules[binding.RoleRef.Kind+" "+binding.RoleRef.Name]...)
	}
	clusterPermissions := operatorsv1alpha1.StrategyDeploymentPermissions{ServiceAccountName: account}
	for _, binding := range ofKind[rbacv1.ClusterRoleBinding](t, "ClusterRoleBinding") {
		clusterPermissions.Rules = append(clusterPermissions.Rules, rules[binding.RoleRef.Kind+" "+binding.RoleRef.Name]...)
	}
	return operatorsv1alpha1.NamedInstallStrategy{
		StrategyName: operatorsv1alpha1.InstallStrategyNameDeployment,
		StrategySpec: operatorsv1alpha1.StrategyDetailsDeployment{
			DeploymentSpecs:    []operatorsv1alpha1.StrategyDeploymentSpec{{Name: manager.Name, Label: manager.Labels, Spec: manager.Spec}},
			Permissions:        []operatorsv1alpha1.StrategyDeploymentPermissions{permissions},
			ClusterPermissions: []operatorsv1alpha1.StrategyDeploymentPermissions{clusterPermissions},
		},
	}
}

// webhookDefinitions returns the webhooks of the rendered configuration, in alphabetical order.
func webhookDefinitions(t *testing.T) []operatorsv1alpha1.WebhookDescription {
	t.Helper()
	manager := one[appsv1.Deployment](t, "Deployment")
	services := ofKind[corev1.Service](t, "Service")
	var definitions []operatorsv1alpha1.WebhookDescription
	for _, webhook := range one[admissionregistrationv1.ValidatingWebhookConfiguration](t, "ValidatingWebhookConfiguration").Webhooks {
		at := slices.IndexFunc(services, func(service corev1.Service) bool { return service.Name == webhook.ClientConfig.Service.Name })
		if at < 0 {
			t.Fatalf("config/manifests has no Service %s", webhook.ClientConfig.Service.Name)
		}
		definitions = append(definitions, operatorsv1alpha1.WebhookDescription{
			GenerateName:            webhook.Name,
			Type:                    operatorsv1alpha1.ValidatingAdmissionWebhook,
			DeploymentName:          manager.Name,
			ContainerPort:           services[at].Spec.Ports[0].Port,
			TargetPort:              &services[at].Spec.Ports[0].TargetPort,
			Rules:                   webhook.Rules,
			FailurePolicy:           webhook.FailurePolicy,
			MatchPolicy:             webhook.MatchPolicy,
			ObjectSelector:          webhook.ObjectSelector,
			SideEffects:             webhook.SideEffects,
			TimeoutSeconds:          webhook.TimeoutSeconds,
			AdmissionReviewVersions: webhook.AdmissionReviewVersions,
			WebhookPath:             webhook.ClientConfig.Service.Path,
		})
	}
	slices.SortFunc(definitions, func(a, b operatorsv1alpha1.WebhookDescription) int {
		return strings.Compare(a.GenerateName, b.GenerateName)
	})
	return definitions
}

// The other manifests are the objects that OLM does not make by itself.
func TestManifestsAreThoseOfConfig(t *testing.T) {
	objects, err := rendered()
	if err != nil {
		t.Fatal(err)
	}
	bound := map[string]bool{}
	for _, object := range objects {
		if strings.HasSuffix(object.GetKind(), "Binding") {
			name, _, _ := unstructured.NestedString(object.Object, "roleRef", "name")
			bound[name] = true
		}
	}
	want := map[string]any{}
	for _, object := range objects {
		name := object.GetName()
		switch object.GetKind() {
		case "CustomResourceDefinition":
		case "Service":
			if name == packageName+"-webhook-service" {
				continue
			}
		case "ClusterRole":
			if bound[name] {
				continue
			}
		default:
			continue
		}
		object.SetNamespace("")
		want[object.GetKind()+" "+name] = object.Object
	}
	got := map[string]any{}
	for _, m := range readManifests(t) {
		if m.Kind == "ClusterServiceVersion" {
			continue
		}
		var content map[string]any
		if err := readYAML(filepath.Join(bundleDir, "manifests", m.file), &content); err != nil {
			t.Fatal(err)
		}
		got[m.Kind+" "+m.Metadata.Name] = content
	}
	// operator-sdk writes what its types have, and what they have is empty.
	if diff := cmp.Diff(prune(want), prune(got)); diff != "" {
		t.Errorf("%s (-config +bundle):\n%s", staleHint, diff)
	}
}

func TestScorecardIsThatOfConfig(t *testing.T) {
	want := one[unstructured.Unstructured](t, "Configuration").Object
	var got map[string]any
	if err := readYAML(filepath.Join(bundleDir, scorecardFile), &got); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(prune(want), prune(got)); diff != "" {
		t.Errorf("%s (-config +bundle):\n%s", staleHint, diff)
	}
}

// prune takes away the fields of a value that are empty, and creationTimestamp, which is null.
func prune(value any) any {
	switch v := value.(type) {
	case map[string]any:
		pruned := map[string]any{}
		for key, field := range v {
			if field = prune(field); field != nil {
				pruned[key] = field
			}
		}
		if len(pruned) == 0 {
			return nil
		}
		return pruned
	case []any:
		var pruned []any
		for _, item := range v {
			pruned = append(pruned, prune(item))
		}
		if len(pruned) == 0 {
			return nil
		}
		return pruned
	case nil:
		return nil
	default:
		return fmt.Sprint(v)
	}
}

// asJSON returns what a value has in JSON, without what is empty.
func asJSON(t *testing.T, value any) any {
	t.Helper()
	raw, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	var fields any
	if err := json.Unmarshal(raw, &fields); err != nil {
		t.Fatal(err)
	}
	return prune(fields)
}
