// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package fault

import (
	"strings"
	"testing"

	"platformapp/internal/workload"
)

// The beginnings of objects in YAML: of a Deployment's metadata, of the generation of an EGApp, of the specification of a
// Service, of a HorizontalPodAutoscaler, of the name of a pod.
const (
	deployment  = "apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: app\n"
	egapp       = "apiVersion: x/v1\nkind: EGApp\nmetadata: {name: app, generation: "
	service     = "apiVersion: v1\nkind: Service\nmetadata: {name: app}\nspec: "
	autoscaling = "apiVersion: autoscaling/v2\nkind: HorizontalPodAutoscaler\nmetadata: {name: app}\n"
	pod         = "apiVersion: v1\nkind: Pod\nmetadata: {generateName: app-1-, name: "
)

// hash is the annotation with the hash of what was applied.
const hash = workload.AnnotationAppliedHash

// TestStateOf tells what makes two states differ, and what does not: each row is an object by two runs.
func TestStateOf(t *testing.T) {
	tests := map[string]struct {
		begin, one, other string
		isEqual           bool
	}{
		"what the API server makes up": {
			deployment, "  uid: a9c2\n  resourceVersion: '1'\n  generation: 1\n  creationTimestamp: '2026-01-01T00:00:00Z'",
			"  uid: b7d1\n  resourceVersion: '2'\n  generation: 5\n  creationTimestamp: '2026-01-02T00:00:00Z'", true,
		},
		"a label":                      {deployment, "  labels: {a: b}", "  labels: {a: c}", false},
		"a label more":                 {deployment, "", "  labels: {a: b}", false},
		"the hash of what was applied": {deployment + "  annotations: ", "{" + hash + ": a}", "{" + hash + ": b}", true},
		"no hash of what was applied":  {deployment + "  annotations: ", "{" + hash + ": a}", "{}", false},
		"an annotation":                {deployment + "  annotations: ", "{a: b}", "{a: c}", false},
		"a replica count":              {deployment, "spec: {replicas: 1}", "spec: {replicas: 2}", false},
		"a deletion under way":         {deployment, "", "  deletionTimestamp: '2026-01-01T00:00:00Z'", false},
		"when it is deleted": {
			deployment, "  deletionTimestamp: '2026-01-02T00:00:00Z'", "  deletionTimestamp: '2026-01-01T00:00:00Z'", true,
		},
		"the generation its status is of": {deployment + "status: ", "{observedGeneration: 1}", "{observedGeneration: 3}", true},
		"available pods":                  {deployment + "status: ", "{availableReplicas: 1}", "{availableReplicas: 2}", false},
		"when a condition changed": {
			deployment + "status: ", "{conditions: [{type: Available, status: 'True', lastUpdateTime: a, lastTransitionTime: a}]}",
			"{conditions: [{type: Available, status: 'True', lastUpdateTime: b, lastTransitionTime: b}]}", true,
		},
		"the order of conditions": {
			deployment + "status: ", "{conditions: [{type: A}, {type: B}]}", "{conditions: [{type: B}, {type: A}]}", true,
		},
		"a condition": {
			deployment + "status: ", "{conditions: [{type: Available, status: 'True'}]}",
			"{conditions: [{type: Available, status: 'False'}]}", false,
		},
		"when fields were managed": {
			deployment + "  managedFields: ", "[{manager: a, time: '2026-01-01T00:00:00Z', fieldsV1: {f:spec: {}}}]",
			"[{manager: a, time: '2026-01-02T00:00:00Z', fieldsV1: {f:spec: {}}}]", true,
		},
		"who manages fields": {
			deployment + "  managedFields: ", "[{manager: a, operation: Apply, fieldsV1: {f:spec: {}}}]",
			"[{manager: b, operation: Apply, fieldsV1: {f:spec: {}}}]", false,
		},
		"which fields are managed": {
			deployment + "  managedFields: ", "[{manager: a, operation: Apply, fieldsV1: {f:spec: {}}}]",
			"[{manager: a, operation: Apply, fieldsV1: {f:spec: {f:replicas: {}}}}]", false,
		},
		"who comes first among the managers": {
			deployment + "  managedFields: ", "[{manager: a, fieldsV1: {f:spec: {}}}, {manager: b, fieldsV1: {f:data: {}}}]",
			"[{manager: b, fieldsV1: {f:data: {}}}, {manager: a, fieldsV1: {f:spec: {}}}]", true,
		},
		"the status that the control plane writes": {
			deployment, "",
			"  managedFields: [{manager: kube-controller-manager, subresource: status, fieldsV1: {f:status: {}}}]", true,
		},
		"what else the control plane writes": {
			deployment, "", "  managedFields: [{manager: kube-controller-manager, fieldsV1: {f:metadata: {}}}]", false,
		},
		"an application's present generation": {
			egapp, "2}\nstatus: {observedGeneration: 2, conditions: [{type: Ready, observedGeneration: 2}]}",
			"4}\nstatus: {observedGeneration: 4, conditions: [{type: Ready, observedGeneration: 4}]}", true,
		},
		"an application's status of the past": {
			egapp + "2}\nstatus: ", "{observedGeneration: 2}", "{observedGeneration: 1}", false,
		},
		"an application's condition of the past": {
			egapp + "2}\nstatus: ", "{conditions: [{type: Ready, observedGeneration: 2}]}",
			"{conditions: [{type: Ready, observedGeneration: 1}]}", false,
		},
		"an application's message": {
			egapp + "2}\nstatus: ", "{conditions: [{type: Ready, message: a}]}", "{conditions: [{type: Ready, message: b}]}", false,
		},
		"the address of a Service": {
			service, "{clusterIP: 10.0.0.1, clusterIPs: [10.0.0.1], ports: [{port: 80, nodePort: 30001}]}",
			"{clusterIP: 10.0.0.2, clusterIPs: [10.0.0.2], ports: [{port: 80, nodePort: 30002}]}", true,
		},
		"a headless Service": {service, "{clusterIP: 10.0.0.1}", "{clusterIP: None}", false},
		"a node port":        {service, "{ports: [{port: 80}]}", "{ports: [{port: 80, nodePort: 30001}]}", false},
		"the status of an autoscaler": {
			autoscaling, "status: {currentReplicas: 1}", "status: {currentReplicas: 2}", true,
		},
		"an autoscaler":      {autoscaling, "spec: {maxReplicas: 1}", "spec: {maxReplicas: 2}", false},
		"the name of a pod":  {pod, "app-1-x}\nstatus: {phase: Running}", "app-1-y}\nstatus: {phase: Running}", true},
		"the phase of a pod": {pod + "app-1-x}\nstatus: ", "{phase: Running}", "{phase: Pending}", false},
		"a pod that ends": {
			pod, "app-1-x}\nstatus: {phase: Running}",
			"app-1-x, deletionTimestamp: '2026-01-01T00:00:00Z'}\nstatus: {phase: Running}", false,
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			one, other := stateOf(t, test.begin+test.one), stateOf(t, test.begin+test.other)
			diff := one.Diff(other)
			if (diff == "") != test.isEqual {
				t.Errorf("equal: %t\n%s", diff == "", diff)
			}
			if (other.Diff(one) == "") != test.isEqual {
				t.Error("it depends on which comes first")
			}
		})
	}
}

