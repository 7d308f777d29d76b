// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package controllers_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"platformapp/api/appstatus"
	"platformapp/api/egplatform/v1alpha1"
)

// ignoreBookkeeping leaves out what changes with every write.
var ignoreBookkeeping = cmp.Options{
	cmpopts.IgnoreFields(metav1.ObjectMeta{}, "ResourceVersion", "Generation", "ManagedFields"),
	cmpopts.IgnoreFields(appsv1.Deployment{}, "Status"),
}

func TestC25_DriftOfWhatIsOursIsRepaired(t *testing.T) {
	t.Parallel()
	edits := map[string]func(*appsv1.Deployment, *corev1.Service){
		"image":         func(d *appsv1.Deployment, _ *corev1.Service) { d.Spec.Template.Spec.Containers[0].Image = "nginx:1" },
		"replicas":      func(d *appsv1.Deployment, _ *corev1.Service) { d.Spec.Replicas = new(int32(7)) },
		"replicas to 0": func(d *appsv1.Deployment, _ *corev1.Service) { d.Spec.Replicas = new(int32(0)) },
		"container port": func(d *appsv1.Deployment, _ *corev1.Service) {
			d.Spec.Template.Spec.Containers[0].Ports[0].ContainerPort = 9090
		},
		"no ports":  func(d *appsv1.Deployment, _ *corev1.Service) { d.Spec.Template.Spec.Containers[0].Ports = nil },
		"env value": func(d *appsv1.Deployment, _ *corev1.Service) { d.Spec.Template.Spec.Containers[0].Env[0].Value = "1" },
		"no probe":  func(d *appsv1.Deployment, _ *corev1.Service) { d.Spec.Template.Spec.Containers[0].ReadinessProbe = nil },
		"memory limit": func(d *appsv1.Deployment, _ *corev1.Service) {
			d.Spec.Template.Spec.Containers[0].Resources.Limits = nil
		},
		"security": func(d *appsv1.Deployment, _ *corev1.Service) {
			d.Spec.Template.Spec.SecurityContext.RunAsNonRoot = new(false)
		},
		"our label": func(d *appsv1.Deployment, _ *corev1.Service) { d.Labels["app.kubernetes.io/name"] = "else" },
		"our annotation": func(d *appsv1.Deployment, _ *corev1.Service) {
			delete(d.Annotations, "platform.evillgenius.com/applied-hash")
		},
		"strategy": func(d *appsv1.Deployment, _ *corev1.Service) {
			d.Spec.Strategy = appsv1.DeploymentStrategy{Type: appsv1.RecreateDeploymentStrategyType}
		},
		"Service port": func(_ *appsv1.Deployment, s *corev1.Service) { s.Spec.Ports[0].Port = 81 },
		"target port":  func(_ *appsv1.Deployment, s *corev1.Service) { s.Spec.Ports[0].TargetPort = intstr.FromInt32(9) },
		"Service type": func(_ *appsv1.Deployment, s *corev1.Service) { s.Spec.Type = corev1.ServiceTypeNodePort },
		"selector":     func(_ *appsv1.Deployment, s *corev1.Service) { s.Spec.Selector = map[string]string{"app": "x"} },
		"one port more of our name": func(_ *appsv1.Deployment, s *corev1.Service) {
			s.Spec.Ports = []corev1.ServicePort{{Name: "http", Port: 8000, TargetPort: intstr.FromInt32(8000)}}
		},
		"env from elsewhere": func(d *appsv1.Deployment, _ *corev1.Service) {
			d.Spec.Template.Spec.Containers[0].Env[0] = corev1.EnvVar{Name: "GOMEMLIMIT", ValueFrom: &corev1.EnvVarSource{
				ConfigMapKeyRef: &corev1.ConfigMapKeySelector{LocalObjectReference: corev1.LocalObjectReference{Name: "x"}, Key: "y"}}}
		},
	}
	for name, edit := range edits {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := newLoop(t)
			app := ordersApp()
			l.running(app)
			wantDeployment, wantService := l.deployment("orders"), l.service("orders")

			deployment, service := l.deployment("orders"), l.service("orders")
			edit(deployment, service)
			l.must(l.user.Update(l.ctx, deployment, client.FieldOwner("kubectl-edit")))
			l.must(l.user.Update(l.ctx, service, client.FieldOwner("kubectl-edit")))
			if _, err := l.turn(app); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(wantDeployment, l.deployment("orders"), ignoreBookkeeping); diff != "" {
				t.Errorf("the Deployment is not repaired in one turn (-want +got):\n%s", diff)
			}
			ignoreNodePort := cmpopts.IgnoreFields(corev1.ServicePort{}, "NodePort")
			if diff := cmp.Diff(wantService, l.service("orders"), ignoreBookkeeping, ignoreNodePort); diff != "" {
				t.Errorf("the Service is not repaired in one turn (-want +got):\n%s", diff)
			}
		})
	}
}

