// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package webhook

import (
	"bytes"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	dto "github.com/prometheus/client_model/go"
	"k8s.io/client-go/util/cert"
	"sigs.k8s.io/controller-runtime/pkg/certwatcher/metrics"

	"platformapp/internal/localcluster"
	"platformapp/internal/testutil"
)

// pair returns a certificate for localhost, with that of its authority, and its key.
func pair(t *testing.T, host string) (certificate, key []byte) {
	t.Helper()
	certificate, key, err := cert.GenerateSelfSignedCertKey(host, []net.IP{net.IPv4(127, 0, 0, 1)}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return certificate, key
}

func write(t *testing.T, dir string, files map[string][]byte) {
	t.Helper()
	for name, content := range files {
		if err := os.WriteFile(filepath.Join(dir, name), content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

func TestWebhookIsOffExactlyWhenNothingIsMounted(t *testing.T) {
	certificate, key := pair(t, "a")
	_, otherKey := pair(t, "b")
	for _, test := range []struct {
		name  string
		files map[string][]byte
		want  bool
		// wantErr is what the error says.
		wantErr string
	}{
		{"nothing", nil, false, ""},
		{"other files", map[string][]byte{"ca.crt": certificate}, false, ""},
		{"both", map[string][]byte{"tls.crt": certificate, "tls.key": key}, true, ""},
		{"no key", map[string][]byte{"tls.crt": certificate}, false, "tls.key"},
		{"no certificate", map[string][]byte{"tls.key": key}, false, "tls.crt"},
		{"the key of another", map[string][]byte{"tls.crt": certificate, "tls.key": otherKey}, false, "does not match"},
		{"no certificate in it", map[string][]byte{"tls.crt": []byte("x"), "tls.key": key}, false, "certificate"},
	} {
		t.Run(test.name, func(t *testing.T) {
			dir := t.TempDir()
			write(t, dir, test.files)
			got, err := HasCertificate(dir)
			if got != test.want || (err == nil) != (test.wantErr == "") {
				t.Errorf("it gives %v %v, want %v and an error that says %q", got, err, test.want, test.wantErr)
			}
			if err != nil && (!strings.Contains(err.Error(), test.wantErr) || !strings.Contains(err.Error(), dir)) {
				t.Errorf("the error does not name %s and the folder: %v", test.wantErr, err)
			}
		})
	}
	if got, err := HasCertificate(filepath.Join(t.TempDir(), "none")); got || err != nil {
		t.Errorf("a folder that is not there gives %v %v", got, err)
	}
}

// S11. The kubelet replaces the files of a Secret by one symbolic link that leads to new ones.
func TestCertificateIsReplacedWithoutARestart(t *testing.T) {
	dir := t.TempDir()
	testutil.MountCertificate(t, dir, "first")
	ports, err := localcluster.FreePorts(1)
	if err != nil {
		t.Fatal(err)
	}
	address := net.JoinHostPort("127.0.0.1", strconv.Itoa(ports[0]))
	server := NewServer(dir, ports[0])
	ended := make(chan error, 1)
	go func() { ended <- server.Start(t.Context()) }()
	t.Cleanup(func() {
		if err := <-ended; err != nil {
			t.Errorf("the server ends with %v", err)
		}
	})
	testutil.AwaitCertificate(t, address, "first")
	testutil.CheckTLS(t, address)
	testutil.MountCertificate(t, dir, "second")
	testutil.AwaitCertificate(t, address, "second")

	// A certificate that is written while it is read must not cost the one that works.
	failed := readErrors(t)
	if err := os.WriteFile(filepath.Join(dir, "..second", "tls.crt"), bytes.Repeat([]byte("x"), 10), 0o600); err != nil {
		t.Fatal(err)
	}
	for deadline := time.Now().Add(30 * time.Second); readErrors(t) == failed; time.Sleep(50 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("the broken certificate is not read")
		}
	}
	testutil.AwaitCertificate(t, address, "second")
}

// readErrors returns how often a certificate could not be read.
func readErrors(t *testing.T) float64 {
	t.Helper()
	var metric dto.Metric
	if err := metrics.ReadCertificateErrors.Write(&metric); err != nil {
		t.Fatal(err)
	}
	return metric.GetCounter().GetValue()
}
