// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package bundle

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	psaapi "k8s.io/pod-security-admission/api"
	"k8s.io/pod-security-admission/policy"
	"sigs.k8s.io/yaml"
)

// deployment returns the name and the specification of the CSV's one Deployment.
func deployment(t *testing.T) (name string, spec appsv1.DeploymentSpec) {
	t.Helper()
	csv := readCSV(t, bundleDir)
	manager(t, csv)
	of := csv.Spec.InstallStrategy.StrategySpec.DeploymentSpecs[0]
	return of.Name, of.Spec
}

// Kubernetes refuses another selector: an upgrade that had one would fail on every cluster, for ever.
func TestSelectorOfTheManagerNeverChanges(t *testing.T) {
	name, spec := deployment(t)
	want := map[string]string{"control-plane": "controller-manager", "app.kubernetes.io/name": "platformapp"}
	if spec.Selector == nil || len(spec.Selector.MatchExpressions) > 0 {
		t.Fatalf("the selector is %v", spec.Selector)
	}
	if diff := cmp.Diff(want, spec.Selector.MatchLabels); diff != "" {
		t.Errorf("selector (-want +got):\n%s", diff)
	}
	for key, value := range want {
		if spec.Template.Labels[key] != value {
			t.Errorf("the pods are labelled %s=%s, want %s", key, spec.Template.Labels[key], value)
		}
	}
	// OLM adds -service to it for the webhook's Service.
	if name != "platformapp-controller-manager" || len(name) > 55 {
		t.Errorf("the Deployment is called %s", name)
	}
}

// OLM says in an annotation of the pod which namespaces the OperatorGroup has.
func TestManagerWatchesTheNamespacesOfTheOperatorGroup(t *testing.T) {
	want := corev1.EnvVar{Name: "WATCH_NAMESPACE", ValueFrom: &corev1.EnvVarSource{
		FieldRef: &corev1.ObjectFieldSelector{FieldPath: "metadata.annotations['olm.targetNamespaces']"},
	}}
	for _, variable := range manager(t, readCSV(t, bundleDir)).Env {
		if variable.Name == want.Name {
			if diff := cmp.Diff(want, variable); diff != "" {
				t.Errorf("variable (-want +got):\n%s", diff)
			}
			return
		}
	}
	t.Errorf("the manager has no variable %s", want.Name)
}

// OLM mounts what it makes. A volume that names anything else, such as a Secret of cert-manager, would leave the pod
// waiting.
func TestManagerMountsNothing(t *testing.T) {
	_, spec := deployment(t)
	if len(spec.Template.Spec.Volumes) > 0 || len(spec.Template.Spec.InitContainers) > 0 {
		t.Errorf("the pod has %d volumes and %d init containers", len(spec.Template.Spec.Volumes), len(spec.Template.Spec.InitContainers))
	}
	container := manager(t, readCSV(t, bundleDir))
	if len(container.VolumeMounts) > 0 {
		t.Errorf("the container has %d mounts", len(container.VolumeMounts))
	}
	for _, argument := range container.Args {
		if strings.Contains(argument, "cert") {
			t.Errorf("argument %s: OLM's certificate is where the manager looks by itself", argument)
		}
	}
}

func TestManagerIsFitForEveryNamespace(t *testing.T) {
	_, spec := deployment(t)
	evaluator, err := policy.NewEvaluator(policy.DefaultChecks(), nil)
	if err != nil {
		t.Fatal(err)
	}
	level := psaapi.LevelVersion{Level: psaapi.LevelRestricted, Version: psaapi.LatestVersion()}
	for _, result := range evaluator.EvaluatePod(level, &spec.Template.ObjectMeta, &spec.Template.Spec) {
		if !result.Allowed {
			t.Errorf("Pod Security restricted: %s: %s", result.ForbiddenReason, result.ForbiddenDetail)
		}
	}
	container := manager(t, readCSV(t, bundleDir))
	requests := container.Resources.Requests
	if requests.Cpu().IsZero() || requests.Memory().IsZero() || container.Resources.Limits.Memory().IsZero() {
		t.Errorf("requests %v, limits %v: cpu, memory and a limit of memory are wanted", requests, container.Resources.Limits)
	}
	if container.LivenessProbe == nil || container.ReadinessProbe == nil {
		t.Error("a probe is missing")
	}
	if container.SecurityContext == nil || container.SecurityContext.ReadOnlyRootFilesystem == nil || !*container.SecurityContext.ReadOnlyRootFilesystem {
		t.Error("the root file system can be written")
	}
}