func TestC25_ADeletedChildIsBack(t *testing.T) {
	t.Parallel()
	for kind, child := range map[string]client.Object{"Deployment": foreignDeployment("orders"), "Service": foreignService("orders")} {
		t.Run(kind, func(t *testing.T) {
			l := newLoop(t)
			app := ordersApp()
			l.running(app)
			l.read(child)
			old := child.GetUID()
			l.must(l.user.Delete(l.ctx, child))
			if _, err := l.turn(app); err != nil {
				t.Fatal(err)
			}
			if !l.exists(child) || child.GetUID() == old {
				t.Errorf("the %s is not back after one turn", kind)
			}
		})
	}
}

// A repair is told though the next write of the turn is in vain: the turn after it finds nothing to repair there any more.
func TestARepairIsToldThoughTheNextWriteIsInVain(t *testing.T) {
	t.Parallel()
	for name, fault := range map[string]error{
		"another writer was faster": apierrors.NewConflict(schema.GroupResource{Resource: "services"}, "orders", errors.New("the object has been modified")),
		"the first error in a row":  apierrors.NewInternalError(errors.New("no leader")),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			faulty := &faultyClient{err: fault}
			l := newLoop(t, wrapped(around(faulty)))
			app := ordersApp()
			l.running(app)
			deployment, service := l.deployment("orders"), l.service("orders")
			l.change(deployment, func() { deployment.Spec.Replicas = new(int32(7)) })
			l.change(service, func() { service.Spec.Ports[0].Port = 81 })
			faulty.at = faulty.writes + 2
			_, _ = l.turn(app)
			l.reconcile(app)
			var repairs []string
			for len(l.events.Events) > 0 {
				if event := <-l.events.Events; strings.Contains(event, appstatus.ReasonDriftRepaired) {
					repairs = append(repairs, event)
				}
			}
			if len(repairs) != 2 || !strings.Contains(repairs[0], "the Deployment of orders") || !strings.Contains(repairs[1], "the Service of orders") {
				t.Errorf("the repairs that are told are %q, want that of the Deployment and that of the Service", repairs)
			}
		})
	}
}

