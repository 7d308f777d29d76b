// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package observe

import (
	"fmt"
	"maps"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	toolscache "k8s.io/client-go/tools/cache"

	"platformapp/internal/workload"
)

// foreignMetadata is what a server stores with an object that people and tools write.
func foreignMetadata(name, uid string) metav1.ObjectMeta {
	return metav1.ObjectMeta{
		Namespace: "team-a", Name: name, UID: types.UID(uid), ResourceVersion: "3", CreationTimestamp: metav1.NewTime(time.Unix(1e9, 0)),
		Labels:        map[string]string{"cost-center": "42"},
		Annotations:   map[string]string{"kubectl.kubernetes.io/last-applied-configuration": "{}"},
		ManagedFields: []metav1.ManagedFieldsEntry{{Manager: "kubectl", FieldsV1: metav1.NewFieldsV1("{}")}},
	}
}

func fullConfigMap() *corev1.ConfigMap {
	return &corev1.ConfigMap{
		ObjectMeta: foreignMetadata("settings", "configmap"),
		Data:       map[string]string{"a": "value-1", "b": ""},
		BinaryData: map[string][]byte{"c": []byte("bytes")},
	}
}

func fullAutoscaler() *autoscalingv2.HorizontalPodAutoscaler {
	autoscaler := &autoscalingv2.HorizontalPodAutoscaler{
		ObjectMeta: foreignMetadata("theirs", "autoscaler"),
		Spec: autoscalingv2.HorizontalPodAutoscalerSpec{
			ScaleTargetRef: autoscalingv2.CrossVersionObjectReference{APIVersion: "apps/v1", Kind: "Deployment", Name: "orders"}, MaxReplicas: 9,
		},
		Status: autoscalingv2.HorizontalPodAutoscalerStatus{
			CurrentReplicas: 4,
			Conditions: []autoscalingv2.HorizontalPodAutoscalerCondition{
				{Type: autoscalingv2.AbleToScale, Status: corev1.ConditionTrue},
				{Type: autoscalingv2.ScalingActive, Status: corev1.ConditionFalse, Reason: "FailedGetResourceMetric", Message: "no metrics"},
			},
		},
	}
	autoscaler.Annotations[workload.AnnotationAdoptBy] = "orders"
	return autoscaler
}

func fullClaim() *corev1.PersistentVolumeClaim {
	return &corev1.PersistentVolumeClaim{
		ObjectMeta: foreignMetadata("data", "claim"),
		Spec: corev1.PersistentVolumeClaimSpec{
			AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce}, StorageClassName: new("fast"),
			Resources: corev1.VolumeResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("10Gi")}},
		},
	}
}

func fullServiceAccount() *metav1.PartialObjectMetadata {
	account := ServiceAccountMetadata()
	account.ObjectMeta = foreignMetadata("robot", "account")
	account.Annotations[workload.AnnotationAllowEGApps] = "true"
	return account
}

// ours is the object with the label of the operator.
func ours[T metav1.Object](object T) T {
	object.SetLabels(map[string]string{workload.LabelManagedBy: workload.ManagedBy})
	return object
}

// controlled is the object with an EGApp as its controller.
func controlled[T metav1.Object](object T) T {
	object.SetOwnerReferences([]metav1.OwnerReference{{APIVersion: "egplatform.platform.evillgenius.com/v1alpha1", Kind: "EGApp", Name: "orders", UID: "app", Controller: new(true)}})
	return object
}

func TestTheHashesOfAConfigMapSurviveTheCache(t *testing.T) {
	for name, object := range map[string]*corev1.ConfigMap{
		"of somebody else":        fullConfigMap(),
		"of ours":                 ours(fullConfigMap()),
		"without keys":            {ObjectMeta: foreignMetadata("empty", "")},
		"with an odd key":         {ObjectMeta: foreignMetadata("odd", ""), Data: map[string]string{"..data-_.9": "x"}},
		"that is text and binary": {ObjectMeta: foreignMetadata("both", ""), Data: map[string]string{"a": "x"}, BinaryData: map[string][]byte{"b": []byte("x")}},
	} {
		t.Run(name, func(t *testing.T) {
			want := workload.ConfigMap{}
			for key, value := range object.Data {
				want[key] = workload.ValueHash([]byte(value))
			}
			for key, value := range object.BinaryData {
				want[key] = workload.ValueHash(value)
			}
			stripped, err := stripConfigMap(object)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, ConfigMapOf(stripped.(*corev1.ConfigMap))); diff != "" {
				t.Errorf("the hashes are others (-want +got):\n%s", diff)
			}
		})
	}
}

