// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"platformapp/api/appstatus"
	devopsv1 "platformapp/api/devops/v1"
	"platformapp/api/egplatform/v1alpha1"
	"platformapp/test/operator"
)

// How long the tests wait at most: for one step of the operator, for pods to come or go, and for what a controller
// with a growing backoff does. Enough for a machine that does much else.
const (
	shortWait = 30 * time.Second
	podWait   = 90 * time.Second
	longWait  = 3 * time.Minute
)

// scene is a test on the cluster. When the test fails, it shows the applications and the operators' logs.
type scene struct {
	*testing.T
	*suite
	// namespaces of the test.
	namespaces []string
	// operators that it has to do with.
	operators []*operator.Process
}

// newScene returns the scene of a test without an operator.
func newScene(t *testing.T) *scene {
	t.Helper()
	s := &scene{T: t, suite: startSuite(t)}
	t.Cleanup(func() {
		if t.Failed() {
			s.show()
		}
	})
	return s
}

// newSharedScene returns the scene of a test that shares the operator, and runs parallel to others.
func newSharedScene(t *testing.T) *scene {
	t.Helper()
	t.Parallel()
	s := newScene(t)
	s.operators = append(s.operators, s.sharedOperator(t))
	t.Cleanup(func() {
		if len(s.namespaces) == 0 {
			return
		}
		if err := checkLog(s.operators[0], s.namespaces); err != nil {
			t.Error(err)
		}
	})
	return s
}

// in returns the scene for a subtest.
func (s *scene) in(t *testing.T) *scene {
	sub := *s
	sub.T = t
	return &sub
}

// namespace makes a namespace of the test.
func (s *scene) namespace(prefix string) string {
	s.Helper()
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: prefix + "-"}}
	s.create(namespace)
	s.namespaces = append(s.namespaces, namespace.Name)
	return namespace.Name
}

// account makes a service account that has the rights of config/rbac in the given namespaces and nowhere else.
func (s *scene) account(name string, namespaces ...string) account {
	s.Helper()
	a := s.newAccount(s.T, namespaces[0], name)
	for _, namespace := range namespaces {
		s.allow(s.T, a, namespace, "ClusterRole", managerRole)
	}
	return a
}

// start starts an operator that ends with the test; unless it was ended before, without an error.
func (s *scene) start(o operatorOptions) *operator.Process {
	s.Helper()
	name := fmt.Sprintf("%s-%d", o.account.namespace, len(s.operators)+1)
	op, err := s.launch(s.Context(), name, o)
	if err != nil {
		s.Fatal(err)
	}
	s.operators = append(s.operators, op)
	s.Cleanup(func() {
		if op.Runs() {
			s.terminate(op)
		}
		if err := checkLog(op, nil); err != nil {
			s.Error(err)
		}
	})
	return op
}

// startIn starts an operator for a namespace, with the rights of config/rbac there.
func (s *scene) startIn(namespace string) (*operator.Process, account) {
	s.Helper()
	a := s.account("operator", namespace)
	return s.start(operatorOptions{account: a, watch: namespace}), a
}

// terminate ends an operator by SIGTERM, which it obeys in time and without an error.
func (s *scene) terminate(op *operator.Process) {
	s.Helper()
	if err := op.Terminate(); err != nil {
		s.Error(err)
	}
}

// show writes the state of the test's applications and the end of its operators' logs to the test's log.
func (s *scene) show() {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(s.Context()), shortWait)
	defer cancel()
	for _, namespace := range s.namespaces {
		apps, err := s.applications(ctx, namespace)
		if err != nil {
			s.Log(err)
		}
		for _, app := range apps {
			status, err := json.Marshal(app.AppStatus())
			s.Logf("%T %s/%s, generation %d: %s %v", app, namespace, app.GetName(), app.GetGeneration(), status, err)
		}
		children, err := s.runKubectl(ctx, "get", "deployments,replicasets,pods,services", "--namespace", namespace, "--output=wide")
		s.Logf("%s %v", children, err)
	}
	for i, op := range s.operators {
		s.Logf("log of operator %d:\n%s", i+1, tail(op, s.namespaces))
	}
}

// application is an object of either kind.
type application interface {
	client.Object
	AppStatus() *appstatus.Status
}

