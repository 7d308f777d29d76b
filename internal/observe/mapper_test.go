// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package observe_test

import (
	"errors"
	"testing"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"platformapp/internal/observe"
)

// askedMapper counts what it is asked, and fails while there is an err.
type askedMapper struct {
	meta.RESTMapper
	asked int
	err   error
}

func (m *askedMapper) RESTMapping(kind schema.GroupKind, versions ...string) (*meta.RESTMapping, error) {
	m.asked++
	if m.err != nil {
		return nil, m.err
	}
	return &meta.RESTMapping{GroupVersionKind: kind.WithVersion(versions[0]), Scope: meta.RESTScopeNamespace}, nil
}

func TestAKindIsMappedOnce(t *testing.T) {
	asked := &askedMapper{}
	mapper := observe.Remembering(asked)
	deployment := schema.GroupKind{Group: "apps", Kind: "Deployment"}
	for range 3 {
		mapping, err := mapper.RESTMapping(deployment, "v1")
		if err != nil || mapping.GroupVersionKind != deployment.WithVersion("v1") {
			t.Fatalf("the mapping is %v (%v)", mapping, err)
		}
	}
	if asked.asked != 1 {
		t.Errorf("it was asked for %d times", asked.asked)
	}
	if mapping, err := mapper.RESTMapping(deployment, "v2"); err != nil || mapping.GroupVersionKind.Version != "v2" {
		t.Errorf("another version is taken for the first: %v (%v)", mapping, err)
	}
}

// A kind that is not there yet may come.
func TestAKindThatIsNotThereIsAskedForAgain(t *testing.T) {
	asked := &askedMapper{err: errors.New("no such kind")}
	mapper := observe.Remembering(asked)
	route := schema.GroupKind{Group: "route.openshift.io", Kind: "Route"}
	if _, err := mapper.RESTMapping(route, "v1"); err == nil {
		t.Error("what is not there is found")
	}
	asked.err = nil
	if _, err := mapper.RESTMapping(route, "v1"); err != nil {
		t.Errorf("what has come is not found: %v", err)
	}
}
