// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// The times of the operator's leader election.
const (
	leaseDuration = 15 * time.Second
	renewDeadline = 10 * time.Second
	retryPeriod   = time.Second
	// longestRetry is what a standby waits at most between two looks at the lease: client-go stretches the period by chance.
	longestRetry = time.Duration((1 + leaderelection.JitterFactor) * float64(retryPeriod))
)

// tenure is a time from which on somebody, or nobody, holds the lease.
type tenure struct {
	holder string
	since  time.Time
}

// reign is who has held the lease of a namespace, as a watch tells it.
type reign struct {
	mu      sync.Mutex
	tenures []tenure
}

// watchLease tells who holds the lease of a namespace from now on.
func (s *scene) watchLease(namespace string) *reign {
	s.Helper()
	events, err := s.admin.Watch(s.Context(), &coordinationv1.LeaseList{}, client.InNamespace(namespace))
	if err != nil {
		s.Fatal(err)
	}
	s.Cleanup(events.Stop)
	r := &reign{}
	go func() {
		for event := range events.ResultChan() {
			if lease, ok := event.Object.(*coordinationv1.Lease); ok && lease.Name == leaseName {
				r.add(ptr.Deref(lease.Spec.HolderIdentity, ""))
			}
		}
	}()
	return r
}

func (r *reign) add(holder string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if n := len(r.tenures); n == 0 || r.tenures[n-1].holder != holder {
		r.tenures = append(r.tenures, tenure{holder, time.Now()})
	}
}

// all returns all tenures so far.
func (r *reign) all() []tenure {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.tenures)
}

// last returns the present tenure, and an error when nobody has it.
func (r *reign) last() (tenure, error) {
	all := r.all()
	if len(all) == 0 || all[len(all)-1].holder == "" {
		return tenure{}, errors.New("nobody holds the lease")
	}
	return all[len(all)-1], nil
}

// bareTakeover returns how long a client that does nothing but hold a lease, with the same times, takes to take over one
// that was given back: what the machine and chance make of it at this moment.
func (s *scene) bareTakeover(namespace string) time.Duration {
	s.Helper()
	leads := make(chan string, 2)
	run := func(ctx context.Context, name string) {
		leaderelection.RunOrDie(ctx, leaderelection.LeaderElectionConfig{
			Lock: &resourcelock.LeaseLock{
				LeaseMeta:  metav1.ObjectMeta{Namespace: namespace, Name: "bare"},
				Client:     s.clientset.CoordinationV1(),
				LockConfig: resourcelock.ResourceLockConfig{Identity: name},
			},
			LeaseDuration: leaseDuration, RenewDeadline: renewDeadline, RetryPeriod: retryPeriod, ReleaseOnCancel: true,
			Callbacks: leaderelection.LeaderCallbacks{
				OnStartedLeading: func(context.Context) { leads <- name },
				OnStoppedLeading: func() {},
			},
		})
	}
	var running sync.WaitGroup
	defer running.Wait()
	ctx, cancel := context.WithCancel(s.Context())
	defer cancel()
	first, end := context.WithCancel(ctx)
	defer end()
	running.Go(func() { run(first, "first") })
	<-leads
	running.Go(func() { run(ctx, "second") })
	time.Sleep(longestRetry)
	start := time.Now()
	end()
	<-leads
	return time.Since(start)
}

// heldBy waits until somebody other than former holds the lease.
func (s *scene) heldBy(r *reign, limit time.Duration, former string) tenure {
	s.Helper()
	var now tenure
	s.within(limit, "another operator leads", func(context.Context) error {
		var err error
		if now, err = r.last(); err == nil && now.holder == former {
			err = fmt.Errorf("%s still does", former)
		}
		return err
	})
	return now
}
