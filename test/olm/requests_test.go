// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package olm

import (
	"time"

	"platformapp/test/audit"
)

// requestsOf returns the requests of an account since a time that were answered before, in the order of their answers.
// Only the local control plane tells them.
func (s *scene) requestsOf(a account, since time.Time) []audit.Request {
	s.Helper()
	if err := audit.Await(s.Context(), s.cluster.AuditLog(), s.clientset); err != nil {
		s.Fatal(err)
	}
	requests, err := audit.Read(s.cluster.AuditLog(), a.user())
	if err != nil {
		s.Fatal(err)
	}
	return audit.Since(requests, since)
}
