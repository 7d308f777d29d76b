// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package controllers_test

import (
	"encoding/json"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"platformapp/api/appstatus"
)

func settingsMap(data map[string]string) *corev1.ConfigMap {
	return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "settings"}, Data: data}
}

func claimOf(name string, mode corev1.PersistentVolumeAccessMode) *corev1.PersistentVolumeClaim {
	return &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: corev1.PersistentVolumeClaimSpec{
		AccessModes: []corev1.PersistentVolumeAccessMode{mode},
		Resources:   corev1.VolumeResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")}},
	}}
}

// template is the pod template of a Deployment, as text.
func (l *loop) template(name string) string {
	l.Helper()
	text, err := json.Marshal(l.deployment(name).Spec.Template)
	l.must(err)
	return string(text)
}

// C19: which changes of a ConfigMap restart the pods, by how it is used.
func TestC19_AChangeOfAUsedKeyRestartsThePods(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		use              string
		usedKey, another bool
	}{
		"a key as a variable":   {`env: [{name: LEVEL, valueFrom: {configMapKeyRef: {name: settings, key: level}}}]`, true, false},
		"an optional key":       {`env: [{name: LEVEL, valueFrom: {configMapKeyRef: {name: settings, key: level, optional: true}}}]`, true, false},
		"all keys as variables": {`envFrom: [{configMapRef: {name: settings}}]`, true, true},
		"mounted whole":         {`files: [{mountPath: /etc/app, configMap: {name: settings}}]`, true, true},
		"one key mounted":       {`files: [{mountPath: /etc/app, configMap: {name: settings, items: [{key: level, path: level}]}}]`, true, false},
		"all keys, by a patch":  {`podTemplatePatch: {spec: {containers: [{name: sidecar, image: "proxy:1", envFrom: [{configMapRef: {name: settings}}]}]}}`, true, true},
		"switched off":          {`{envFrom: [{configMapRef: {name: settings}}], rollout: {configChangePolicy: Ignore}}`, false, false},
		"a Secret of that name": {`envFrom: [{secretRef: {name: settings}}]`, false, false},
		"not at all":            {`{}`, false, false},
	} {
		t.Run(name, func(t *testing.T) {
			l := newLoop(t)
			configMap := settingsMap(map[string]string{"level": "info", "colour": "red"})
			l.create(configMap)
			app := ordersApp()
			set(t, app, test.use)
			l.running(app)
			restarts := func(what string, want bool, change func()) {
				t.Helper()
				before := l.template("orders")
				l.change(configMap, change)
				l.reconcile(app)
				if got := l.template("orders") != before; got != want {
					t.Errorf("%s restarts the pods: %t", what, got)
				}
			}
			restarts("a label", false, func() { configMap.Labels = map[string]string{"touched": "yes"} })
			restarts("an annotation", false, func() { configMap.Annotations = map[string]string{"touched": "yes"} })
			restarts("another key", test.another, func() { configMap.Data["colour"] = "blue" })
			restarts("the used key", test.usedKey, func() { configMap.Data["level"] = "debug" })
			for _, request := range l.requests.list() {
				if strings.Contains(request, "/secrets") {
					t.Errorf("a Secret is read: %s", request)
				}
			}
		})
	}
}

func TestC19_AConfigMapThatIsAwayIsNamedAndRestartsNobody(t *testing.T) {
	t.Parallel()
	l := newLoop(t)
	app := ordersApp()
	set(t, app, `env: [{name: LEVEL, valueFrom: {configMapKeyRef: {name: settings, key: level}}}]`)
	l.create(app)
	l.reconcile(app)
	configMap := settingsMap(map[string]string{"level": "info"})
	l.create(configMap)
	l.reconcile(app)
	l.rollOut("orders")
	l.reconcile(app)
	if app.Status.Phase != appstatus.PhaseRunning {
		t.Errorf("with its ConfigMap the application is %s: %v", app.Status.Phase, app.Status.Conditions)
	}
	before := l.template("orders")
	l.must(l.user.Delete(l.ctx, configMap))
	l.reconcile(app)
	if l.template("orders") != before {
		t.Error("the pods restart when the ConfigMap is deleted")
	}
	l.create(settingsMap(map[string]string{"level": "info"}))
	l.reconcile(app)
	if l.template("orders") != before {
		t.Error("the pods restart when the ConfigMap is back as it was")
	}
}

// The operator learns of all that an application depends on by events.
func TestWhatAnApplicationDependsOnWakesIt(t *testing.T) {
	t.Parallel()
	l := newUser(t)
	requests := &requestLog{}
	startOperator(t, requests, l.namespace)
	app := robotApp()
	set(t, app, `
env: [{name: LEVEL, valueFrom: {configMapKeyRef: {name: settings, key: level}}}]
files: [{mountPath: /data, persistentVolumeClaim: {claimName: data}}]`)
	l.create(app)
	account := robot(nil)
	l.create(account)
	l.change(account, func() { account.Annotations = map[string]string{"platform.evillgenius.com/allow-egapps": "true"} })
	eventually(t, func() error { return l.tryRollOut("orders") })

	configMap := settingsMap(map[string]string{"level": "info"})
	l.create(configMap)
	hash := func() string {
		return l.deployment("orders").Spec.Template.Annotations["platform.evillgenius.com/config-hash"]
	}
	eventually(t, func() error { return failsUnless(hash() != "", "the ConfigMap is not taken up") })
	before := hash()
	l.change(configMap, func() { configMap.Data["level"] = "debug" })
	eventually(t, func() error { return failsUnless(hash() != before, "the changed key is not taken up") })

	l.create(claimOf("data", corev1.ReadWriteMany))
	eventually(t, func() error {
		strategy := l.deployment("orders").Spec.Strategy.Type
		return failsUnless(strategy == "RollingUpdate", "with a shared claim the strategy is %s", strategy)
	})
	l.create(autoscaler("theirs", "orders"))
	eventually(t, func() error {
		annotations := l.deployment("orders").Annotations
		return failsUnless(annotations["platform.evillgenius.com/overridden-replicas"] != "", "the autoscaler is not seen: %v", annotations)
	})
}
