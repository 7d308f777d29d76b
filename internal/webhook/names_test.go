// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package webhook

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	"platformapp/api/egplatform/v1alpha1"
	"platformapp/internal/translate"
	"platformapp/internal/workload"
)

// server has objects of some kinds of each asked name, with this metadata, or fails.
type server struct {
	client.Reader
	deployment, service, ingress, httpRoute *metav1.ObjectMeta
	err                                     error
}

func (s server) Get(ctx context.Context, key client.ObjectKey, object client.Object, _ ...client.GetOption) error {
	if _, limited := ctx.Deadline(); !limited {
		return errors.New("the request may last for ever")
	}
	found := func(there, meta *metav1.ObjectMeta) error {
		if there == nil || s.err != nil {
			if s.err != nil {
				return s.err
			}
			return apierrors.NewNotFound(schema.GroupResource{}, key.Name)
		}
		*meta = *there
		meta.Name, meta.Namespace = key.Name, key.Namespace
		return nil
	}
	switch object := object.(type) {
	case *gatewayv1.HTTPRoute:
		return found(s.httpRoute, &object.ObjectMeta)
	case *networkingv1.Ingress:
		return found(s.ingress, &object.ObjectMeta)
	case *appsv1.Deployment:
		return found(s.deployment, &object.ObjectMeta)
	case *corev1.Service:
		return found(s.service, &object.ObjectMeta)
	default:
		return found(nil, nil)
	}
}

func TestTakenNamesAreToldUnlessTheyWillBeTheApplications(t *testing.T) {
	app := with(func(app *v1alpha1.EGApp) { app.UID = "new" })
	predecessor := []metav1.OwnerReference{{APIVersion: v1alpha1.GroupVersion.String(), Kind: "EGApp", Name: app.Name, UID: "old", Controller: new(true)}}
	w, err := translate.EGApp(app, translate.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		name   string
		server server
		want   []string
	}{
		{"nothing is there", server{}, nil},
		{"a Deployment of somebody else", server{deployment: &metav1.ObjectMeta{}}, []string{"Deployment orders"}},
		{"both of somebody else", server{deployment: &metav1.ObjectMeta{}, service: &metav1.ObjectMeta{}}, []string{"Deployment orders", "Service orders"}},
		{"a Deployment of a predecessor, which goes", server{deployment: &metav1.ObjectMeta{OwnerReferences: predecessor}}, nil},
		{"a Deployment that consents to its adoption", server{deployment: &metav1.ObjectMeta{Annotations: map[string]string{"platform.evillgenius.com/adopt-by": "orders"}}}, nil},
		{"a Deployment that consents to another", server{deployment: &metav1.ObjectMeta{Annotations: map[string]string{"platform.evillgenius.com/adopt-by": "others"}}}, []string{"Deployment orders"}},
		{"the API server does not answer", server{err: errors.New("timeout")}, nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			got := takenNames{live: test.server, platform: having()}.warnings(t.Context(), w)
			if len(got) != len(test.want) {
				t.Fatal(cmp.Diff(test.want, got))
			}
			for i, warning := range got {
				for _, words := range []string{test.want[i], "metadata.name", "platform.evillgenius.com/adopt-by: orders"} {
					if !strings.Contains(warning, words) {
						t.Errorf("the warning does not say %s: %s", words, warning)
					}
				}
			}
		})
	}
}

// having is a cluster that has optional kinds.
func having(kinds ...string) func() (workload.Platform, bool) {
	p := workload.Platform{Kinds: map[string]bool{}}
	for _, kind := range kinds {
		p.Kinds[kind] = true
	}
	return func() (workload.Platform, bool) { return p, true }
}

// Only the names are asked for that the application will have on this cluster.
func TestTakenNamesAreThoseOfTheCluster(t *testing.T) {
	unknown := func() (workload.Platform, bool) { return workload.Platform{}, false }
	gateway := &v1alpha1.Expose{Hosts: []string{"a.example.com"}, HTTPRoute: &v1alpha1.ExposeHTTPRoute{GatewayRef: v1alpha1.GatewayRef{Name: "public"}}}
	for _, test := range []struct {
		name     string
		expose   *v1alpha1.Expose
		platform func() (workload.Platform, bool)
		want     string
	}{
		{"an Ingress that exposes it", &v1alpha1.Expose{Hosts: []string{"a.example.com"}}, having(), "Ingress orders"},
		{"an Ingress where a Route exposes it", &v1alpha1.Expose{Hosts: []string{"a.example.com"}}, having("Route"), ""},
		{"an HTTPRoute that exposes it", gateway, having("HTTPRoute"), "HTTPRoute orders"},
		{"an HTTPRoute that the cluster lacks", gateway, having(), ""},
		{"a cluster of which nothing is known yet", gateway, unknown, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			w, err := translate.EGApp(with(func(app *v1alpha1.EGApp) { app.Spec.Expose = test.expose }), translate.Options{})
			if err != nil {
				t.Fatal(err)
			}
			live := server{ingress: &metav1.ObjectMeta{}, httpRoute: &metav1.ObjectMeta{}}
			got := strings.Join(takenNames{live: live, platform: test.platform}.warnings(t.Context(), w), " ")
			if (test.want == "") != (got == "") || !strings.Contains(got, test.want) {
				t.Errorf("the warnings are %q, want one of %q", got, test.want)
			}
		})
	}
}
