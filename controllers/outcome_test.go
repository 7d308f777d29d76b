// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"errors"
	"fmt"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/handler"

	"platformapp/internal/apply"
	"platformapp/internal/workload"
)

var (
	deployments = schema.GroupResource{Group: "apps", Resource: "deployments"}

	errConflict  = apierrors.NewConflict(deployments, "orders", errors.New("the object has been modified"))
	errExists    = apierrors.NewAlreadyExists(deployments, "orders")
	errForbidden = apierrors.NewForbidden(deployments, "orders", errors.New("no right"))
	errNotFound  = apierrors.NewNotFound(deployments, "orders")
	errServer    = apierrors.NewInternalError(errors.New("etcd is away"))
)

func failed(reason workload.FailureReason) workload.Applied {
	return workload.Applied{Failure: &workload.Failure{Reason: reason, Kind: "Deployment", Message: "m"}}
}

func TestOutcomeOfApplying(t *testing.T) {
	conflict := []workload.Conflict{{Kind: "Deployment"}}
	for _, test := range []struct {
		name    string
		applied workload.Applied
		err     error
		wait    time.Duration
		retried bool
		stale   bool
	}{
		{"nothing to do", workload.Applied{}, nil, 0, false, false},
		{"written", workload.Applied{Generation: 2}, nil, 0, false, false},
		{"rewritten by admission", workload.Applied{Modified: []string{"Deployment.spec"}}, nil, 0, false, false},
		{"a predecessor is being deleted, of which an event may not tell", workload.Applied{Terminating: []string{"Deployment"}}, nil, 10 * time.Second, false, false},
		{"a name is taken, of which no event tells", workload.Applied{Conflicts: conflict}, nil, 10 * time.Second, false, false},
		{"a right is missing", failed(workload.FailureForbidden), errForbidden, time.Minute, false, false},
		{"refused", failed(workload.FailureRefused), errForbidden, time.Minute, false, false},
		{"a broken rule is not tried again and again", failed(workload.FailureInvalid), errForbidden, time.Hour, false, false},
		{"refused by a quota", failed(workload.FailureQuota), errForbidden, time.Minute, false, false},
		{"refused for one child, another's name is taken", workload.Applied{
			Conflicts: conflict, Failure: failed(workload.FailureRefused).Failure,
		}, errForbidden, time.Minute, false, false},
		{"the namespace is being deleted", failed(workload.FailureNamespaceTerminating), errForbidden, 0, false, true},
		{"a webhook denies with the code of a conflict", failed(workload.FailureTransient), errConflict, 0, true, false},
		{"the server lacks an API that it says it has", failed(workload.FailureUnserved), errNotFound, 0, true, false},
		{"the server fails", failed(workload.FailureTransient), errServer, 0, true, false},
		{"the server fails while a name is taken", workload.Applied{Conflicts: conflict}, errServer, 0, true, false},
		{"pruning fails", workload.Applied{}, errServer, 0, true, false},
		{"pruning is forbidden", workload.Applied{}, errForbidden, 0, true, false},
		{"another writer was faster", workload.Applied{}, errConflict, 100 * time.Millisecond, false, true},
		{"another writer was faster, told with more words", workload.Applied{}, fmt.Errorf("apply Deployment: %w", errConflict), 100 * time.Millisecond, false, true},
		{"another writer made it", workload.Applied{}, errExists, 100 * time.Millisecond, false, true},
		{"the application is another by now, which is an event", workload.Applied{}, fmt.Errorf("apply Deployment: %w", apply.ErrOutdated), 0, false, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			o := outcomeOf(test.applied, test.err)
			if o.stale != test.stale {
				t.Errorf("stale is %t, want %t", o.stale, test.stale)
			}
			result, err := o.result()
			if (err != nil) != test.retried {
				t.Errorf("error is %v, want one: %t", err, test.retried)
			}
			if result.RequeueAfter != test.wait {
				t.Errorf("result is %+v, want a turn after %s", result, test.wait)
			}
		})
	}
}

