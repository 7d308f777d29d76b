// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/operator-framework/api/pkg/apis/scorecard/v1alpha3"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"platformapp/api/appstatus"
	devopsv1 "platformapp/api/devops/v1"
	"platformapp/api/egplatform/v1alpha1"
)

// samples are what the examples of a bundle may be.
func samples() []application {
	return []application{
		&v1alpha1.EGApp{
			ObjectMeta: metav1.ObjectMeta{Name: "hello"},
			Spec:       v1alpha1.EGAppSpec{Framework: v1alpha1.FrameworkGo, Environment: v1alpha1.EnvironmentDev},
		},
		&devopsv1.DemoMicroService{
			ObjectMeta: metav1.ObjectMeta{Name: "podinfo"},
			Spec:       devopsv1.DemoMicroServiceSpec{Image: "registry.example.com/podinfo:1"},
		},
	}
}

func trialOn(c client.Client) *trial {
	return &trial{Client: c, namespace: "scorecard", samples: samples(), log: &journal{start: time.Now()}, interval: 10 * time.Second}
}

// allBut returns the names of the other tests.
func allBut(these ...string) []string {
	return slices.DeleteFunc(names(), func(name string) bool { return slices.Contains(these, name) })
}

// Each fault of an operator is found, by the tests that are there for it and by no other.
func TestEachFaultIsFound(t *testing.T) {
	const (
		theDrift, theCause     = "drift-is-repaired", "status-names-the-cause"
		theDeletion, theOwners = "deletion-removes-children", "children-depend-on-their-application-alone"
	)
	setOwner := func(change func(*metav1.OwnerReference)) func(client.Object) {
		return func(child client.Object) {
			owners := child.GetOwnerReferences()
			for i := range owners {
				change(&owners[i])
			}
			child.SetOwnerReferences(owners)
		}
	}
	for _, row := range []struct {
		what string
		faults
		found []string
	}{
		{"none", faults{}, nil},
		{"does nothing", faults{idle: true}, names()},
		{"ignores EGApps", faults{ignores: "EGApp"}, names()},
		{"ignores DemoMicroServices", faults{ignores: "DemoMicroService"}, allBut(theCause)},
		{"leaves a scaled Deployment", faults{keeps: "replicas"}, []string{theDrift}},
		{"leaves another image", faults{keeps: "image"}, []string{theDrift}},
		{"makes a deleted Service no more", faults{loses: "Service"}, []string{theDrift}},
		{"makes a deleted Deployment no more", faults{loses: "Deployment"}, []string{theDrift}},
		{"makes a deleted Service without an owner", faults{orphans: "Service"}, []string{theDrift}},
		{"never Ready again after an image that cannot be pulled", faults{says: func(app application, ready *metav1.Condition) {
			if wasUnready(app) {
				ready.Status, ready.Reason = metav1.ConditionFalse, appstatus.ReasonRollingOut
			}
		}}, []string{theCause}},
		{"Ready with an image that cannot be pulled", faults{says: func(_ application, ready *metav1.Condition) {
			ready.Status = metav1.ConditionTrue
		}}, []string{theCause}},
		{"no cause", faults{says: func(_ application, ready *metav1.Condition) {
			if ready.Status == metav1.ConditionFalse {
				ready.Reason = appstatus.ReasonRollingOut
			}
		}}, []string{theCause}},
		{"a cause without the image", faults{says: func(_ application, ready *metav1.Condition) {
			ready.Message = "an image cannot be pulled"
		}}, []string{theCause}},
		{"a status of an earlier specification", faults{says: func(_ application, ready *metav1.Condition) {
			ready.ObservedGeneration--
		}}, names()},
		{"no pods", faults{makesNo: "Pod"}, []string{theDeletion}},
		{"no disruption budget", faults{makesNo: "PodDisruptionBudget"}, []string{theOwners}},
		{"leaves a Service behind", faults{leaves: "Service"}, []string{theDeletion}},
		{"leaves a pod behind", faults{leaves: "Pod"}, []string{theDeletion}},
		{"a finalizer on the application", faults{spoilsApplication: func(app client.Object) {
			app.SetFinalizers([]string{"example.com/operator"})
		}}, names()},
		{"a finalizer on a child", faults{spoils: func(child client.Object) {
			child.SetFinalizers([]string{"example.com/operator"})
		}}, []string{theDrift, theDeletion, theOwners}},
		{"a child that blocks the deletion", faults{spoils: setOwner(func(owner *metav1.OwnerReference) {
			owner.BlockOwnerDeletion = new(true)
		})}, []string{theOwners}},
		{"a child that is not controlled", faults{spoils: setOwner(func(owner *metav1.OwnerReference) {
			owner.Controller = nil
		})}, []string{theDrift, theOwners}},
		{"a child that the operator owns, too", faults{spoils: func(child client.Object) {
			operator := metav1.OwnerReference{UID: "operator", Name: "operator", Kind: "Deployment", APIVersion: "apps/v1"}
			child.SetOwnerReferences(append(child.GetOwnerReferences(), operator))
		}}, []string{theOwners}},
	} {
		t.Run(row.what, func(t *testing.T) {
			var found []string
			for _, test := range tests {
				// Time passes at once where a test waits.
				synctest.Test(t, func(t *testing.T) {
					cluster, c := newPlayedCluster(t, row.faults)
					result := trialOn(c).run(t.Context(), test)
					t.Logf("%s: %s %q\n%s", test.name, result.State, result.Errors, result.Log)
					if result.Name != test.name {
						t.Errorf("the result is named %s", result.Name)
					}
					if result.State != v1alpha3.PassState {
						found = append(found, test.name)
					}
					if (result.State == v1alpha3.PassState) != (len(result.Errors) == 0) {
						t.Errorf("state %s with the errors %q", result.State, result.Errors)
					}
					if left := cluster.applications(t.Context()); len(left) > 0 && row.spoilsApplication == nil {
						t.Errorf("%s leaves %d applications", test.name, len(left))
					}
				})
			}
			if diff := cmp.Diff(row.found, found); diff != "" {
				t.Errorf("the fault is found by (-want +got):\n%s", diff)
			}
		})
	}
}

