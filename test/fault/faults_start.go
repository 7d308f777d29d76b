// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package fault

import (
	"fmt"
	"net/http"
	"time"

	"platformapp/api/appstatus"
	"platformapp/test/fault/proxy"
)

// startDelay is how much longer the start may take: a process that cannot begin ends and is started again, and what watches
// tries again after a growing time.
const startDelay = 45 * time.Second

// startFaults are all kinds of fault that a request at the start of the operator, which reads, may meet.
func startFaults(t target) []Fault {
	effect := Effect{
		// What cannot be read is told, in client-go's words too.
		Logs: append([]string{injected, "the server is currently unable", "discover the APIs of the cluster"}, broken...), Others: othersOfTurn, Ends: 2, Delay: startDelay,
		Reasons: []string{appstatus.ReasonApplyFailed},
	}
	named := func(what string, action proxy.Action) Fault {
		return Fault{
			Class: "start: " + what, Name: "start-" + what + "/" + t.String(), Effect: effect,
			arm: func(s *Stage) armed { return t.strike(s, 1, action) },
		}
	}
	faults := []Fault{named("reset", proxy.Reset()), named("hang", proxy.Hang(hang))}
	for _, code := range errorCodes {
		if code != http.StatusConflict && code != http.StatusUnprocessableEntity { // No read is answered so.
			faults = append(faults, named(fmt.Sprint(code), answer(code, t.key)))
		}
	}
	faults = append(faults, Fault{
		Class: "start: killed", Name: "start-killed/" + t.String(), Effect: effect,
		arm: func(s *Stage) armed { return t.strike(s, 1, proxy.After(s.Operator.Kill)) },
	})
	return faults
}
