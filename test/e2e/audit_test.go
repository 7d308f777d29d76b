// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// auditEvent is the part of an event of the audit log that is read
// (https://kubernetes.io/docs/reference/config-api/apiserver-audit.v1/).
type auditEvent struct {
	Stage      string `json:"stage"`
	RequestURI string `json:"requestURI"`
	Verb       string `json:"verb"`
	User       struct {
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
	// verb is that of the authorizer: get, list, watch, create, update, patch, delete.
	verb string
	// resource is the resource with its group and subresource: deployments.apps, egapps.egplatform…/status.
	resource        string
	namespace, name string
	uri             string
	code            int
	at              time.Time
}

func (r request) String() string {
	return fmt.Sprintf("%s %s %s %s/%s -> %d", r.at.Format("15:04:05.000"), r.verb, r.resource, r.namespace, r.name, r.code)
}

// isWrite tells whether the request changes an application or a child: not a lease or an event.
func (r request) isWrite() bool {
	switch r.verb {
	case "get", "list", "watch":
		return false
	}
	return !isOfOthers(r.resource)
}

// isOfOthers tells the resources that say nothing about applications: leader election, events, and what the metrics
// endpoint asks about its callers.
func isOfOthers(resource string) bool {
	switch resource {
	case "leases.coordination.k8s.io", "events", "events.events.k8s.io", "tokenreviews.authentication.k8s.io", "subjectaccessreviews.authorization.k8s.io":
		return true
	}
	return false
}

// requestsOf returns the requests of an account, in the order of the audit log, which is that of the answers. Requests
// that name no resource, such as discovery, are left out.
func (s *scene) requestsOf(a account) []request {
	s.Helper()
	s.awaitAuditLog()
	log, err := os.Open(s.cluster.AuditLog())
	if err != nil {
		s.Fatal(err)
	}
	defer func() { _ = log.Close() }()
	user := []byte(strconv.Quote(a.user()))
	var requests []request
	for reader := bufio.NewReader(log); ; {
		line, err := reader.ReadBytes('\n')
		if err == io.EOF {
			return requests
		}
		if err != nil {
			s.Fatal(err)
		}
		if !bytes.Contains(line, user) {
			continue
		}
		var event auditEvent
		if err := json.Unmarshal(line, &event); err != nil {
			s.Fatalf("read the audit log: %v\n%s", err, line)
		}
		if r, ok := event.request(); ok && event.User.Username == a.user() {
			requests = append(requests, r)
		}
	}
}

func (e auditEvent) request() (request, bool) {
	ref := e.ObjectRef
	// A watch is told when it starts; when it ends is of no interest. One that is refused never starts.
	ofStartedWatch := e.Verb == "watch" && e.Stage == "ResponseComplete" && e.ResponseStatus.Code == http.StatusOK
	if ref == nil || ofStartedWatch {
		return request{}, false
	}
	resource := ref.Resource
	if ref.Subresource != "" {
		resource += "/" + ref.Subresource
	}
	return request{
		verb: e.Verb, resource: qualified(ref.APIGroup, resource), namespace: ref.Namespace, name: ref.Name,
		uri: e.RequestURI, code: e.ResponseStatus.Code, at: e.Received.Time,
	}, true
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
	deadline := time.Now().Add(shortWait)
	for {
		log, err := os.ReadFile(s.cluster.AuditLog())
		if err != nil {
			s.Fatal(err)
		}
		if bytes.Contains(log, []byte(mark)) {
			return
		}
		if time.Now().After(deadline) {
			s.Fatalf("a request is not in the audit log after %s", shortWait)
		}
		time.Sleep(pollInterval)
	}
}

// since returns the requests that were received at that time or later.
func since(requests []request, start time.Time) []request {
	return filter(requests, func(r request) bool { return !r.at.Before(start) })
}

func filter(requests []request, keep func(request) bool) []request {
	var kept []request
	for _, r := range requests {
		if keep(r) {
			kept = append(kept, r)
		}
	}
	return kept
}

func lines(requests []request) string {
	var out strings.Builder
	for _, r := range requests {
		out.WriteString("\n  " + r.String())
	}
	return out.String()
}

// expectNone fails when there are requests of a kind that must not be.
func expectNone(t testing.TB, what string, requests []request) {
	t.Helper()
	if len(requests) > 0 {
		t.Errorf("%d %s:%s", len(requests), what, lines(requests))
	}
}

// expectNothingRefused fails when the operator asked for what it may not do.
func (s *scene) expectNothingRefused(a account) {
	s.Helper()
	expectNone(s, "requests of the operator were refused", filter(s.requestsOf(a), func(r request) bool {
		return r.code == http.StatusForbidden || r.code == http.StatusUnauthorized
	}))
}
