// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package inputs

import (
	"errors"
	"path/filepath"
	"testing"

	"k8s.io/apimachinery/pkg/runtime"
	utiljson "k8s.io/apimachinery/pkg/util/json"

	devopsv1 "platformapp/api/devops/v1"
	"platformapp/api/egplatform/v1alpha1"
	"platformapp/test/corpus"
)

// A list is read as a whole: one application that the API server stores and the operator cannot read would keep it from
// seeing any.
func TestWhatTheSchemasAdmitCanBeRead(t *testing.T) {
	scheme := runtime.NewScheme()
	if err := errors.Join(v1alpha1.AddToScheme(scheme), devopsv1.AddToScheme(scheme)); err != nil {
		t.Fatal(err)
	}
	schemas, err := corpus.ReadSchemas(filepath.Join("..", "..", "..", "config", "crd", "bases"))
	if err != nil {
		t.Fatal(err)
	}
	_, seeds := readAll(t)
	chosen, admitted := chosenFields(seeds), 0
	for _, seed := range seeds {
		for _, f := range chosen[seed.Name] {
			if f.Path[0] == "metadata" {
				continue // The API server knows its type as well.
			}
			states, err := seed.states(f)
			if err != nil {
				t.Fatal(err)
			}
			for _, state := range states {
				object := map[string]any{}
				if len(state.Text) > mebibyte {
					continue // How long a text is changes nothing, and takes its time.
				}
				if utiljson.Unmarshal(state.named("orders"), &object) != nil {
					continue
				}
				if _, err := schemas.Load(object); err != nil {
					t.Fatal(err)
				}
				if refusals, err := schemas.Refusals(t.Context(), object); err != nil || len(refusals) > 0 {
					continue
				}
				admitted++
				typed, err := scheme.New(state.Kind.GroupVersionKind)
				if err != nil {
					t.Fatal(err)
				}
				if err := utiljson.Unmarshal([]byte(text(object)), typed); err != nil {
					t.Errorf("%s of %s, %s: %v", f.Path, seed.Name, state.Name, err)
				}
			}
		}
	}
	t.Logf("%d states are admitted", admitted)
}
