// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package resources_test

import (
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/utils/ptr"
	"pgregory.net/rapid"

	devopsv1 "platformapp/api/devops/v1"
	"platformapp/api/egplatform/v1alpha1"
	"platformapp/internal/profile"
	"platformapp/internal/resources"
	"platformapp/internal/translate"
	"platformapp/internal/workload"
)

func TestEqualWorkloadsGiveEqualBytes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		app := anyEGApp.Draw(t, "EGApp")
		// A map keeps no order: a copy is likely to be walked in another.
		again := app.DeepCopy()
		again.Labels = maps.Clone(app.Labels)
		if diff := cmp.Diff(desiredYAML(t, app), desiredYAML(t, again)); diff != "" {
			t.Fatalf("the second rendering differs:\n%s", diff)
		}
	})
}

// The client reads the server's answer into the apply configuration. What the answer says
// about one application must not become what the next one is told to be, nor may two turns
// of the loop write to the same map.
func TestAnswerOfServerReachesNoOtherApplication(t *testing.T) {
	for _, instanceType := range v1alpha1.InstanceTypes() {
		t.Run(string(instanceType), func(t *testing.T) {
			keepProfile(t, instanceType)
			app := &v1alpha1.EGApp{
				ObjectMeta: metav1.ObjectMeta{Namespace: "team-a", Name: "orders", UID: "1"},
				Spec:       v1alpha1.EGAppSpec{Framework: v1alpha1.FrameworkGo, InstanceType: instanceType, Environment: v1alpha1.EnvironmentProd},
			}
			before := desiredYAML(t, app)

			children := resources.Desired(mustTranslate(t, app), workload.Observed{})
			answer := deploymentOf(t, children)
			c := &answer.Spec.Template.Spec.Containers[0]
			c.Resources.Requests[corev1.ResourceEphemeralStorage] = resource.MustParse("1Gi")
			c.Resources.Limits[corev1.ResourceMemory] = resource.MustParse("3Gi")
			answer.Labels["added"] = "by-admission"
			answer.Spec.Selector.MatchLabels["added"] = "by-admission"
			readInto(t, answer, children[0].Config)

			if diff := cmp.Diff(before, desiredYAML(t, app)); diff != "" {
				t.Errorf("the next rendering has what the server answered to the last:\n%s", diff)
			}
		})
	}
}

// keepProfile restores the preset after a test that may spoil it.
func keepProfile(t *testing.T, instanceType v1alpha1.InstanceType) {
	t.Helper()
	kept := profile.InstanceTypes[instanceType]
	requests, limits := kept.Requests.DeepCopy(), kept.Limits.DeepCopy()
	t.Cleanup(func() {
		profile.InstanceTypes[instanceType] = corev1.ResourceRequirements{Requests: requests, Limits: limits}
	})
}

func TestSelectorIsTheOwnersNameAlone(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := anyWorkload.Draw(t, "workload")
		want := map[string]string{workload.LabelEGApp: w.Owner.Name}
		if w.Owner.Kind == "DemoMicroService" {
			want = map[string]string{workload.LabelDemoMicroService: w.Owner.Name}
		}
		children := resources.Desired(w, workload.Observed{})
		deployment := deploymentOf(t, children)
		if diff := cmp.Diff(&metav1.LabelSelector{MatchLabels: want}, deployment.Spec.Selector); diff != "" {
			t.Errorf("selector of the Deployment:\n%s", diff)
		}
		if !labels.SelectorFromSet(want).Matches(labels.Set(deployment.Spec.Template.Labels)) {
			t.Errorf("the selector %v does not match the pods' labels %v", want, deployment.Spec.Template.Labels)
		}
		for _, constraint := range deployment.Spec.Template.Spec.TopologySpreadConstraints {
			if diff := cmp.Diff(&metav1.LabelSelector{MatchLabels: want}, constraint.LabelSelector); diff != "" {
				t.Errorf("selector of the spread over %s:\n%s", constraint.TopologyKey, diff)
			}
		}
		service := &corev1.Service{}
		if readChild(t, children, "Service", service) {
			if diff := cmp.Diff(want, service.Spec.Selector); diff != "" {
				t.Errorf("selector of the Service:\n%s", diff)
			}
		}
	})
}

