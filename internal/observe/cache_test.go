// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package observe

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	toolscache "k8s.io/client-go/tools/cache"

	"platformapp/api/appstatus"
	"platformapp/internal/resources"
	"platformapp/internal/status"
	"platformapp/internal/workload"
)

func TestStrippedPodKeepsWhatStatusReads(t *testing.T) {
	owner := workload.Owner{Namespace: "team-a", Name: "orders", UID: "app", Generation: 1, SelectorKey: workload.LabelEGApp}
	owner.Kind = "EGApp"
	deployment := &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: "team-a", Name: "orders", UID: "deployment", Generation: 1, Labels: owner.ChildLabels(),
			Annotations: map[string]string{workload.AnnotationRevision: "1"},
		},
		Spec: appsv1.DeploymentSpec{Replicas: new(int32(1))},
		Status: appsv1.DeploymentStatus{
			ObservedGeneration: 1, Replicas: 1, UpdatedReplicas: 1, ReadyReplicas: 1, AvailableReplicas: 1,
			Conditions: []appsv1.DeploymentCondition{{Type: appsv1.DeploymentProgressing, Status: corev1.ConditionTrue, Reason: "NewReplicaSetAvailable"}},
		},
	}
	compute := func(pod *corev1.Pod, replicaSet *metav1.PartialObjectMetadata) appstatus.Status {
		deployment.Status.AvailableReplicas = 0
		if c := pod.Status.Conditions; len(c) > 0 && c[0].Type == corev1.PodReady && c[0].Status == corev1.ConditionTrue {
			deployment.Status.AvailableReplicas = 1
		}
		return status.Compute(status.Input{Workload: workload.Workload{Owner: owner, Replicas: 1}, Observed: workload.Observed{
			Children:    map[string]workload.Object{"Deployment": deployment},
			ReplicaSets: []metav1.PartialObjectMetadata{*replicaSet},
			Pods:        []corev1.Pod{*pod},
		}, Now: metav1.NewTime(time.Unix(1e9, 0))}).Status
	}
	stripped := func(t *testing.T, pod *corev1.Pod, replicaSet *metav1.PartialObjectMetadata) (*corev1.Pod, *metav1.PartialObjectMetadata) {
		t.Helper()
		p, err := stripPod(pod)
		if err != nil {
			t.Fatal(err)
		}
		r, err := stripReplicaSet(replicaSet)
		if err != nil {
			t.Fatal(err)
		}
		return p.(*corev1.Pod), r.(*metav1.PartialObjectMetadata)
	}
	seen := map[string]bool{}
	for name, change := range podStates() {
		t.Run(name, func(t *testing.T) {
			pod, replicaSet := fullPod(), fullReplicaSet()
			change(pod)
			want := compute(pod, replicaSet)
			got := compute(stripped(t, pod, replicaSet))
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("the status is another of what the cache keeps (-whole +stripped):\n%s", diff)
			}
			seen[want.Conditions[0].Message+" "+strings.Join(keysOf(want.PodStatuses), " ")] = true
		})
	}
	// Were the states all one to the status, the comparison would show nothing.
	if len(seen) != len(podStates()) {
		t.Errorf("the states give %d statuses: %v, want %d", len(seen), seen, len(podStates()))
	}
}

