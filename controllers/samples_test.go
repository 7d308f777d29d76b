// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package controllers_test

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"platformapp/api/appstatus"
	devopsv1 "platformapp/api/devops/v1"
	"platformapp/api/egplatform/v1alpha1"
)

// surroundings are what an application of a file finds: a plain cluster, unless the file
// observed.yaml beside it says otherwise.
type surroundings struct {
	OpenShift bool
	Kinds     []string
	// Autoscalers are those of somebody else on the Deployment.
	Autoscalers                 []string
	OneNodeClaims, SharedClaims []string
	ConfigMaps                  map[string]map[string]string
}

// writtenApp is an application of a file, with what the file makes beside it.
type writtenApp struct {
	file        string
	app         client.Object
	others      []client.Object
	autoscalers []string
}

// Property 1: each sample and each case costs nothing at rest, and at a restart.
func TestEachSampleAndCaseCostsNothingAtRest(t *testing.T) {
	groups := map[string][]writtenApp{}
	found := map[string]surroundings{}
	for _, file := range applicationFiles(t) {
		s := surroundingsOf(t, file)
		w := writtenApp{file: file, autoscalers: s.Autoscalers}
		w.app, w.others = readApplication(t, file)
		s.Autoscalers = nil
		key := fmt.Sprintf("%+v", s)
		groups[key], found[key] = append(groups[key], w), s
	}
	for key, group := range groups {
		t.Run(key, func(t *testing.T) {
			t.Parallel()
			costNothingAtRest(t, found[key], group)
		})
	}
}

func costNothingAtRest(t *testing.T, s surroundings, group []writtenApp) {
	t.Helper()
	platform := onPlatform(s.OpenShift, s.Kinds...)
	l := newLoop(t, platform)
	l.surround(s)
	for i, w := range group {
		for _, other := range w.others {
			l.create(other)
		}
		for _, name := range w.autoscalers {
			other := autoscaler(name, w.app.GetName())
			l.create(other)
		}
		if app, ok := w.app.(*v1alpha1.EGApp); ok && app.Spec.AppID != "" {
			// Others of these files may have the same.
			app.Spec.AppID = fmt.Sprintf("%.60s-%d", app.Spec.AppID, i)
		}
		l.running(w.app)
		if ready := meta.FindStatusCondition(statusOf(w.app).Conditions, appstatus.ConditionReady); ready == nil ||
			ready.Reason == appstatus.ReasonInvalidSpec || ready.Reason == appstatus.ReasonRefused {
			t.Errorf("%s is not carried out: %v", w.file, ready)
		}
	}
	before := l.requests.list()
	for range 20 {
		for _, w := range group {
			if _, err := l.turn(w.app); err != nil {
				t.Fatal(err)
			}
		}
		l.clock.Step(time.Minute)
	}
	if after := l.requests.list(); len(after) != len(before) {
		t.Errorf("turns at rest make requests: %v", after[len(before):])
	}
	restarted := l.restarted(platform)
	for _, w := range group {
		restarted.reconcile(w.app)
		if n := restarted.requests.writes(); n != 0 {
			t.Fatalf("%s: %d writes after a restart: %v", w.file, n, restarted.requests.list())
		}
	}
}

// surround makes what the applications find.
func (l *loop) surround(s surroundings) {
	l.Helper()
	account := robot(map[string]string{"platform.evillgenius.com/allow-egapps": "true"})
	account.Name = "orders-sa"
	l.create(account)
	for name, data := range s.ConfigMaps {
		l.create(&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name}, Data: data})
	}
	for _, name := range s.OneNodeClaims {
		l.create(claimOf(name, corev1.ReadWriteOnce))
	}
	for _, name := range s.SharedClaims {
		l.create(claimOf(name, corev1.ReadWriteMany))
	}
}

func statusOf(app client.Object) *appstatus.Status {
	if service, ok := app.(*devopsv1.DemoMicroService); ok {
		return service.AppStatus()
	}
	return app.(*v1alpha1.EGApp).AppStatus()
}

// applicationFiles are the samples, and the inputs of the cases that give objects.
func applicationFiles(t *testing.T) []string {
	t.Helper()
	var files []string
	for _, pattern := range []string{
		"../config/samples/*_*.yaml", "../config/samples/scenarios/*.yaml", "../internal/resources/testdata/*/input.yaml",
	} {
		matches, err := filepath.Glob(pattern)
		if err != nil || len(matches) == 0 {
			t.Fatalf("no files of %s: %v", pattern, err)
		}
		for _, file := range matches {
			isRefused := isThere(t, filepath.Join(filepath.Dir(file), "error.txt"))
			if filepath.Base(file) != "kustomization.yaml" && !isRefused {
				files = append(files, file)
			}
		}
	}
	return files
}

func isThere(t *testing.T, file string) bool {
	t.Helper()
	_, err := os.Stat(file)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	return err == nil
}

func surroundingsOf(t *testing.T, file string) surroundings {
	t.Helper()
	var s surroundings
	observed := filepath.Join(filepath.Dir(file), "observed.yaml")
	if !isThere(t, observed) {
		return s
	}
	content, err := os.ReadFile(observed)
	if err != nil {
		t.Fatal(err)
	}
	if err := yaml.Unmarshal(content, &s); err != nil {
		t.Fatal(err)
	}
	return s
}

// readApplication reads the objects of a file. The application of a case is named after it.
func readApplication(t *testing.T, file string) (app client.Object, others []client.Object) {
	t.Helper()
	content, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	decoder := serializer.NewCodecFactory(scheme).UniversalDeserializer()
	documents := utilyaml.NewYAMLReader(bufio.NewReader(bytes.NewReader(content)))
	for {
		document, err := documents.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		object, err := runtime.Decode(decoder, document)
		if err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		switch object := object.(type) {
		case *v1alpha1.EGApp, *devopsv1.DemoMicroService:
			app = object.(client.Object)
		default:
			others = append(others, object.(client.Object))
		}
	}
	if filepath.Base(file) == "input.yaml" {
		app.SetName(filepath.Base(filepath.Dir(file)))
		app.SetUID("")
	}
	return app, others
}
