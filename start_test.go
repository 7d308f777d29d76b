// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/manager"
)

// stubManager is a manager whose caches are filled, or are not. While they are not it does not end.
type stubManager struct {
	manager.Manager
	filled   bool
	err      error
	shutdown time.Duration
	killed   chan struct{}
}

func (m *stubManager) GetCache() cache.Cache { return stubCache{filled: m.filled} }

func (m *stubManager) Start(ctx context.Context) error {
	switch {
	case m.err != nil:
		return m.err
	case !m.filled:
		<-m.killed
		return nil
	}
	<-ctx.Done()
	time.Sleep(m.shutdown)
	return nil
}

type stubCache struct {
	cache.Cache
	filled bool
}

func (c stubCache) WaitForCacheSync(ctx context.Context) bool {
	if !c.filled {
		<-ctx.Done()
	}
	return c.filled
}

func TestTheOperatorEndsWhenItIsAskedTo(t *testing.T) {
	failure := errors.New("an address is taken")
	for name, test := range map[string]struct {
		manager stubManager
		want    error
		atLeast time.Duration
	}{
		"at once while it waits for its caches":   {stubManager{}, nil, time.Minute},
		"when it has ended what is under way":     {stubManager{filled: true, shutdown: time.Second}, nil, 61 * time.Second},
		"by itself when its manager cannot begin": {stubManager{err: failure}, failure, 0},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				test.manager.killed = make(chan struct{})
				defer close(test.manager.killed)
				ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
				defer cancel()
				began := time.Now()
				if err := start(ctx, &test.manager); !errors.Is(err, test.want) {
					t.Errorf("start = %v, want %v", err, test.want)
				}
				if took := time.Since(began); took < test.atLeast || took > test.atLeast+syncTimeout {
					t.Errorf("it ends after %s, want %s", took, test.atLeast)
				}
			})
		})
	}
}