// TestStateOfReferences tells that an object refers to others by their names, and that a reference to what is gone shows.
func TestStateOfReferences(t *testing.T) {
	app := func(uid string) string {
		return "apiVersion: x/v1\nkind: EGApp\nmetadata: {name: app, uid: " + uid + "}"
	}
	owned := func(uid string) string {
		return deployment + "  ownerReferences: [{apiVersion: x/v1, kind: EGApp, name: app, uid: " + uid + "}]"
	}
	want := stateOf(t, app("uid-one"), owned("uid-one"))
	if diff := want.Diff(stateOf(t, app("uid-two"), owned("uid-two"))); diff != "" {
		t.Errorf("another UID of an owner that is there shows:\n%s", diff)
	}
	if diff := want.Diff(stateOf(t, app("uid-two"), owned("uid-one"))); !strings.Contains(diff, "Deployment app") {
		t.Errorf("the UID of an owner that is gone does not show:\n%s", diff)
	}
	const first, second = pod + "app-1-a}\nstatus: {phase: Running}", pod + "app-1-b}\nstatus: {phase: Running}"
	if diff := stateOf(t, first).Diff(stateOf(t, first, second)); diff == "" {
		t.Error("a second pod does not show")
	}
	inNamespace := func(text string) State {
		state, err := StateOf(text, viewOf(t, deployment+"  namespace: "+text+"\nspec: {host: app."+text+".svc}"))
		if err != nil {
			t.Fatal(err)
		}
		return state
	}
	if diff := inNamespace("team-1").Diff(inNamespace("team-2")); diff != "" {
		t.Errorf("the namespace shows:\n%s", diff)
	}
}