// Two applications with ids of which the same container name is made are still two.
func TestEqualContainerNamesMixNoPods(t *testing.T) {
	render := func(name, appID string) *appsv1.Deployment {
		return deploymentOf(t, resources.Desired(mustTranslate(t, &v1alpha1.EGApp{
			ObjectMeta: metav1.ObjectMeta{Namespace: "team-a", Name: name, UID: types.UID(name)},
			Spec:       v1alpha1.EGAppSpec{AppID: appID, Framework: v1alpha1.FrameworkGo, Environment: v1alpha1.EnvironmentDev},
		}), workload.Observed{}))
	}
	one, other := render("one", "Orders_API.v2"), render("other", "orders-api-v2")
	if a, b := one.Spec.Template.Spec.Containers[0].Name, other.Spec.Template.Spec.Containers[0].Name; a != b || a != "orders-api-v2" {
		t.Fatalf("containers are named %q and %q, want orders-api-v2 for both: the case is none", a, b)
	}
	selector, err := metav1.LabelSelectorAsSelector(one.Spec.Selector)
	if err != nil {
		t.Fatal(err)
	}
	if selector.Matches(labels.Set(other.Spec.Template.Labels)) {
		t.Errorf("selector %s of one application matches the pods %v of the other", selector, other.Spec.Template.Labels)
	}
}

// An EGApp and a DemoMicroService of one name must not select each other's pods.
func TestKindsOfOneNameMixNoPods(t *testing.T) {
	service, err := translate.DemoMicroService(&devopsv1.DemoMicroService{
		ObjectMeta: metav1.ObjectMeta{Namespace: "team-a", Name: "orders", UID: "2"},
		Spec:       devopsv1.DemoMicroServiceSpec{Image: "nginx:1"},
	})
	if err != nil {
		t.Fatal(err)
	}
	app := mustTranslate(t, &v1alpha1.EGApp{
		ObjectMeta: metav1.ObjectMeta{Namespace: "team-a", Name: "orders", UID: "1"},
		Spec:       v1alpha1.EGAppSpec{Framework: v1alpha1.FrameworkGo, Environment: v1alpha1.EnvironmentDev},
	})
	for _, pair := range [][2]workload.Owner{{app.Owner, service.Owner}, {service.Owner, app.Owner}} {
		if labels.SelectorFromSet(pair[0].Selector()).Matches(labels.Set(pair[1].PodLabels())) {
			t.Errorf("the selector of the %s matches the pods of the %s", pair[0].Kind, pair[1].Kind)
		}
	}
}

func TestNamesAndLabelsAreLegal(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := anyWorkload.Draw(t, "workload")
		children := resources.Desired(w, anyObserved.Draw(t, "observed"))
		for _, child := range children {
			kind := resources.Kinds[slices.IndexFunc(resources.Kinds, func(k resources.Kind) bool { return k.Name == child.Kind })]
			if want := w.Owner.Name + kind.Suffix; child.Name != want || ptr.Deref(child.Meta.Name, "") != want {
				t.Errorf("%s is named %q in %q, want %q", child.Kind, ptr.Deref(child.Meta.Name, ""), child.Name, want)
			}
			for _, problem := range validation.IsDNS1123Subdomain(child.Name) {
				t.Errorf("name %q of the %s: %s", child.Name, child.Kind, problem)
			}
			if got := ptr.Deref(child.Meta.Namespace, ""); got != w.Owner.Namespace {
				t.Errorf("%s is in namespace %q, not in its owner's %q", child.Kind, got, w.Owner.Namespace)
			}
			for key, value := range child.Meta.Labels {
				if problems := append(validation.IsQualifiedName(key), validation.IsValidLabelValue(value)...); len(problems) > 0 {
					t.Errorf("label %s=%s of the %s: %v", key, value, child.Kind, problems)
				}
			}
		}
		for _, c := range deploymentOf(t, children).Spec.Template.Spec.Containers {
			for _, problem := range validation.IsDNS1123Label(c.Name) {
				t.Errorf("container name %q: %s", c.Name, problem)
			}
		}
	})
}

func TestMetadataOfOwnerReachesNoPod(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		app := anyEGApp.Draw(t, "EGApp")
		relabelled := app.DeepCopy()
		relabelled.Labels = anyLabels.Draw(t, "other labels")
		relabelled.Annotations = anyLabels.Draw(t, "other annotations")
		relabelled.Generation++
		template, other := podTemplateYAML(t, app), podTemplateYAML(t, relabelled)
		if diff := cmp.Diff(template, other); diff != "" {
			t.Errorf("metadata of the EGApp restarts its pods:\n%s", diff)
		}
		bare := app.DeepCopy()
		bare.Labels, bare.Annotations = nil, nil
		if diff := cmp.Diff(podTemplateYAML(t, bare), template); diff != "" {
			t.Errorf("the EGApp's labels reach its pods:\n%s", diff)
		}
	})
}

