// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package status_test

import (
	"os"
	"regexp"
	"strings"
	"testing"

	lua "github.com/yuin/gopher-lua"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	kstatus "sigs.k8s.io/cli-utils/pkg/kstatus/status"
	"sigs.k8s.io/yaml"

	"platformapp/api/appstatus"
	"platformapp/api/egplatform/v1alpha1"
)

// asObject returns the application with the status of a scene, as tools read it.
func asObject(t *testing.T, s *scene) *unstructured.Unstructured {
	t.Helper()
	result := s.result()
	app := &v1alpha1.EGApp{
		TypeMeta:   metav1.TypeMeta{APIVersion: "egplatform.platform.evillgenius.com/v1alpha1", Kind: "EGApp"},
		ObjectMeta: metav1.ObjectMeta{Namespace: "team-a", Name: "orders", Generation: s.workload.Owner.Generation},
		Status:     v1alpha1.EGAppStatus{Status: result.Status, Details: result.Details},
	}
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(app)
	if err != nil {
		t.Fatal(err)
	}
	return &unstructured.Unstructured{Object: content}
}

// healths returns what kstatus and Argo CD must make of a status.
func healths(s appstatus.Status) (kstatus.Status, string) {
	isTrue := func(conditionType string) bool { return meta.IsStatusConditionTrue(s.Conditions, conditionType) }
	ready := meta.FindStatusCondition(s.Conditions, appstatus.ConditionReady)
	switch {
	case s.Phase == appstatus.PhasePaused && isTrue(appstatus.ConditionReady):
		return kstatus.CurrentStatus, "Suspended"
	case s.Phase == appstatus.PhasePaused:
		return kstatus.InProgressStatus, "Suspended"
	case isTrue(appstatus.ConditionReady):
		return kstatus.CurrentStatus, "Healthy"
	case ready.Reason == appstatus.ReasonDuplicateAppID:
		return kstatus.FailedStatus, "Progressing"
	case isTrue(appstatus.ConditionStalled):
		return kstatus.FailedStatus, "Degraded"
	case isTrue(appstatus.ConditionReconciling):
		return kstatus.InProgressStatus, "Progressing"
	default:
		return kstatus.InProgressStatus, "Degraded"
	}
}

// kubectl wait looks for the condition alone; Flux asks kstatus.
func TestToolsReadTheHealthOfEachSituation(t *testing.T) {
	scripts := argoScripts(t)
	seen := map[string]bool{}
	for _, test := range rows() {
		t.Run(test.name, func(t *testing.T) {
			object := asObject(t, test.scene)
			wantKstatus, wantArgo := healths(test.scene.compute())
			got, err := kstatus.Compute(object)
			if err != nil || got.Status != wantKstatus {
				t.Errorf("kstatus reads %v (%v), want %s", got, err, wantKstatus)
			}
			for name, script := range scripts {
				health, message := runArgo(t, script, object)
				if health != wantArgo || message == "" {
					t.Errorf("Argo CD reads %s (%s) by the script for %s, want %s", health, message, name, wantArgo)
				}
			}
			seen[wantArgo], seen[string(wantKstatus)] = true, true
		})
	}
	for _, health := range []string{"Healthy", "Progressing", "Degraded", "Suspended", "Current", "InProgress", "Failed"} {
		if !seen[health] {
			t.Errorf("no situation is %s", health)
		}
	}
}

func TestToolsWaitForTheOperator(t *testing.T) {
	stale := asObject(t, running(1))
	stale.SetGeneration(stale.GetGeneration() + 1)
	if got, err := kstatus.Compute(stale); err != nil || got.Status != kstatus.InProgressStatus {
		t.Errorf("kstatus reads %v (%v) of the status of an earlier generation", got, err)
	}
	fresh := asObject(t, running(1))
	delete(fresh.Object, "status")
	for name, script := range argoScripts(t) {
		for state, object := range map[string]*unstructured.Unstructured{"an earlier generation": stale, "no status": fresh} {
			if health, _ := runArgo(t, script, object); health != "Progressing" {
				t.Errorf("Argo CD reads %s of %s by the script for %s", health, state, name)
			}
		}
	}
}

// argoScripts returns the scripts that docs/argocd.md gives to Argo CD, by the kind.
func argoScripts(t *testing.T) map[string]string {
	t.Helper()
	page, err := os.ReadFile("../../docs/argocd.md")
	if err != nil {
		t.Fatal(err)
	}
	block := regexp.MustCompile("(?s)```yaml\n(.*?)```").FindSubmatch(page)
	if block == nil {
		t.Fatal("docs/argocd.md has no YAML")
	}
	var configMap corev1.ConfigMap
	if err := yaml.UnmarshalStrict(block[1], &configMap); err != nil {
		t.Fatal(err)
	}
	scripts := map[string]string{}
	for key, script := range configMap.Data {
		scripts[strings.TrimPrefix(key, "resource.customizations.health.")] = script
	}
	for _, kind := range []string{"egplatform.platform.evillgenius.com_EGApp", "devops.my.domain_DemoMicroService"} {
		if scripts[kind] == "" || len(scripts) != 2 {
			t.Fatalf("docs/argocd.md has no script for %s alone and its sister: %v", kind, scripts)
		}
	}
	return scripts
}

// runArgo runs a health script as Argo CD does: the object is obj, the answer a table.
func runArgo(t *testing.T, script string, object *unstructured.Unstructured) (health, message string) {
	t.Helper()
	state := lua.NewState()
	defer state.Close()
	state.SetGlobal("obj", luaValue(state, object.Object))
	if err := state.DoString(script); err != nil {
		t.Fatal(err)
	}
	answer, ok := state.Get(-1).(*lua.LTable)
	if !ok {
		t.Fatalf("the script returns %s", state.Get(-1))
	}
	return answer.RawGetString("status").String(), answer.RawGetString("message").String()
}

func luaValue(state *lua.LState, value any) lua.LValue {
	switch v := value.(type) {
	case string:
		return lua.LString(v)
	case bool:
		return lua.LBool(v)
	case int64:
		return lua.LNumber(v)
	case float64:
		return lua.LNumber(v)
	case []any:
		table := state.NewTable()
		for _, item := range v {
			table.Append(luaValue(state, item))
		}
		return table
	case map[string]any:
		table := state.NewTable()
		for key, item := range v {
			table.RawSetString(key, luaValue(state, item))
		}
		return table
	default:
		return lua.LNil
	}
}
