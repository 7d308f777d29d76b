// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"platformapp/test/audit"
)

// requestsOf returns the requests of an account that were answered before, in the order of their answers.
func (s *scene) requestsOf(a account) []audit.Request {
	s.Helper()
	if err := audit.Await(s.Context(), s.cluster.AuditLog(), s.clientset); err != nil {
		s.Fatal(err)
	}
	requests, err := audit.Read(s.cluster.AuditLog(), a.user())
	if err != nil {
		s.Fatal(err)
	}
	return requests
}

// expectNothingRefused fails when the operator asked for what it may not do.
func (s *scene) expectNothingRefused(a account) {
	s.Helper()
	audit.ExpectNone(s, "requests of the operator were refused", audit.Filter(s.requestsOf(a), audit.Request.IsRefused))
}
