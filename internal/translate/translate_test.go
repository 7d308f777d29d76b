// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package translate_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"

	devopsv1 "platformapp/api/devops/v1"
	"platformapp/api/egplatform/v1alpha1"
	"platformapp/internal/profile"
	"platformapp/internal/translate"
	"platformapp/internal/workload"
)

func newEGApp() *v1alpha1.EGApp {
	return &v1alpha1.EGApp{
		ObjectMeta: metav1.ObjectMeta{Namespace: "team-a", Name: "orders", UID: "uid-1", Generation: 3, Labels: map[string]string{"team": "a"}},
		Spec:       v1alpha1.EGAppSpec{Framework: v1alpha1.FrameworkGo, Environment: v1alpha1.EnvironmentDev},
	}
}

func newDemoMicroService() *devopsv1.DemoMicroService {
	return &devopsv1.DemoMicroService{
		ObjectMeta: metav1.ObjectMeta{Namespace: "team-a", Name: "demo", UID: "uid-2", Generation: 4, Labels: map[string]string{"team": "b"}},
		Spec:       devopsv1.DemoMicroServiceSpec{Image: "nginx:1"},
	}
}

var (
	ownerOfEGApp = workload.Owner{
		GroupVersionKind: schema.GroupVersionKind{Group: "egplatform.platform.evillgenius.com", Version: "v1alpha1", Kind: "EGApp"},
		Namespace:        "team-a", Name: "orders", UID: "uid-1", Generation: 3,
		Labels: map[string]string{"team": "a"}, SelectorKey: "platform.evillgenius.com/egapp",
	}
	ownerOfDemoMicroService = workload.Owner{
		GroupVersionKind: schema.GroupVersionKind{Group: "devops.my.domain", Version: "v1", Kind: "DemoMicroService"},
		Namespace:        "team-a", Name: "demo", UID: "uid-2", Generation: 4,
		Labels: map[string]string{"team": "b"}, SelectorKey: "devops.my.domain/demomicroservice",
	}
)

func TestEveryCombinationIsResolvedByTheTables(t *testing.T) {
	for _, framework := range v1alpha1.Frameworks() {
		for _, environment := range v1alpha1.Environments() {
			for _, instanceType := range append(v1alpha1.InstanceTypes(), "") {
				app := newEGApp()
				app.Spec = v1alpha1.EGAppSpec{AppID: "Orders_API.v2", Framework: framework, Environment: environment, InstanceType: instanceType}
				got, err := translate.EGApp(app, translate.Options{Images: profile.Images{framework: "registry.example.com/base:1"}})
				if err != nil {
					t.Fatalf("%+v: %v", app.Spec, err)
				}
				f, e, size := profile.Frameworks[framework], profile.Environments[environment], profile.InstanceTypes[instanceType]
				if instanceType == "" {
					size = profile.InstanceTypes[v1alpha1.InstanceTypeLowMem]
				}
				want := workload.Workload{
					Owner:    ownerOfEGApp,
					Replicas: 1,
					Container: workload.Container{
						Name: "orders-api-v2", Image: "registry.example.com/base:1", DefaultOf: string(framework), ImagePullPolicy: e.ImagePullPolicy,
						PresetEnv: f.Env(size.Limits), Resources: size, PreStopSleepSeconds: e.PreStopSleepSeconds,
						Startup: tcp(8080, f.Startup), Readiness: tcp(8080, f.Readiness), ReadOnlyRoot: f.ReadOnlyRoot,
					},
					Ports:                         []workload.Port{{Name: "http", ContainerPort: 8080, ServicePort: 80, Protocol: corev1.ProtocolTCP}},
					Service:                       &workload.Service{Type: corev1.ServiceTypeClusterIP},
					Disruption:                    e.Disruption,
					Rollout:                       e.Rollout,
					Security:                      workload.SecurityRestricted,
					Spread:                        e.Spread,
					TerminationGracePeriodSeconds: e.TerminationGracePeriodSeconds,
				}
				if diff := cmp.Diff(want, got); diff != "" {
					t.Errorf("%+v (-want +got):\n%s", app.Spec, diff)
				}
			}
		}
	}
}

func tcp(port int32, timing profile.ProbeTiming) *corev1.Probe {
	return &corev1.Probe{
		ProbeHandler:  corev1.ProbeHandler{TCPSocket: &corev1.TCPSocketAction{Port: intstr.FromInt32(port)}},
		PeriodSeconds: timing.PeriodSeconds, TimeoutSeconds: timing.TimeoutSeconds, FailureThreshold: timing.FailureThreshold,
	}
}

func TestReplicasAsAskedForAndOneByDefault(t *testing.T) {
	for _, test := range []struct {
		asked *int32
		want  int32
	}{{nil, 1}, {new(int32(0)), 0}, {new(int32(1)), 1}, {new(int32(500)), 500}} {
		app := newEGApp()
		app.Spec.ReplicaCount = test.asked
		if w, err := translate.EGApp(app, translate.Options{}); err != nil || w.Replicas != test.want {
			t.Errorf("replicaCount %v gives %d (%v), want %d", ptr.Deref(test.asked, -1), w.Replicas, err, test.want)
		}
	}
}

// C03, C04
func TestContainerIsNamedByAppIDOrObject(t *testing.T) {
	for appID, want := range map[string]string{"": "orders", "app-00123": "app-00123", "Orders_API.v2": "orders-api-v2"} {
		app := newEGApp()
		app.Spec.AppID = appID
		if w, err := translate.EGApp(app, translate.Options{}); err != nil || w.Container.Name != want {
			t.Errorf("appId %q names the container %q (%v), want %q", appID, w.Container.Name, err, want)
		}
	}
}