func podStates() map[string]func(*corev1.Pod) {
	return map[string]func(*corev1.Pod){
		"ready": func(*corev1.Pod) {},
		"ending": func(p *corev1.Pod) {
			p.DeletionTimestamp = new(metav1.NewTime(time.Unix(1, 0)))
		},
		"evicted": func(p *corev1.Pod) { p.Status.Phase, p.Status.Reason = corev1.PodFailed, "Evicted" },
		"unschedulable": func(p *corev1.Pod) {
			p.Status = corev1.PodStatus{Phase: corev1.PodPending, Conditions: []corev1.PodCondition{
				{Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: corev1.PodReasonUnschedulable, Message: "0/3 nodes are available"},
			}}
		},
		"image pull": func(p *corev1.Pod) {
			c := &p.Status.ContainerStatuses[0]
			c.State = corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "ImagePullBackOff", Message: "no such host"}}
		},
		"init container crashes": func(p *corev1.Pod) {
			p.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionFalse}}
			c := &p.Status.InitContainerStatuses[0]
			c.State = corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "CrashLoopBackOff"}}
			c.LastTerminationState = corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: 137, Reason: "OOMKilled"}}
			c.RestartCount = 3
		},
		"sidecar among the init containers crashes": func(p *corev1.Pod) {
			p.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionFalse}}
			always := corev1.ContainerRestartPolicyAlways
			p.Spec.InitContainers = append(p.Spec.InitContainers, corev1.Container{Name: "proxy", RestartPolicy: &always})
			p.Status.InitContainerStatuses = append(p.Status.InitContainerStatuses, corev1.ContainerStatus{
				Name: "proxy", State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "CrashLoopBackOff"}},
			})
		},
		"its node is lost": func(p *corev1.Pod) {
			p.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionFalse}, {Type: corev1.ContainersReady, Status: corev1.ConditionTrue}}
		},
		"stopped serving": func(p *corev1.Pod) {
			p.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionFalse}}
			p.Status.ContainerStatuses[0].Ready = false
		},
		"containers are not started": func(p *corev1.Pod) {
			p.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodScheduled, Status: corev1.ConditionTrue, LastTransitionTime: metav1.NewTime(time.Unix(1, 0))}}
			p.Status.InitContainerStatuses = nil
			p.Status.ContainerStatuses[0] = corev1.ContainerStatus{
				Name: "app", State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "ContainerCreating"}},
			}
		},
		"starting": func(p *corev1.Pod) {
			p.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionFalse}}
			p.Status.ContainerStatuses[0].Started, p.Status.ContainerStatuses[0].Ready = new(false), false
		},
	}
}

// fullPod is a ready pod with everything that a server and a kubelet write into one.
func fullPod() *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: "team-a", Name: "orders-1-a", GenerateName: "orders-1-", UID: "pod", ResourceVersion: "7", Generation: 1,
			CreationTimestamp: metav1.NewTime(time.Unix(1, 0)),
			Labels: map[string]string{
				workload.LabelManagedBy: workload.ManagedBy, workload.LabelEGApp: "orders", workload.LabelName: "orders", "pod-template-hash": "1",
			},
			Annotations:     map[string]string{workload.AnnotationDefaultContainer: "app", "cni.example.com/ip": "10.0.0.1"},
			OwnerReferences: []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "ReplicaSet", Name: "orders-1", UID: "replicaset", Controller: new(true)}},
			ManagedFields:   []metav1.ManagedFieldsEntry{{Manager: "kubelet", FieldsV1: metav1.NewFieldsV1("{}")}},
			Finalizers:      []string{"example.com/wait"},
		},
		Spec: corev1.PodSpec{
			NodeName:       "node-1",
			InitContainers: []corev1.Container{{Name: "migrate", Image: "migrate:1", Args: []string{"secret"}}},
			Containers:     []corev1.Container{{Name: "app", Image: "nginx:1", Env: []corev1.EnvVar{{Name: "A", Value: "secret"}}}},
		},
		Status: corev1.PodStatus{
			Phase: corev1.PodRunning, Message: "m", PodIP: "10.0.0.1", HostIP: "10.0.0.2",
			Conditions: []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}},
			InitContainerStatuses: []corev1.ContainerStatus{{
				Name: "migrate", Ready: true, Image: "migrate:1", ImageID: "sha256:1",
				State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{Reason: "Completed"}},
			}},
			ContainerStatuses: []corev1.ContainerStatus{{
				Name: "app", Ready: true, Started: new(true), Image: "nginx:1", ImageID: "sha256:2", ContainerID: "containerd://1",
				State:              corev1.ContainerState{Running: &corev1.ContainerStateRunning{}},
				AllocatedResources: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("1")},
			}},
		},
	}
}

