// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"math/rand/v2"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"platformapp/api/egplatform/v1alpha1"
)

// feature is a part of an EGApp that can be this or that. Its first level is to leave it out.
type feature struct {
	name   string
	levels []func(*v1alpha1.EGAppSpec)
}

// absent leaves a feature out.
func absent(*v1alpha1.EGAppSpec) {}

// settingsName is the ConfigMap that applications use.
const settingsName = "settings"

// settings returns the ConfigMap that applications use.
func settings(namespace string) client.Object {
	return &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: settingsName},
		Data:       map[string]string{"LEVEL": "info", "app.conf": "size=1"},
	}
}

// remembered are the features whose end depends on the way there, as is promised: the number of pods that an autoscaler left
// behind is kept.
const remembered = "autoscaling"

var features = []feature{
	{"framework", []func(*v1alpha1.EGAppSpec){
		func(s *v1alpha1.EGAppSpec) { s.Framework = v1alpha1.FrameworkGo },
		func(s *v1alpha1.EGAppSpec) { s.Framework = v1alpha1.FrameworkJava },
		func(s *v1alpha1.EGAppSpec) { s.Framework = v1alpha1.FrameworkPython },
	}},
	{"environment", []func(*v1alpha1.EGAppSpec){
		func(s *v1alpha1.EGAppSpec) { s.Environment = v1alpha1.EnvironmentDev },
		func(s *v1alpha1.EGAppSpec) { s.Environment = v1alpha1.EnvironmentStage },
		func(s *v1alpha1.EGAppSpec) { s.Environment = v1alpha1.EnvironmentProd },
	}},
	{"instanceType", []func(*v1alpha1.EGAppSpec){
		absent,
		func(s *v1alpha1.EGAppSpec) { s.InstanceType = v1alpha1.InstanceTypeLowMem },
		func(s *v1alpha1.EGAppSpec) { s.InstanceType = v1alpha1.InstanceTypeHighMem },
		func(s *v1alpha1.EGAppSpec) { s.InstanceType = v1alpha1.InstanceTypeHighCPU },
		func(s *v1alpha1.EGAppSpec) { s.InstanceType = v1alpha1.InstanceTypeBalanced },
	}},
	{"replicaCount", []func(*v1alpha1.EGAppSpec){
		absent,
		func(s *v1alpha1.EGAppSpec) { s.ReplicaCount = new(int32(0)) },
		func(s *v1alpha1.EGAppSpec) { s.ReplicaCount = new(int32(2)) },
	}},
	{remembered, []func(*v1alpha1.EGAppSpec){
		absent,
		func(s *v1alpha1.EGAppSpec) {
			// It changes nothing by itself: there are no metrics, and each number of pods is within its bounds.
			s.Autoscaling = &v1alpha1.Autoscaling{MaxReplicas: 3, TargetCPUUtilizationPercentage: new(int32(70))}
		},
	}},
	{"expose", []func(*v1alpha1.EGAppSpec){
		absent,
		func(s *v1alpha1.EGAppSpec) {
			s.Expose = &v1alpha1.Expose{Type: v1alpha1.ExposeTypeIngress, Hosts: []string{"app.example.com"}}
		},
		func(s *v1alpha1.EGAppSpec) {
			s.Expose = &v1alpha1.Expose{Type: v1alpha1.ExposeTypeRoute, Hosts: []string{"app.example.com"}}
		},
		func(s *v1alpha1.EGAppSpec) {
			s.Expose = &v1alpha1.Expose{
				Type: v1alpha1.ExposeTypeHTTPRoute, Hosts: []string{"app.example.com"},
				HTTPRoute: &v1alpha1.ExposeHTTPRoute{GatewayRef: v1alpha1.GatewayRef{Name: "gateway"}},
			}
		},
	}},
	{"networkPolicy", []func(*v1alpha1.EGAppSpec){
		absent,
		func(s *v1alpha1.EGAppSpec) {
			s.NetworkPolicy = &v1alpha1.NetworkPolicy{Isolation: v1alpha1.IsolationNamespace}
		},
		func(s *v1alpha1.EGAppSpec) {
			from := []v1alpha1.NetworkPeer{{App: "gateway"}}
			s.NetworkPolicy = &v1alpha1.NetworkPolicy{Isolation: v1alpha1.IsolationListed, From: from}
		},
	}},
	{"files", []func(*v1alpha1.EGAppSpec){
		absent,
		func(s *v1alpha1.EGAppSpec) {
			scratch := &v1alpha1.EmptyDirFiles{SizeLimit: new(resource.MustParse("64Mi"))}
			s.Files = []v1alpha1.File{{MountPath: "/scratch", EmptyDir: scratch}}
		},
		func(s *v1alpha1.EGAppSpec) {
			keys := &v1alpha1.ConfigMapFiles{Name: settingsName}
			s.Files = []v1alpha1.File{{MountPath: "/etc/app", ReadOnly: true, ConfigMap: keys}}
		},
	}},
	{"env", []func(*v1alpha1.EGAppSpec){
		absent,
		func(s *v1alpha1.EGAppSpec) {
			s.Env = []v1alpha1.EnvVar{{Name: "A", Value: "1"}, {Name: "B", Value: "$(A)"}}
		},
		func(s *v1alpha1.EGAppSpec) {
			s.Env = []v1alpha1.EnvVar{{Name: "LEVEL", ValueFrom: &v1alpha1.EnvVarSource{ConfigMapKeyRef: &corev1.ConfigMapKeySelector{
				LocalObjectReference: corev1.LocalObjectReference{Name: settingsName}, Key: "LEVEL",
			}}}}
		},
	}},
	{"probes", []func(*v1alpha1.EGAppSpec){
		absent,
		func(s *v1alpha1.EGAppSpec) { s.Probes = &v1alpha1.Probes{Path: "/healthz"} },
		func(s *v1alpha1.EGAppSpec) {
			exec := v1alpha1.ProbeHandler{Exec: &v1alpha1.ExecAction{Command: []string{"true"}}}
			s.Probes = &v1alpha1.Probes{Readiness: &v1alpha1.Probe{ProbeHandler: exec, PeriodSeconds: new(int32(3))}}
		},
	}},
	{"monitoring", []func(*v1alpha1.EGAppSpec){
		absent,
		func(s *v1alpha1.EGAppSpec) { s.Monitoring = &v1alpha1.Monitoring{Port: "http", Interval: "30s"} },
	}},
	{"service", []func(*v1alpha1.EGAppSpec){
		absent,
		func(s *v1alpha1.EGAppSpec) { s.Service = &v1alpha1.Service{Type: v1alpha1.ServiceTypeHeadless} },
		func(s *v1alpha1.EGAppSpec) { s.Service = &v1alpha1.Service{Type: v1alpha1.ServiceTypeNodePort} },
	}},
	{"resources", []func(*v1alpha1.EGAppSpec){
		absent,
		func(s *v1alpha1.EGAppSpec) {
			s.Resources = &v1alpha1.Resources{Limits: corev1.ResourceList{corev1.ResourceMemory: resource.MustParse("2048Mi")}}
		},
	}},
	{"rollout", []func(*v1alpha1.EGAppSpec){
		absent,
		func(s *v1alpha1.EGAppSpec) { s.Rollout = &v1alpha1.Rollout{Strategy: v1alpha1.RolloutStrategyRecreate} },
	}},
	{"podTemplatePatch", []func(*v1alpha1.EGAppSpec){
		absent,
		func(s *v1alpha1.EGAppSpec) {
			s.PodTemplatePatch = &runtime.RawExtension{Raw: []byte(
				`{"metadata":{"annotations":{"team":"a"}},"spec":{"containers":[{"name":"main","workingDir":"/srv"}]}}`)}
		},
	}},
}

