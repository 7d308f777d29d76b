// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package platform

import (
	"context"
	"time"
)

// settleTimeout is how long a doubt waits for an answer: a watcher that ends gives none.
const settleTimeout = 2 * time.Second

// Doubts tell a Watcher that what is known of the cluster may be out of date, since the API
// server has turned out to lack an API. A nil value tells nobody.
type Doubts chan chan<- struct{}

// Raise lets the watcher ask soon, and returns when it has, or when the context ends.
func (d Doubts) Raise(ctx context.Context) {
	if d == nil {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, settleTimeout)
	defer cancel()
	settled := make(chan struct{})
	select {
	case d <- settled:
	case <-ctx.Done():
		return
	}
	select {
	case <-settled:
	case <-ctx.Done():
	}
}
