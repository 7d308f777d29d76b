// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"platformapp/api/appstatus"
	devopsv1 "platformapp/api/devops/v1"
	"platformapp/api/egplatform/v1alpha1"
	"platformapp/internal/workload"
)

// faults are what an operator, or the cluster, does wrong.
type faults struct {
	// idle does nothing at all.
	idle bool
	// ignores is the kind of application that is not looked at.
	ignores string
	// keeps is the drift of a Deployment that is not repaired: replicas or image.
	keeps string
	// loses is the kind of child that is not made again, orphans the one that is then made without an owner.
	loses, orphans string
	// makesNo is the kind of object that is never made.
	makesNo string
	// leaves is the kind of object that outlives its owner.
	leaves string
	// spoils changes a child before it is made.
	spoils func(child client.Object)
	// spoilsApplication changes an application.
	spoilsApplication func(app client.Object)
	// says changes the Ready condition.
	says func(app application, ready *metav1.Condition)
}

// playedCluster is a cluster in memory, with an operator that has faults. The operator and what Kubernetes itself does
// come up to date before each read, so that time passes only where something is waited for in vain.
type playedCluster struct {
	testing.TB
	client.WithWatch
	faults

	objects int
	// made are the children that were made before.
	made map[string]bool
}

// newPlayedCluster returns the cluster, and the client of a test.
func newPlayedCluster(t testing.TB, f faults) (*playedCluster, client.Client) {
	t.Helper()
	scheme, err := newScheme()
	if err != nil {
		t.Fatal(err)
	}
	p := &playedCluster{TB: t, faults: f, made: map[string]bool{}}
	p.WithWatch = fake.NewClientBuilder().WithScheme(scheme).
		WithStatusSubresource(&v1alpha1.EGApp{}, &devopsv1.DemoMicroService{}).Build()
	return p, interceptor.NewClient(p.WithWatch, interceptor.Funcs{
		Create: func(ctx context.Context, _ client.WithWatch, object client.Object, opts ...client.CreateOption) error {
			return p.create(ctx, object, opts...)
		},
		Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey, object client.Object, opts ...client.GetOption) error {
			p.turn(ctx)
			return c.Get(ctx, key, object, opts...)
		},
		List: func(ctx context.Context, c client.WithWatch, list client.ObjectList, opts ...client.ListOption) error {
			p.turn(ctx)
			return c.List(ctx, list, opts...)
		},
	})
}

func (p *playedCluster) create(ctx context.Context, object client.Object, opts ...client.CreateOption) error {
	p.objects++
	object.SetUID(types.UID(fmt.Sprintf("uid-%d", p.objects)))
	object.SetGeneration(1)
	return p.Create(ctx, object, opts...)
}

// must ends the test when the cluster itself fails.
func (p *playedCluster) must(err error) {
	p.Helper()
	if err != nil {
		p.Fatal(err)
	}
}

// turn brings everything up to date.
func (p *playedCluster) turn(ctx context.Context) {
	p.Helper()
	ctx = context.WithoutCancel(ctx)
	for _, app := range p.applications(ctx) {
		if !p.idle && p.kind(app) != p.ignores {
			p.carryOut(ctx, app)
		}
	}
	p.collectGarbage(ctx)
}

func (p *playedCluster) applications(ctx context.Context) []application {
	p.Helper()
	var egapps v1alpha1.EGAppList
	var services devopsv1.DemoMicroServiceList
	p.must(p.List(ctx, &egapps))
	p.must(p.List(ctx, &services))
	var apps []application
	for i := range egapps.Items {
		apps = append(apps, &egapps.Items[i])
	}
	for i := range services.Items {
		apps = append(apps, &services.Items[i])
	}
	return apps
}

func (p *playedCluster) kind(object client.Object) string {
	p.Helper()
	gvk, err := apiutil.GVKForObject(object, p.Scheme())
	p.must(err)
	return gvk.Kind
}

