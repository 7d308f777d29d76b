// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package proxy

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"sync"
	"sync/atomic"

	"k8s.io/client-go/rest"
)

// Proxy stands between one client and the API server. Its methods may be called at any time from any goroutine.
type Proxy struct {
	address string
	tls     *tls.Config // nil serves plain HTTP/1.1
	ca      []byte      // PEM, of the certificate in tls

	server      *http.Server
	connections connections
	upstreams   atomic.Pointer[upstreams]
	journal     journal
	watches     watches

	mu       sync.Mutex // guards what follows and serializes Refuse, Accept and Close
	listener net.Listener
	closed   context.Context // ends with Close
	end      context.CancelFunc
	running  sync.WaitGroup // the requests that are served
}

// Option changes how a Proxy is started.
type Option func(*Proxy) error

// WithTLS makes the Proxy serve TLS with a certificate of its own, and so HTTP/2, in which all requests of a client share
// one connection: a reset then hits all of them. Without it the Proxy serves plain HTTP/1.1, which costs less.
func WithTLS() Option {
	return func(p *Proxy) (err error) {
		p.tls, p.ca, err = serverCertificate()
		return err
	}
}

// Start listens at a free port of the loopback interface and forwards what it is asked to the API server of upstream, with
// the identity that upstream has, without throttling and without timeouts. It fails when upstream cannot be used, not when
// there is no API server.
func Start(upstream *rest.Config, opts ...Option) (*Proxy, error) {
	p := &Proxy{}
	p.closed, p.end = context.WithCancel(context.Background())
	for _, option := range opts {
		if err := option(p); err != nil {
			return nil, fmt.Errorf("start the fault proxy: %w", err)
		}
	}
	if err := p.SetUpstream(upstream, upstream); err != nil {
		return nil, err
	}
	p.server = &http.Server{
		Handler:     http.HandlerFunc(p.serve),
		ErrorLog:    quiet,
		ConnContext: withConnection,
		ConnState:   p.connections.track,
		TLSConfig:   p.tls,
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("start the fault proxy: %w", err)
	}
	p.address = listener.Addr().String()
	p.open(listener)
	return p, nil
}

// Config tells a client how to reach the Proxy: its address and, with TLS, whom to trust. It has no credentials.
func (p *Proxy) Config() *rest.Config {
	config := &rest.Config{Host: "http://" + p.address, QPS: -1}
	if p.tls != nil {
		config.Host = "https://" + p.address
		config.CAData = p.ca
	}
	return config
}

// Close ends the Proxy: the port is closed, all connections are reset, and what is still served is waited for. A fault's
// function must not call it.
func (p *Proxy) Close() {
	p.mu.Lock()
	_ = p.listener.Close()
	p.connections.reset() // before anything says goodbye
	p.end()
	_ = p.server.Close()
	p.mu.Unlock()
	p.running.Wait()
}

// Refuse closes the port and resets all connections, so that the client finds what it finds when the API server is down:
// the connection is refused. Accept ends it.
func (p *Proxy) Refuse() {
	p.mu.Lock()
	defer p.mu.Unlock()
	_ = p.listener.Close()
	p.connections.reset()
}

// Accept opens the port again that Refuse closed. It fails when another program has taken it meanwhile, or after Close.
func (p *Proxy) Accept() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed.Err() != nil {
		return errors.New("accept connections again: the fault proxy is closed")
	}
	_ = p.listener.Close()
	listener, err := net.Listen("tcp", p.address)
	if err != nil {
		return fmt.Errorf("accept connections again: %w", err)
	}
	p.open(listener)
	return nil
}

// open serves what comes in at the listener, until that is closed.
func (p *Proxy) open(listener net.Listener) {
	p.listener = listener
	go func() {
		if p.tls != nil {
			_ = p.server.ServeTLS(listener, "", "")
		} else {
			_ = p.server.Serve(listener)
		}
	}()
}

// begin tells that a request is served from now on, until the WaitGroup running is told that it is done. It returns false
// when the Proxy is closed.
func (p *Proxy) begin() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed.Err() != nil {
		return false
	}
	p.running.Add(1)
	return true
}