// The cache and the adoption of a child go by its own labels: a label that the owner was
// given by somebody must not stand in their place.
func TestLabelsOfOwnerDisplaceNoneOfOurs(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := anyWorkload.Draw(t, "workload")
		want := w.Owner.PodLabels()
		want[workload.LabelOwnerUID] = string(w.Owner.UID)
		for _, child := range resources.Desired(w, anyObserved.Draw(t, "observed")) {
			for key, value := range want {
				if child.Meta.Labels[key] != value {
					t.Errorf("label %s of the %s is %q, want %q", key, child.Kind, child.Meta.Labels[key], value)
				}
			}
			for key, value := range child.Meta.Labels {
				_, ours := want[key]
				asked := child.Kind == "ServiceMonitor" && w.Monitoring.Labels[key] == value
				if !ours && !asked && w.Owner.Labels[key] != value {
					t.Errorf("label %s of the %s is neither ours nor the owner's, nor asked for", key, child.Kind)
				}
			}
		}
		if _, onPods := deploymentOf(t, resources.Desired(w, workload.Observed{})).Spec.Template.Labels[workload.LabelOwnerUID]; onPods {
			t.Error("the owner's UID is on the pods, which would restart when it changes")
		}
	})
}

// A quantity that the server spells otherwise than we do looks like drift for ever.
func TestQuantitiesAreCanonical(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		for _, text := range quantityTexts(t, anyWorkload.Draw(t, "workload")) {
			parsed := resource.MustParse(text)
			// Add makes the quantity forget how it was spelt.
			parsed.Add(resource.Quantity{})
			if got := parsed.String(); got != text {
				t.Errorf("quantity %s is not canonical, that is %s", text, got)
			}
		}
	})
}

func TestSpellingOfQuantityChangesNothing(t *testing.T) {
	render := func(cpu, memory string) string {
		w := mustTranslate(t, &v1alpha1.EGApp{
			ObjectMeta: metav1.ObjectMeta{Namespace: "team-a", Name: "sizes", UID: "1"},
			Spec:       v1alpha1.EGAppSpec{Framework: v1alpha1.FrameworkJava, Environment: v1alpha1.EnvironmentStage},
		})
		list := corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(cpu), corev1.ResourceMemory: resource.MustParse(memory)}
		w.Container.Resources = corev1.ResourceRequirements{Requests: list, Limits: list}
		return toYAML(t, resources.Desired(w, workload.Observed{}))
	}
	want := render("1", "2Gi")
	for _, spelling := range [][2]string{{"1000m", "2048Mi"}, {"1.0", "2097152Ki"}, {"1", "2Gi"}} {
		if diff := cmp.Diff(want, render(spelling[0], spelling[1])); diff != "" {
			t.Errorf("cpu %s and memory %s render otherwise than 1 and 2Gi:\n%s", spelling[0], spelling[1], diff)
		}
	}
}

func TestChildrenAreControlledWithoutBlockingDeletion(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := anyWorkload.Draw(t, "workload")
		want := []metav1.OwnerReference{{
			APIVersion: w.Owner.Group + "/" + w.Owner.Version, Kind: w.Owner.Kind, Name: w.Owner.Name, UID: w.Owner.UID,
			Controller: new(true),
		}}
		for _, child := range resources.Desired(w, anyObserved.Draw(t, "observed")) {
			object := &metav1.PartialObjectMetadata{}
			readInto(t, child.Config, object)
			if diff := cmp.Diff(want, object.OwnerReferences); diff != "" {
				t.Errorf("owner references of the %s:\n%s", child.Kind, diff)
			}
			if got := w.Owner.OwnershipOf(object); got != workload.Ours {
				t.Errorf("the %s that was just rendered counts as %s", child.Kind, got)
			}
		}
	})
}

func TestPodsGetNothingTheyWereNotGiven(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := anyWorkload.Draw(t, "workload")
		pod := deploymentOf(t, resources.Desired(w, anyObserved.Draw(t, "observed"))).Spec.Template.Spec
		if token := ptr.Deref(pod.AutomountServiceAccountToken, true); token != (w.ServiceAccountName != "") {
			t.Errorf("ServiceAccount %q, and its token is mounted: %t", w.ServiceAccountName, token)
		}
		if ptr.Deref(pod.EnableServiceLinks, true) {
			t.Error("the environment has the Services of the namespace")
		}
		if pod.ServiceAccountName != w.ServiceAccountName {
			t.Errorf("the ServiceAccount is %q, want %q", pod.ServiceAccountName, w.ServiceAccountName)
		}
		// N33: a list that is not asked for, even an empty one, takes the account's own away.
		if (pod.ImagePullSecrets != nil) != (len(w.ImagePullSecrets) > 0) || len(pod.ImagePullSecrets) != len(w.ImagePullSecrets) {
			t.Errorf("pull secrets %v, want %v", pod.ImagePullSecrets, w.ImagePullSecrets)
		}
		given := map[string]bool{}
		for _, v := range w.Container.Env {
			given[v.Name] = true
		}
		for _, v := range pod.Containers[0].Env {
			if v.ValueFrom != nil && !given[v.Name] {
				t.Errorf("variable %s has its value from elsewhere", v.Name)
			}
		}
	})
}

