// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package testutil

import (
	"context"
	"crypto/tls"
	"errors"
	"slices"
	"strings"
	"testing"
)

// CheckTLS fails the test unless the port at the address speaks TLS 1.3, of older versions 1.2 alone and that with
// forward secrecy and authenticated encryption alone, and HTTP/1.1 alone. The key of its certificate must be of RSA.
func CheckTLS(t testing.TB, address string) {
	t.Helper()
	best, err := handshake(t.Context(), address, &tls.Config{NextProtos: []string{"h2", "http/1.1"}})
	if err != nil {
		t.Errorf("%s: %v", address, err)
		return
	}
	if best.Version != tls.VersionTLS13 {
		t.Errorf("%s speaks %s with whoever could speak TLS 1.3", address, tls.VersionName(best.Version))
	}
	if best.NegotiatedProtocol != "http/1.1" {
		t.Errorf("%s speaks %q with whoever could speak HTTP/2, want http/1.1", address, best.NegotiatedProtocol)
	}
	if _, err := handshake(t.Context(), address, &tls.Config{NextProtos: []string{"h2"}}); err == nil {
		t.Errorf("%s lets in who speaks HTTP/2 alone", address)
	}
	for _, version := range []uint16{tls.VersionTLS10, tls.VersionTLS11} {
		if _, err := handshake(t.Context(), address, &tls.Config{MinVersion: version, MaxVersion: version}); !isRefusal(err) {
			t.Errorf("%s answers who speaks %s alone with %v, want a refusal", address, tls.VersionName(version), err)
		}
	}
	for _, suite := range slices.Concat(tls.CipherSuites(), tls.InsecureCipherSuites()) {
		if !slices.Contains(suite.SupportedVersions, tls.VersionTLS12) || strings.Contains(suite.Name, "_ECDSA_") {
			continue
		}
		isGood := strings.HasPrefix(suite.Name, "TLS_ECDHE_") &&
			(strings.Contains(suite.Name, "_GCM_") || strings.Contains(suite.Name, "_POLY1305_"))
		_, err := handshake(t.Context(), address, &tls.Config{MaxVersion: tls.VersionTLS12, CipherSuites: []uint16{suite.ID}})
		if isGood && err != nil || !isGood && !isRefusal(err) {
			t.Errorf("%s answers who wants %s alone with %v", address, suite.Name, err)
		}
	}
}

// isRefusal tells whether a server answered a handshake with an alert.
func isRefusal(err error) bool {
	_, ok := errors.AsType[tls.AlertError](err)
	return ok || err != nil && strings.Contains(err.Error(), "remote error: tls:")
}

// handshake connects with a configuration, whoever the server says it is.
func handshake(ctx context.Context, address string, config *tls.Config) (tls.ConnectionState, error) {
	config.InsecureSkipVerify = true
	dialer := tls.Dialer{Config: config}
	connection, err := dialer.DialContext(ctx, "tcp", address)
	if err != nil {
		return tls.ConnectionState{}, err
	}
	defer func() { _ = connection.Close() }()
	return connection.(*tls.Conn).ConnectionState(), nil
}
