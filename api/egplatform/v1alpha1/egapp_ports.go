// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	corev1 "k8s.io/api/core/v1"
)

// defaultPort is what an application listens at that names no ports.
var defaultPort = Port{Name: "http", ContainerPort: 8080, ServicePort: new(int32(80)), Protocol: corev1.ProtocolTCP}

// IsWorker tells whether the application listens at no port.
func (s *EGAppSpec) IsWorker() bool {
	return s.Service != nil && s.Service.Type == ServiceTypeNone
}

// Listens returns the ports that the application listens at, with every default resolved.
func (s *EGAppSpec) Listens() []Port {
	switch {
	case s.IsWorker():
		return nil
	case len(s.Ports) == 0:
		return []Port{defaultPort}
	}
	ports := make([]Port, 0, len(s.Ports))
	for _, port := range s.Ports {
		if port.Protocol == "" {
			port.Protocol = corev1.ProtocolTCP
		}
		if port.ServicePort == nil {
			port.ServicePort = new(port.ContainerPort)
		}
		ports = append(ports, port)
	}
	return ports
}

// ServingPort returns the TCP port of that name; without a name it is the one named http,
// or else the first. It is nil if there is no such port.
func (s *EGAppSpec) ServingPort(name string) *Port {
	var first *Port
	for _, port := range s.Listens() {
		switch {
		case port.Protocol != corev1.ProtocolTCP:
		case port.Name == name, name == "" && port.Name == defaultPort.Name:
			return &port
		case first == nil && name == "":
			first = &port
		}
	}
	return first
}
