// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package olm

import (
	"context"
	"fmt"
	"io"
	"net"
	"sync"

	corev1 "k8s.io/api/core/v1"
)

// proxy carries what is sent to the ClusterIP of a Service of the manager to the manager, as kube-proxy does. The local
// control plane gives ClusterIPs that are addresses of this machine.
type proxy struct {
	listener net.Listener
}

// newProxy listens at the first port of a Service. to returns the address to carry to. It fails where this process may
// not listen at such a port, which below 1024 needs a privilege on most machines.
func newProxy(ctx context.Context, service *corev1.Service, to func() (string, error)) (*proxy, error) {
	var config net.ListenConfig
	listener, err := config.Listen(ctx, "tcp", net.JoinHostPort(service.Spec.ClusterIP, fmt.Sprint(service.Spec.Ports[0].Port)))
	if err != nil {
		return nil, fmt.Errorf("serve Service %s: %w", service.Name, err)
	}
	p := &proxy{listener}
	go func() {
		for {
			client, err := listener.Accept()
			if err != nil {
				return
			}
			go carry(ctx, client, to)
		}
	}()
	return p, nil
}

// carry carries both ways until either side has said all.
func carry(ctx context.Context, client net.Conn, to func() (string, error)) {
	defer func() { _ = client.Close() }()
	address, err := to()
	if err != nil {
		return
	}
	var dialer net.Dialer
	server, err := dialer.DialContext(ctx, "tcp", address)
	if err != nil {
		return
	}
	var once sync.Once
	end := func() { once.Do(func() { _ = server.Close(); _ = client.Close() }) }
	go func() {
		defer end()
		_, _ = io.Copy(server, client)
	}()
	defer end()
	_, _ = io.Copy(client, server)
}

func (p *proxy) close() { _ = p.listener.Close() }
