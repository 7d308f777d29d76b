// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/operator-framework/api/pkg/manifests"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
)

// examplesAnnotation of the CSV holds an example of each kind.
const examplesAnnotation = "alm-examples"

// readSamples returns the examples of the bundle in dir. It fails when there are none, when one is not of a kind in
// scheme or has a field that its kind has not, and when a kind of the bundle has none.
func readSamples(dir string, scheme *runtime.Scheme) ([]application, error) {
	bundle, err := manifests.GetBundleFromDir(dir)
	if err != nil {
		return nil, fmt.Errorf("read the bundle in %s: %w", dir, err)
	}
	var examples []json.RawMessage
	if err := json.Unmarshal([]byte(bundle.CSV.GetAnnotations()[examplesAnnotation]), &examples); err != nil {
		return nil, fmt.Errorf("the annotation %s of %s is no list in JSON: %w", examplesAnnotation, bundle.CSV.GetName(), err)
	}
	decoder := serializer.NewCodecFactory(scheme, serializer.EnableStrict).UniversalDeserializer()
	var samples []application
	kinds := map[string]bool{}
	for i, example := range examples {
		object, gvk, err := decoder.Decode(example, nil, nil)
		if err != nil {
			return nil, fmt.Errorf("%s[%d]: %w", examplesAnnotation, i, err)
		}
		sample, ok := object.(application)
		if !ok {
			return nil, fmt.Errorf("%s[%d]: %s is no kind of the operator", examplesAnnotation, i, gvk.Kind)
		}
		kinds[gvk.Kind] = true
		samples = append(samples, sample)
	}
	if len(samples) == 0 {
		return nil, fmt.Errorf("%s holds no example", examplesAnnotation)
	}
	for _, owned := range bundle.CSV.Spec.CustomResourceDefinitions.Owned {
		if !kinds[owned.Kind] {
			return nil, fmt.Errorf("%s has no example of the kind %s", examplesAnnotation, owned.Kind)
		}
	}
	return samples, nil
}

// samplesBecomeReady makes all examples as they are, but for their names.
func samplesBecomeReady(ctx context.Context, t *trial) error {
	for _, sample := range t.samples {
		if err := t.create(ctx, sample); err != nil {
			return err
		}
	}
	var errs []error
	for _, sample := range t.samples {
		errs = append(errs, t.becomesReady(ctx, sample))
	}
	return errors.Join(errs...)
}