// An apply with two entries of one key is refused by the server.
func TestEnvironmentNamesEachVariableOnce(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		seen := map[string]bool{}
		for _, v := range deploymentOf(t, resources.Desired(anyWorkload.Draw(t, "workload"), anyObserved.Draw(t, "observed"))).Spec.Template.Spec.Containers[0].Env {
			if seen[v.Name] {
				t.Errorf("variable %s is set twice", v.Name)
			}
			seen[v.Name] = true
		}
	})
}

func TestDesiredFollowsTheOrderOfKinds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		last := -1
		for _, child := range resources.Desired(anyWorkload.Draw(t, "workload"), anyObserved.Draw(t, "observed")) {
			i := slices.IndexFunc(resources.Kinds, func(k resources.Kind) bool { return k.Name == child.Kind })
			if i <= last {
				t.Errorf("%s is out of order", child.Kind)
			}
			last = i
			typeMeta := metav1.TypeMeta{}
			readInto(t, child.Config, &typeMeta)
			if typeMeta.Kind != child.Kind {
				t.Errorf("a %s is listed as %s", typeMeta.Kind, child.Kind)
			}
		}
	})
}

func TestKindsMakeObjectsOfTheirKind(t *testing.T) {
	scheme := runtime.NewScheme()
	if err := errors.Join(clientgoscheme.AddToScheme(scheme), resources.AddOptionalToScheme(scheme)); err != nil {
		t.Fatal(err)
	}
	names := map[string]bool{}
	for _, kind := range resources.Kinds {
		kinds, _, err := scheme.ObjectKinds(kind.New())
		if err != nil || !slices.ContainsFunc(kinds, func(gvk schema.GroupVersionKind) bool { return gvk.Kind == kind.Name }) {
			t.Errorf("%s makes objects of %v (%v)", kind.Name, kinds, err)
		}
		if names[kind.Name] {
			t.Errorf("%s is listed twice", kind.Name)
		}
		names[kind.Name] = true
		if optional := !clientgoscheme.Scheme.Recognizes(kinds[0]); optional != kind.Optional {
			t.Errorf("%s is optional: %t, but is a kind of Kubernetes: %t", kind.Name, kind.Optional, !optional)
		}
	}
}

func desiredYAML(t rapid.TB, app *v1alpha1.EGApp) string {
	t.Helper()
	w, err := translate.EGApp(app, translate.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return toYAML(t, resources.Desired(w, workload.Observed{}))
}

func podTemplateYAML(t rapid.TB, app *v1alpha1.EGApp) string {
	t.Helper()
	w, err := translate.EGApp(app, translate.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return toYAML(t, deploymentOf(t, resources.Desired(w, workload.Observed{})).Spec.Template)
}

// quantityTexts returns the quantities of the Deployment as they are sent.
func quantityTexts(t rapid.TB, w workload.Workload) []string {
	t.Helper()
	var sent struct {
		Spec struct {
			Template struct {
				Spec struct {
					Containers []struct {
						Resources map[string]map[string]string
					}
				}
			}
		}
	}
	if !readChild(t, resources.Desired(w, workload.Observed{}), workload.KindDeployment, &sent) {
		t.Fatal("there is no Deployment")
	}
	var texts []string
	for _, list := range sent.Spec.Template.Spec.Containers[0].Resources {
		texts = slices.AppendSeq(texts, maps.Values(list))
	}
	if w.Owner.Kind == "EGApp" && len(texts) < 3 {
		t.Fatalf("quantities %v, want at least two requests and a limit", texts)
	}
	return texts
}

// readInto reads one form of an object into another by their common serialization, as
// the client does with the server's answer.
func readInto(t rapid.TB, from, to any) {
	t.Helper()
	serialized, err := json.Marshal(from)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(serialized, to); err != nil {
		t.Fatal(err)
	}
}
