// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"pgregory.net/rapid"

	"platformapp/api/appstatus"
	"platformapp/api/egplatform/v1alpha1"
)

// twin is an EGApp that was made so many seconds after another.
func twin(uid types.UID, seconds int64) *v1alpha1.EGApp {
	return &v1alpha1.EGApp{ObjectMeta: metav1.ObjectMeta{
		Name: string(uid), UID: uid, Generation: 1, CreationTimestamp: metav1.NewTime(time.Unix(1000+seconds, 0)),
	}, Status: v1alpha1.EGAppStatus{Status: appstatus.Status{ObservedGeneration: -1}}}
}

// looked plays a turn: the status tells whether the EGApp waits for another.
func looked(app *v1alpha1.EGApp, waits bool) *v1alpha1.EGApp {
	app.Status.ObservedGeneration = app.Generation
	stalled := metav1.Condition{Type: appstatus.ConditionStalled, Status: metav1.ConditionFalse, Reason: appstatus.ReasonNotStalled}
	if waits {
		stalled.Status, stalled.Reason = metav1.ConditionTrue, appstatus.ReasonDuplicateAppID
	}
	app.Status.Conditions = []metav1.Condition{stalled}
	return app
}

func edited(app *v1alpha1.EGApp) *v1alpha1.EGApp {
	app.Generation++
	return app
}

func TestWhichOfTwoEGAppsComesFirst(t *testing.T) {
	for name, test := range map[string]struct {
		first, second *v1alpha1.EGApp
		says          string
	}{
		"the older one, although the younger one runs":                    {twin("b", 0), looked(twin("a", 1), false), "is older"},
		"of one second the one that runs":                                 {looked(twin("b", 0), false), twin("a", 0), "same second"},
		"of one second the one that runs, also in the middle of a change": {edited(looked(twin("b", 0), false)), looked(twin("a", 0), true), "same second"},
		"of one second the one that had the appId before it was changed":  {looked(twin("b", 0), false), edited(looked(twin("a", 0), false)), "same second"},
		"of one second the one that an invalid specification stops":       {stopped(twin("b", 0)), looked(twin("a", 0), true), "same second"},
		"of one second, with nothing between them, the lesser UID":        {twin("a", 0), twin("b", 0), "same second"},
		"of two that run the lesser UID":                                  {looked(twin("a", 0), false), looked(twin("b", 0), false), "same second"},
	} {
		t.Run(name, func(t *testing.T) {
			if why := whyFirst(test.first, test.second); !strings.Contains(why, test.says) {
				t.Errorf("it comes first because it %q, want %q", why, test.says)
			}
			if why := whyFirst(test.second, test.first); why != "" {
				t.Errorf("the other one comes first too, because it %s", why)
			}
		})
	}
}

func stopped(app *v1alpha1.EGApp) *v1alpha1.EGApp {
	looked(app, true)
	app.Status.Conditions[0].Reason = appstatus.ReasonInvalidSpec
	return app
}

// Whatever the order of turns and of changes that leave the appId alone, the first that runs
// stays the only one.
func TestTheFirstThatRunsStaysTheOnlyOne(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		apps := []*v1alpha1.EGApp{twin("a", 0), twin("b", 0), twin("c", 0)}
		var runs *v1alpha1.EGApp
		for range rapid.IntRange(1, 20).Draw(t, "steps") {
			app := rapid.SampledFrom(apps).Draw(t, "EGApp")
			if rapid.IntRange(0, 3).Draw(t, "step") == 0 {
				edited(app)
				continue
			}
			waits := false
			for _, other := range apps {
				waits = waits || other != app && whyFirst(other, app) != ""
			}
			looked(app, waits)
			if !waits && runs == nil {
				runs = app
			}
			if waits == (app == runs) {
				t.Fatalf("EGApp %s waits: %t, and %s has run first", app.Name, waits, runs.Name)
			}
		}
	})
}
