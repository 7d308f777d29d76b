// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package proxy

import (
	"fmt"
	"net/http"
	"strconv"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Action is what a Fault does to a request.
type Action struct {
	name string
	do   func(*exchange)
}

// String returns the name that [Request.Fault] tells.
func (a Action) String() string { return a.name }

// Status answers an error in place of the API server, which does not see the request, in the encoding that the client
// accepts. retryAfter above 0 tells the client to wait so many seconds, in the header and in the Status.
func Status(code int, reason metav1.StatusReason, message string, retryAfter int) Action {
	status := &metav1.Status{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Status"},
		Status:   metav1.StatusFailure, Code: int32(code), Reason: reason, Message: message,
	}
	if retryAfter > 0 {
		status.Details = &metav1.StatusDetails{RetryAfterSeconds: int32(retryAfter)}
	}
	return Action{strconv.Itoa(code), func(x *exchange) { x.fail(status) }}
}

// Reset resets the connection; the API server does not see the request.
func Reset() Action {
	return Action{"reset", func(x *exchange) { x.reset() }}
}

// ResetAfter lets the API server carry the request out, waits for its complete answer, also when the client does not, and
// resets the connection instead of delivering it: the answer is lost. Of a watch only the headers are waited for.
func ResetAfter() Action {
	return Action{"answer lost", func(x *exchange) {
		x.complete(func() bool {
			x.reset()
			return false
		})
	}}
}

// Hang holds the request for the time d, or until the client gives up, and then resets the connection; the API server does
// not see the request.
func Hang(d time.Duration) Action {
	return Action{fmt.Sprintf("hang %s", d), func(x *exchange) {
		x.wait(d)
		x.reset()
	}}
}

// HangAfter lets the API server carry the request out and holds the complete answer for the time d, or until the client
// gives up; it then resets the connection.
func HangAfter(d time.Duration) Action {
	return Action{fmt.Sprintf("answer hangs %s", d), func(x *exchange) {
		x.complete(func() bool {
			x.wait(d)
			x.reset()
			return false
		})
	}}
}

// Delay holds the request for the time d and forwards it then, unless the client gave up.
func Delay(d time.Duration) Action {
	return Action{fmt.Sprintf("delay %s", d), func(x *exchange) {
		if !x.wait(d) {
			x.reset()
			return
		}
		x.done()
		x.forward()
	}}
}

// Before calls f and forwards the request when f has returned: what f changes is changed when the API server sees the
// request, as if another client had been faster.
func Before(f func()) Action {
	return Action{"before", func(x *exchange) {
		f()
		x.done()
		x.forward()
	}}
}

// Instead calls f and resets the connection when f has returned; the API server does not see the request. With an f that
// kills the client it is stopped before the request.
func Instead(f func()) Action {
	return Action{"instead", func(x *exchange) {
		f()
		x.reset()
	}}
}

// After lets the API server carry the request out, waits for its complete answer, also when the client does not, and calls
// f before the answer is delivered. With an f that kills the client it is stopped after the request but knows nothing of
// the answer. Of a watch only the headers are waited for.
func After(f func()) Action {
	return Action{"after", func(x *exchange) {
		x.complete(func() bool {
			f()
			x.done()
			return true
		})
	}}
}

// Named returns the Action under another name, for [Request.Fault] to tell.
func (a Action) Named(name string) Action { return Action{name, a.do} }

// fail answers the status.
func (x *exchange) fail(status *metav1.Status) {
	status = status.DeepCopy() // encoding changes it, and others may answer it now
	contentType, body, err := encodeStatus(x.r, status)
	if err != nil {
		panic(err) // a Status that cannot be encoded
	}
	header := x.w.Header()
	header.Set("Content-Type", contentType)
	header.Set("Content-Length", strconv.Itoa(len(body)))
	if status.Details != nil && status.Details.RetryAfterSeconds > 0 {
		header.Set("Retry-After", strconv.Itoa(int(status.Details.RetryAfterSeconds)))
	}
	x.p.journal.answer(x.request, int(status.Code))
	x.w.WriteHeader(int(status.Code))
	_, _ = x.w.Write(body)
	_ = http.NewResponseController(x.w).Flush()
}