func TestC24_WhatOthersAddSurvives(t *testing.T) {
	t.Parallel()
	l := newLoop(t)
	app := ordersApp()
	l.running(app)
	deployment, service := l.deployment("orders"), l.service("orders")
	l.change(deployment, func() {
		deployment.Annotations["example.com/note"] = "keep"
		deployment.Labels["example.com/team"] = "keep"
		template := &deployment.Spec.Template
		metav1.SetMetaDataAnnotation(&template.ObjectMeta, "kubectl.kubernetes.io/restartedAt", "2026-01-01T00:00:00Z")
		template.Spec.Containers = append([]corev1.Container{{Name: "proxy", Image: "envoy:1"}}, template.Spec.Containers...)
		template.Spec.Containers[1].Env = append(template.Spec.Containers[1].Env, corev1.EnvVar{Name: "INJECTED", Value: "1"})
		template.Spec.NodeSelector = map[string]string{"disk": "ssd"}
		template.Spec.Volumes = append(template.Spec.Volumes, corev1.Volume{Name: "certs", VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}})
	})
	l.change(service, func() {
		service.Annotations["example.com/lb"] = "keep"
		service.Spec.Ports = append(service.Spec.Ports, corev1.ServicePort{Name: "metrics", Port: 9090})
	})
	wantDeployment, wantService := l.deployment("orders"), l.service("orders")
	writes := l.requests.writes()
	l.rollOut("orders")
	wantDeployment.Status = l.deployment("orders").Status
	l.reconcile(app)
	if diff := cmp.Diff(wantDeployment, l.deployment("orders"), ignoreBookkeeping); diff != "" {
		t.Errorf("the Deployment of which others own parts was changed (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(wantService, l.service("orders"), ignoreBookkeeping); diff != "" {
		t.Errorf("the Service of which others own parts was changed (-want +got):\n%s", diff)
	}

	// And a change of ours leaves it as well.
	l.change(app, func() { app.Spec.Image = "registry.example.com/orders:2" })
	l.reconcile(app)
	got := l.deployment("orders")
	wantDeployment.Spec.Template.Spec.Containers[1].Image = "registry.example.com/orders:2"
	delete(wantDeployment.Annotations, "platform.evillgenius.com/default-image")
	wantDeployment.Annotations["platform.evillgenius.com/applied-hash"] = got.Annotations["platform.evillgenius.com/applied-hash"]
	if diff := cmp.Diff(wantDeployment, got, ignoreBookkeeping); diff != "" {
		t.Errorf("a change of the image changed more (-want +got):\n%s", diff)
	}
	if n := l.requests.writes() - writes; n > 4 {
		t.Errorf("%d writes: %v", n, l.requests.list())
	}
}

func TestC23_ARolloutRestartIsNotUndone(t *testing.T) {
	t.Parallel()
	l := newLoop(t)
	app := ordersApp()
	l.running(app)
	patch := `{"spec":{"template":{"metadata":{"annotations":{"kubectl.kubernetes.io/restartedAt":"2026-11-30T12:00:00Z"}}}}}`
	l.must(l.user.Patch(l.ctx, l.deployment("orders"), client.RawPatch(types.StrategicMergePatchType, []byte(patch)), client.FieldOwner("kubectl-rollout")))
	l.reconcile(app)
	if got := l.deployment("orders").Spec.Template.Annotations["kubectl.kubernetes.io/restartedAt"]; got != "2026-11-30T12:00:00Z" {
		t.Errorf("restartedAt is %q", got)
	}
	if app.Status.Phase != appstatus.PhaseUpdating {
		t.Errorf("phase is %s during the restart", app.Status.Phase)
	}
}

func TestAKeyThatIsNoLongerAskedForDisappears(t *testing.T) {
	t.Parallel()
	l := newLoop(t)
	app := ordersApp()
	app.Spec.Framework = v1alpha1.FrameworkPython
	app.Spec.Environment = v1alpha1.EnvironmentProd
	app.Labels = map[string]string{"cost-center": "42"}
	l.running(app)
	if got := l.service("orders").Labels["cost-center"]; got != "42" {
		t.Errorf("cost-center is %q on the Service", got)
	}
	l.change(app, func() {
		app.Spec.Framework = v1alpha1.FrameworkGo
		app.Spec.Environment = v1alpha1.EnvironmentDev
		app.Labels = nil
	})
	l.reconcile(app)
	template := l.deployment("orders").Spec.Template.Spec
	if len(template.Containers[0].Env) != 1 || template.Containers[0].Env[0].Name != "GOMEMLIMIT" {
		t.Errorf("the variables are %v, want those of go alone", template.Containers[0].Env)
	}
	if template.TopologySpreadConstraints != nil || template.Containers[0].Lifecycle != nil {
		t.Error("what prod alone has is still there")
	}
	if _, ok := l.service("orders").Labels["cost-center"]; ok {
		t.Error("cost-center is still on the Service")
	}
}