func evictedPod() *corev1.Pod {
	p := fullPod()
	p.Status.Phase, p.Status.Reason, p.Status.Message = corev1.PodFailed, "Evicted", `Usage of EmptyDir volume "tmp" exceeds the limit "1Mi". `
	return p
}

func fullReplicaSet() *metav1.PartialObjectMetadata {
	r := ReplicaSetMetadata()
	r.ObjectMeta = metav1.ObjectMeta{
		Namespace: "team-a", Name: "orders-1", UID: "replicaset", ResourceVersion: "9",
		Labels: map[string]string{workload.LabelManagedBy: workload.ManagedBy, workload.LabelEGApp: "orders", workload.LabelName: "orders"},
		Annotations: map[string]string{
			workload.AnnotationRevision: "1", "deployment.kubernetes.io/desired-replicas": "1", workload.AnnotationAppliedHash: "0",
		},
		OwnerReferences: []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "Deployment", Name: "orders", UID: "deployment", Controller: new(true)}},
		ManagedFields:   []metav1.ManagedFieldsEntry{{Manager: "kube-controller-manager"}},
	}
	return r
}

// The size of the cache is bounded by what is kept of each object.
func TestStripDropsWhatIsNotRead(t *testing.T) {
	for name, test := range map[string]struct {
		strip   func(any) (any, error)
		object  any
		kept    []string
		dropped []string
	}{
		"Pod": {
			stripPod, fullPod(),
			[]string{"orders-1-a", `"uid":"pod"`, `"resourceVersion":"7"`, workload.LabelEGApp, workload.LabelManagedBy, "ReplicaSet", "migrate", "node-1"},
			[]string{"managedFields", `"message":"m"`, "secret", "10.0.0", "cni.example.com", "pod-template-hash", "sha256", "containerd", "allocatedResources", workload.LabelName, "finalizers", "generateName"},
		},
		"ConfigMap of somebody else": {
			stripConfigMap, fullConfigMap(),
			[]string{`"name":"settings"`, `"namespace":"team-a"`, `"resourceVersion":"3"`, `"generateName":"a=`},
			[]string{"value-1", `"data"`, "binaryData", "managedFields", "cost-center", "last-applied", "creationTimestamp\":\"2"},
		},
		"ConfigMap of ours": {
			stripConfigMap, ours(fullConfigMap()),
			[]string{"value-1", workload.LabelManagedBy},
			[]string{"managedFields"},
		},
		"ConfigMap that lost our label and may be told by its controller": {
			stripConfigMap, controlled(fullConfigMap()),
			[]string{`"uid":"app"`, `"uid":"configmap"`},
			[]string{"value-1"},
		},
		"autoscaler of somebody else": {
			stripAutoscaler, fullAutoscaler(),
			[]string{`"name":"theirs"`, `"kind":"Deployment"`, "no metrics", workload.AnnotationAdoptBy},
			[]string{"managedFields", "maxReplicas\":9", "AbleToScale", "currentReplicas\":4", "cost-center"},
		},
		"autoscaler of ours": {
			stripAutoscaler, ours(fullAutoscaler()),
			[]string{"maxReplicas\":9", "AbleToScale"},
			[]string{"managedFields"},
		},
		"claim": {
			stripClaim, fullClaim(),
			[]string{`"name":"data"`, "ReadWriteOnce"},
			[]string{"managedFields", "fast", "cost-center", "10Gi"},
		},
		"ServiceAccount": {
			stripServiceAccount, fullServiceAccount(),
			[]string{`"name":"robot"`, workload.AnnotationAllowEGApps + `":"true"`},
			[]string{"managedFields", "cost-center", "last-applied"},
		},
		"Pod that was evicted": {
			stripPod, evictedPod(),
			[]string{`"reason":"Evicted"`, "exceeds the limit"},
			[]string{"managedFields", "10.0.0"},
		},
		"ReplicaSet": {
			stripReplicaSet, fullReplicaSet(),
			[]string{"orders-1", `"uid":"replicaset"`, `"resourceVersion":"9"`, workload.LabelEGApp, workload.LabelManagedBy, `"` + workload.AnnotationRevision + `":"1"`, `"kind":"ReplicaSet"`, `"uid":"deployment"`},
			[]string{"managedFields", "desired-replicas", workload.AnnotationAppliedHash, workload.LabelName},
		},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := test.strip(test.object)
			if err != nil {
				t.Fatal(err)
			}
			serialized, err := json.Marshal(got)
			if err != nil {
				t.Fatal(err)
			}
			for _, part := range test.kept {
				if !strings.Contains(string(serialized), part) {
					t.Errorf("%s is lost in %s", part, serialized)
				}
			}
			for _, part := range test.dropped {
				if strings.Contains(string(serialized), part) {
					t.Errorf("%s is kept in %s", part, serialized)
				}
			}
			again, err := test.strip(got)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(got, again); diff != "" {
				t.Errorf("a second time strips more:\n%s", diff)
			}
		})
	}
}

