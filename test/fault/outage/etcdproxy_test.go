// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package outage

import (
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"sync"
	"testing"
)

// watchPath is the path of etcd's watches (https://etcd.io/docs/v3.6/dev-guide/api_reference_v3).
const watchPath = "/etcdserverpb.Watch/Watch"

// etcdProxy stands between an API server and its etcd. What it keeps back of the watches makes the API server fall behind in
// time, in all that it serves from its cache, while its own reads and writes of etcd are those of the present: as an API
// server behind whose network or CPU is short.
type etcdProxy struct {
	// url is where the API server finds it.
	url string

	mu   sync.Mutex
	open chan struct{} // closed while watches flow
}

// startEtcdProxy starts a proxy in front of the etcd at this URL, which ends with the test.
func startEtcdProxy(t *testing.T, etcd string) *etcdProxy {
	t.Helper()
	target, err := url.Parse(etcd)
	if err != nil {
		t.Fatal(err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &etcdProxy{url: "http://" + listener.Addr().String(), open: make(chan struct{})}
	close(p.open)
	quiet := log.New(io.Discard, "", 0)
	// gRPC is HTTP/2 without TLS here.
	http2 := new(http.Protocols)
	http2.SetUnencryptedHTTP2(true)
	server := &http.Server{
		Protocols: http2, ErrorLog: quiet, HTTP2: &http.HTTP2Config{MaxConcurrentStreams: 1 << 20},
		Handler: &httputil.ReverseProxy{
			Rewrite:       func(r *httputil.ProxyRequest) { r.SetURL(target) },
			Transport:     &http.Transport{Protocols: http2, DisableCompression: true},
			FlushInterval: -1, ErrorLog: quiet,
			ModifyResponse: func(r *http.Response) error {
				if r.Request.URL.Path == watchPath {
					r.Body = &heldBody{r.Body, p}
				}
				return nil
			},
		},
	}
	go func() { _ = server.Serve(listener) }()
	t.Cleanup(func() {
		p.release()
		_ = server.Close()
	})
	return p
}

// hold keeps back what watches bring from now on, until release.
func (p *etcdProxy) hold() {
	p.mu.Lock()
	defer p.mu.Unlock()
	select {
	case <-p.open:
		p.open = make(chan struct{})
	default:
	}
}

// release lets all that was kept back go.
func (p *etcdProxy) release() {
	p.mu.Lock()
	defer p.mu.Unlock()
	select {
	case <-p.open:
	default:
		close(p.open)
	}
}

func (p *etcdProxy) flows() <-chan struct{} {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.open
}

// heldBody is the answer to a watch. What has arrived is handed on only while watches flow.
type heldBody struct {
	io.ReadCloser
	proxy *etcdProxy
}

// Read waits for the answer, and then until it may be handed on.
func (b *heldBody) Read(content []byte) (int, error) {
	n, err := b.ReadCloser.Read(content)
	<-b.proxy.flows()
	return n, err
}
