// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package workload_test

import (
	"errors"
	"fmt"
	"testing"

	"platformapp/internal/workload"
)

// What keeps an application from being carried out passes through the loop as an error.
func TestStallIsFoundInAnError(t *testing.T) {
	err := fmt.Errorf("look at team-a/orders: %w", &workload.Stall{Reason: workload.StallDuplicateAppID, Message: "EGApp shop has the appId too"})
	var stall *workload.Stall
	if !errors.As(err, &stall) || stall.Reason != workload.StallDuplicateAppID {
		t.Fatalf("%v is no stall", err)
	}
	if got, want := stall.Error(), "EGApp shop has the appId too"; got != want {
		t.Errorf("says %q, want %q", got, want)
	}
}