// applications returns the applications of both kinds.
func (s *suite) applications(ctx context.Context, namespace string) ([]application, error) {
	var egapps v1alpha1.EGAppList
	var services devopsv1.DemoMicroServiceList
	err := errors.Join(s.admin.List(ctx, &egapps, client.InNamespace(namespace)), s.admin.List(ctx, &services, client.InNamespace(namespace)))
	var apps []application
	for i := range egapps.Items {
		apps = append(apps, &egapps.Items[i])
	}
	for i := range services.Items {
		apps = append(apps, &services.Items[i])
	}
	return apps, err
}

// image is what the tests run. KWOK pulls nothing.
const image = "registry.example.com/team/app:1"

func newEGApp(namespace, name string, replicas int32) *v1alpha1.EGApp {
	return &v1alpha1.EGApp{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name},
		Spec: v1alpha1.EGAppSpec{
			Framework:    v1alpha1.FrameworkGo,
			Environment:  v1alpha1.EnvironmentDev,
			ReplicaCount: new(replicas),
			Image:        image,
		},
	}
}

func newDemoMicroService(namespace, name string) *devopsv1.DemoMicroService {
	return &devopsv1.DemoMicroService{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name},
		Spec:       devopsv1.DemoMicroServiceSpec{Image: image},
	}
}

// create creates objects.
func (s *scene) create(objects ...client.Object) {
	s.Helper()
	for _, object := range objects {
		if err := s.admin.Create(s.Context(), object); err != nil {
			s.Fatalf("create %T %s: %v", object, object.GetName(), err)
		}
	}
}

// delete deletes an object; background deletion is what kubectl does.
func (s *scene) delete(object client.Object) {
	s.Helper()
	if err := s.admin.Delete(s.Context(), object, client.PropagationPolicy(metav1.DeletePropagationBackground)); err != nil {
		s.Fatalf("delete %T %s: %v", object, object.GetName(), err)
	}
}

// get reads the object of that name anew.
func (s *scene) get(object client.Object) {
	s.Helper()
	if err := s.admin.Get(s.Context(), client.ObjectKeyFromObject(object), object); err != nil {
		s.Fatalf("get %T %s: %v", object, object.GetName(), err)
	}
}

// eventually ends the test unless check passes in time.
func (s *scene) eventually(within time.Duration, what string, check func(ctx context.Context) error) {
	s.Helper()
	start := time.Now()
	for {
		ctx, cancel := context.WithTimeout(s.Context(), within)
		err := check(ctx)
		cancel()
		if err == nil {
			return
		}
		if time.Since(start) > within {
			s.Fatalf("not within %s: %s: %v", within, what, err)
		}
		time.Sleep(pollInterval)
	}
}

// ready waits until the applications are Ready, whatever their number of pods, and reads them.
func (s *scene) ready(apps ...application) {
	s.Helper()
	for _, app := range apps {
		s.reports(podWait, app, metav1.ConditionTrue)
	}
}

// reports waits until the application's Ready condition, of its present generation, has the status and one of the
// reasons, if any are given, and reads the application.
func (s *scene) reports(within time.Duration, app application, status metav1.ConditionStatus, reasons ...string) *metav1.Condition {
	s.Helper()
	var ready *metav1.Condition
	what := fmt.Sprintf("%T %s reports Ready=%s %s", app, app.GetName(), status, strings.Join(reasons, " or "))
	s.eventually(within, what, func(ctx context.Context) error {
		if err := s.admin.Get(ctx, client.ObjectKeyFromObject(app), app); err != nil {
			return err
		}
		ready = meta.FindStatusCondition(app.AppStatus().Conditions, appstatus.ConditionReady)
		switch {
		case ready == nil:
			return errors.New("it has no condition")
		case ready.ObservedGeneration != app.GetGeneration():
			return fmt.Errorf("the condition is that of generation %d, want %d", ready.ObservedGeneration, app.GetGeneration())
		case ready.Status != status || (len(reasons) > 0 && !slices.Contains(reasons, ready.Reason)):
			return fmt.Errorf("Ready=%s %s: %s", ready.Status, ready.Reason, ready.Message)
		}
		return nil
	})
	return ready
}

// deploymentOf reads the Deployment of an application.
func (s *scene) deploymentOf(app application) *appsv1.Deployment {
	s.Helper()
	deployment := &appsv1.Deployment{ObjectMeta: childOf(app)}
	s.get(deployment)
	return deployment
}

