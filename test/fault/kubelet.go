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
	// replaced is the process that Replace ends, and killed the one that Kill has ended.
	replaced, killed *operator.Process
	stopped          bool
	// unexpected are the ends that nobody asked for.
	unexpected int
	watched    sync.WaitGroup
	err        error
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
		if k.stopped || k.process != process || k.replaced == process {
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

// Kill ends the operator at once, as a node that loses power, and starts it again, unless somebody replaces it just then: that
// starts it.
func (k *Kubelet) Kill() {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.stopped {
		return
	}
	process := k.process
	k.killed = process
	process.Kill()
	if k.replaced != process {
		k.startAgain()
	}
}

// Replace waits until the operator is ready, as one that is ended before it has begun complains of that, ends it gently, as a
// Deployment does that gets another image, and starts the other binary. It fails when the operator does not end in time and
// without an error; one that is killed meanwhile ends well.
func (k *Kubelet) Replace(ctx context.Context, binary string) error {
	process, err := k.beginReplace(ctx)
	if err != nil {
		return err
	}
	// The lock is free: a request that is under way may kill the operator, and the operator waits for its answer.
	err = process.Terminate()
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.killed == process {
		err = nil
	}
	k.replaced = nil
	if k.stopped {
		return errors.Join(err, errors.New("the operator was stopped"))
	}
	k.options.Binary = binary
	k.startAgain()
	return err
}

// beginReplace returns the process that runs, when it is ready, as the one that is replaced.
func (k *Kubelet) beginReplace(ctx context.Context) (*operator.Process, error) {
	for {
		process, err := k.ready(ctx)
		if err != nil {
			return nil, err
		}
		k.mu.Lock()
		if k.stopped {
			k.mu.Unlock()
			return nil, errors.New("the operator was stopped")
		}
		isSame := k.process == process
		if isSame {
			k.replaced = process
		}
		k.mu.Unlock()
		if isSame {
			return process, nil
		}
	}
}

// Stop ends the operator gently, for good. It fails when it does not end in time and without an error, or could not be
// started again before.
func (k *Kubelet) Stop() error {
	k.mu.Lock()
	process, err := k.process, k.err
	wasStopped := k.stopped
	k.stopped = true
	k.mu.Unlock()
	if !wasStopped {
		err = errors.Join(err, process.Terminate())
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
	_, err := k.ready(ctx)
	return err
}

// ready returns the process that runs, when it is ready.
func (k *Kubelet) ready(ctx context.Context) (*operator.Process, error) {
	for {
		process, err := k.running()
		if err != nil {
			return nil, err
		}
		if err = process.WaitReady(ctx); err == nil || process.Runs() || !pause(ctx, 2*restartPause) {
			return process, err
		}
		if next, _ := k.running(); next == process {
			return nil, err
		}
	}
}

// running returns the process that runs now.
func (k *Kubelet) running() (*operator.Process, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.process, k.err
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
