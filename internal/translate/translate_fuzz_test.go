// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package translate_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	utilerrors "k8s.io/apimachinery/pkg/util/errors"
	"k8s.io/apimachinery/pkg/util/validation/field"

	devopsv1 "platformapp/api/devops/v1"
	"platformapp/api/egplatform/v1alpha1"
	"platformapp/internal/translate"
	"platformapp/internal/workload"
)

// FuzzEGApp: whatever decodes as an EGApp, also what no schema admits, is translated or refused by its fields, the same
// each time, and is itself left as it is: the cache shares it.
func FuzzEGApp(f *testing.F) {
	for _, spec := range []string{
		`{}`, `null`, `[]`, `{"framework":"go","environment":"dev"}`,
		`{"framework":"java","environment":"prod","replicaCount":-1,"instanceType":"highMem","resources":{"limits":{"memory":"1e"},"requests":{"cpu":"-1"}}}`,
		`{"framework":"go","environment":"dev","resources":{"limits":{"memory":"1E30","nvidia.com/gpu":"1.5"},"requests":{"cpu":"1n"}}}`,
		`{"framework":"go","environment":"dev","ports":[{"name":"http","containerPort":80},{"name":"http","containerPort":0,"protocol":"x"}]}`,
		`{"framework":"go","environment":"dev","ports":[{"name":"dns","containerPort":53,"protocol":"UDP"}],"expose":{},"monitoring":{"port":"53"},"probes":{"path":"/"}}`,
		`{"framework":"python","environment":"stage","service":{"type":"None"},"probes":{"liveness":{"exec":{"command":["a"]}}}}`,
		`{"framework":"go","environment":"dev","expose":{"hosts":["*.a.b","a"],"paths":[{"path":"/%2"}],"port":"x","httpRoute":{"gatewayRef":{"name":"g"}},"route":{"termination":"None"}}}`,
		`{"framework":"go","environment":"dev","env":[{"name":"A=B"},{"name":"A","value":"x","valueFrom":{}},{"name":"C","valueFrom":{"fileKeyRef":{"volumeName":"v","path":"../p","key":"k"}}}]}`,
		`{"framework":"go","environment":"dev","env":[{"name":"M","valueFrom":{"resourceFieldRef":{"resource":"limits.cpu","divisor":"1u"}}},{"name":"F","valueFrom":{"fieldRef":{"fieldPath":"metadata.labels['a']"}}}]}`,
		`{"framework":"go","environment":"dev","files":[{"mountPath":"/a","emptyDir":{"sizeLimit":"-1"}},{"mountPath":"/a/","configMap":{"name":"c","items":[{"key":"","path":"..","mode":512}]}},{"mountPath":":"}]}`,
		`{"framework":"go","environment":"dev","probes":{"startup":{"periodSeconds":2147483647,"failureThreshold":2147483647,"tcpSocket":{"port":"http"}}},"rollout":{"progressDeadlineSeconds":1}}`,
		`{"framework":"go","environment":"dev","autoscaling":{"maxReplicas":0,"minReplicas":2147483647,"targetCPUUtilizationPercentage":0}}`,
		`{"framework":"go","environment":"dev","podTemplatePatch":{"spec":{"containers":[{"name":"main","$patch":"delete"}],"nodeName":"x"}}}`,
		`{"framework":"go","environment":"dev","podTemplatePatch":"x","networkPolicy":{"from":[{"app":"A"}]},"serviceAccountName":"../x","imagePullSecrets":[{}]}`,
	} {
		f.Add([]byte(`{"metadata":{"namespace":"team-a","name":"orders"},"spec":` + spec + `}`))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		app := &v1alpha1.EGApp{}
		if json.Unmarshal(raw, app) != nil {
			return
		}
		before := app.DeepCopy()
		options := translate.Options{IngressNamespaces: []string{"ingress"}}
		w, err := translate.EGApp(app, options)
		again, errAgain := translate.EGApp(app, options)
		expectSame(t, w, again, err, errAgain)
		if err == nil {
			translate.Warnings(app, options)
		}
		if diff := cmp.Diff(before, app); diff != "" {
			t.Errorf("the EGApp is changed:\n%s", diff)
		}
	})
}

// FuzzDemoMicroService is FuzzEGApp for the other kind.
func FuzzDemoMicroService(f *testing.F) {
	for _, image := range []string{`"nginx:1"`, `""`, `null`, `"nginx:"`, `"A/b"`, `"host:0/a@sha256:0"`, `"[::1]:5000/a"`, `"\u0000"`} {
		f.Add([]byte(`{"metadata":{"namespace":"team-a","name":"demo"},"spec":{"image":` + image + `}}`))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		service := &devopsv1.DemoMicroService{}
		if json.Unmarshal(raw, service) != nil {
			return
		}
		before := service.DeepCopy()
		w, err := translate.DemoMicroService(service)
		again, errAgain := translate.DemoMicroService(service)
		expectSame(t, w, again, err, errAgain)
		if diff := cmp.Diff(before, service); diff != "" {
			t.Errorf("the DemoMicroService is changed:\n%s", diff)
		}
	})
}

// expectSame fails unless two translations of one object are the same, and a refusal names fields of the object alone.
func expectSame(t *testing.T, w, again workload.Workload, err, errAgain error) {
	t.Helper()
	if diff := cmp.Diff(w, again, cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("the second translation differs:\n%s", diff)
	}
	if (err == nil) != (errAgain == nil) || err != nil && err.Error() != errAgain.Error() {
		t.Errorf("the second refusal differs:\n%v\n%v", err, errAgain)
	}
	if err == nil {
		return
	}
	var all utilerrors.Aggregate
	if !errors.As(err, &all) {
		t.Fatalf("the refusal lists no rules: %v", err)
	}
	for _, one := range all.Errors() {
		broken, ok := errors.AsType[*field.Error](one)
		if !ok || !strings.HasPrefix(broken.Field, "spec") && !strings.HasPrefix(broken.Field, "metadata.") {
			t.Errorf("the refusal names no field: %v", one)
		}
	}
}
