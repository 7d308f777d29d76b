// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/validation"
	utilvalidation "k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// worker is why a worker has none of what needs a port.
const worker = "must be left out with service.type None: a worker listens at no port"

// validatePorts judges the ports as they are given.
func validatePorts(path *field.Path, s *EGAppSpec) field.ErrorList {
	if s.IsWorker() && len(s.Ports) > 0 {
		return field.ErrorList{field.Forbidden(path, worker)}
	}
	errs := atMost(path, len(s.Ports), 32)
	type service struct {
		port     int32
		protocol corev1.Protocol
	}
	names, services := map[string]bool{}, map[service]string{}
	for i, port := range s.Ports {
		item := path.Index(i)
		errs = append(errs, validatePort(item, port)...)
		if names[port.Name] {
			errs = append(errs, field.Duplicate(item.Child("name"), port.Name))
		}
		names[port.Name] = true
	}
	for i, port := range s.Listens() {
		key := service{*port.ServicePort, port.Protocol}
		if other, taken := services[key]; taken && len(s.Ports) > 0 {
			errs = append(errs, field.Invalid(path.Index(i).Child("servicePort"), key.port,
				fmt.Sprintf("must differ from that of port %s, which is also %s: a Service serves each number of a protocol once; a servicePort that is left out is the containerPort", other, key.protocol)))
			continue
		}
		services[key] = port.Name
	}
	return errs
}

func validatePort(path *field.Path, port Port) field.ErrorList {
	var errs field.ErrorList
	if port.Name == "" {
		errs = append(errs, field.Required(path.Child("name"), "give the port a name, such as http"))
	} else {
		errs = append(errs, invalid(path.Child("name"), port.Name, utilvalidation.IsValidPortName(port.Name))...)
	}
	errs = append(errs, portNumber(path.Child("containerPort"), port.ContainerPort)...)
	if port.ServicePort != nil {
		errs = append(errs, portNumber(path.Child("servicePort"), *port.ServicePort)...)
	}
	errs = append(errs, optionalOneOf(path.Child("protocol"), port.Protocol, []corev1.Protocol{corev1.ProtocolTCP, corev1.ProtocolUDP, corev1.ProtocolSCTP})...)
	if port.AppProtocol != "" {
		errs = append(errs, invalid(path.Child("appProtocol"), port.AppProtocol, utilvalidation.IsQualifiedName(port.AppProtocol))...)
	}
	return errs
}

func portNumber(path *field.Path, number int32) field.ErrorList {
	return invalid(path, number, utilvalidation.IsValidPortNum(int(number)))
}

// validateService judges the Service.
func validateService(path *field.Path, s *EGAppSpec) field.ErrorList {
	if s.Service == nil {
		return nil
	}
	errs := optionalOneOf(path.Child("type"), s.Service.Type,
		[]ServiceType{ServiceTypeClusterIP, ServiceTypeHeadless, ServiceTypeNodePort, ServiceTypeLoadBalancer, ServiceTypeNone})
	if s.IsWorker() && len(s.Service.Annotations) > 0 {
		errs = append(errs, field.Forbidden(path.Child("annotations"), "must be left out with service.type None: there is no Service to carry them"))
	}
	errs = append(errs, atMost(path.Child("annotations"), len(s.Service.Annotations), 64)...)
	return append(errs, validation.ValidateAnnotations(s.Service.Annotations, path.Child("annotations"))...)
}

// validatePortReference judges the name of a TCP port that may be left out.
func validatePortReference(path *field.Path, name string, s *EGAppSpec) field.ErrorList {
	if name == "" || s.ServingPort(name) != nil {
		return nil
	}
	return field.ErrorList{field.Invalid(path, name, "must be the name of a TCP port of spec.ports: "+s.servingNames())}
}

// servingNames lists the TCP ports for a message.
func (s *EGAppSpec) servingNames() string {
	var names []string
	for _, port := range s.Listens() {
		if port.Protocol == corev1.ProtocolTCP {
			names = append(names, port.Name)
		}
	}
	if len(names) == 0 {
		return "there is none"
	}
	return strings.Join(names, ", ")
}
