// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package webhook

import (
	"crypto/tls"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"sigs.k8s.io/controller-runtime/pkg/webhook"
)

// The files of the certificate, as a Secret of type kubernetes.io/tls has them.
const (
	certificateFile = "tls.crt"
	keyFile         = "tls.key"
)

// HasCertificate tells whether a folder holds a certificate to serve by. It is false
// without an error when neither the certificate nor its key is there, as when none is
// mounted; half of one, or one that cannot be read, is an error.
func HasCertificate(dir string) (bool, error) {
	certificate, key := filepath.Join(dir, certificateFile), filepath.Join(dir, keyFile)
	missing := 0
	for _, path := range []string{certificate, key} {
		if _, err := os.Stat(path); errors.Is(err, os.ErrNotExist) {
			missing++
		}
	}
	if missing == 2 {
		return false, nil
	}
	if _, err := tls.LoadX509KeyPair(certificate, key); err != nil {
		return false, fmt.Errorf("the certificate in %s cannot be used: %w", dir, err)
	}
	return true, nil
}

// NewServer returns a server that serves at a port by the certificate in a folder. It
// reads the certificate again when its files change.
func NewServer(dir string, port int) webhook.Server {
	return webhook.NewServer(webhook.Options{
		Port: port, CertDir: dir, CertName: certificateFile, KeyName: keyFile,
		TLSOpts: []func(*tls.Config){ConfigureTLS},
	})
}

// ConfigureTLS makes a configuration that of every port which the operator serves by TLS:
// version 1.2 or later, with forward secrecy and authenticated encryption. 1.3 alone would
// shut out API servers that are built for FIPS 140 and speak no later version than 1.2.
// HTTP/2 is off because of its rapid reset weakness (CVE-2023-44487).
func ConfigureTLS(c *tls.Config) {
	c.MinVersion = tls.VersionTLS12
	// Of 1.2 alone: the suites of 1.3 are all of this sort, and cannot be chosen.
	c.CipherSuites = []uint16{
		tls.TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256,
		tls.TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256,
		tls.TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384,
		tls.TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384,
		tls.TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256,
		tls.TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256,
	}
	c.NextProtos = []string{"http/1.1"}
}
