// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package apply_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"platformapp/internal/apply"
	"platformapp/internal/resources"
	"platformapp/internal/workload"
)

// errStopped is the end of the operator's process, as a turn sees it.
var errStopped = errors.New("the operator was stopped")

// stage is a namespace in which a workload is applied turn by turn. Every look at its
// children is one at the API server.
type stage struct {
	*testing.T
	// user is another user of the cluster.
	user    client.WithWatch
	applier *apply.Applier
	w       workload.Workload
	// platform has every optional kind.
	platform workload.Platform
	// writes are those that the applier made, as verb, kind and name.
	writes []string
	// stopAt is the number of the write, from 1, before which the operator is stopped.
	stopAt  int
	stopped bool
	// afterWrite is called when a write was carried out.
	afterWrite func()
	// unconfirmed is why the owner is not confirmed, or nil; asked is in how many turns the API server was asked for that.
	unconfirmed error
	asked       int
	// ended are the versions that the applier knows not to be there any more, as kind and version.
	ended []string
}

// Expect is told of a version that a write led to.
func (s *stage) Expect(string, types.NamespacedName, string) {}

// ExpectEnd is told of a version that is not there any more.
func (s *stage) ExpectEnd(kind string, _ types.NamespacedName, version string) {
	s.ended = append(s.ended, kind+" "+version)
}

// ExpectDeleted is told of a version that was deleted.
func (s *stage) ExpectDeleted(kind string, name types.NamespacedName, version string) {
	s.ExpectEnd(kind, name, version)
}

func newStage(t *testing.T) *stage {
	t.Helper()
	s := &stage{T: t, afterWrite: func() {}, platform: workload.Platform{Kinds: map[string]bool{"HTTPRoute": true, "Route": true, "ServiceMonitor": true}}}
	var err error
	if s.user, err = client.NewWithWatch(cluster, client.Options{Scheme: scheme}); err != nil {
		t.Fatal(err)
	}
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "apply-"}}
	s.must(s.user.Create(t.Context(), namespace))
	s.w = ordersWorkload(namespace.Name)
	s.restart()
	return s
}

// ordersWorkload is an application of three pods with a Service, and nothing more.
func ordersWorkload(namespace string) workload.Workload {
	return workload.Workload{
		Owner: workload.Owner{
			GroupVersionKind: schema.GroupVersionKind{Group: "egplatform.platform.evillgenius.com", Version: "v1alpha1", Kind: "EGApp"},
			Namespace:        namespace, Name: "orders", UID: types.UID("uid-of-" + namespace), SelectorKey: workload.LabelEGApp,
		},
		Replicas:  3,
		Container: workload.Container{Name: "orders", Image: "registry.example.com/orders:1"},
		Ports:     []workload.Port{{Name: "http", ContainerPort: 8080, ServicePort: 80, Protocol: corev1.ProtocolTCP}},
		Service:   &workload.Service{Type: corev1.ServiceTypeClusterIP},
		Rollout:   workload.Rollout{MaxSurge: intstr.FromInt32(1), ProgressDeadlineSeconds: 600},
		Security:  workload.SecurityRestricted, TerminationGracePeriodSeconds: 30,
	}
}

// restart makes the operator forget everything.
func (s *stage) restart() {
	s.Helper()
	writer := interceptor.NewClient(s.user, interceptor.Funcs{
		Apply: func(ctx context.Context, c client.WithWatch, object runtime.ApplyConfiguration, opts ...client.ApplyOption) error {
			named := object.(interface{ GetKind() *string })
			return s.write("apply "+*named.GetKind(), func() error { return c.Apply(ctx, object, opts...) })
		},
		Patch: func(ctx context.Context, c client.WithWatch, object client.Object, patch client.Patch, opts ...client.PatchOption) error {
			return s.write("patch "+kindOf(object), func() error { return c.Patch(ctx, object, patch, opts...) })
		},
		Delete: func(ctx context.Context, c client.WithWatch, object client.Object, opts ...client.DeleteOption) error {
			return s.write("delete "+kindOf(object), func() error { return c.Delete(ctx, object, opts...) })
		},
	})
	s.stopped, s.stopAt = false, 0
	s.applier = apply.New(writer, s.user, s)
}

func (s *stage) write(what string, do func() error) error {
	if s.stopped {
		return errStopped
	}
	s.writes = append(s.writes, what)
	if len(s.writes) != s.stopAt {
		defer s.afterWrite()
		return do()
	}
	s.stopped = true
	return errStopped
}

