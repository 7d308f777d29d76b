// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"testing"

	"platformapp/internal/platform"
	"platformapp/internal/workload"
)

// A proxy, or an API server that starts, may answer as if there were no Deployments. No
// application goes without one for that.
func TestOnlyAnOptionalKindIsLacked(t *testing.T) {
	facts := platform.Facts{
		Platform: workload.Platform{Kinds: map[string]bool{"Route": false, "HTTPRoute": true}},
		Unknown:  map[string]bool{"ServiceMonitor": true},
	}
	apis := &APIs{}
	apis.kinds.Store(&optionalKinds{told: &facts})
	for kind, want := range map[string]bool{
		"Route": true, "HTTPRoute": false, "ServiceMonitor": false, "Deployment": false, "Service": false, "Ingress": false,
	} {
		if got := apis.lacks(t.Context(), kind); got != want {
			t.Errorf("%s is lacked: %v, want %v", kind, got, want)
		}
	}
}
