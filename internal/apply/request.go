// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package apply

import (
	"encoding/json"
	"fmt"
	"slices"

	metav1ac "k8s.io/client-go/applyconfigurations/meta/v1"
)

// request is a serialized apply configuration on its way to the server. The client reads
// the answer into what it has sent: into a typed apply configuration it would be merged,
// so that a field that admission took away would seem to be there still, and maps that
// the configuration shares with others would be written. A request takes the answer
// whole.
type request struct {
	metav1ac.TypeMetaApplyConfiguration
	// ObjectMetaApplyConfiguration names the object, and after the call holds the
	// resource version that the client's read-your-writes waits for.
	*metav1ac.ObjectMetaApplyConfiguration
	// content is the serialized object: as sent, and after the call as stored.
	content []byte
}

func newRequest(content []byte) (*request, error) {
	r := &request{}
	return r, r.UnmarshalJSON(content)
}

// IsApplyConfiguration makes the request an apply configuration.
func (r *request) IsApplyConfiguration() {}

// GetKind returns the kind of the object.
func (r *request) GetKind() *string { return r.Kind }

// GetAPIVersion returns the API group and version of the object.
func (r *request) GetAPIVersion() *string { return r.APIVersion }

// GetName returns the name of the object.
func (r *request) GetName() *string { return r.Name }

// GetNamespace returns the namespace of the object.
func (r *request) GetNamespace() *string { return r.Namespace }

// MarshalJSON returns the serialized object.
func (r *request) MarshalJSON() ([]byte, error) { return r.content, nil }

// UnmarshalJSON replaces the serialized object.
func (r *request) UnmarshalJSON(content []byte) error {
	var head struct {
		metav1ac.TypeMetaApplyConfiguration `json:",inline"`
		Metadata                            *metav1ac.ObjectMetaApplyConfiguration `json:"metadata"`
	}
	if err := json.Unmarshal(content, &head); err != nil {
		return fmt.Errorf("read an object: %w", err)
	}
	if head.Metadata == nil {
		return fmt.Errorf("read an object: it has no metadata")
	}
	r.TypeMetaApplyConfiguration = head.TypeMetaApplyConfiguration
	r.ObjectMetaApplyConfiguration = head.Metadata
	r.content = slices.Clone(content)
	return nil
}
