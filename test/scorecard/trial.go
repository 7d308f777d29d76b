// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/operator-framework/api/pkg/apis/scorecard/v1alpha3"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/wait"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"

	"platformapp/api/appstatus"
	devopsv1 "platformapp/api/devops/v1"
	"platformapp/api/egplatform/v1alpha1"
)

const (
	// readyTimeout bounds the way to Ready, images pulled; repairTimeout what the operator does in one step.
	readyTimeout  = 3 * time.Minute
	repairTimeout = 30 * time.Second
	// cleanUpTimeout is less than the 30 seconds that a pod has to end when it is deleted.
	cleanUpTimeout = 20 * time.Second
	pollInterval   = 200 * time.Millisecond
)

// labelCreatedBy is on every application of a test, so that those that a killed pod leaves can be found.
const (
	labelCreatedBy = "app.kubernetes.io/created-by"
	createdBy      = "platformapp-scorecard"
)

// application is an object of either kind.
type application interface {
	client.Object
	AppStatus() *appstatus.Status
}

// newScheme returns a scheme with the operator's kinds and those of Kubernetes.
func newScheme() (*runtime.Scheme, error) {
	scheme := runtime.NewScheme()
	builder := runtime.NewSchemeBuilder(clientgoscheme.AddToScheme, v1alpha1.AddToScheme, devopsv1.AddToScheme)
	return scheme, builder.AddToScheme(scheme)
}

// trial is a run of one test.
type trial struct {
	client.Client
	// namespace is where all of it happens.
	namespace string
	// samples are the examples of the bundle.
	samples []application
	log     *journal
	// interval is how often the cluster is asked for what is waited for.
	interval time.Duration

	created []application
}

// run runs the test, removes what it made, and returns the result.
func (t *trial) run(ctx context.Context, test test) v1alpha3.TestResult {
	err := errors.Join(test.run(ctx, t), t.cleanUp(ctx))
	result := v1alpha3.TestResult{Name: test.name, State: v1alpha3.PassState, Log: t.log.String()}
	if err != nil {
		result.State, result.Errors = v1alpha3.FailState, messages(err)
	}
	return result
}

// messages returns what is wrong, a line each.
func messages(err error) []string {
	lines := strings.Split(err.Error(), "\n")
	if apierrors.IsForbidden(err) {
		lines = append(lines, "if a right is missing: apply test/scorecard/rbac.yaml to the namespace and name its ServiceAccount by --service-account")
	}
	return lines
}

// egapp returns a small EGApp that runs the platform's own image.
func (t *trial) egapp() *v1alpha1.EGApp {
	return &v1alpha1.EGApp{
		ObjectMeta: metav1.ObjectMeta{Name: "egapp"},
		Spec:       v1alpha1.EGAppSpec{Framework: v1alpha1.FrameworkGo, Environment: v1alpha1.EnvironmentDev, ReplicaCount: new(int32(1))},
	}
}

// demoMicroService returns the bundle's example of one, whose image can be pulled if any can.
func (t *trial) demoMicroService() (*devopsv1.DemoMicroService, error) {
	for _, sample := range t.samples {
		if service, ok := sample.(*devopsv1.DemoMicroService); ok {
			return service.DeepCopy(), nil
		}
	}
	return nil, errors.New("the bundle has no example of a DemoMicroService")
}

// oneOfEach makes an application of each kind and waits until both are Ready.
func (t *trial) oneOfEach(ctx context.Context) (*v1alpha1.EGApp, *devopsv1.DemoMicroService, error) {
	app := t.egapp()
	service, err := t.demoMicroService()
	if err != nil {
		return nil, nil, err
	}
	for _, a := range []application{app, service} {
		if err := t.create(ctx, a); err != nil {
			return nil, nil, err
		}
	}
	return app, service, errors.Join(t.becomesReady(ctx, app), t.becomesReady(ctx, service))
}

// create creates the application under a name that begins with its own and is nobody else's.
func (t *trial) create(ctx context.Context, app application) error {
	app.SetNamespace(t.namespace)
	app.SetGenerateName(app.GetName() + "-")
	app.SetName("")
	labels := app.GetLabels()
	if labels == nil {
		labels = map[string]string{}
	}
	labels[labelCreatedBy] = createdBy
	app.SetLabels(labels)
	if err := t.Create(ctx, app); err != nil {
		return fmt.Errorf("create %s %s: %w", t.kind(app), app.GetGenerateName(), err)
	}
	t.created = append(t.created, app)
	t.log.printf("%s is created", t.title(app))
	return nil
}

