// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package audit

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"
)

// Request is a request to the API server about an object or about objects of a kind.
type Request struct {
	// User is the name that the API server knows the caller by.
	User string
	// Verb is that of the authorizer: get, list, watch, create, update, patch, delete, deletecollection.
	Verb string
	// Resource is the resource with its group and subresource as [Qualified] returns it.
	Resource string
	// Namespace and Name are those of the object; empty where it has none, as with a list.
	Namespace, Name string
	// URI is the path and the query.
	URI string
	// Code is the HTTP status of the answer.
	Code int
	// At is when the request was received.
	At time.Time
}

// String returns the request in one line.
func (r Request) String() string {
	return fmt.Sprintf("%s %s %s %s/%s -> %d", r.At.Format("15:04:05.000"), r.Verb, r.Resource, r.Namespace, r.Name, r.Code)
}

// IsWrite tells whether the request is to change an application or a child: not a lease, an event or a review.
func (r Request) IsWrite() bool {
	switch r.Verb {
	case "get", "list", "watch":
		return false
	}
	return !IsIncidental(r.Resource)
}

// IsRefused tells whether the rights of the caller did not suffice.
func (r Request) IsRefused() bool {
	return r.Code == http.StatusForbidden || r.Code == http.StatusUnauthorized
}

// IsIncidental tells the resources that say nothing about applications: leader election, events, and what the metrics
// endpoint asks about its callers.
func IsIncidental(resource string) bool {
	switch resource {
	case "leases.coordination.k8s.io", "events", "events.events.k8s.io",
		"tokenreviews.authentication.k8s.io", "subjectaccessreviews.authorization.k8s.io":
		return true
	}
	return false
}

// Qualified returns a resource, maybe with a subresource, and its group as kubectl names them: egapps.example.com/status.
func Qualified(group, resource string) string {
	if group == "" {
		return resource
	}
	resource, subresource, hasSubresource := strings.Cut(resource, "/")
	if hasSubresource {
		return resource + "." + group + "/" + subresource
	}
	return resource + "." + group
}

// Since returns the requests that were received at that time or later.
func Since(requests []Request, start time.Time) []Request {
	return Filter(requests, func(r Request) bool { return !r.At.Before(start) })
}

// Filter returns the requests that are to be kept.
func Filter(requests []Request, keep func(Request) bool) []Request {
	return slices.DeleteFunc(slices.Clone(requests), func(r Request) bool { return !keep(r) })
}

// ExpectNone fails the test when there are requests of a kind that must not be, which it lists.
func ExpectNone(t testing.TB, what string, requests []Request) {
	t.Helper()
	if len(requests) == 0 {
		return
	}
	var lines strings.Builder
	for _, r := range requests {
		lines.WriteString("\n  " + r.String())
	}
	t.Errorf("%d %s:%s", len(requests), what, lines.String())
}
