// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package olm

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"slices"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// auditEvent is the part of an event of the audit log that is read
// (https://kubernetes.io/docs/reference/config-api/apiserver-audit.v1/).
type auditEvent struct {
	Verb string `json:"verb"`
	User struct {
		Username string `json:"username"`
	} `json:"user"`
	ObjectRef *struct {
		APIGroup    string `json:"apiGroup"`
		Resource    string `json:"resource"`
		Subresource string `json:"subresource"`
		Namespace   string `json:"namespace"`
		Name        string `json:"name"`
	} `json:"objectRef"`
	ResponseStatus struct {
		Code int `json:"code"`
	} `json:"responseStatus"`
	Received metav1.MicroTime `json:"requestReceivedTimestamp"`
}

// request is a request to the API server about an object or about objects of a kind.
type request struct {
	verb string
	// resource is the resource with its group and subresource: deployments.apps, egapps.egplatform…/status.
	resource        string
	namespace, name string
	code            int
	at              time.Time
}

func (r request) String() string {
	return fmt.Sprintf("%s %s %s %s/%s -> %d", r.at.Format("15:04:05.000"), r.verb, r.resource, r.namespace, r.name, r.code)
}

// isRefused tells whether the rights did not suffice.
func (r request) isRefused() bool {
	return r.code == http.StatusForbidden || r.code == http.StatusUnauthorized
}

// isWrite tells whether the request changes an application or a child: not a lease, an event or a review.
func (r request) isWrite() bool {
	if slices.Contains([]string{"get", "list", "watch"}, r.verb) {
		return false
	}
	resource, _, _ := strings.Cut(r.resource, ".")
	return !slices.Contains([]string{"leases", "events", "tokenreviews", "subjectaccessreviews"}, resource)
}

// requestsOf returns the requests of an account since a time, in the order of their answers. Those that name no
// resource, such as discovery, are left out. Only the local control plane tells them.
func (s *scene) requestsOf(a account, since time.Time) []request {
	s.Helper()
	s.awaitAuditLog()
	log, err := os.ReadFile(s.cluster.AuditLog())
	if err != nil {
		s.Fatal(err)
	}
	var requests []request
	for line := range bytes.Lines(log) {
		if !bytes.Contains(line, []byte(a.user())) {
			continue
		}
		var event auditEvent
		if err := json.Unmarshal(line, &event); err != nil {
			s.Fatalf("read the audit log: %v\n%s", err, line)
		}
		if event.ObjectRef != nil && event.User.Username == a.user() && !event.Received.Time.Before(since) {
			requests = append(requests, event.request())
		}
	}
	return requests
}

func (e auditEvent) request() request {
	ref := e.ObjectRef
	resource := ref.Resource
	if ref.Subresource != "" {
		resource += "/" + ref.Subresource
	}
	return request{
		verb: e.Verb, resource: qualified(ref.APIGroup, resource), namespace: ref.Namespace, name: ref.Name,
		code: e.ResponseStatus.Code, at: e.Received.Time,
	}
}

// qualified returns a resource, maybe with a subresource, and its group as kubectl names them: egapps.example.com/status.
func qualified(group, resource string) string {
	if group == "" {
		return resource
	}
	resource, subresource, hasSubresource := strings.Cut(resource, "/")
	if hasSubresource {
		return resource + "." + group + "/" + subresource
	}
	return resource + "." + group
}

// awaitAuditLog waits until all requests that were answered before are in the audit log: until one more is.
func (s *scene) awaitAuditLog() {
	s.Helper()
	mark := fmt.Sprintf("audit-mark-%d", time.Now().UnixNano())
	_, err := s.clientset.CoreV1().ConfigMaps(metav1.NamespaceDefault).Get(s.Context(), mark, metav1.GetOptions{})
	if !apierrors.IsNotFound(err) {
		s.Fatalf("get of %s: %v", mark, err)
	}
	s.eventually(shortWait, "a request is in the audit log", func() error {
		log, err := os.ReadFile(s.cluster.AuditLog())
		if err == nil && !bytes.Contains(log, []byte(mark)) {
			err = fmt.Errorf("%s is missing", mark)
		}
		return err
	})
}

// those returns the requests that are wanted.
func those(requests []request, wanted func(request) bool) []request {
	return slices.DeleteFunc(slices.Clone(requests), func(r request) bool { return !wanted(r) })
}

// expectNone fails when there are requests that must not be.
func (s *scene) expectNone(what string, requests []request) {
	s.Helper()
	if len(requests) == 0 {
		return
	}
	var lines strings.Builder
	for _, r := range requests {
		lines.WriteString("\n  " + r.String())
	}
	s.Errorf("%d %s:%s", len(requests), what, lines.String())
}