// cleanUp deletes what was created, also after ctx has ended.
func (t *trial) cleanUp(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), cleanUpTimeout)
	defer cancel()
	var errs []error
	for _, app := range t.created {
		errs = append(errs, t.delete(ctx, app))
	}
	for _, app := range t.created {
		errs = append(errs, t.isGone(ctx, cleanUpTimeout, app))
	}
	return errors.Join(errs...)
}

// delete deletes an object as kubectl does. That it is gone already is no error.
func (t *trial) delete(ctx context.Context, object client.Object) error {
	err := t.Delete(ctx, object, client.PropagationPolicy(metav1.DeletePropagationBackground))
	if client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("delete %s: %w", t.title(object), err)
	}
	return nil
}

// isGone waits until the object is not there any more.
func (t *trial) isGone(ctx context.Context, within time.Duration, object client.Object) error {
	found := object.DeepCopyObject().(client.Object)
	return t.eventually(ctx, within, t.title(object)+" is gone", func(ctx context.Context) error {
		err := t.Get(ctx, client.ObjectKeyFromObject(object), found)
		switch {
		case apierrors.IsNotFound(err), err == nil && found.GetUID() != object.GetUID():
			return nil
		case err != nil:
			return err
		}
		return fmt.Errorf("it is still there, with finalizers %v", found.GetFinalizers())
	})
}

// becomesReady waits until the application is Ready, and reads it.
func (t *trial) becomesReady(ctx context.Context, app application) error {
	return t.reports(ctx, app, metav1.ConditionTrue, func(*metav1.Condition) error { return nil })
}

// reports waits until the Ready condition, as of the present specification, has the status and is accepted, and reads
// the application.
func (t *trial) reports(ctx context.Context, app application, status metav1.ConditionStatus, accept func(*metav1.Condition) error) error {
	what := fmt.Sprintf("%s reports Ready=%s", t.title(app), status)
	return t.eventually(ctx, readyTimeout, what, func(ctx context.Context) error {
		if err := t.Get(ctx, client.ObjectKeyFromObject(app), app); err != nil {
			return err
		}
		ready := meta.FindStatusCondition(app.AppStatus().Conditions, appstatus.ConditionReady)
		switch {
		case ready == nil:
			return fmt.Errorf("it has no status: see whether the operator runs and watches namespace %s", t.namespace)
		case ready.ObservedGeneration != app.GetGeneration():
			return fmt.Errorf("its status is that of generation %d, not %d: see whether the operator runs", ready.ObservedGeneration, app.GetGeneration())
		case ready.Status != status:
			return fmt.Errorf("it reports Ready=%s %s: %s", ready.Status, ready.Reason, ready.Message)
		}
		return accept(ready)
	})
}

// eventually waits until check passes. The error holds what check said last. A right that is missing is not waited for.
func (t *trial) eventually(ctx context.Context, within time.Duration, what string, check func(context.Context) error) error {
	start := time.Now()
	var last error
	err := wait.PollUntilContextTimeout(ctx, t.interval, within, true, func(ctx context.Context) (bool, error) {
		err := check(ctx)
		if err == nil || ctx.Err() == nil || last == nil {
			last = err
		}
		if apierrors.IsForbidden(err) {
			return false, err
		}
		return err == nil, nil
	})
	took := time.Since(start).Round(10 * time.Millisecond)
	if err != nil {
		return fmt.Errorf("not within %s: %s: %w", took, what, last)
	}
	t.log.printf("%s: after %s", what, took)
	return nil
}

// title names an object in messages.
func (t *trial) title(object client.Object) string {
	return fmt.Sprintf("%s %s/%s", t.kind(object), object.GetNamespace(), object.GetName())
}

func (t *trial) kind(object client.Object) string {
	gvk, err := apiutil.GVKForObject(object, t.Scheme())
	if err != nil {
		return fmt.Sprintf("%T", object)
	}
	return gvk.Kind
}
