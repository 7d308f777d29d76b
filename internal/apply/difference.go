// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package apply

import (
	"encoding/json"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"k8s.io/client-go/applyconfigurations"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
	"sigs.k8s.io/structured-merge-diff/v6/typed"

	"platformapp/internal/workload"
)

// differ compares objects by the schema that server-side apply merges them by, so that
// list items are matched by their keys and the items of others do not count. The schemas
// of the built-in kinds come with client-go. For all others the types are deduced from the
// values, so that a list is compared as a whole, as the API server merges it where the
// schema does not say otherwise.
type differ struct {
	scheme            *runtime.Scheme
	builtin, deducing managedfields.TypeConverter
}

func newDiffer(scheme *runtime.Scheme) *differ {
	return &differ{scheme: scheme, builtin: applyconfigurations.NewTypeConverter(scheme), deducing: managedfields.NewDeducedTypeConverter()}
}

// difference is where a live object is not what is desired.
type difference struct {
	// paths of the fields, sorted.
	paths []string
	// digest of the paths and of the values that the live object has there.
	digest string
}

func (d difference) isEmpty() bool { return len(d.paths) == 0 }

// difference returns the fields of desired that live lacks or has another value for.
// Fields that live has beyond those are of no interest, and a zero that live lacks is no
// difference: its type leaves it out.
func (d *differ) difference(desired *unstructured.Unstructured, live workload.Object) (difference, error) {
	want, err := d.typed(desired)
	if err != nil {
		return difference{}, err
	}
	have, err := d.typed(live)
	if err != nil {
		return difference{}, err
	}
	comparison, err := have.Compare(want)
	if err != nil {
		return difference{}, fmt.Errorf("compare: %w", err)
	}
	fields := comparison.Modified.Leaves()
	for path := range comparison.Added.Leaves().All() {
		if !isZero(valueAt(want.AsValue(), path)) {
			fields.Insert(path.Copy())
		}
	}
	if fields.Empty() {
		return difference{}, nil
	}
	return newDifference(fields, have)
}

func newDifference(fields *fieldpath.Set, have *typed.TypedValue) (difference, error) {
	var d difference
	for path := range fields.All() {
		d.paths = append(d.paths, path.String())
	}
	slices.Sort(d.paths)
	serialized, err := json.Marshal([]any{d.paths, have.ExtractItems(fields).AsValue().Unstructured()})
	if err != nil {
		return d, fmt.Errorf("serialize difference: %w", err)
	}
	d.digest = hashOf(serialized)
	return d, nil
}

// typed reads an object by its schema. Others may have put two items of one key into a
// list, which the API server accepts from them.
func (d *differ) typed(object workload.Object) (*typed.TypedValue, error) {
	gvk, err := apiutil.GVKForObject(object, d.scheme)
	if err != nil {
		return nil, err
	}
	object.GetObjectKind().SetGroupVersionKind(gvk)
	converter := d.builtin
	if applyconfigurations.ForKind(gvk) == nil {
		converter = d.deducing
	}
	value, err := converter.ObjectToTyped(object, typed.AllowDuplicates)
	if err != nil {
		return nil, fmt.Errorf("read %s by its schema: %w", gvk.Kind, err)
	}
	return value, nil
}
