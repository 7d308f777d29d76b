// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package olm

import (
	"strings"
	"testing"
	"time"
)

// TestOLMInstallModes installs the operator in each mode: it has the rights of the ClusterServiceVersion and no other,
// they suffice, it serves the watched namespaces and leaves the others alone.
func TestOLMInstallModes(t *testing.T) {
	for _, m := range modes {
		t.Run(string(m.name), func(t *testing.T) {
			s, olm := olmScene(t)
			start := time.Now()
			p := s.places(m)
			i := olm.install(s, p, nil)
			inside, outside := s.createApplications(p.watched...), s.createApplications(p.unwatched...)
			s.ready(inside...)
			s.Logf("applications are Ready %s after the Subscription", time.Since(start).Round(100*time.Millisecond))
			s.expectUntouched(outside...)
			i.expectRights()
			i.expectWebhooks()
			if s.isLocal() {
				s.expectRightsSuffice(p, i.account(), start)
			}
			if log := i.managerLog(); strings.Contains(log, "forbidden") {
				s.Errorf("the manager is forbidden something:\n%s", tail(log))
			}
			if annotation := i.deployment().Spec.Template.Annotations[targetNamespacesAnnotation]; annotation != p.annotation() {
				s.Errorf("OLM has the manager watch %q, want %q", annotation, p.annotation())
			}
		})
	}
}

// expectRights fails unless the manager has the rights of the bundle, and beyond them only what OLM adds itself.
func (i *installation) expectRights() {
	i.Helper()
	granted, err := i.rightsOf(i.Context(), i.account())
	if err != nil {
		i.Fatal(err)
	}
	wanted, added := i.present.rights(i.own, i.targets), i.present.rightsByOLM(i.own, i.targets)
	for _, missing := range wanted.without(granted) {
		i.Errorf("in the bundle and not granted: %s", missing)
	}
	for right := range added {
		wanted[right] = true
	}
	for _, surplus := range granted.without(wanted) {
		i.Errorf("granted and not in the bundle: %s", surplus)
	}
}
