// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package olm

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	devopsv1 "platformapp/api/devops/v1"
	"platformapp/api/egplatform/v1alpha1"
	"platformapp/test/audit"
)

// TestOLMLifeCycle takes applications through an upgrade of the operator, its end and its return. None of that writes to
// an application or a child, and no pod is replaced.
func TestOLMLifeCycle(t *testing.T) {
	s, olm := olmScene(t)
	p := s.places(mode{name: "AllNamespaces", all: true})
	l := &lifeCycle{installation: olm.install(s, p, nil), namespace: p.watched[0]}
	apps := l.createApplications(l.namespace)
	l.ready(apps...)
	if l.isLocal() {
		l.createStored()
	}
	l.children, l.applications = l.atRest(l.namespace, settled), l.versions()
	l.Logf("%d applications with %d children and pods are at rest", len(l.applications), len(l.children))

	orders, podinfo := apps[0].(*v1alpha1.EGApp), apps[1]
	l.isUpgraded()
	l.isScaled(orders, 3)
	l.isUninstalled(podinfo)
	l.isReinstalled()
	l.isScaled(orders, 1)
}

// lifeCycle is a namespace with applications, and the operator that comes and goes.
type lifeCycle struct {
	*installation
	namespace string
	// applications and children are how they stood at rest.
	applications, children map[string]state
}

func (l *lifeCycle) isUpgraded() {
	start := time.Now()
	l.upgrade()
	l.Logf("upgraded after %s", time.Since(start).Round(100*time.Millisecond))
	l.hasCaughtUp()
	l.expectUnchanged("the upgrade", start)
	l.expectRights()
	l.expectWebhooks()
}

// isUninstalled takes the operator away. An application can be deleted without it, the others run on.
func (l *lifeCycle) isUninstalled(doomed application) {
	start := time.Now()
	l.uninstall()
	l.eventually(shortWait, "OLM has taken the webhooks away", func() error {
		if left := l.webhooks(); len(left) > 0 {
			return fmt.Errorf("%d are left", len(left))
		}
		return nil
	})
	for _, crd := range l.present.crds {
		l.isEstablished(crd.Name)
	}
	l.expectUnchanged("the end of the operator", start)

	l.deleteNow(doomed)
	l.isGone(doomed)
	left := map[string]state{}
	for name, child := range l.children {
		if !strings.Contains(name, " "+doomed.GetName()) {
			left[name] = child
		}
	}
	l.eventually(longWait, "the children of a deleted application are collected", func() error {
		if diff := cmp.Diff(left, l.childrenNow(), cmp.AllowUnexported(state{})); diff != "" {
			return errors.New(diff)
		}
		return nil
	})
	l.children, l.applications = left, l.versions()
}

func (l *lifeCycle) isReinstalled() {
	start := time.Now()
	l.subscribe(nil)
	l.hasCaughtUp()
	l.expectUnchanged("the return of the operator", start)
}

// isScaled shows that the operator works, and takes what comes of it for the new rest.
func (l *lifeCycle) isScaled(app *v1alpha1.EGApp, replicas int32) {
	l.Helper()
	l.get(app)
	before := app.DeepCopy()
	app.Spec.ReplicaCount = new(replicas)
	if err := l.admin.Patch(l.Context(), app, client.MergeFrom(before)); err != nil {
		l.Fatal(err)
	}
	l.ready(app)
	l.children, l.applications = l.atRest(l.namespace, settled), l.versions()
}

// hasCaughtUp waits until the manager has looked at every application.
func (l *lifeCycle) hasCaughtUp() {
	l.Helper()
	if !l.isLocal() {
		// The metrics are out of reach; the few applications there are looked at long before this time is over.
		l.atRest(l.namespace, settled)
		return
	}
	l.eventually(longWait, "the manager has looked at every application", func() error {
		// OLM may roll out the Deployment once more meanwhile.
		m, err := l.olm.kubelet.managerOf(l.managerPod())
		if err != nil {
			return err
		}
		looked, err := m.reconciles(l.Context())
		if err == nil && looked < len(l.applications) {
			err = fmt.Errorf("%d turns for %d applications", looked, len(l.applications))
		}
		return err
	})
	// What it has begun shows a moment later.
	l.atRest(l.namespace, settled/3)
}

// expectUnchanged fails when an application or a child was written to since a time.
func (l *lifeCycle) expectUnchanged(event string, since time.Time) {
	l.Helper()
	for what, pair := range map[string][2]map[string]state{
		"applications": {l.applications, l.versions()}, "children and pods": {l.children, l.childrenNow()},
	} {
		if diff := cmp.Diff(pair[0], pair[1], cmp.AllowUnexported(state{})); diff != "" {
			l.Errorf("%s has changed the %s (-before +after):\n%s", event, what, diff)
		}
	}
	if l.isLocal() {
		audit.ExpectNone(l, "writes of the manager through "+event, audit.Filter(l.requestsOf(l.account(), since), audit.Request.IsWrite))
	}
}

func (l *lifeCycle) childrenNow() map[string]state { return l.scene.children(l.namespace) }

// versions returns the states of the applications.
func (l *lifeCycle) versions() map[string]state {
	l.Helper()
	states := map[string]state{}
	for _, kind := range []client.Object{&v1alpha1.EGApp{}, &devopsv1.DemoMicroService{}} {
		list, err := l.list(l.Context(), kind, client.InNamespace(l.namespace))
		if err != nil {
			l.Fatal(err)
		}
		for _, item := range list.Items {
			states[item.GetKind()+" "+item.GetName()] = stateOf(&item)
		}
	}
	return states
}

// createStored creates the applications of the golden cases of internal/resources, each under the name of its case. What
// the cluster refuses is none that could be stored.
func (l *lifeCycle) createStored() {
	l.Helper()
	files, err := filepath.Glob(filepath.Join(l.root, "internal", "resources", "testdata", "*", "input.yaml"))
	if err != nil {
		l.Fatal(err)
	}
	stored := 0
	for _, file := range files {
		content, err := os.ReadFile(file)
		if err != nil {
			l.Fatal(err)
		}
		name := filepath.Base(filepath.Dir(file))
		app := &unstructured.Unstructured{}
		if err := yaml.Unmarshal(content, &app.Object); err != nil {
			l.Fatalf("%s: %v", name, err)
		}
		app.SetNamespace(l.namespace)
		app.SetName(name)
		app.SetUID("")
		// Each is the only one of its id.
		if _, found, _ := unstructured.NestedString(app.Object, "spec", "appId"); found {
			_ = unstructured.SetNestedField(app.Object, name, "spec", "appId")
		}
		if err := l.admin.Create(l.Context(), app); err != nil {
			l.Logf("not stored: %v", err)
			continue
		}
		stored++
	}
	if stored < len(files)/2 {
		l.Fatalf("only %d of %d cases are stored", stored, len(files))
	}
}