// carryOut is a turn of the operator's loop.
func (p *playedCluster) carryOut(ctx context.Context, app application) {
	p.Helper()
	if p.spoilsApplication != nil && !p.made[string(app.GetUID())] {
		p.made[string(app.GetUID())] = true
		p.spoilsApplication(app)
		p.must(p.Update(ctx, app))
	}
	deployment := desiredDeployment(app)
	p.ensure(ctx, app, deployment)
	for _, child := range otherChildren(app) {
		p.ensure(ctx, app, child)
	}
	p.repair(ctx, app)
	p.roll(ctx, app)
	p.report(ctx, app, deployment.Spec.Template.Spec.Containers[0].Image)
}

func selectorOf(app application) map[string]string {
	if _, ok := app.(*v1alpha1.EGApp); ok {
		return map[string]string{workload.LabelEGApp: app.GetName()}
	}
	return map[string]string{workload.LabelDemoMicroService: app.GetName()}
}

func desiredDeployment(app application) *appsv1.Deployment {
	image, replicas := "registry.example.com/default:1", int32(1)
	switch app := app.(type) {
	case *v1alpha1.EGApp:
		replicas = ptr.Deref(app.Spec.ReplicaCount, 1)
		if app.Spec.Image != "" {
			image = app.Spec.Image
		}
	case *devopsv1.DemoMicroService:
		image = app.Spec.Image
	}
	return &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Name: app.GetName()},
		Spec: appsv1.DeploymentSpec{
			Replicas: &replicas,
			Template: corev1.PodTemplateSpec{Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "app", Image: image}}}},
		},
	}
}

// otherChildren are those beside the Deployment.
func otherChildren(app application) []client.Object {
	egapp, ok := app.(*v1alpha1.EGApp)
	if !ok {
		return nil
	}
	named := metav1.ObjectMeta{Name: app.GetName()}
	children := []client.Object{&corev1.Service{ObjectMeta: named}}
	if egapp.Spec.Environment != v1alpha1.EnvironmentDev {
		children = append(children, &policyv1.PodDisruptionBudget{ObjectMeta: named})
	}
	if egapp.Spec.Autoscaling != nil {
		children = append(children, &autoscalingv2.HorizontalPodAutoscaler{ObjectMeta: named})
	}
	if egapp.Spec.NetworkPolicy != nil {
		children = append(children, &networkingv1.NetworkPolicy{ObjectMeta: named})
	}
	if len(egapp.Spec.EnvFrom) > 0 {
		children = append(children, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: app.GetName() + "-runtime-env"}})
	}
	return children
}

// ensure makes the child of an application unless it is there.
func (p *playedCluster) ensure(ctx context.Context, app application, child client.Object) {
	p.Helper()
	kind := p.kind(child)
	key := client.ObjectKey{Namespace: app.GetNamespace(), Name: child.GetName()}
	id := kind + " " + key.String()
	err := p.Get(ctx, key, child.DeepCopyObject().(client.Object))
	p.must(client.IgnoreNotFound(err))
	if err == nil || kind == p.makesNo || (p.made[id] && kind == p.loses) {
		return
	}
	child.SetNamespace(key.Namespace)
	child.SetLabels(map[string]string{workload.LabelOwnerUID: string(app.GetUID())})
	child.SetOwnerReferences([]metav1.OwnerReference{{UID: app.GetUID(), Name: app.GetName(), Kind: p.kind(app), APIVersion: "v1", Controller: new(true)}})
	if p.made[id] && kind == p.orphans {
		child.SetOwnerReferences(nil)
	}
	if p.spoils != nil {
		p.spoils(child)
	}
	p.must(p.create(ctx, child))
	p.made[id] = true
}