// TestAdmissionThatRewritesOurFieldsIsNotDrift lets a policy of the cluster change what
// is applied, as GKE Autopilot or Kyverno do.
func TestAdmissionThatRewritesOurFieldsIsNotDrift(t *testing.T) {
	t.Parallel()
	l := newLoop(t)
	mutate(l, `Object{spec: Object.spec{replicas: 5, template: Object.spec.template{metadata: Object.spec.template.metadata{annotations: {"policy": "on"}}}}}`)
	app := ordersApp()
	eventually(t, func() error { return mutated(l) })
	l.running(app)
	if got := l.childWrites(); !slices.Equal(got, []string{"deployments", "services"}) {
		t.Errorf("the writes of children until ready are %v, want those without the policy", got)
	}
	ready := meta.FindStatusCondition(app.Status.Conditions, appstatus.ConditionReady)
	if ready.Status != metav1.ConditionTrue || !strings.Contains(ready.Message, "Deployment.spec.replicas") {
		t.Errorf("Ready is %s: %s", ready.Status, ready.Message)
	}
	if app.Status.ReadyReplicas != 5 {
		t.Errorf("status.readyReplicas is %d, want what runs", app.Status.ReadyReplicas)
	}

	restarted := l.restarted()
	restarted.reconcile(app)
	version := l.deployment("orders").ResourceVersion
	if n := restarted.requests.writes(); n > 1 {
		t.Errorf("%d writes after a restart, want at most one apply that changes nothing: %v", n, restarted.requests.list())
	}
	restarted.reconcile(app)
	if got := l.deployment("orders").ResourceVersion; got != version {
		t.Error("an apply that should change nothing changed the Deployment")
	}

	// Drift of such a field is drift all the same.
	deployment := l.deployment("orders")
	l.change(deployment, func() { deployment.Spec.Template.Spec.Containers[0].Image = "nginx:1" })
	restarted.reconcile(app)
	if got := l.deployment("orders").Spec.Template.Spec.Containers[0].Image; got == "nginx:1" {
		t.Error("drift is not repaired beside a policy")
	}
}

func TestWhatAPolicyChangedIsRepairedAfterItIsGoneAndTheOperatorRestarts(t *testing.T) {
	t.Parallel()
	l := newLoop(t)
	mutate(l, `Object{spec: Object.spec{minReadySeconds: 77, template: Object.spec.template{metadata: Object.spec.template.metadata{annotations: {"policy": "on"}}}}}`)
	eventually(t, func() error { return mutated(l) })
	app := ordersApp()
	l.running(app)
	for _, object := range policyOf(l, "") {
		l.must(l.user.Delete(l.ctx, object))
	}
	eventually(t, func() error {
		if mutated(l) == nil {
			return fmt.Errorf("the policy is still in force")
		}
		return nil
	})
	l.reconcile(app)
	if got := l.deployment("orders").Spec.MinReadySeconds; got != 77 {
		t.Errorf("minReadySeconds is %d before the restart", got)
	}
	restarted := l.restarted()
	restarted.reconcile(app)
	if got := l.deployment("orders").Spec.MinReadySeconds; got != 0 {
		t.Errorf("minReadySeconds is %d after the restart", got)
	}
	if got := restarted.childWrites(); !slices.Equal(got, []string{"deployments"}) {
		t.Errorf("the writes of children after the restart are %v", got)
	}
}

// A policy that takes the mark of a handover away would have it made again at each turn.
func TestAHandoverThatAdmissionUndoesIsNotMadeAgainAndAgain(t *testing.T) {
	t.Parallel()
	l := newLoop(t)
	mutate(l, `has(object.metadata.annotations) && "platform.evillgenius.com/overridden-replicas" in object.metadata.annotations ?
		[JSONPatch{op: "remove", path: "/metadata/annotations/platform.evillgenius.com~1overridden-replicas"}] : []`)
	eventually(t, func() error {
		probe := foreignDeployment("probe")
		probe.Namespace, probe.Annotations = l.namespace, map[string]string{"platform.evillgenius.com/overridden-replicas": "1"}
		if err := l.user.Create(l.ctx, probe, client.DryRunAll); err != nil {
			return err
		}
		if len(probe.Annotations) > 0 {
			return fmt.Errorf("the policy is not in force")
		}
		return nil
	})
	app := ordersApp()
	app.Spec.Autoscaling = &v1alpha1.Autoscaling{MinReplicas: new(int32(2)), MaxReplicas: 10, TargetCPUUtilizationPercentage: new(int32(70))}
	l.running(app)
	writes := l.requests.writes()
	for range 3 {
		deployment := l.deployment("orders")
		deployment.Status.Conditions[0].Message += "."
		l.must(l.user.Status().Update(l.ctx, deployment))
		l.reconcile(app)
	}
	if got := l.requests.writes() - writes; got != 0 {
		t.Errorf("%d writes at rest: %v", got, l.requests.list())
	}
}

