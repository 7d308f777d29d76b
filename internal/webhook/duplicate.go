// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package webhook

import (
	"context"

	"sigs.k8s.io/controller-runtime/pkg/log"

	"platformapp/api/egplatform/v1alpha1"
)

// duplicateWarning warns of another EGApp with this appId. It does not refuse, since a
// rename by GitOps makes the new object before it deletes the old one; the loop holds the
// newer one until then.
func duplicateWarning(ctx context.Context, o Options, app *v1alpha1.EGApp) []string {
	if o.Duplicate == nil || app.Spec.AppID == "" {
		return nil
	}
	words, err := o.Duplicate(ctx, app)
	if err != nil {
		log.FromContext(ctx).Info("cannot look for another EGApp with this appId", "appId", app.Spec.AppID, "error", err.Error())
		return nil
	}
	if words == "" {
		return nil
	}
	return []string{"spec.appId: " + words}
}