func kindOf(object client.Object) string {
	return strings.TrimPrefix(fmt.Sprintf("%T", object)[strings.LastIndex(fmt.Sprintf("%T", object), ".")+1:], "*")
}

// observe looks at what there is.
func (s *stage) observe() workload.Observed {
	s.Helper()
	observed := workload.Observed{Platform: s.platform, Children: map[string]workload.Object{}}
	for _, kind := range resources.Kinds {
		object := kind.New()
		err := s.user.Get(s.Context(), types.NamespacedName{Namespace: s.w.Owner.Namespace, Name: s.w.Owner.Name + kind.Suffix}, object)
		if apierrors.IsNotFound(err) {
			continue
		}
		s.must(err)
		observed.Children[kind.Name] = object
	}
	var autoscalers autoscalingv2.HorizontalPodAutoscalerList
	s.must(s.user.List(s.Context(), &autoscalers, client.InNamespace(s.w.Owner.Namespace)))
	for _, autoscaler := range autoscalers.Items {
		if s.w.Owner.OwnershipOf(&autoscaler) == workload.Foreign && !s.w.Owner.MayAdopt(&autoscaler) {
			observed.Autoscalers = append(observed.Autoscalers, workload.Autoscaler{Name: autoscaler.Name, TargetKind: "Deployment"})
		}
	}
	return observed
}

// turn looks, decides and writes once.
func (s *stage) turn() (workload.Applied, error) {
	s.Helper()
	return s.turnOn(s.observe())
}

// turnOn decides on what was observed and writes.
func (s *stage) turnOn(observed workload.Observed) (workload.Applied, error) {
	s.Helper()
	desired := resources.Desired(s.w, observed)
	confirm := sync.OnceValue(func() error {
		s.asked++
		return s.unconfirmed
	})
	applied, err := s.applier.Apply(s.Context(), s.w.Owner, desired, observed, confirm)
	if err == nil {
		err = s.applier.Prune(s.Context(), resources.Surplus(s.w, desired, observed), confirm, &applied)
	}
	return applied, err
}

// settle makes turns until one writes nothing, and returns what they came to.
func (s *stage) settle() workload.Applied {
	s.Helper()
	var sum workload.Applied
	for range 10 {
		before := len(s.writes)
		applied, err := s.turn()
		if err != nil {
			s.Fatalf("%v; the writes are %v", err, s.writes)
		}
		sum.Repaired = append(sum.Repaired, applied.Repaired...)
		sum.Conflicts, sum.Terminating, sum.Modified, sum.Generation = applied.Conflicts, applied.Terminating, applied.Modified, applied.Generation
		if len(s.writes) == before {
			return sum
		}
	}
	s.Fatalf("it does not come to rest: %v", s.writes)
	return sum
}

// atRest fails the test if another turn, or one after a restart, writes anything.
func (s *stage) atRest() {
	s.Helper()
	for _, prepare := range []func(){func() {}, s.restart} {
		prepare()
		before := len(s.writes)
		_, err := s.turn()
		s.must(err)
		if got := s.writes[before:]; len(got) > 0 {
			s.Errorf("writes at rest: %v", got)
		}
	}
}

// child reads the child of a kind; it is nil if there is none.
func (s *stage) child(kind string) client.Object {
	s.Helper()
	object, ok := s.observe().Children[kind].(client.Object)
	if !ok {
		return nil
	}
	return object
}

func (s *stage) deployment() *appsv1.Deployment {
	s.Helper()
	deployment, ok := s.child("Deployment").(*appsv1.Deployment)
	if !ok {
		s.Fatal("there is no Deployment")
	}
	return deployment
}

// edit changes the child of a kind as kubectl edit does.
func edit[T client.Object](s *stage, kind string, change func(T)) {
	s.Helper()
	object, ok := s.child(kind).(T)
	if !ok {
		s.Fatalf("there is no %s", kind)
	}
	change(object)
	s.must(s.user.Update(s.Context(), object, client.FieldOwner("kubectl-edit")))
}

func (s *stage) must(err error) {
	s.Helper()
	if err != nil {
		s.Fatal(err)
	}
}

func (s *stage) wantWrites(from int, want ...string) {
	s.Helper()
	if got := s.writes[from:]; !slices.Equal(got, want) {
		s.Errorf("the writes are %v, want %v", got, want)
	}
}