func TestAdmissionThatRemovesOurFieldsIsNotDrift(t *testing.T) {
	t.Parallel()
	l := newLoop(t)
	mutate(l, `[JSONPatch{op: "remove", path: "/spec/progressDeadlineSeconds"}, JSONPatch{op: "add", path: "/spec/template/metadata/annotations", value: {"policy": "on"}}]`)
	eventually(t, func() error { return mutated(l) })
	app := ordersApp()
	l.running(app)
	ready := meta.FindStatusCondition(app.Status.Conditions, appstatus.ConditionReady)
	if ready.Status != metav1.ConditionTrue || !strings.Contains(ready.Message, "Deployment.spec.template.metadata.annotations") {
		t.Errorf("Ready is %s: %s", ready.Status, ready.Message)
	}
	before := l.deployment("orders").ResourceVersion
	writes := l.requests.writes()
	for range 5 {
		// Every change of the object by others is a reason to compare anew.
		deployment := l.deployment("orders")
		deployment.Status.Conditions[0].Message += "."
		l.must(l.user.Status().Update(l.ctx, deployment))
		l.reconcile(app)
	}
	if got := l.requests.writes(); got != writes {
		t.Errorf("%d writes at rest, Deployment %s to %s", got-writes, before, l.deployment("orders").ResourceVersion)
	}
}

// childWrites are the resources that the operator wrote, the status left out.
func (l *loop) childWrites() []string {
	l.Helper()
	var out []string
	for _, request := range l.requests.list() {
		if segments := strings.Split(request, "/"); strings.HasPrefix(request, "PATCH") && !strings.HasSuffix(request, "/status") {
			out = append(out, segments[len(segments)-2])
		}
	}
	return out
}

// mutate makes a policy that changes Deployments in the namespace of the loop.
func mutate(l *loop, expression string) {
	l.Helper()
	for _, object := range policyOf(l, expression) {
		l.must(l.user.Create(l.ctx, object))
		l.Cleanup(func() { _ = l.user.Delete(context.WithoutCancel(l.ctx), object) })
	}
}

// policyOf returns the policy of the loop's namespace and its binding.
func policyOf(l *loop, expression string) []client.Object {
	name := "mutate-" + l.namespace
	policy := &admissionregistrationv1.MutatingAdmissionPolicy{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: admissionregistrationv1.MutatingAdmissionPolicySpec{
			MatchConstraints: &admissionregistrationv1.MatchResources{
				NamespaceSelector: &metav1.LabelSelector{MatchLabels: map[string]string{corev1.LabelMetadataName: l.namespace}},
				ResourceRules: []admissionregistrationv1.NamedRuleWithOperations{{RuleWithOperations: admissionregistrationv1.RuleWithOperations{
					Operations: []admissionregistrationv1.OperationType{admissionregistrationv1.Create, admissionregistrationv1.Update},
					Rule:       admissionregistrationv1.Rule{APIGroups: []string{"apps"}, APIVersions: []string{"v1"}, Resources: []string{"deployments"}},
				}}},
			},
			Mutations:          []admissionregistrationv1.Mutation{mutation(expression)},
			FailurePolicy:      ptr.To(admissionregistrationv1.Fail),
			ReinvocationPolicy: admissionregistrationv1.NeverReinvocationPolicy,
		},
	}
	binding := &admissionregistrationv1.MutatingAdmissionPolicyBinding{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec:       admissionregistrationv1.MutatingAdmissionPolicyBindingSpec{PolicyName: name},
	}
	return []client.Object{policy, binding}
}

