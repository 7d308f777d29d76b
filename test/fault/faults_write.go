// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package fault

import (
	"fmt"
	"net/http"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"platformapp/api/appstatus"
	"platformapp/test/fault/proxy"
)

// injected is in the message of every error that is injected, and so in what the operator logs of it.
const injected = "injected by the test"

// hang is how long a request hangs, of which an operator that works on one thing at a time sees nothing else. It is less than
// what an operator that is told to end has for what it has begun.
const hang = 10 * time.Second

// refusalDelay is how long the operator waits before it tries again what a person has to put right.
const refusalDelay = time.Minute

// broken are what net/http calls a lost connection of HTTP/1.1.
var broken = []string{"connection reset by peer", ": EOF", "unexpected EOF", "broken pipe", "http: server closed idle connection"}

// othersOfTurn is how many more of each kind of write there may be that the fault does not strike: it makes a turn more, which
// tries again what was refused for a name or a quota, and writes on its way what the reference comes to in one turn.
const othersOfTurn = 1

// killed is what the operator may do when it is killed. The one that is started in its place is ready before its controllers
// run, and complains when a step tells it to end just then.
var killed = Effect{Logs: append([]string{"caches to sync"}, broken...), Writes: 1, Others: othersOfTurn}

// stopped is what it may do when its connection is lost.
var stopped = Effect{Logs: broken, Writes: 1, Others: othersOfTurn}

// hanging is what the operator may do when a request hangs, of which it sees nothing else.
var hanging = Effect{Logs: broken, Writes: 1, Others: othersOfTurn, Delay: hang, Blind: hang}

// writeFault is a kind of fault that a single write may meet.
type writeFault struct {
	class, slug string
	effect      Effect
	times       int
	action      func(*Stage, target) proxy.Action
}

// writeFaults are all kinds of fault that a single write may meet.
func writeFaults() []writeFault {
	faults := []writeFault{
		{class: "killed before a write", slug: "killed-before", effect: killed, action: func(s *Stage, _ target) proxy.Action {
			return proxy.Instead(s.Operator.Kill)
		}},
		{class: "killed after a write", slug: "killed-after", effect: killed, action: func(s *Stage, _ target) proxy.Action {
			return proxy.After(s.Operator.Kill)
		}},
		{class: "answer lost", slug: "answer-lost", effect: stopped, action: func(*Stage, target) proxy.Action { return proxy.ResetAfter() }},
		{class: "connection reset", slug: "reset", effect: stopped, action: func(*Stage, target) proxy.Action { return proxy.Reset() }},
		{
			class: "hangs", slug: "hang", effect: hanging,
			action: func(*Stage, target) proxy.Action { return proxy.Hang(hang) },
		},
		{
			class: "answer hangs", slug: "answer-hang", effect: hanging,
			action: func(*Stage, target) proxy.Action { return proxy.HangAfter(hang) },
		},
	}
	for _, code := range errorCodes {
		faults = append(faults, writeFault{
			class: fmt.Sprint(code), slug: fmt.Sprint(code), effect: effectOf(code, 1),
			action: func(_ *Stage, t target) proxy.Action { return answer(code, t.key) },
		})
	}
	for _, code := range []int{http.StatusInternalServerError, http.StatusConflict} {
		faults = append(faults, writeFault{
			class: fmt.Sprintf("%d three times", code), slug: fmt.Sprintf("%d-three-times", code), effect: effectOf(code, 3), times: 3,
			action: func(_ *Stage, t target) proxy.Action { return answer(code, t.key) },
		})
	}
	return faults
}

// at returns the fault for a write.
func (f writeFault) at(t target) Fault {
	effect := f.effect
	effect.Struck = []string{t.key}
	if t.child() == "" {
		effect.Must = ""
	}
	return Fault{
		Class: f.class, Name: f.slug + "/" + t.String(), Effect: effect,
		arm: func(s *Stage) armed { return t.strike(s, max(f.times, 1), f.action(s, t)) },
	}
}

// errorCodes are the errors of the API server that a request may meet.
var errorCodes = []int{
	http.StatusTooManyRequests, http.StatusConflict, http.StatusUnprocessableEntity, http.StatusForbidden,
	http.StatusInternalServerError, http.StatusServiceUnavailable, http.StatusGatewayTimeout,
}

// answer answers a request with an error as the API server words it. The refusal of what is written is that of a policy,
// which may change its mind; one by the API server's own rules does not go away by itself.
func answer(code int, key string) proxy.Action {
	verb, resource, _ := strings.Cut(key, " ")
	switch code {
	case http.StatusTooManyRequests:
		return proxy.Status(code, metav1.StatusReasonTooManyRequests, "too many requests, please try again later: "+injected, 1)
	case http.StatusConflict:
		return proxy.Status(code, metav1.StatusReasonConflict, "Operation cannot be fulfilled on "+resource+": the object has been modified: "+injected, 0)
	case http.StatusUnprocessableEntity:
		return proxy.Status(code, metav1.StatusReasonInvalid, resource+" is invalid: ValidatingAdmissionPolicy 'test' denied request: "+injected, 0)
	case http.StatusForbidden:
		return proxy.Status(code, metav1.StatusReasonForbidden,
			fmt.Sprintf("%s is forbidden: User \"operator\" cannot %s resource %q: %s", resource, verb, resource, injected), 0)
	case http.StatusServiceUnavailable:
		return proxy.Status(code, metav1.StatusReasonServiceUnavailable, "the server is currently unable to handle the request: "+injected, 0)
	case http.StatusGatewayTimeout:
		return proxy.Status(code, metav1.StatusReasonTimeout, "the request timed out: "+injected, 0)
	default:
		return proxy.Status(code, metav1.StatusReasonInternalError, "an error on the server: "+injected, 0)
	}
}

// effectOf is what answers with an error code may lead to, so many in a row. One error that passes by itself shows in no
// status: only what a person has to put right does, and what goes on.
func effectOf(code, times int) Effect {
	e := Effect{Logs: []string{injected}, Writes: times, Others: othersOfTurn}
	switch code {
	case http.StatusForbidden:
		e.Must, e.Reasons, e.Delay = appstatus.ReasonForbidden, []string{appstatus.ReasonForbidden}, refusalDelay
	case http.StatusUnprocessableEntity:
		e.Must, e.Reasons, e.Delay = appstatus.ReasonRefused, []string{appstatus.ReasonRefused}, refusalDelay
	case http.StatusConflict:
		// Nothing was lost: the operator looks again, and says nothing.
	default:
		if times > 1 {
			e.Reasons = []string{appstatus.ReasonApplyFailed}
		}
	}
	return e
}
