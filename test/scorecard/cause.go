// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"platformapp/api/appstatus"
)

// missingImage can be pulled nowhere: no host is below the top-level domain invalid (RFC 2606).
const missingImage = "registry.invalid/platformapp/missing:1"

// statusNamesTheCause makes an application whose image cannot be pulled, and then corrects it.
func statusNamesTheCause(ctx context.Context, t *trial) error {
	app := t.egapp()
	app.Spec.Image = missingImage
	if err := t.create(ctx, app); err != nil {
		return err
	}
	err := t.reports(ctx, app, metav1.ConditionFalse, func(ready *metav1.Condition) error {
		if ready.Reason != appstatus.ReasonImagePullFailed || !strings.Contains(ready.Message, missingImage) {
			return fmt.Errorf("the reason is %s, want %s with the image in the message: %s", ready.Reason, appstatus.ReasonImagePullFailed, ready.Message)
		}
		t.log.printf("%s says: %s", t.title(app), ready.Message)
		return nil
	})
	if err != nil {
		return err
	}
	before := app.DeepCopy()
	app.Spec.Image = "" // that of the framework
	if err := t.Patch(ctx, app, client.MergeFrom(before)); err != nil {
		return fmt.Errorf("correct the image of %s: %w", t.title(app), err)
	}
	return t.becomesReady(ctx, app)
}
