// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"

	"golang.org/x/sync/errgroup"
	"k8s.io/apimachinery/pkg/api/meta"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// parallel is how many requests the bare loop, and whoever creates applications, makes at once: as many as the operator
// works on at once.
const parallel = 8

// inParallel calls do for 0 to n-1, so many at a time, and returns the first error.
func inParallel(ctx context.Context, workers, n int, do func(context.Context, int) error) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(workers)
	for i := range n {
		if ctx.Err() != nil {
			break
		}
		group.Go(func() error { return do(ctx, i) })
	}
	return group.Wait()
}

func lengthOf(list client.ObjectList) int { return meta.LenList(list) }
