// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package fault

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"platformapp/test/operator"
)

// restartPause is how long after its end the operator is started again. A kubelet takes longer, which shows nothing more.
const restartPause = 200 * time.Millisecond

// portTaken are the words of the system when another program has the port.
const portTaken = "address already in use"

// Kubelet keeps the operator running, as the one of a node does: when the process ends it is started again.
type Kubelet struct {
	options operator.Options

	mu      sync.Mutex
	process *operator.Process
	stopped bool
	// expected are the ends that somebody asked for, unexpected all others.
	expected, unexpected int
	watched              sync.WaitGroup
	err                  error
	// logs are what the processes that have ended said, and launched counts the processes.
	logs     []string
	launched int
	log      string
}

// StartKubelet starts the operator and returns when it is ready.
func StartKubelet(ctx context.Context, options operator.Options) (*Kubelet, error) {
	k := &Kubelet{options: options, log: options.Log}
	process, err := operator.Start(ctx, k.next())
	if err != nil {
		return nil, err
	}
	k.keep(process)
	return k, nil
}

// next returns the options of the next process, which has a log of its own.
func (k *Kubelet) next() operator.Options {
	k.launched++
	k.options.Log = fmt.Sprintf("%s.%d", k.log, k.launched)
	return k.options
}

// keep watches over a process; the lock is held, or nobody else knows of the Kubelet.
func (k *Kubelet) keep(process *operator.Process) {
	k.process = process
	k.watched.Go(func() {
		<-process.Ended()
		time.Sleep(restartPause)
		k.mu.Lock()
		defer k.mu.Unlock()
		// Another program of this machine may take a port that was free before the operator got to it. In a pod it is alone.
		said := process.Log()
		isCrowded := strings.Contains(said, portTaken)
		if !isCrowded {
			k.logs = append(k.logs, said)
		}
		if k.stopped || k.process != process {
			return
		}
		if !isCrowded {
			k.unexpected++
		}
		k.startAgain()
	})
}

// startAgain starts a new process; the lock is held.
func (k *Kubelet) startAgain() {
	process, err := operator.StartUnready(context.Background(), k.next())
	if err != nil {
		k.err = errors.Join(k.err, err)
		k.stopped = true
		return
	}
	k.keep(process)
}

// Kill ends the operator at once, as a node that loses power, and starts it again.
func (k *Kubelet) Kill() {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.stopped {
		return
	}
	process := k.process
	k.process = nil
	k.expected++
	process.Kill()
	k.startAgain()
}

// Replace ends the operator gently, as a Deployment does that gets another image, and starts the other binary. It fails when
// the operator does not end in time and without an error.
func (k *Kubelet) Replace(binary string) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.stopped {
		return errors.New("the operator was stopped")
	}
	process := k.process
	k.process = nil
	k.expected++
	err := process.Terminate()
	k.options.Binary = binary
	k.startAgain()
	return err
}

// Stop ends the operator gently, for good. It fails when it does not end in time and without an error, or could not be
// started again before.
func (k *Kubelet) Stop() error {
	k.mu.Lock()
	process, err := k.process, k.err
	wasStopped := k.stopped
	k.stopped = true
	k.mu.Unlock()
	if !wasStopped && process != nil {
		if process.Runs() {
			err = errors.Join(err, process.Terminate())
		}
	}
	k.watched.Wait()
	return err
}

// Log returns what the operator has said, process by process, when it was stopped.
func (k *Kubelet) Log() string {
	k.mu.Lock()
	defer k.mu.Unlock()
	return strings.Join(k.logs, "")
}

// Ends returns how often the operator ended by itself.
func (k *Kubelet) Ends() int {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.unexpected
}

// WaitReady waits until the operator that runs now is ready, or the one that runs in its place when it has ended.
func (k *Kubelet) WaitReady(ctx context.Context) error {
	for {
		process, err := k.running()
		if err != nil {
			return err
		}
		if err = process.WaitReady(ctx); err == nil || process.Runs() || !pause(ctx, 2*restartPause) {
			return err
		}
		if next, _ := k.running(); next == process {
			return err
		}
	}
}

// running returns the process that runs now.
func (k *Kubelet) running() (*operator.Process, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.process == nil {
		return nil, errors.Join(errors.New("the operator does not run"), k.err)
	}
	return k.process, nil
}

// Gauge returns a metric of the operator that runs now.
func (k *Kubelet) Gauge(ctx context.Context, name string) (int, error) {
	process, err := k.running()
	if err != nil {
		return 0, err
	}
	value, err := process.Sum(ctx, name, nil)
	if err != nil {
		return 0, fmt.Errorf("metric %s: %w", name, err)
	}
	return int(value), nil
}
