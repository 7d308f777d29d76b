// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package resources_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	devopsv1 "platformapp/api/devops/v1"
	"platformapp/api/egplatform/v1alpha1"
	"platformapp/internal/resources"
	"platformapp/internal/translate"
	"platformapp/internal/workload"
)

func TestSurplusIsOursAndUnwanted(t *testing.T) {
	service, err := translate.DemoMicroService(&devopsv1.DemoMicroService{
		ObjectMeta: metav1.ObjectMeta{Namespace: "team-a", Name: "orders", UID: "1"},
		Spec:       devopsv1.DemoMicroServiceSpec{Image: "nginx:1"},
	})
	if err != nil {
		t.Fatal(err)
	}
	app := mustTranslate(t, &v1alpha1.EGApp{
		ObjectMeta: metav1.ObjectMeta{Namespace: "team-a", Name: "orders", UID: "1"},
		Spec:       v1alpha1.EGAppSpec{Framework: v1alpha1.FrameworkGo, Environment: v1alpha1.EnvironmentDev},
	})
	controlledBy := func(o workload.Owner, uid types.UID) metav1.ObjectMeta {
		return metav1.ObjectMeta{Namespace: "team-a", Name: "orders", OwnerReferences: []metav1.OwnerReference{{
			APIVersion: o.GroupVersion().String(), Kind: o.Kind, Name: o.Name, UID: uid, Controller: new(true),
		}}}
	}
	for _, test := range []struct {
		name     string
		workload workload.Workload
		observed metav1.ObjectMeta
		want     bool
	}{
		{"ours and unwanted", service, controlledBy(service.Owner, "1"), true},
		{"ours with the reference taken away and unwanted", service, metav1.ObjectMeta{Labels: map[string]string{workload.LabelOwnerUID: "1"}}, true},
		{"a predecessor's", service, controlledBy(service.Owner, "0"), false},
		{"nobody's", service, metav1.ObjectMeta{}, false},
		{"nobody's with all labels but the owner's UID", service, metav1.ObjectMeta{Labels: service.Owner.PodLabels()}, false},
		{"the other kind's of the same name", service, controlledBy(app.Owner, "9"), false},
		{"somebody else's with our label", service, func() metav1.ObjectMeta {
			m := controlledBy(app.Owner, "9")
			m.Labels = service.Owner.ChildLabels()
			return m
		}(), false},
		{"ours and wanted", app, controlledBy(app.Owner, "1"), false},
	} {
		t.Run(test.name, func(t *testing.T) {
			object := &corev1.Service{ObjectMeta: test.observed}
			observed := workload.Observed{Children: map[string]workload.Object{
				"Deployment": &appsv1.Deployment{ObjectMeta: controlledBy(test.workload.Owner, "1")},
				"Service":    object,
			}}
			surplus := resources.Surplus(test.workload, resources.Desired(test.workload, observed), observed)
			var want []workload.Object
			if test.want {
				want = []workload.Object{object}
			}
			if diff := cmp.Diff(want, surplus); diff != "" {
				t.Errorf("surplus (-want +got):\n%s", diff)
			}
		})
	}
	if surplus := resources.Surplus(service, resources.Desired(service, workload.Observed{}), workload.Observed{}); len(surplus) > 0 {
		t.Errorf("surplus %v where nothing was observed", surplus)
	}
}

// What exposes an application stays until what takes its place is seen; an API that is gone
// has nothing to prune; and an autoscaler of somebody else is not ours to delete.
func TestSurplusOfEachKind(t *testing.T) {
	ours := metav1.ObjectMeta{Namespace: "team-a", Name: "orders", Labels: map[string]string{workload.LabelOwnerUID: "1"}}
	theirs := metav1.ObjectMeta{Namespace: "team-a", Name: "orders"}
	everything := func() workload.Observed {
		o := workload.Observed{
			Platform: workload.Platform{Kinds: map[string]bool{}},
			Children: map[string]workload.Object{},
		}
		for _, kind := range resources.Kinds {
			o.Platform.Kinds[kind.Name] = true
			object := kind.New()
			object.SetName("orders" + kind.Suffix)
			object.SetLabels(ours.Labels)
			o.Children[kind.Name] = object
		}
		return o
	}
	byGateway := &v1alpha1.Expose{
		Type: v1alpha1.ExposeTypeHTTPRoute, Hosts: []string{"a.example.com"},
		HTTPRoute: &v1alpha1.ExposeHTTPRoute{GatewayRef: v1alpha1.GatewayRef{Name: "public"}},
	}
	for _, test := range []struct {
		name   string
		expose *v1alpha1.Expose
		change func(*workload.Observed)
		want   []string
	}{
		{
			"everything that is optional is gone from the specification", nil, func(*workload.Observed) {},
			[]string{"ConfigMap", "HorizontalPodAutoscaler", "PodDisruptionBudget", "NetworkPolicy", "Ingress", "HTTPRoute", "Route", "ServiceMonitor"},
		},
		{
			"the cluster has no Routes and ServiceMonitors", nil, func(o *workload.Observed) {
				o.Platform.Kinds["Route"], o.Platform.Kinds["ServiceMonitor"] = false, false
			},
			[]string{"ConfigMap", "HorizontalPodAutoscaler", "PodDisruptionBudget", "NetworkPolicy", "Ingress", "HTTPRoute"},
		},
		{
			"the autoscaler is somebody else's", nil, func(o *workload.Observed) {
				o.Children["HorizontalPodAutoscaler"] = &autoscalingv2.HorizontalPodAutoscaler{ObjectMeta: theirs}
			},
			[]string{"ConfigMap", "PodDisruptionBudget", "NetworkPolicy", "Ingress", "HTTPRoute", "Route", "ServiceMonitor"},
		},
		{
			"an HTTPRoute has taken over", byGateway, func(o *workload.Observed) {
				route := o.Children["HTTPRoute"].DeepCopyObject().(*gatewayv1.HTTPRoute)
				route.Status.Parents = acceptedByGateway
				o.Children["HTTPRoute"] = route
			},
			[]string{"ConfigMap", "HorizontalPodAutoscaler", "PodDisruptionBudget", "NetworkPolicy", "Ingress", "Route", "ServiceMonitor"},
		},
		{
			"an HTTPRoute has yet to take over", byGateway, func(o *workload.Observed) { delete(o.Children, "HTTPRoute") },
			[]string{"ConfigMap", "HorizontalPodAutoscaler", "PodDisruptionBudget", "NetworkPolicy", "ServiceMonitor"},
		},
		{
			"the HTTPRoute's name is taken", byGateway, func(o *workload.Observed) {
				o.Children["HTTPRoute"] = &gatewayv1.HTTPRoute{ObjectMeta: theirs}
			},
			[]string{"ConfigMap", "HorizontalPodAutoscaler", "PodDisruptionBudget", "NetworkPolicy", "ServiceMonitor"},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			w := mustTranslate(t, &v1alpha1.EGApp{
				ObjectMeta: ours,
				Spec:       v1alpha1.EGAppSpec{Framework: v1alpha1.FrameworkGo, Environment: v1alpha1.EnvironmentDev, Expose: test.expose},
			})
			w.Owner.UID = "1"
			o := everything()
			test.change(&o)
			var got []string
			for _, object := range resources.Surplus(w, resources.Desired(w, o), o) {
				for _, kind := range resources.Kinds {
					if o.Children[kind.Name] == object {
						got = append(got, kind.Name)
					}
				}
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("surplus (-want +got):\n%s", diff)
			}
		})
	}
}
