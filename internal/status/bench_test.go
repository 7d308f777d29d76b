// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package status_test

import (
	"testing"
)

// BenchmarkComputeAtRest is what each turn for an application at rest pays for its status.
func BenchmarkComputeAtRest(b *testing.B) {
	s := running(3)
	autoscaled(s)
	exposed("Auto", oneHost, "Route")(s)
	route("orders.example.com", router("orders.example.com", "True", "", ""))(s)
	b.ReportAllocs()
	for b.Loop() {
		s.result()
	}
}
