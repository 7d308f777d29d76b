// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package controllers_test

import (
	"net/http"
	"strings"
	"sync"

	"k8s.io/apimachinery/pkg/api/meta"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"
)

// written counts what anybody has written to the shared API server, so that a cache is only waited for where it
// has something to catch up with.
var written = &writeCounts{counts: map[string]int{}}

// writeCounts holds the number of writes by namespace and resource.
type writeCounts struct {
	mu     sync.Mutex
	counts map[string]int
}

// countedBy counts the writes that pass.
func (w *writeCounts) countedBy(next http.RoundTripper) http.RoundTripper {
	return roundTripper(func(request *http.Request) (*http.Response, error) {
		response, err := next.RoundTrip(request)
		if request.Method != http.MethodGet {
			if _, path, ok := strings.Cut(request.URL.Path, "/namespaces/"); ok {
				parts := strings.SplitN(path, "/", 3)
				w.mu.Lock()
				w.counts[strings.Join(parts[:min(len(parts), 2)], "/")]++
				w.mu.Unlock()
			}
		}
		return response, err
	})
}

// of returns the number of writes of objects like this one in a namespace.
func (w *writeCounts) of(namespace string, object client.Object) (int, error) {
	gvk, err := apiutil.GVKForObject(object, scheme)
	if err != nil {
		return 0, err
	}
	resource, _ := meta.UnsafeGuessKindToResource(gvk)
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.counts[namespace+"/"+resource.Resource], nil
}
