// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package fault

import (
	"errors"
	"fmt"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"platformapp/test/fault/proxy"
)

// TestIsTroubled tells what counts as a failure of the control plane itself.
func TestIsTroubled(t *testing.T) {
	for name, test := range map[string]struct {
		err  error
		want bool
	}{
		"no error":          {nil, false},
		"an error of steps": {errors.New("no"), false},
		"a refusal":         {fmt.Errorf("step: %w", apierrors.NewUnauthorized("no")), false},
		"a failure":         {fmt.Errorf("step: %w", apierrors.NewInternalError(errors.New("no"))), true},
	} {
		if got := (&run{}).isTroubled(test.err); got != test.want {
			t.Errorf("%s: %t", name, got)
		}
	}
	for name, test := range map[string]struct {
		request proxy.Request
		want    bool
	}{
		"an answer":            {proxy.Request{Code: 200}, false},
		"no answer":            {proxy.Request{}, false},
		"a conflict":           {proxy.Request{Code: 409}, false},
		"the fault's failure":  {proxy.Request{Code: 500, Fault: "500"}, false},
		"the server's failure": {proxy.Request{Code: 503}, true},
	} {
		if got := hasOwnErrors([]proxy.Request{{Code: 200}, test.request}); got != test.want {
			t.Errorf("%s: %t", name, got)
		}
	}
}