// mix is a level of each feature.
type mix []int

// spec returns what an EGApp of the mix asks for.
func (m mix) spec() v1alpha1.EGAppSpec {
	spec := v1alpha1.EGAppSpec{Image: imageOf(1)}
	for i, level := range m {
		features[i].levels[level](&spec)
	}
	return spec
}

// pair is two levels of two features.
type pair struct{ a, levelA, b, levelB int }

// pairs calls back for each pair in the mix.
func (m mix) pairs(visit func(pair)) {
	for a := range m {
		for b := a + 1; b < len(m); b++ {
			visit(pair{a, m[a], b, m[b]})
		}
	}
}

// mixesOf returns n mixes, in which each pair of levels of two features occurs if n suffices, and how many pairs do not
// occur. It adds, as long as there are such, the one of many random mixes that has the most of them.
func mixesOf(n int, random *rand.Rand) (mixes []mix, missing int) {
	open := map[pair]bool{}
	for a, featureA := range features {
		for b := a + 1; b < len(features); b++ {
			for levelA := range featureA.levels {
				for levelB := range features[b].levels {
					open[pair{a, levelA, b, levelB}] = true
				}
			}
		}
	}
	const candidates = 300
	for len(mixes) < n {
		var best mix
		most := -1
		for range candidates {
			candidate := randomMix(random)
			found := 0
			candidate.pairs(func(p pair) {
				if open[p] {
					found++
				}
			})
			if found > most {
				best, most = candidate, found
			}
		}
		best.pairs(func(p pair) { delete(open, p) })
		mixes = append(mixes, best)
	}
	return mixes, len(open)
}

func randomMix(random *rand.Rand) mix {
	m := make(mix, len(features))
	for i, feature := range features {
		m[i] = random.IntN(len(feature.levels))
	}
	return m
}

func TestFiftyMixesHaveEachPairOfFeatures(t *testing.T) {
	for seed := range uint64(5) {
		mixes, missing := mixesOf(50, rand.New(rand.NewPCG(seed, 0)))
		if missing > 0 || len(mixes) != 50 {
			t.Errorf("seed %d: %d pairs do not occur in %d mixes", seed, missing, len(mixes))
		}
	}
	if _, missing := mixesOf(3, rand.New(rand.NewPCG(1, 0))); missing == 0 {
		t.Error("three mixes are said to have each pair")
	}
}
