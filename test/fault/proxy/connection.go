// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package proxy

import (
	"context"
	"crypto/tls"
	"net"
	"net/http"
	"sync"

	"k8s.io/client-go/util/cert"
)

// connections are those that clients have open.
type connections struct {
	mu   sync.Mutex
	open map[net.Conn]struct{}
}

// track is called by the server for each change of a connection's state.
func (c *connections) track(connection net.Conn, state http.ConnState) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch state {
	case http.StateNew:
		if c.open == nil {
			c.open = map[net.Conn]struct{}{}
		}
		c.open[connection] = struct{}{}
	case http.StateClosed, http.StateHijacked:
		delete(c.open, connection)
	default:
	}
}

// reset resets all connections.
func (c *connections) reset() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for connection := range c.open {
		reset(connection)
	}
}

// reset closes the connection so that the other side reads "connection reset by peer", and nothing of what is still on its
// way.
func reset(connection net.Conn) {
	if secured, is := connection.(*tls.Conn); is {
		connection = secured.NetConn() // TLS would say goodbye first
	}
	if plain, is := connection.(*net.TCPConn); is {
		_ = plain.SetLinger(0)
	}
	_ = connection.Close()
}

type connectionKey struct{}

// withConnection keeps the connection in the context of its requests.
func withConnection(ctx context.Context, connection net.Conn) context.Context {
	return context.WithValue(ctx, connectionKey{}, connection)
}

// connectionOf returns the connection that the request came by.
func connectionOf(r *http.Request) net.Conn {
	connection, _ := r.Context().Value(connectionKey{}).(net.Conn)
	return connection
}

// selfSigned is made once for all proxies of the process: a key takes some time.
var selfSigned = sync.OnceValues(func() (pem [2][]byte, err error) {
	pem[0], pem[1], err = cert.GenerateSelfSignedCertKey("127.0.0.1", []net.IP{net.IPv4(127, 0, 0, 1)}, nil)
	return pem, err
})

// serverCertificate returns the settings of a server on the loopback interface, and whom its clients have to trust, as PEM.
func serverCertificate() (*tls.Config, []byte, error) {
	pem, err := selfSigned()
	if err != nil {
		return nil, nil, err
	}
	certificate, err := tls.X509KeyPair(pem[0], pem[1])
	if err != nil {
		return nil, nil, err
	}
	return &tls.Config{Certificates: []tls.Certificate{certificate}, MinVersion: tls.VersionTLS12}, pem[0], nil
}