// Nothing but a person's change helps, and that is an event.
func TestAStalledApplicationIsNotRetried(t *testing.T) {
	stall := &workload.Stall{Reason: workload.StallInvalid, Message: "spec.image: Invalid value"}
	o := stalled(stall)
	result, err := o.result()
	if err != nil || result.RequeueAfter != 0 || o.stale {
		t.Errorf("result is %+v, %v, stale %t; want to wait for an event", result, err, o.stale)
	}
	if o.stall != stall {
		t.Errorf("the outcome carries %v, want the reason for the status", o.stall)
	}
}

// Many applications that fail are looked at again at about the same time; what a person changes meanwhile comes first.
func TestATurnThatNoEventAsksForGivesWay(t *testing.T) {
	for name, test := range map[string]struct {
		outcome
		isLow bool
	}{
		"a recheck":              {outcome{wait: time.Minute}, true},
		"a retry":                {outcome{err: errServer}, true},
		"a retry with a recheck": {outcome{wait: time.Minute, err: errServer}, true},
		"the first retry, of what most often passes": {outcome{err: errServer, first: true}, false},
		"the write met a newer object":               {outcome{wait: staleRecheck, stale: true}, false},
		"counts that are yet to be told":             {outcome{wait: statusPace}, false},
		"nothing is left to do":                      {outcome{}, false},
	} {
		o := test.outcome
		result, err := o.result()
		isLow := result.Priority != nil && *result.Priority == handler.LowPriority
		if !errors.Is(err, o.err) || isLow != test.isLow {
			t.Errorf("%s: result is %+v, %v, want a low priority: %t", name, result, err, test.isLow)
		}
		if err != nil && result.RequeueAfter != 0 {
			t.Errorf("%s: an error comes with a time, which is ignored: %s", name, result.RequeueAfter)
		}
	}
}

func TestTheNextTurnIsTheSoonest(t *testing.T) {
	for _, test := range []struct {
		name            string
		wait, due, want time.Duration
	}{
		{"nothing is due", 0, 0, 0},
		{"only the recheck is due", 0, time.Minute, time.Minute},
		{"the recheck is sooner", time.Minute, time.Second, time.Second},
		{"the recheck is later", time.Second, time.Minute, time.Second},
		{"nothing to recheck", time.Second, 0, time.Second},
	} {
		if got := (outcome{wait: test.wait}).within(test.due).wait; got != test.want {
			t.Errorf("%s: the next turn is in %s, want %s", test.name, got, test.want)
		}
	}
}

func TestOutcomeTogetherWithTheStatusWrite(t *testing.T) {
	for _, test := range []struct {
		name    string
		outcome outcome
		due     time.Duration
		err     error
		wait    time.Duration
		want    []error
	}{
		{"written", outcome{}, 0, nil, 0, nil},
		{"not due yet", outcome{}, 300 * time.Millisecond, nil, 300 * time.Millisecond, nil},
		{"not due yet, but sooner than the next look", outcome{wait: time.Minute}, time.Second, nil, time.Second, nil},
		{"not due before the next look", outcome{wait: 10 * time.Millisecond}, time.Second, nil, 10 * time.Millisecond, nil},
		{"written, and another look is due", outcome{wait: time.Minute}, 0, nil, time.Minute, nil},
		{"the object is gone", outcome{}, 0, fmt.Errorf("write status: %w", errNotFound), 0, nil},
		{"the write fails", outcome{}, 0, errServer, 0, []error{errServer}},
		{"another writer was faster", outcome{}, 0, errConflict, 100 * time.Millisecond, nil},
		{"both fail", outcome{err: errForbidden}, 0, errServer, 0, []error{errForbidden, errServer}},
		{"applying fails, the object is gone", outcome{err: errForbidden}, 0, errNotFound, 0, []error{errForbidden}},
	} {
		t.Run(test.name, func(t *testing.T) {
			result, err := test.outcome.and(test.due, test.err).result()
			if (err != nil) != (len(test.want) > 0) {
				t.Errorf("error is %v, want %v", err, test.want)
			}
			for _, want := range test.want {
				if !errors.Is(err, want) {
					t.Errorf("error is %v, want it to hold %v", err, want)
				}
			}
			if result.RequeueAfter != test.wait {
				t.Errorf("result is %+v, want a turn after %s", result, test.wait)
			}
		})
	}
}