// The labels tell a catalog, the affinity the scheduler, what the image is built for.
func TestManagerRunsWhereItsImageIsBuiltFor(t *testing.T) {
	labels := map[string]string{}
	for key, value := range readCSV(t, bundleDir).Labels {
		if strings.HasPrefix(key, "operatorframework.io/") {
			labels[key] = value
		}
	}
	want := map[string]string{}
	_, spec := deployment(t)
	affinity := spec.Template.Spec.Affinity
	if affinity == nil || affinity.NodeAffinity == nil {
		t.Fatal("the manager has no node affinity")
	}
	for _, term := range affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms {
		for _, expression := range term.MatchExpressions {
			for _, value := range expression.Values {
				want["operatorframework.io/"+strings.TrimPrefix(expression.Key, "kubernetes.io/")+"."+value] = "supported"
			}
		}
	}
	if len(want) != 3 {
		t.Errorf("the affinity is for %v, want two architectures and a system", slices.Sorted(maps.Keys(want)))
	}
	if diff := cmp.Diff(want, labels); diff != "" {
		t.Errorf("-affinity +labels:\n%s", diff)
	}
}

// A namespaced installation gets rights in its namespaces, and in the cluster only to ask who a caller is. All of the
// manager's own rules are about namespaced resources.
func TestRightsAreTheLeastThatWork(t *testing.T) {
	strategy := readCSV(t, bundleDir).Spec.InstallStrategy.StrategySpec
	if len(strategy.ClusterPermissions) != 1 || len(strategy.Permissions) != 1 {
		t.Fatalf("%d permissions, %d cluster permissions, want those of one account", len(strategy.Permissions), len(strategy.ClusterPermissions))
	}
	_, spec := deployment(t)
	for _, account := range []string{strategy.Permissions[0].ServiceAccountName, strategy.ClusterPermissions[0].ServiceAccountName} {
		if account != spec.Template.Spec.ServiceAccountName {
			t.Errorf("rights are given to %s, the manager runs as %s", account, spec.Template.Spec.ServiceAccountName)
		}
	}
	if diff := cmp.Diff([]string{"create authentication.k8s.io/tokenreviews", "create authorization.k8s.io/subjectaccessreviews"},
		rights(strategy.ClusterPermissions[0].Rules)); diff != "" {
		t.Errorf("rights in the cluster (-want +got):\n%s", diff)
	}
	var role rbacv1.ClusterRole
	var leaderElection rbacv1.Role
	for file, into := range map[string]any{"role.yaml": &role, "leader_election_role.yaml": &leaderElection} {
		if err := yaml.Unmarshal([]byte(readFile(t, root+"/config/rbac/"+file)), into); err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff(rights(slices.Concat(role.Rules, leaderElection.Rules)), rights(strategy.Permissions[0].Rules)); diff != "" {
		t.Errorf("rights (-config/rbac +CSV):\n%s", diff)
	}
	for _, right := range rights(slices.Concat(strategy.Permissions[0].Rules, strategy.ClusterPermissions[0].Rules)) {
		for _, never := range []string{"*", "secrets", "escalate", "bind ", "impersonate", "pods/exec", "customresourcedefinitions", "rbac.authorization.k8s.io"} {
			if strings.Contains(right, never) {
				t.Errorf("the operator may %s", right)
			}
		}
	}
}

// rights returns each right of some rules as verb and resource, in alphabetical order.
func rights(rules []rbacv1.PolicyRule) []string {
	set := map[string]bool{}
	for _, rule := range rules {
		for _, verb := range rule.Verbs {
			for _, group := range rule.APIGroups {
				for _, resource := range rule.Resources {
					set[fmt.Sprintf("%s %s/%s", verb, group, resource)] = true
				}
			}
			for _, url := range rule.NonResourceURLs {
				set[verb+" "+url] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(set))
}

// OLM makes the Service, the certificate and the configuration of the webhook from these.
func TestWebhooksAreServedByTheManager(t *testing.T) {
	name, _ := deployment(t)
	container := manager(t, readCSV(t, bundleDir))
	seen := map[string]bool{}
	webhooks := readCSV(t, bundleDir).Spec.WebhookDefinitions
	if len(webhooks) != 2 {
		t.Fatalf("there are %d webhooks, want one for each kind", len(webhooks))
	}
	for _, webhook := range webhooks {
		if webhook.DeploymentName != name {
			t.Errorf("%s is served by %s", webhook.GenerateName, webhook.DeploymentName)
		}
		if seen[webhook.GenerateName] || len(webhook.GenerateName) > 63 {
			t.Errorf("%s: a name is at most 63 characters and stands once", webhook.GenerateName)
		}
		seen[webhook.GenerateName] = true
		if !slices.ContainsFunc(container.Ports, func(port corev1.ContainerPort) bool {
			return webhook.TargetPort != nil && (port.Name == webhook.TargetPort.StrVal || port.ContainerPort == webhook.TargetPort.IntVal)
		}) {
			t.Errorf("%s: the manager has no port %v", webhook.GenerateName, webhook.TargetPort)
		}
		// Everything works without the webhook, and it is down while the operator is.
		if webhook.FailurePolicy == nil || *webhook.FailurePolicy != admissionregistrationv1.Ignore {
			t.Errorf("%s: the failure policy is %v, want Ignore", webhook.GenerateName, webhook.FailurePolicy)
		}
		if webhook.Type != "ValidatingAdmissionWebhook" || len(webhook.ConversionCRDs) > 0 {
			t.Errorf("%s is a %s", webhook.GenerateName, webhook.Type)
		}
	}
}
