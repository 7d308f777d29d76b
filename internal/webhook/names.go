// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package webhook

import (
	"context"
	"fmt"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"platformapp/internal/resources"
	"platformapp/internal/workload"
)

// namesTimeout bounds the questions about names: less than the webhook's own timeout, as
// an answer without this warning is better than none.
const namesTimeout = 2 * time.Second

// takenNames asks the API server whether others have the names that an application needs.
type takenNames struct {
	live client.Reader
	// platform tells which children an application has on this cluster.
	platform func() (workload.Platform, bool)
}

// warnings says which of the children's names are taken. What cannot be asked is not
// warned of: the loop finds it out as well.
func (t takenNames) warnings(ctx context.Context, w workload.Workload) []string {
	platform, known := t.platform()
	if !known {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, namesTimeout)
	defer cancel()
	children := resources.Desired(w, workload.Observed{Platform: platform})
	found := make([]string, len(children))
	var asked sync.WaitGroup
	for i, child := range children {
		asked.Go(func() { found[i] = t.warning(ctx, w.Owner, child) })
	}
	asked.Wait()
	var warnings []string
	for _, warning := range found {
		if warning != "" {
			warnings = append(warnings, warning)
		}
	}
	return warnings
}

func (t takenNames) warning(ctx context.Context, owner workload.Owner, child resources.Child) string {
	object := newObject(child.Kind)
	err := t.live.Get(ctx, types.NamespacedName{Namespace: owner.Namespace, Name: child.Name}, object)
	switch {
	case apierrors.IsNotFound(err):
		return ""
	case err != nil:
		log.FromContext(ctx).Info("cannot ask whether a name is taken", "childKind", child.Kind, "childName", child.Name, "error", err.Error())
		return ""
	case owner.OwnershipOf(object) != workload.Foreign, object.GetAnnotations()[workload.AnnotationAdoptBy] == owner.Name:
		return ""
	}
	return fmt.Sprintf("metadata.name: the name is taken: %[1]s %[2]s is not this application's; it is left alone, and the application waits until it is gone or carries the annotation %[3]s: %[4]s",
		child.Kind, child.Name, workload.AnnotationAdoptBy, owner.Name)
}

func newObject(kind string) workload.Object {
	for _, k := range resources.Kinds {
		if k.Name == kind {
			return k.New()
		}
	}
	return nil
}
