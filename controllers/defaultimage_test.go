// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package controllers_test

import (
	"testing"

	"platformapp/api/egplatform/v1alpha1"
	"platformapp/controllers"
	"platformapp/internal/profile"
	"platformapp/internal/translate"
)

// OLM runs the operator for some seconds without the configuration of its Subscription when it
// is installed, and may when it is upgraded. Nothing that runs is restarted for that.
func TestAnOperatorWithoutItsConfigurationRestartsNothing(t *testing.T) {
	t.Parallel()
	const base, newer = "registry.example.com/base/go:1", "registry.example.com/base/go:2"
	images := func(image string) loopOption {
		return withOptions(controllers.Options{Options: translate.Options{Images: profile.Images{v1alpha1.FrameworkGo: image}}})
	}
	l := newLoop(t, images(base))
	app := ordersApp()
	l.running(app)
	configured := l.deployment("orders").ResourceVersion

	unconfigured := l.restarted()
	unconfigured.reconcile(app)
	if got := l.deployment("orders").ResourceVersion; got != configured {
		t.Errorf("the Deployment was written: %v", unconfigured.requests.list())
	}
	l.restarted(images(base)).reconcile(app)
	if got := l.deployment("orders").ResourceVersion; got != configured {
		t.Error("the Deployment was written when the configuration came back")
	}
	running := func(what string, l *loop, want string) {
		t.Helper()
		l.reconcile(app)
		if got := l.deployment("orders").Spec.Template.Spec.Containers[0].Image; got != want {
			t.Errorf("%s: it runs %s, want %s", what, got, want)
		}
	}
	running("another default of the platform", l.restarted(images(newer)), newer)
	running("without a configuration", l.restarted(), newer)
	app.Spec.Framework = v1alpha1.FrameworkPython
	l.must(l.user.Update(l.ctx, app))
	running("another framework, without a configuration", l.restarted(), profile.DefaultImage)
}