// A cluster has many ConfigMaps that no application uses; each costs memory.
func TestAConfigMapOfSomebodyElseTakesAtMost500Bytes(t *testing.T) {
	const count, bound = 20_000, 500
	store := toolscache.NewIndexer(toolscache.MetaNamespaceKeyFunc, toolscache.Indexers{toolscache.NamespaceIndex: toolscache.MetaNamespaceIndexFunc})
	before := heap()
	for i := range count {
		object := fullConfigMap()
		// Each decoded object has strings of its own.
		object.Name, object.Namespace = fmt.Sprintf("settings-%06d", i), strings.Clone(fmt.Sprintf("team-%03d", i%100))
		object.ResourceVersion = fmt.Sprint(1_000_000 + i)
		object.Data = map[string]string{"application.yaml": strings.Repeat(fmt.Sprint(i), 300)}
		object.BinaryData = nil
		stripped, err := stripConfigMap(object)
		if err != nil {
			t.Fatal(err)
		}
		if err := store.Add(stripped); err != nil {
			t.Fatal(err)
		}
	}
	per := float64(heap()-before) / count
	t.Logf("%.0f bytes for each ConfigMap", per)
	if per > bound {
		t.Errorf("%.0f bytes for each ConfigMap, want at most %d", per, bound)
	}
	runtime.KeepAlive(store)
}

func heap() int64 {
	runtime.GC()
	runtime.GC()
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return int64(stats.HeapAlloc)
}

func TestAClaimIsOfOneNodeUnlessManyMayUseIt(t *testing.T) {
	for name, test := range map[string]struct {
		modes []corev1.PersistentVolumeAccessMode
		want  bool
	}{
		"one node":             {[]corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce}, true},
		"one pod":              {[]corev1.PersistentVolumeAccessMode{corev1.ReadWriteOncePod}, true},
		"many readers":         {[]corev1.PersistentVolumeAccessMode{corev1.ReadOnlyMany}, false},
		"many writers":         {[]corev1.PersistentVolumeAccessMode{corev1.ReadWriteMany}, false},
		"one node, or as many": {[]corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce, corev1.ReadOnlyMany}, false},
		"none is told":         {nil, true},
	} {
		claim := fullClaim()
		claim.Spec.AccessModes = test.modes
		if got := ClaimOf(claim).OneNode; got != test.want {
			t.Errorf("%s: the claim is of one node: %t", name, got)
		}
	}
}

func TestAServiceAccountConsentsByTrueAlone(t *testing.T) {
	for value, want := range map[string]bool{"true": true, "false": false, "": false, "True": false, "yes": false} {
		account := fullServiceAccount()
		account.Annotations = map[string]string{workload.AnnotationAllowEGApps: value}
		if got := AllowsEGApps(account); got != want {
			t.Errorf("the annotation %q allows: %t", value, got)
		}
	}
}

func TestWhatAnAutoscalerScales(t *testing.T) {
	for name, test := range map[string]struct {
		target      autoscalingv2.CrossVersionObjectReference
		egapp, demo bool
	}{
		"a Deployment":                  {autoscalingv2.CrossVersionObjectReference{APIVersion: "apps/v1", Kind: "Deployment"}, true, true},
		"an EGApp":                      {autoscalingv2.CrossVersionObjectReference{APIVersion: "egplatform.platform.evillgenius.com/v1alpha1", Kind: "EGApp"}, true, false},
		"an EGApp of a later version":   {autoscalingv2.CrossVersionObjectReference{APIVersion: "egplatform.platform.evillgenius.com/v2", Kind: "EGApp"}, true, false},
		"a DemoMicroService":            {autoscalingv2.CrossVersionObjectReference{APIVersion: "devops.my.domain/v1", Kind: "DemoMicroService"}, false, true},
		"a StatefulSet":                 {autoscalingv2.CrossVersionObjectReference{APIVersion: "apps/v1", Kind: "StatefulSet"}, false, false},
		"a Deployment of another group": {autoscalingv2.CrossVersionObjectReference{APIVersion: "example.com/v1", Kind: "Deployment"}, false, false},
		"nothing that can be":           {autoscalingv2.CrossVersionObjectReference{APIVersion: "a/b/c", Kind: "Deployment"}, false, false},
	} {
		t.Run(name, func(t *testing.T) {
			test.target.Name = "orders"
			autoscaler := fullAutoscaler()
			autoscaler.Spec.ScaleTargetRef = test.target
			got := map[string]bool{}
			for _, key := range []string{workload.LabelEGApp, workload.LabelDemoMicroService} {
				scaled, ok := ScaledBy(autoscaler, key)
				if got[key] = ok; ok && scaled != "orders" {
					t.Errorf("it scales %q", scaled)
				}
			}
			want := map[string]bool{workload.LabelEGApp: test.egapp, workload.LabelDemoMicroService: test.demo}
			if !maps.Equal(want, got) {
				t.Errorf("it scales %v, want %v", got, want)
			}
		})
	}
}
