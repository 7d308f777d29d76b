// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package translate

import (
	"platformapp/internal/profile"
)

// Options are what a platform sets for all EGApps.
type Options struct {
	// Images are the default images of the frameworks.
	Images profile.Images
	// IngressAnnotationPrefixes are beginnings of keys, such as
	// nginx.ingress.kubernetes.io/proxy-, that annotations of an Ingress may have beside
	// those of cert-manager and external-dns.
	IngressAnnotationPrefixes []string
	// ServiceAnnotationPrefixes are beginnings of keys that annotations of a Service may
	// have beside those of every platform (see the function ServiceAnnotationPrefixes).
	ServiceAnnotationPrefixes []string
	// IngressNamespaces are where what exposes applications runs, MonitoringNamespaces
	// where Prometheus does; a network policy lets them in where they are needed.
	IngressNamespaces, MonitoringNamespaces []string
}