// A watch that was interrupted brings the last known state of an object that is gone.
func TestStripLeavesOtherObjectsAsTheyAre(t *testing.T) {
	tombstone := toolscache.DeletedFinalStateUnknown{Key: "team-a/orders", Obj: fullPod()}
	for name, strip := range map[string]func(any) (any, error){
		"Pod": stripPod, "ReplicaSet": stripReplicaSet, "ConfigMap": stripConfigMap, "HorizontalPodAutoscaler": stripAutoscaler,
		"PersistentVolumeClaim": stripClaim, "ServiceAccount": stripServiceAccount,
	} {
		got, err := strip(tombstone)
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if diff := cmp.Diff(tombstone, got); diff != "" {
			t.Errorf("%s:\n%s", name, diff)
		}
	}
}

// A kind that is watched without the label brings all objects of the cluster: only those
// that applications depend on may, and of them no more than is read.
func TestCacheHoldsOfOthersOnlyWhatApplicationsDependOn(t *testing.T) {
	options := CacheOptions([]string{"team-a", "team-b"}, &appsv1.DaemonSet{})
	isOurs := func(selector labels.Selector) bool {
		return selector.Matches(labels.Set{workload.LabelManagedBy: workload.ManagedBy}) && !selector.Matches(labels.Set{})
	}
	if !isOurs(options.DefaultLabelSelector) {
		t.Errorf("what is not told of is held by the label %v, want ours", options.DefaultLabelSelector)
	}
	var others []string
	for object, by := range options.ByObject {
		if by.Label == nil {
			continue // It is limited by default.
		}
		name := reflect.TypeOf(object).Elem().Name()
		others = append(others, name)
		if by.Transform == nil && name != "DaemonSet" {
			t.Errorf("of a %s of others everything is held", name)
		}
	}
	slices.Sort(others)
	want := []string{"ConfigMap", "DaemonSet", "HorizontalPodAutoscaler", "PartialObjectMetadata", "PersistentVolumeClaim"}
	if diff := cmp.Diff(want, others); diff != "" {
		t.Errorf("of others are held (-want +got):\n%s", diff)
	}
	for _, kind := range resources.Kinds {
		for object := range options.ByObject {
			if kind.Optional && reflect.TypeOf(object) == reflect.TypeOf(kind.New()) {
				t.Errorf("%s must be there at the start", kind.Name)
			}
			if kind.Everybodys && !slices.Contains(others, kind.Name) {
				t.Errorf("a %s of somebody else is not seen", kind.Name)
			}
		}
	}
	if diff := cmp.Diff([]string{"team-a", "team-b"}, keysOf(options.DefaultNamespaces)); diff != "" {
		t.Errorf("namespaces:\n%s", diff)
	}
	if all := CacheOptions(nil).DefaultNamespaces; len(all) > 0 {
		t.Errorf("namespaces %v where none is given, want all", all)
	}
	if !options.ReaderFailOnMissingInformer {
		t.Error("a read of a kind that is not watched would start to watch it without limits")
	}
}

func keysOf[V any](m map[string]V) []string {
	out := make([]string, 0, len(m))
	for key := range m {
		out = append(out, key)
	}
	slices.Sort(out)
	return out
}
