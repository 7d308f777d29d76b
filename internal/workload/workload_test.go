// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package workload_test

import (
	"testing"

	"platformapp/internal/workload"
)

func TestPortNamed(t *testing.T) {
	w := workload.Workload{Ports: []workload.Port{{Name: "http", ContainerPort: 8080}, {Name: "metrics", ContainerPort: 9090}}}
	if port, ok := w.PortNamed("metrics"); !ok || port.ContainerPort != 9090 {
		t.Errorf("metrics is %+v (%t)", port, ok)
	}
	if port, ok := w.PortNamed("grpc"); ok {
		t.Errorf("grpc is %+v, but there is none", port)
	}
}
