// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package security

import (
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/metadata"
)

// thing names an object.
type thing struct{ kind, namespace, name string }

// busy are the resources that change without anybody's doing.
var busy = []string{"events", "leases", "componentstatuses", "endpoints", "endpointslices", "apiservices", "flowschemas", "prioritylevelconfigurations", "ipaddresses"}

// everything returns the metadata of all objects of the cluster but those that change without anybody's doing.
func (s *scene) everything() map[thing]metav1.PartialObjectMetadata {
	s.Helper()
	reader, err := metadata.NewForConfig(cluster.config)
	s.must(err)
	lists, err := s.clientset.Discovery().ServerPreferredResources()
	s.must(err)
	found := map[thing]metav1.PartialObjectMetadata{}
	for _, list := range lists {
		version, err := schema.ParseGroupVersion(list.GroupVersion)
		s.must(err)
		for _, resource := range list.APIResources {
			if !slices.Contains(resource.Verbs, "list") || slices.Contains(busy, resource.Name) {
				continue
			}
			objects, err := reader.Resource(version.WithResource(resource.Name)).List(s.Context(), metav1.ListOptions{})
			s.must(err)
			for _, object := range objects.Items {
				found[thing{resource.Kind, object.Namespace, object.Name}] = object
			}
		}
	}
	if len(found) < 50 {
		s.Fatalf("the cluster has %d objects: are they read?", len(found))
	}
	return found
}