// wasUnready tells whether the status that is there is not Ready.
func wasUnready(app application) bool {
	return slices.ContainsFunc(app.AppStatus().Conditions, func(c metav1.Condition) bool { return c.Status == metav1.ConditionFalse })
}

// operator-sdk gives its pods half a minute to end when it gives up.
func TestATestThatIsInterruptedCleansUp(t *testing.T) {
	for _, test := range tests {
		synctest.Test(t, func(t *testing.T) {
			cluster, c := newPlayedCluster(t, faults{idle: true})
			ctx, cancel := context.WithCancel(t.Context())
			time.AfterFunc(10*time.Second, cancel)
			start := time.Now()
			result := trialOn(c).run(ctx, test)
			if result.State != v1alpha3.FailState {
				t.Errorf("%s: state %s", test.name, result.State)
			}
			if took := time.Since(start); took < 10*time.Second || took > 11*time.Second {
				t.Errorf("%s took %s", test.name, took)
			}
			if left := cluster.applications(t.Context()); len(left) > 0 {
				t.Errorf("%s leaves %d applications", test.name, len(left))
			}
		})
	}
}

func TestAMissingRightIsToldAtOnceWithWhatToDo(t *testing.T) {
	forbidden := apierrors.NewForbidden(schema.GroupResource{Resource: "things"}, "", nil)
	for what, refuse := range map[string]interceptor.Funcs{
		"create": {Create: func(context.Context, client.WithWatch, client.Object, ...client.CreateOption) error { return forbidden }},
		"get": {Get: func(context.Context, client.WithWatch, client.ObjectKey, client.Object, ...client.GetOption) error {
			return forbidden
		}},
	} {
		for _, test := range tests {
			synctest.Test(t, func(t *testing.T) {
				cluster, _ := newPlayedCluster(t, faults{})
				start := time.Now()
				result := trialOn(interceptor.NewClient(cluster.WithWatch, refuse)).run(t.Context(), test)
				if result.State != v1alpha3.FailState || !strings.Contains(strings.Join(result.Errors, "\n"), "apply test/scorecard/rbac.yaml to the namespace") {
					t.Errorf("%s without the right to %s: %s %q", test.name, what, result.State, result.Errors)
				}
				if took := time.Since(start); took > time.Second {
					t.Errorf("%s without the right to %s took %s", test.name, what, took)
				}
			})
		}
	}
}

// The log of a result may be the only thing that is left of a run.
func TestTheJournalHoldsWhatTheLibrariesAndTheServerSay(t *testing.T) {
	log := &journal{start: time.Now()}
	log.printf("made %s", "hello")
	log.logger().WithName("client").Info("throttled", "seconds", 2)
	log.HandleWarningHeader(299, "", "the tag can be moved")
	for _, want := range []string{"made hello", `client "level"=0 "msg"="throttled" "seconds"=2`, "the API server warns: the tag can be moved"} {
		if !strings.Contains(log.String(), want) {
			t.Errorf("the log lacks %q:\n%s", want, log)
		}
	}
	if got := strings.Count(log.String(), "\n"); got != 3 {
		t.Errorf("%d lines, want 3:\n%s", got, log)
	}
}
