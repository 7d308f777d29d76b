// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package audit

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// logged are events as an API server writes them, but for what is not read. The last line is not yet whole.
const logged = `{"stage":"ResponseComplete","requestURI":"/version","verb":"get","user":{"username":"operator"},"responseStatus":{"code":200}}
{"stage":"ResponseComplete","requestURI":"/a","verb":"patch","user":{"username":"operator"},"objectRef":{"resource":"egapps","namespace":"n","name":"o","apiGroup":"g.example.com","subresource":"status"},"responseStatus":{"code":403},"requestReceivedTimestamp":"2026-12-01T08:00:00.000001Z"}
{"stage":"ResponseStarted","requestURI":"/w","verb":"watch","user":{"username":"operator"},"objectRef":{"resource":"pods"},"responseStatus":{"code":200},"requestReceivedTimestamp":"2026-12-01T08:00:01.000000Z"}
{"stage":"ResponseComplete","requestURI":"/w","verb":"watch","user":{"username":"operator"},"objectRef":{"resource":"pods"},"responseStatus":{"code":200},"requestReceivedTimestamp":"2026-12-01T08:00:01.000000Z"}
{"stage":"ResponseComplete","requestURI":"/b?\"operator\"","verb":"delete","user":{"username":"another"},"objectRef":{"resource":"services","namespace":"n","name":"o"},"responseStatus":{"code":200},"requestReceivedTimestamp":"2026-12-01T08:00:02.000000Z"}
{"stage":"ResponseComplete","requestURI":"/l","verb":"update","user":{"username":"operator"},"objectRef":{"resource":"leases","apiGroup":"coordination.k8s.io"},"responseStatus":{"code":200},"requestReceivedTimestamp":"2026-12-01T08:00:03.000000Z"}
{"stage":"ResponseCom`

func TestRead(t *testing.T) {
	path := filepath.Join(t.TempDir(), "audit.log")
	if err := os.WriteFile(path, []byte(logged), 0o600); err != nil {
		t.Fatal(err)
	}
	start := time.Date(2026, 12, 1, 8, 0, 0, 1000, time.UTC)
	status := Request{
		User: "operator", Verb: "patch", Resource: "egapps.g.example.com/status", Namespace: "n", Name: "o", URI: "/a", Code: 403, At: start,
	}
	watch := Request{User: "operator", Verb: "watch", Resource: "pods", URI: "/w", Code: 200, At: start.Add(time.Second - time.Microsecond)}
	deletion := Request{
		User: "another", Verb: "delete", Resource: "services", Namespace: "n", Name: "o", URI: `/b?"operator"`, Code: 200,
		At: start.Add(2*time.Second - time.Microsecond),
	}
	lease := Request{
		User: "operator", Verb: "update", Resource: "leases.coordination.k8s.io", URI: "/l", Code: 200,
		At: start.Add(3*time.Second - time.Microsecond),
	}
	for user, want := range map[string][]Request{
		"operator": {status, watch, lease},
		"":         {status, watch, deletion, lease},
		"nobody":   nil,
	} {
		got, err := Read(path, user)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("requests of %q (-want +got):\n%s", user, diff)
		}
	}
	all := []Request{status, watch, deletion, lease}
	for what, c := range map[string]struct{ got, want []Request }{
		"writes":  {Filter(all, Request.IsWrite), []Request{status, deletion}},
		"refused": {Filter(all, Request.IsRefused), []Request{status}},
		"since":   {Since(all, deletion.At), []Request{deletion, lease}},
	} {
		if diff := cmp.Diff(c.want, c.got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", what, diff)
		}
	}
}

func TestALogThatIsNoneIsAnError(t *testing.T) {
	path := filepath.Join(t.TempDir(), "audit.log")
	if _, err := Read(path, ""); err == nil {
		t.Error("a missing log is read")
	}
	if err := os.WriteFile(path, []byte("x\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Read(path, ""); err == nil {
		t.Error("a log of something else is read")
	}
}
