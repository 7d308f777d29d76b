// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package proxy

import (
	"fmt"
	"net/http"
	"net/url"

	"k8s.io/client-go/rest"
)

// upstream is an API server, and how to ask it.
type upstream struct {
	url       *url.URL
	transport http.RoundTripper
}

// upstreams are whom reads and whom writes are sent to.
type upstreams struct{ reads, writes upstream }

// SetUpstream sends reads (get, list, watch, discovery) and writes from now on to these API servers, with the identities of
// these configurations; the requests in flight are left alone, but open watches are cut. A second API server that is behind
// in time makes the client's view stale while its writes reach the present. It fails when a configuration cannot be used.
func (p *Proxy) SetUpstream(reads, writes *rest.Config) error {
	var next upstreams
	var err error
	if next.reads, err = newUpstream(reads); err != nil {
		return err
	}
	if next.writes, err = newUpstream(writes); err != nil {
		return err
	}
	p.upstreams.Store(&next)
	p.CutWatches(Any)
	return nil
}

// newUpstream shares its connections with all upstreams of an equal configuration, as client-go does.
func newUpstream(config *rest.Config) (upstream, error) {
	config = rest.CopyConfig(config)
	config.Timeout = 0
	// Over HTTP/2 all proxies would share one connection, and the many requests that faults end half way would now and then
	// end those of others.
	config.NextProtos = []string{"http/1.1"}
	config.DisableCompression = true // what the client accepts is passed on as it is
	target, _, err := rest.DefaultServerUrlFor(config)
	if err != nil {
		return upstream{}, fmt.Errorf("find the API server behind the fault proxy: %w", err)
	}
	transport, err := rest.TransportFor(config)
	if err != nil {
		return upstream{}, fmt.Errorf("reach the API server at %s: %w", config.Host, err)
	}
	return upstream{target, transport}, nil
}

// of returns whom the request is sent to.
func (u *upstreams) of(request Request) *upstream {
	switch request.Verb {
	case "", verbGet, verbList, verbWatch:
		return &u.reads
	default:
		return &u.writes
	}
}