func TestDemoMicroServiceIsOnePodOfItsImage(t *testing.T) {
	got, err := translate.DemoMicroService(newDemoMicroService())
	if err != nil {
		t.Fatal(err)
	}
	// How a rollout goes is not promised; that one pod is replaced without a gap is.
	if got.Rollout.MaxUnavailable != intstr.FromInt32(0) {
		t.Errorf("a new image may leave %s pods missing, want 0", got.Rollout.MaxUnavailable.String())
	}
	got.Rollout = workload.Rollout{}
	want := workload.Workload{
		Owner:                         ownerOfDemoMicroService,
		Replicas:                      1,
		Container:                     workload.Container{Name: "demo", Image: "nginx:1"},
		Security:                      workload.SecurityBaseline,
		TerminationGracePeriodSeconds: 30,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// The owner is needed to report the error, and to know whose the running children are.
func TestErrorNamesFieldAndRuleAndKeepsTheOwner(t *testing.T) {
	for _, test := range []struct {
		name   string
		change func(*v1alpha1.EGApp)
		want   []string
	}{
		{"a name with dots", func(a *v1alpha1.EGApp) { a.Name = "my.app" }, []string{"metadata.name", `"my.app"`, "DNS-1035 label"}},
		{"a name that is too long", func(a *v1alpha1.EGApp) { a.Name = strings.Repeat("a", 64) }, []string{"metadata.name", "no more than 63"}},
		{"an appId", func(a *v1alpha1.EGApp) { a.Spec.AppID = "a b" }, []string{"spec.appId", `"a b"`, "alphanumeric characters"}},
		{"a framework", func(a *v1alpha1.EGApp) { a.Spec.Framework = "rust" }, []string{"spec.framework", `"rust"`, `"java", "python", "go"`}},
		{"no framework", func(a *v1alpha1.EGApp) { a.Spec.Framework = "" }, []string{"spec.framework", "Required"}},
		{"an instance type", func(a *v1alpha1.EGApp) { a.Spec.InstanceType = "huge" }, []string{"spec.instanceType", `"huge"`, `"lowMem", "highMem", "highCPU", "balanced"`}},
		{"an environment", func(a *v1alpha1.EGApp) { a.Spec.Environment = "production" }, []string{"spec.environment", `"production"`, `"dev", "stage", "prod"`}},
		{"replicas", func(a *v1alpha1.EGApp) { a.Spec.ReplicaCount = new(int32(-1)) }, []string{"spec.replicaCount", "-1", "greater than or equal to 0"}},
		{"an image", func(a *v1alpha1.EGApp) { a.Spec.Image = "docker://nginx:1" }, []string{"spec.image", `"docker://nginx:1"`, "registry.example.com/team/app:1.2"}},
		{"several", func(a *v1alpha1.EGApp) { a.Spec.Framework, a.Spec.Image = "rust", "a b" }, []string{"spec.framework", "spec.image"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			app := newEGApp()
			test.change(app)
			w, err := translate.EGApp(app, translate.Options{})
			expectError(t, err, test.want)
			want := workload.Workload{Owner: ownerOfEGApp}
			want.Owner.Name = app.Name
			if diff := cmp.Diff(want, w); diff != "" {
				t.Errorf("beside the error (-want +got):\n%s", diff)
			}
		})
	}
	for _, test := range []struct {
		name   string
		change func(*devopsv1.DemoMicroService)
		want   []string
	}{
		{"a DemoMicroService without image", func(d *devopsv1.DemoMicroService) { d.Spec.Image = "" }, []string{"spec.image", "Required"}},
		{"a DemoMicroService with a blank image", func(d *devopsv1.DemoMicroService) { d.Spec.Image = " " }, []string{"spec.image", "image reference"}},
		{"a DemoMicroService with a name with dots", func(d *devopsv1.DemoMicroService) { d.Name = "my.service" }, []string{"metadata.name", "DNS-1035 label"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			service := newDemoMicroService()
			test.change(service)
			w, err := translate.DemoMicroService(service)
			expectError(t, err, test.want)
			want := workload.Workload{Owner: ownerOfDemoMicroService}
			want.Owner.Name = service.Name
			if diff := cmp.Diff(want, w); diff != "" {
				t.Errorf("beside the error (-want +got):\n%s", diff)
			}
		})
	}
}

func expectError(t *testing.T, err error, want []string) {
	t.Helper()
	if err == nil {
		t.Fatal("no error")
	}
	for _, part := range want {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("the error %q does not say %s", err, part)
		}
	}
	if strings.Contains(err.Error(), "\n") {
		t.Errorf("the error %q has several lines", err)
	}
}

// The object comes from the cache, which is shared.
func TestTranslationChangesNothing(t *testing.T) {
	app, service := newEGApp(), newDemoMicroService()
	appBefore, serviceBefore := app.DeepCopy(), service.DeepCopy()
	if _, err := translate.EGApp(app, translate.Options{}); err != nil {
		t.Error(err)
	}
	if _, err := translate.DemoMicroService(service); err != nil {
		t.Error(err)
	}
	if diff := cmp.Diff(appBefore, app); diff != "" {
		t.Errorf("EGApp:\n%s", diff)
	}
	if diff := cmp.Diff(serviceBefore, service); diff != "" {
		t.Errorf("DemoMicroService:\n%s", diff)
	}
}
