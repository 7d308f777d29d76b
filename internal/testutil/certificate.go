// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package testutil

import (
	"crypto/tls"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"

	"k8s.io/client-go/util/cert"
)

// certificateWait is how long a server may take to serve a certificate that was mounted.
const certificateWait = time.Minute

// MountCertificate puts a new certificate for a host, tls.crt, and its key, tls.key, into a folder, in the way in which
// the kubelet mounts a Secret: the files lead to others by one symbolic link, which is replaced at once. Each certificate
// of a folder is for another host.
func MountCertificate(t testing.TB, dir, host string) {
	t.Helper()
	certificate, key, err := cert.GenerateSelfSignedCertKey(host, []net.IP{net.IPv4(127, 0, 0, 1)}, nil)
	if err != nil {
		t.Fatal(err)
	}
	version, link := ".."+host, filepath.Join(dir, "..data")
	steps := []error{
		os.Mkdir(filepath.Join(dir, version), 0o700),
		os.WriteFile(filepath.Join(dir, version, "tls.crt"), certificate, 0o600),
		os.WriteFile(filepath.Join(dir, version, "tls.key"), key, 0o600),
		os.Symlink(version, link+"_tmp"),
		os.Rename(link+"_tmp", link),
	}
	for _, file := range []string{"tls.crt", "tls.key"} {
		if err := os.Symlink(filepath.Join("..data", file), filepath.Join(dir, file)); !errors.Is(err, fs.ErrExist) {
			steps = append(steps, err)
		}
	}
	if err := errors.Join(steps...); err != nil {
		t.Fatal(err)
	}
}

// AwaitCertificate waits until the server at the address serves the certificate for a host, and fails the test if it
// does not.
func AwaitCertificate(t testing.TB, address, host string) {
	t.Helper()
	var last error
	for deadline := time.Now().Add(certificateWait); time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
		state, err := handshake(t.Context(), address, &tls.Config{})
		switch {
		case err != nil:
			last = err
		case state.PeerCertificates[0].DNSNames[0] == host:
			return
		default:
			last = fmt.Errorf("it serves the certificate for %v", state.PeerCertificates[0].DNSNames)
		}
	}
	t.Fatalf("%s does not serve the certificate for %s within %s: %v", address, host, certificateWait, last)
}