// mutation is an apply configuration, or a list of JSON patches, by its expression.
func mutation(expression string) admissionregistrationv1.Mutation {
	if strings.Contains(expression, "JSONPatch{") {
		return admissionregistrationv1.Mutation{
			PatchType: admissionregistrationv1.PatchTypeJSONPatch,
			JSONPatch: &admissionregistrationv1.JSONPatch{Expression: expression},
		}
	}
	return admissionregistrationv1.Mutation{
		PatchType:          admissionregistrationv1.PatchTypeApplyConfiguration,
		ApplyConfiguration: &admissionregistrationv1.ApplyConfiguration{Expression: expression},
	}
}

// mutated tells whether the policy is in force yet.
func mutated(l *loop) error {
	probe := foreignDeployment("probe")
	probe.Namespace = l.namespace
	if err := l.user.Create(l.ctx, probe, client.DryRunAll); err != nil {
		return err
	}
	if _, ok := probe.Spec.Template.Annotations["policy"]; !ok {
		return fmt.Errorf("the policy is not in force")
	}
	return nil
}

func TestDriftIsRepairedBesideWhatOthersOwn(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		// before is done by others while the application runs.
		before func(*loop)
		change func(*v1alpha1.EGApp)
		check  func(*loop) error
	}{
		"a limit of others that a bigger request exceeds goes, their other fields in the container stay": {
			before: func(l *loop) {
				deployment := l.deployment("orders")
				l.change(deployment, func() {
					container := &deployment.Spec.Template.Spec.Containers[0]
					container.Resources.Limits[corev1.ResourceCPU] = resource.MustParse("500m")
					container.Env = append(container.Env, corev1.EnvVar{Name: "INJECTED", Value: "1"})
					container.VolumeMounts = append(container.VolumeMounts, corev1.VolumeMount{Name: "certs", MountPath: "/certs"})
					deployment.Spec.Template.Spec.Volumes = append(deployment.Spec.Template.Spec.Volumes, corev1.Volume{Name: "certs", VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}})
				})
			},
			change: func(a *v1alpha1.EGApp) { a.Spec.InstanceType = v1alpha1.InstanceTypeHighCPU },
			check: func(l *loop) error {
				container := l.deployment("orders").Spec.Template.Spec.Containers[0]
				if cpu := container.Resources.Requests.Cpu().String(); cpu != "2" {
					return fmt.Errorf("the request is %s", cpu)
				}
				isTheirs := func(m corev1.VolumeMount) bool { return m.Name == "certs" }
				if len(container.Env) != 2 || !slices.ContainsFunc(container.VolumeMounts, isTheirs) {
					return fmt.Errorf("fields of others are gone: %v %v", container.Env, container.VolumeMounts)
				}
				return nil
			},
		},
		"a port of our name goes, another port of theirs stays": {
			before: func(l *loop) {
				service := l.service("orders")
				l.change(service, func() {
					service.Spec.Ports = []corev1.ServicePort{{Name: "http", Port: 8000}, {Name: "metrics", Port: 9090}}
				})
			},
			change: func(*v1alpha1.EGApp) {},
			check: func(l *loop) error {
				var got []string
				for _, port := range l.service("orders").Spec.Ports {
					got = append(got, fmt.Sprint(port.Name, port.Port))
				}
				slices.Sort(got)
				if !slices.Equal(got, []string{"http80", "metrics9090"}) {
					return fmt.Errorf("the ports are %v", got)
				}
				return nil
			},
		},
		"two variables of one name in a sidecar": {
			before: func(l *loop) {
				deployment := l.deployment("orders")
				l.change(deployment, func() {
					deployment.Spec.Template.Spec.Containers = append(deployment.Spec.Template.Spec.Containers, corev1.Container{
						Name: "log", Image: "log:1", Env: []corev1.EnvVar{{Name: "A", Value: "1"}, {Name: "A", Value: "2"}}})
					deployment.Spec.Replicas = new(int32(9))
				})
			},
			change: func(a *v1alpha1.EGApp) { a.Spec.Image = "registry.example.com/orders:2" },
			check: func(l *loop) error {
				spec := l.deployment("orders").Spec
				if *spec.Replicas != 3 || spec.Template.Spec.Containers[0].Image != "registry.example.com/orders:2" || len(spec.Template.Spec.Containers) != 2 {
					return fmt.Errorf("replicas %d, containers %v", *spec.Replicas, spec.Template.Spec.Containers)
				}
				return nil
			},
		},
		"a value where we ask for zero": {
			before: func(l *loop) {
				deployment := l.deployment("orders")
				l.change(deployment, func() { deployment.Spec.MinReadySeconds = 300 })
			},
			change: func(*v1alpha1.EGApp) {},
			check: func(l *loop) error {
				if got := l.deployment("orders").Spec.MinReadySeconds; got != 0 {
					return fmt.Errorf("minReadySeconds is %d", got)
				}
				return nil
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			l := newLoop(t)
			app := ordersApp()
			l.running(app)
			test.before(l)
			l.change(app, func() { test.change(app) })
			if _, err := l.turn(app); err != nil {
				t.Error(err)
			}
			if err := test.check(l); err != nil {
				t.Error(err)
			}
			writes := l.requests.writes()
			l.rollOut("orders")
			l.reconcile(app)
			if app.Status.Phase != appstatus.PhaseRunning || l.requests.writes()-writes > 1 {
				t.Errorf("phase is %s after %d writes", app.Status.Phase, l.requests.writes()-writes)
			}
		})
	}
}

