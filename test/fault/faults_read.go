// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package fault

import (
	"fmt"
	"net/http"
	"slices"
	"strings"

	"platformapp/api/appstatus"
	"platformapp/test/fault/proxy"
)

// isLive tells whether a request is a look of the running operator at the API server itself, past what it watches.
func (t target) isLive() bool { return strings.HasPrefix(t.key, "get ") }

// readFaults are all kinds of fault that such a look may meet. Nothing is written for it that would not be else.
func readFaults(t target) []Fault {
	named := func(what string, effect Effect, action proxy.Action) Fault {
		// What cannot be read is told as what cannot be applied.
		effect.Must, effect.Reasons = "", append(slices.Clone(effect.Reasons), appstatus.ReasonApplyFailed)
		return Fault{
			Class: "get: " + what, Name: "get-" + what + "/" + t.String(), Effect: effect,
			arm: func(s *Stage) armed { return t.strike(s, 1, action) },
		}
	}
	faults := []Fault{named("reset", stopped, proxy.Reset())}
	for _, code := range []int{http.StatusInternalServerError, http.StatusForbidden} {
		faults = append(faults, named(fmt.Sprint(code), effectOf(code, 1), answer(code, t.key)))
	}
	return faults
}
