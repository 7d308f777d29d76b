// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	discoveryv1 "k8s.io/api/discovery/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

func TestN17TrafficReachesAllPortsOfBothProtocols(t *testing.T) {
	s := newSharedScene(t)
	app := newEGApp(s.namespace("ports"), "orders", 2)
	s.set(app, `
ports:
- {name: dns-tcp, containerPort: 5353, servicePort: 53, protocol: TCP}
- {name: dns-udp, containerPort: 5353, servicePort: 53, protocol: UDP}
- {name: grpc, containerPort: 9090, servicePort: 9090, appProtocol: kubernetes.io/h2c}
- {name: admin, containerPort: 9090, servicePort: 9091}`)
	app.Spec.PodTemplatePatch = s.patch(`{spec: {containers: [{name: main, ports: [{containerPort: 5353, protocol: UDP, name: dns-udp}]}]}}`)
	s.create(app)
	s.runs(app, 2)
	s.reaches(app, "admin 9090/TCP ", "dns-tcp 5353/TCP ", "dns-udp 5353/UDP ", "grpc 9090/TCP kubernetes.io/h2c")

	// The protocol of a port changes, and another port goes.
	s.edit(app, func() {
		app.Spec.PodTemplatePatch, app.Spec.Ports = nil, nil
		s.set(app, `
ports:
- {name: dns, containerPort: 5353, servicePort: 53, protocol: UDP}
- {name: grpc, containerPort: 9090, servicePort: 9090, appProtocol: kubernetes.io/h2c}`)
	})
	s.ready(app)
	s.runs(app, 2)
	s.reaches(app, "dns 5353/UDP ", "grpc 9090/TCP kubernetes.io/h2c")
}

// reaches waits until the EndpointSlices of an application's Service lead to each of its pods at these ports.
func (s *scene) reaches(app application, want ...string) {
	s.Helper()
	pods, err := s.pods(s.Context(), app)
	if err != nil {
		s.Fatal(err)
	}
	s.eventually(shortWait, "the Service leads to every port of every pod", func(ctx context.Context) error {
		var slicesOfService discoveryv1.EndpointSliceList
		if err := s.admin.List(ctx, &slicesOfService, client.InNamespace(app.GetNamespace()), client.MatchingLabels{discoveryv1.LabelServiceName: app.GetName()}); err != nil {
			return err
		}
		reached := map[string][]string{}
		for _, slice := range slicesOfService.Items {
			for _, endpoint := range slice.Endpoints {
				for _, port := range slice.Ports {
					reached[endpoint.TargetRef.Name] = append(reached[endpoint.TargetRef.Name], fmt.Sprintf("%s %d/%s %s",
						ptr.Deref(port.Name, ""), ptr.Deref(port.Port, 0), ptr.Deref(port.Protocol, ""), ptr.Deref(port.AppProtocol, "")))
				}
			}
		}
		expected := map[string][]string{}
		for _, pod := range pods {
			expected[pod.Name] = want
			slices.Sort(reached[pod.Name])
		}
		if diff := cmp.Diff(expected, reached); diff != "" {
			return fmt.Errorf("ports by pod (-want +got):\n%s", diff)
		}
		return nil
	})
}
