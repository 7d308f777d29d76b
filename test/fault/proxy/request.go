// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package proxy

import (
	"mime"
	"net/http"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
	apirequest "k8s.io/apiserver/pkg/endpoints/request"
)

// The verbs of the requests for resources, as RBAC and audit know them, but apply, which they call patch.
const (
	verbGet              = "get"
	verbList             = "list"
	verbWatch            = "watch"
	verbCreate           = "create"
	verbApply            = "apply"
	verbPatch            = "patch"
	verbUpdate           = "update"
	verbDelete           = "delete"
	verbDeleteCollection = "deletecollection"
)

// Request is one request of the client.
type Request struct {
	// Verb is get, list, watch, create, apply (a server-side apply), patch (any other patch), update, delete or
	// deletecollection; empty for what is asked of no resource: discovery, the version, health.
	Verb string
	// Group, Resource, Subresource, Namespace and Name are as in the path; a created object's name is in no path.
	Group, Resource, Subresource, Namespace, Name string
	// Path and RawQuery are of the URL.
	Path, RawQuery string
	// DryRun tells that the request persists nothing.
	DryRun bool
	// Index counts the requests of a Proxy from 0 in the order in which they arrived, and At is when.
	Index int
	At    time.Time
	// Code is the status of the answer: of the API server's, or of the fault's in its place. 0 is no answer (yet).
	Code int
	// Fault names the fault that struck the request; empty for none.
	Fault string

	initial bool // a watch that begins with what a list would answer
}

// Any matches every request.
func Any(Request) bool { return true }

// Matches returns a function that matches the requests with this key.
func Matches(key string) func(Request) bool {
	return func(r Request) bool { return r.Key() == key }
}

// Key is the kind of the request in one line: "apply deployments.apps", "patch egapps.group/status", "watch pods",
// and the path of what is asked of no resource.
func (r Request) Key() string {
	if r.Verb == "" {
		return r.Path
	}
	key := r.Verb + " " + r.Resource
	if r.Group != "" {
		key += "." + r.Group
	}
	if r.Subresource != "" {
		key += "/" + r.Subresource
	}
	return key
}

// IsList tells whether all objects are asked for: by a list, or by a watch that begins with what a list would answer.
func (r Request) IsList() bool { return r.Verb == verbList || r.initial }

// bookkeeping are resources whose requests change nothing that the operator keeps: the lease of the leader, events,
// and the reviews, which are questions.
var bookkeeping = sets.New("leases", "events", "tokenreviews", "subjectaccessreviews", "selfsubjectaccessreviews",
	"selfsubjectrulesreviews", "localsubjectaccessreviews", "selfsubjectreviews")

// IsWrite tells whether the request creates, changes or deletes something other than leases and events.
func (r Request) IsWrite() bool {
	switch r.Verb {
	case "", verbGet, verbList, verbWatch:
		return false
	default:
		return !r.DryRun && !bookkeeping.Has(r.Resource)
	}
}

// paths reads the paths of an API server.
var paths = apirequest.RequestInfoFactory{
	APIPrefixes:          sets.NewString("api", "apis"),
	GrouplessAPIPrefixes: sets.NewString("api"),
}

// newRequest reads what an HTTP request asks for.
func newRequest(r *http.Request) Request {
	request := Request{Path: r.URL.Path, RawQuery: r.URL.RawQuery, At: time.Now()}
	info, err := paths.NewRequestInfo(r)
	if err != nil || !info.IsResourceRequest {
		return request
	}
	request.Verb, request.Group, request.Resource = info.Verb, info.APIGroup, info.Resource
	request.Subresource, request.Namespace, request.Name = info.Subresource, info.Namespace, info.Name
	if request.Verb == verbPatch && isApply(r.Header.Get("Content-Type")) {
		request.Verb = verbApply
	}
	if request.Verb == verbWatch {
		request.initial = strings.Contains(r.URL.RawQuery, "sendInitialEvents=true")
	} else if request.IsWrite() {
		request.DryRun = strings.Contains(r.URL.RawQuery, "dryRun=")
	}
	return request
}

// isApply tells whether a patch of this content type is a server-side apply.
func isApply(contentType string) bool {
	mediaType, _, err := mime.ParseMediaType(contentType)
	return err == nil && (mediaType == string(types.ApplyYAMLPatchType) || mediaType == string(types.ApplyCBORPatchType))
}
