// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package outage

import (
	"context"
	"sync"
	"testing"
	"time"

	"platformapp/test/operator"
)

// The delay between the end of a container and its next start, as a kubelet has it: it doubles with each start.
const (
	firstRestart = 10 * time.Second
	lastRestart  = 5 * time.Minute
)

// kubelet keeps an operator running, as the one of a node does.
type kubelet struct {
	options operator.Options

	mu        sync.Mutex
	processes []*operator.Process
	stop      context.CancelFunc
	done      chan struct{}
}

// startKubelet starts the operator, returns when it is ready, and ends it with the test.
func startKubelet(t *testing.T, options operator.Options) *kubelet {
	t.Helper()
	first, err := operator.Start(t.Context(), options)
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.WithoutCancel(t.Context()))
	k := &kubelet{options: options, processes: []*operator.Process{first}, stop: stop, done: make(chan struct{})}
	go k.keep(ctx, t)
	t.Cleanup(k.end)
	return k
}

// keep starts the operator anew each time that it ends.
func (k *kubelet) keep(ctx context.Context, t *testing.T) {
	defer close(k.done)
	for delay := firstRestart; ; delay = min(2*delay, lastRestart) {
		select {
		case <-ctx.Done():
			return
		case <-k.process().Ended():
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(delay):
		}
		next, err := operator.StartUnready(ctx, k.options)
		if err != nil {
			t.Errorf("the operator cannot be started: %v", err)
			return
		}
		k.mu.Lock()
		k.processes = append(k.processes, next)
		k.mu.Unlock()
	}
}

// end ends the operator for good.
func (k *kubelet) end() {
	k.stop()
	<-k.done
	k.process().Kill()
}

// process returns the present process.
func (k *kubelet) process() *operator.Process {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.processes[len(k.processes)-1]
}

// ends returns how often the operator has ended, started anew or not.
func (k *kubelet) ends() int {
	k.mu.Lock()
	defer k.mu.Unlock()
	ended := 0
	for _, process := range k.processes {
		if !process.Runs() {
			ended++
		}
	}
	return ended
}

// log returns what all processes have said, which goes into one file.
func (k *kubelet) log() string {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.processes[0].Log()
}
