// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package observe

import (
	"net/http"
	"sync"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"
)

// NewMapper returns what tells the path and the scope of a kind, for a manager.
func NewMapper(config *rest.Config, client *http.Client) (meta.RESTMapper, error) {
	mapper, err := apiutil.NewDynamicRESTMapper(config, client)
	if err != nil {
		return nil, err
	}
	return Remembering(mapper), nil
}

// Remembering returns a mapper that looks a version of a kind up once. A cache that is limited to namespaces asks for the
// scope at each read, and each look at all groups that were discovered costs more than the read.
func Remembering(mapper meta.RESTMapper) meta.RESTMapper {
	return &rememberingMapper{RESTMapper: mapper}
}

type rememberingMapper struct {
	meta.RESTMapper
	// mappings holds a *meta.RESTMapping for each schema.GroupVersionKind that was found. It is never out of date: what
	// a version of a kind is called and whether it lives in a namespace cannot change.
	mappings sync.Map
}

// RESTMapping tells the path and the scope of a kind in the first of the versions that there is.
func (m *rememberingMapper) RESTMapping(kind schema.GroupKind, versions ...string) (*meta.RESTMapping, error) {
	if len(versions) != 1 {
		return m.RESTMapper.RESTMapping(kind, versions...)
	}
	key := kind.WithVersion(versions[0])
	if known, ok := m.mappings.Load(key); ok {
		return known.(*meta.RESTMapping), nil
	}
	mapping, err := m.RESTMapper.RESTMapping(kind, versions...)
	if err == nil {
		m.mappings.Store(key, mapping)
	}
	return mapping, err
}