// repair takes back what somebody changed in the Deployment.
func (p *playedCluster) repair(ctx context.Context, app application) {
	p.Helper()
	var live appsv1.Deployment
	if err := p.Get(ctx, client.ObjectKeyFromObject(app), &live); err != nil {
		p.must(client.IgnoreNotFound(err))
		return
	}
	desired, before := desiredDeployment(app), live.DeepCopy()
	if p.keeps != "replicas" {
		live.Spec.Replicas = desired.Spec.Replicas
	}
	if p.keeps != "image" {
		live.Spec.Template = desired.Spec.Template
	}
	// A write is dear on this cluster.
	if !equality.Semantic.DeepEqual(before, &live) {
		p.must(p.Update(ctx, &live))
	}
}

// roll makes the ReplicaSet and the pod of the Deployment.
func (p *playedCluster) roll(ctx context.Context, app application) {
	p.Helper()
	key := client.ObjectKeyFromObject(app)
	for _, step := range [][2]client.Object{{&appsv1.Deployment{}, &appsv1.ReplicaSet{}}, {&appsv1.ReplicaSet{}, &corev1.Pod{}}} {
		owner, made := step[0], step[1]
		if err := p.Get(ctx, key, made); err == nil || p.kind(made) == p.makesNo {
			continue
		}
		if err := p.Get(ctx, key, owner); err != nil {
			p.must(client.IgnoreNotFound(err))
			continue
		}
		made.SetNamespace(key.Namespace)
		made.SetName(key.Name)
		made.SetLabels(selectorOf(app))
		made.SetOwnerReferences([]metav1.OwnerReference{{UID: owner.GetUID(), Name: key.Name, Kind: p.kind(owner), APIVersion: "apps/v1"}})
		p.must(p.create(ctx, made))
	}
}

// report writes the status. A pod is ready at once unless its image cannot be pulled.
func (p *playedCluster) report(ctx context.Context, app application, image string) {
	p.Helper()
	ready := metav1.Condition{
		Type: appstatus.ConditionReady, Status: metav1.ConditionTrue, Reason: appstatus.ReasonReady, ObservedGeneration: app.GetGeneration()}
	if image == missingImage {
		ready.Status, ready.Reason = metav1.ConditionFalse, appstatus.ReasonImagePullFailed
		ready.Message = "Pod " + app.GetName() + "-0, container app: image " + image + ": ErrImagePull: no such host."
	}
	if p.says != nil {
		p.says(app, &ready)
	}
	status := app.AppStatus()
	if len(status.Conditions) == 1 && status.Conditions[0] == ready {
		return
	}
	status.Selector = labels.FormatLabels(selectorOf(app))
	status.Conditions = []metav1.Condition{ready}
	p.must(p.Status().Update(ctx, app))
}

// collectGarbage removes what has lost all of its owners, with what it owned itself.
func (p *playedCluster) collectGarbage(ctx context.Context) {
	p.Helper()
	there := map[types.UID]bool{}
	for _, app := range p.applications(ctx) {
		there[app.GetUID()] = true
	}
	for _, list := range []client.ObjectList{
		&appsv1.DeploymentList{}, &corev1.ServiceList{}, &policyv1.PodDisruptionBudgetList{}, &autoscalingv2.HorizontalPodAutoscalerList{},
		&networkingv1.NetworkPolicyList{}, &corev1.ConfigMapList{}, &appsv1.ReplicaSetList{}, &corev1.PodList{},
	} {
		p.must(p.List(ctx, list))
		p.must(meta.EachListItem(list, func(item runtime.Object) error {
			object := item.(client.Object)
			there[object.GetUID()] = true
			owners := object.GetOwnerReferences()
			for _, owner := range owners {
				if there[owner.UID] {
					return nil
				}
			}
			if len(owners) == 0 || p.kind(object) == p.leaves {
				return nil
			}
			there[object.GetUID()] = false
			if object.GetDeletionTimestamp() != nil {
				return nil
			}
			return client.IgnoreNotFound(p.Delete(ctx, object))
		}))
	}
}
