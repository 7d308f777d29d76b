// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package webhook

import (
	"context"
	"errors"
	"slices"

	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utilerrors "k8s.io/apimachinery/pkg/util/errors"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"platformapp/internal/workload"
)

// validator validates the objects of one kind.
type validator[T client.Object] struct {
	kind       schema.GroupKind
	namespaces []string
	// spec returns the specification, to be compared.
	spec func(T) any
	// translate returns an error that names every rule that the object breaks.
	translate func(T) (workload.Workload, error)
	// warnings says what of a valid object is likely not meant.
	warnings func(context.Context, T) []string
	// names says which names a new object needs and others have.
	names nameWarnings
}

// ValidateCreate refuses an object that breaks a rule.
func (v *validator[T]) ValidateCreate(ctx context.Context, app T) (admission.Warnings, error) {
	if v.isElsewhere(app) {
		return nil, nil
	}
	w, err := v.translate(app)
	if err != nil {
		return nil, v.refusal(app, err)
	}
	return append(v.warnings(ctx, app), v.names(ctx, w)...), nil
}

// ValidateUpdate refuses a new specification that breaks a rule. A write that leaves the
// specification as it is passes, also when that is invalid since it is older than a rule:
// labels, finalizers and status must always be writable.
func (v *validator[T]) ValidateUpdate(ctx context.Context, before, after T) (admission.Warnings, error) {
	if v.isElsewhere(after) || after.GetDeletionTimestamp() != nil || equality.Semantic.DeepEqual(v.spec(before), v.spec(after)) {
		return nil, nil
	}
	if _, err := v.translate(after); err != nil {
		return nil, v.refusal(after, err)
	}
	return v.warnings(ctx, after), nil
}

// ValidateDelete refuses nothing, and is not asked.
func (v *validator[T]) ValidateDelete(context.Context, T) (admission.Warnings, error) {
	return nil, nil
}

func (v *validator[T]) isElsewhere(app T) bool {
	return len(v.namespaces) > 0 && !slices.Contains(v.namespaces, app.GetNamespace())
}

// refusal returns the error as the API server itself tells of a rule that is broken, with
// the fields, so that clients show it in the same way.
func (v *validator[T]) refusal(app T, err error) error {
	var broken field.ErrorList
	var all utilerrors.Aggregate
	if !errors.As(err, &all) {
		all = utilerrors.NewAggregate([]error{err})
	}
	for _, one := range all.Errors() {
		rule, ok := errors.AsType[*field.Error](one)
		if !ok {
			rule = field.Invalid(field.NewPath("spec"), field.OmitValueType{}, one.Error())
		}
		broken = append(broken, rule)
	}
	return apierrors.NewInvalid(v.kind, app.GetName(), broken)
}
