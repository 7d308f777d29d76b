// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package proxy

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log"
	"net/http"
	"net/http/httputil"
	"sync"
	"time"
)

// exchange is one request on its way through the Proxy.
type exchange struct {
	p         *Proxy
	w         http.ResponseWriter
	r         *http.Request
	gone      <-chan struct{} // the client is
	request   *Request        // in the journal
	injection *Injection
	upstream  *upstream
	// answered is called with the complete answer; it is delivered when that returns true. It may be nil.
	answered func() bool
}

type exchangeKey struct{}

// serve is the Proxy's handler.
func (p *Proxy) serve(w http.ResponseWriter, r *http.Request) {
	if !p.begin() {
		panic(http.ErrAbortHandler)
	}
	defer p.running.Done()
	x := &exchange{p: p, w: w, r: r, gone: r.Context().Done()}
	x.request, x.injection = p.journal.arrive(newRequest(r))
	x.upstream = p.upstreams.Load().of(*x.request)
	defer x.done()
	if x.injection != nil {
		x.injection.fault.Action.do(x)
		return
	}
	x.forward()
}

// done tells that the action has done its work.
func (x *exchange) done() {
	if x.injection != nil {
		x.injection.finish()
	}
}

// forward asks the API server and delivers its answer.
func (x *exchange) forward() {
	if !x.p.watches.admit(x.r.Context(), *x.request) {
		x.reset()
		return
	}
	carrier.ServeHTTP(x.w, x.r.WithContext(context.WithValue(x.r.Context(), exchangeKey{}, x)))
}

// complete forwards, independently of the client, and calls answered with the complete answer; that returns whether it is
// to be delivered. A watch has no complete answer: answered is called when it begins.
func (x *exchange) complete(answered func() bool) {
	x.answered = answered
	if x.request.Verb != verbWatch {
		ctx, cancel := context.WithCancel(context.WithoutCancel(x.r.Context()))
		defer cancel()
		defer context.AfterFunc(x.p.closed, cancel)()
		x.r = x.r.WithContext(ctx)
	}
	x.forward()
}

// reset resets the connection of the client.
func (x *exchange) reset() { reset(connectionOf(x.r)) }

// wait waits for the time d. It returns false when the client gave up or the Proxy was closed before.
func (x *exchange) wait(d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-x.gone:
	case <-x.p.closed.Done():
	}
	return false
}

// quiet is the log of what breaks: that is what a fault proxy is for.
var quiet = log.New(io.Discard, "", 0)

// carrier carries the exchange that is in the context of a request.
var carrier = &httputil.ReverseProxy{
	Rewrite: func(r *httputil.ProxyRequest) {
		x := exchangeOf(r.In)
		r.SetURL(x.upstream.url)
		if x.request.Verb == verbWatch {
			r.Out.Header.Del("Accept-Encoding") // its frames are read here
		}
	},
	Transport: roundTripper(func(r *http.Request) (*http.Response, error) {
		return exchangeOf(r).upstream.transport.RoundTrip(r)
	}),
	ModifyResponse: func(response *http.Response) error { return exchangeOf(response.Request).answer(response) },
	// The API server cannot be reached, or the answer is not to be delivered.
	ErrorHandler:  func(_ http.ResponseWriter, r *http.Request, _ error) { exchangeOf(r).reset() },
	ErrorLog:      quiet,
	BufferPool:    &buffers,
	FlushInterval: -1,
}

// errLost ends an exchange whose answer is not delivered.
var errLost = errors.New("the answer is lost")

// answer is called with what the API server answers, before the client gets it.
func (x *exchange) answer(response *http.Response) (err error) {
	x.p.journal.answer(x.request, response.StatusCode)
	switch {
	case x.request.Verb == verbWatch && response.StatusCode == http.StatusOK:
		if response.Body, err = x.p.watches.stream(*x.request, connectionOf(x.r), x.gone, response); err != nil {
			return err
		}
	case x.answered != nil:
		body, err := io.ReadAll(response.Body)
		if err := errors.Join(err, response.Body.Close()); err != nil {
			return err
		}
		response.Body = io.NopCloser(bytes.NewReader(body))
	}
	if x.answered != nil && !x.answered() {
		return errLost
	}
	return nil
}

func exchangeOf(r *http.Request) *exchange { return r.Context().Value(exchangeKey{}).(*exchange) }

type roundTripper func(*http.Request) (*http.Response, error)

// RoundTrip calls the function.
func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// buffers are what bodies are copied through, of all proxies.
var buffers bufferPool

type bufferPool struct{ pool sync.Pool }

// Get returns a buffer.
func (b *bufferPool) Get() []byte {
	if buffer, is := b.pool.Get().(*[]byte); is {
		return *buffer
	}
	return make([]byte, 16<<10)
}

// Put takes a buffer back.
func (b *bufferPool) Put(buffer []byte) { b.pool.Put(&buffer) }
