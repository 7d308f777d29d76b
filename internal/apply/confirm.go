// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package apply

import (
	"errors"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"platformapp/internal/workload"
)

// ErrOutdated tells that an owner is not any more what it was when the turn began: what was decided by it is of the past.
var ErrOutdated = errors.New("the application is not any more what it was when it was read")

// Confirm asks the API server itself whether the owner still is what it was when it was read. It returns nil, ErrOutdated,
// or why that is not known. It may be called again and again: it asks once.
type Confirm func() error

// mayWrite confirms the owner before the first write of this process to a child, and before an owner reference is put back.
// The cache has a watch for each kind: it may show the owner as it was beside children as they are. After a first write
// the owner is not seen older than that was decided by; but whoever deletes an owner without its children takes their
// references away.
func (t *turn) mayWrite(in *intent, live workload.Object) error {
	if t.applied.hasWritten(in, live) && metav1.GetControllerOfNoCopy(live) != nil {
		return nil
	}
	return t.confirm()
}