// TestStateOfLeavesTheViewAlone tells that the objects of a view are not changed.
func TestStateOfLeavesTheViewAlone(t *testing.T) {
	const text = deployment + "  uid: a9c2\n  generation: 3\n" +
		"status: {observedGeneration: 3, conditions: [{type: B, lastUpdateTime: a}, {type: A}]}"
	v := viewOf(t, text)
	if _, err := StateOf("team-1", v); err != nil {
		t.Fatal(err)
	}
	before, err := objectOf(t, text).MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	if after, err := v.Get("Deployment", "app").MarshalJSON(); err != nil || string(after) != string(before) {
		t.Errorf("it is now %s (%v)", after, err)
	}
}

// TestDiff tells how differences are told.
func TestDiff(t *testing.T) {
	want := State{
		"Service app": `{"a":1}`, "Deployment app": `{"spec":{"replicas":1,"paused":false,"containers":["x"]},"same":true}`,
		"Pods app-*": "Running", "Same x": "{}",
	}
	got := State{
		"Ingress app": `{"b":1}`, "Deployment app": `{"spec":{"replicas":2,"containers":["x","y"]},"same":true}`,
		"Pods app-*": "Pending", "Same x": "{}",
	}
	const text = `Deployment app (-reference +plan):
  +.spec.containers[1]: y
  -.spec.paused: false
  -.spec.replicas: 1
  +.spec.replicas: 2
Ingress app is there: {"b":1}
Pods app-* (-reference +plan):
  -Running
  +Pending
Service app is not there
`
	if diff := want.Diff(got); diff != text {
		t.Errorf("the difference is told as\n%s", diff)
	}
	if diff := want.Diff(want); diff != "" {
		t.Errorf("a state differs from itself:\n%s", diff)
	}
	if diff := (State{"a": `{"x":{}}`}).Diff(State{"a": `{"x":[]}`}); diff == "" {
		t.Error("an empty object is an empty list")
	}
}

// TestWithoutRollouts tells that the count of rollouts is dropped, and nothing else.
func TestWithoutRollouts(t *testing.T) {
	state := State{
		"ReplicaSet app-1": "{}", "Service app": "{}",
		"Deployment app": `{"annotations":{"deployment.kubernetes.io/revision":"12","other":"3"}}`,
	}
	want := State{"Service app": "{}", "Deployment app": `{"annotations":{,"other":"3"}}`}
	if diff := want.Diff(state.WithoutRollouts()); diff != "" {
		t.Error(diff)
	}
}

// TestReplicaSets tells that ReplicaSets and their pods are named by the pod template, whatever the control plane calls
// them.
func TestReplicaSets(t *testing.T) {
	const one, other = "7c9f", "5d8b"
	set := func(hash, image string) string {
		return `
apiVersion: apps/v1
kind: ReplicaSet
metadata:
  name: app-` + hash + `
  labels: {pod-template-hash: ` + hash + `}
  ownerReferences: [{apiVersion: apps/v1, kind: Deployment, name: app, uid: the-uid-of-Deployment-app, controller: true}]
spec:
  template:
    metadata: {labels: {a: b, pod-template-hash: ` + hash + `}}
    spec: {containers: [{name: app, image: ` + image + `}]}`
	}
	pod := func(hash string) string {
		return "apiVersion: v1\nkind: Pod\nmetadata: {name: app-" + hash + "-x, generateName: app-" + hash + "-}"
	}
	want := stateOf(t, deployment, set(one, "app:1"), pod(one))
	if diff := want.Diff(stateOf(t, deployment, set(other, "app:1"), pod(other))); diff != "" {
		t.Errorf("the hash of the control plane shows:\n%s", diff)
	}
	if diff := want.Diff(stateOf(t, deployment, set(one, "app:2"), pod(one))); diff == "" {
		t.Error("another template does not show")
	}
}