// serviceOf reads the Service of an EGApp.
func (s *scene) serviceOf(app application) *corev1.Service {
	s.Helper()
	service := &corev1.Service{ObjectMeta: childOf(app)}
	s.get(service)
	return service
}

// childOf is the name of each child of an application.
func childOf(app application) metav1.ObjectMeta {
	return metav1.ObjectMeta{Namespace: app.GetNamespace(), Name: app.GetName()}
}

// runs waits until exactly that many pods of the application are there, all Running and Ready, and its status tells
// so, and returns them in alphabetical order.
func (s *scene) runs(app application, pods int) []corev1.Pod {
	s.Helper()
	var found []corev1.Pod
	s.eventually(podWait, fmt.Sprintf("%T %s runs %d pods and says so", app, app.GetName(), pods), func(ctx context.Context) error {
		var err error
		if found, err = s.pods(ctx, app); err != nil {
			return err
		}
		if len(found) != pods {
			return fmt.Errorf("there are %d pods", len(found))
		}
		var names []string
		for _, pod := range found {
			if pod.Status.Phase != corev1.PodRunning || !podIsReady(pod) || pod.DeletionTimestamp != nil {
				return fmt.Errorf("pod %s is %s %v", pod.Name, pod.Status.Phase, pod.Status.Conditions)
			}
			names = append(names, pod.Name)
		}
		if err := s.admin.Get(ctx, client.ObjectKeyFromObject(app), app); err != nil {
			return err
		}
		status := app.AppStatus()
		if !slices.Equal(status.Pods, names) {
			return fmt.Errorf("status.pods is %v, want %v", status.Pods, names)
		}
		n := int32(pods)
		if status.Replicas != n || status.ReadyReplicas != n || status.UpdatedReplicas != n || status.AvailableReplicas != n {
			return fmt.Errorf("status counts %+v", *status)
		}
		if !slices.Equal(status.PodStatuses["Running"], names) {
			return fmt.Errorf("status.podStatuses is %v", status.PodStatuses)
		}
		return nil
	})
	return found
}

// pods returns the pods that an application's Deployment controls, in alphabetical order.
func (s *suite) pods(ctx context.Context, app application) ([]corev1.Pod, error) {
	deployment := &appsv1.Deployment{ObjectMeta: childOf(app)}
	if err := s.admin.Get(ctx, client.ObjectKeyFromObject(deployment), deployment); err != nil {
		return nil, err
	}
	var replicaSets appsv1.ReplicaSetList
	var pods corev1.PodList
	for _, list := range []client.ObjectList{&replicaSets, &pods} {
		if err := s.admin.List(ctx, list, client.InNamespace(app.GetNamespace())); err != nil {
			return nil, err
		}
	}
	var controlled []corev1.Pod
	for _, replicaSet := range replicaSets.Items {
		for _, pod := range pods.Items {
			if metav1.IsControlledBy(&replicaSet, deployment) && metav1.IsControlledBy(&pod, &replicaSet) {
				controlled = append(controlled, pod)
			}
		}
	}
	slices.SortFunc(controlled, func(a, b corev1.Pod) int { return strings.Compare(a.Name, b.Name) })
	return controlled, nil
}

func podIsReady(pod corev1.Pod) bool {
	return slices.ContainsFunc(pod.Status.Conditions, func(c corev1.PodCondition) bool {
		return c.Type == corev1.PodReady && c.Status == corev1.ConditionTrue
	})
}

// gone waits until nothing of these kinds is left in the namespace.
func (s *scene) gone(within time.Duration, namespace string, kinds ...client.ObjectList) {
	s.Helper()
	for _, list := range kinds {
		s.eventually(within, fmt.Sprintf("all of %T are gone", list), func(ctx context.Context) error {
			if err := s.admin.List(ctx, list, client.InNamespace(namespace)); err != nil {
				return err
			}
			if n := meta.LenList(list); n > 0 {
				return fmt.Errorf("%d are left", n)
			}
			return nil
		})
	}
}

// isGone waits until the object is not there any more.
func (s *scene) isGone(within time.Duration, object client.Object) {
	s.Helper()
	s.eventually(within, fmt.Sprintf("%T %s is gone", object, object.GetName()), func(ctx context.Context) error {
		err := s.admin.Get(ctx, client.ObjectKeyFromObject(object), object)
		if apierrors.IsNotFound(err) {
			return nil
		}
		return errors.Join(errors.New("it is still there"), err)
	})
}