func TestAdmissionThatHidesAnObjectIsToldAndHoldsNothingUp(t *testing.T) {
	t.Parallel()
	l := newLoop(t)
	mutate(l, `[JSONPatch{op: "replace", path: "/metadata/labels", value: {"only": "this"}}, JSONPatch{op: "add", path: "/spec/template/metadata/annotations", value: {"policy": "on"}}]`)
	eventually(t, func() error {
		probe := foreignDeployment("probe")
		probe.Namespace, probe.Labels = l.namespace, map[string]string{"a": "b"}
		if err := l.user.Create(l.ctx, probe, client.DryRunAll); err != nil {
			return err
		}
		if probe.Labels["only"] != "this" {
			return fmt.Errorf("the policy is not in force")
		}
		return nil
	})
	app := ordersApp()
	l.create(app)
	started := time.Now()
	for range 3 {
		result, err := l.turn(app)
		l.must(err)
		if result.RequeueAfter < 30*time.Second {
			t.Errorf("it looks again after %s", result.RequeueAfter)
		}
	}
	if took := time.Since(started); took > 10*time.Second {
		t.Errorf("three turns take %s: they wait for what never comes", took)
	}
	l.read(app)
	ready := meta.FindStatusCondition(app.Status.Conditions, appstatus.ConditionReady)
	if ready == nil || ready.Reason != appstatus.ReasonRefused || !strings.Contains(ready.Message, "platform.evillgenius.com/managed-by") {
		t.Errorf("Ready is %v", ready)
	}
}

func TestAStrippedHashIsNotWrittenAgainAndAgain(t *testing.T) {
	t.Parallel()
	l := newLoop(t)
	mutate(l, `[JSONPatch{op: "remove", path: "/metadata/annotations/platform.evillgenius.com~1applied-hash"}]`)
	app := ordersApp()
	eventually(t, func() error {
		probe := foreignDeployment("probe")
		probe.Namespace, probe.Annotations = l.namespace, map[string]string{"platform.evillgenius.com/applied-hash": "x"}
		if err := l.user.Create(l.ctx, probe, client.DryRunAll); err != nil {
			return err
		}
		if len(probe.Annotations) > 0 {
			return fmt.Errorf("the policy is not in force")
		}
		return nil
	})
	l.running(app)
	writes := l.requests.writes()
	for range 3 {
		deployment := l.deployment("orders")
		deployment.Status.Conditions[0].Message += "."
		l.must(l.user.Status().Update(l.ctx, deployment))
		l.reconcile(app)
	}
	if got := l.requests.writes() - writes; got != 0 {
		t.Errorf("%d writes at rest", got)
	}
}
