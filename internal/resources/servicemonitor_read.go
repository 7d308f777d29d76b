// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package resources

import (
	monitoringv1 "github.com/prometheus-operator/prometheus-operator/pkg/apis/monitoring/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	kjson "sigs.k8s.io/json"
)

// ServiceMonitor is a ServiceMonitor as the operator reads it. The API server stores numbers in one that its Go type cannot
// hold, such as a targetPort of 2^63-1, and a list is read as a whole: one that anybody made must not keep the operator from
// seeing the others. Of what cannot be read there is the metadata, by which it is known whose it is.
type ServiceMonitor struct {
	monitoringv1.ServiceMonitor
}

// UnmarshalJSON reads a ServiceMonitor, or of one that cannot be read the metadata. It fails when that cannot be read either.
func (m *ServiceMonitor) UnmarshalJSON(raw []byte) error {
	m.ServiceMonitor = monitoringv1.ServiceMonitor{}
	if kjson.UnmarshalCaseSensitivePreserveInts(raw, &m.ServiceMonitor) == nil {
		return nil
	}
	readable := metav1.PartialObjectMetadata{}
	err := kjson.UnmarshalCaseSensitivePreserveInts(raw, &readable)
	m.ServiceMonitor = monitoringv1.ServiceMonitor{TypeMeta: readable.TypeMeta, ObjectMeta: readable.ObjectMeta}
	return err
}

// DeepCopyObject copies the ServiceMonitor.
func (m *ServiceMonitor) DeepCopyObject() runtime.Object {
	return &ServiceMonitor{*m.DeepCopy()}
}

// ServiceMonitorList is a list of ServiceMonitors.
type ServiceMonitorList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata"`
	Items           []ServiceMonitor `json:"items"`
}

// DeepCopyObject copies the list.
func (l *ServiceMonitorList) DeepCopyObject() runtime.Object {
	copied := &ServiceMonitorList{TypeMeta: l.TypeMeta, ListMeta: *l.DeepCopy()}
	for i := range l.Items {
		copied.Items = append(copied.Items, ServiceMonitor{*l.Items[i].DeepCopy()})
	}
	return copied
}

// addServiceMonitorToScheme adds the types above in the place of those of the Prometheus operator.
func addServiceMonitorToScheme(scheme *runtime.Scheme) error {
	version := monitoringv1.SchemeGroupVersion
	scheme.AddKnownTypeWithName(version.WithKind(monitoringv1.ServiceMonitorsKind), &ServiceMonitor{})
	scheme.AddKnownTypeWithName(version.WithKind(monitoringv1.ServiceMonitorsKind+"List"), &ServiceMonitorList{})
	metav1.AddToGroupVersion(scheme, version)
	return nil
}
