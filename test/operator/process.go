// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package operator

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"time"

	"platformapp/internal/localcluster"
)

const (
	// readyTimeout bounds an operator's way to readiness on a machine that does much else, terminationTimeout its way to
	// its end, for which it takes at most 20 seconds itself.
	readyTimeout       = 2 * time.Minute
	terminationTimeout = 40 * time.Second
	// attempts is how often an operator is started when another process takes one of its ports.
	attempts     = 3
	pollInterval = 50 * time.Millisecond
)

// errPortInUse says that another process took one of the chosen ports first.
var errPortInUse = errors.New("a port was taken")

// Options say how an operator is run. Binary, Kubeconfig and Log are required.
type Options struct {
	// Binary is the path of the executable, see [Build].
	Binary string
	// Kubeconfig is the path of a kubeconfig, see [Kubeconfig].
	Kubeconfig string
	// Watch is its WATCH_NAMESPACE: empty for all namespaces.
	Watch string
	// Env is what its environment holds beside KUBECONFIG and WATCH_NAMESPACE, as NAME=value. Nothing of the test's own
	// environment is passed on.
	Env []string
	// Args are its flags, but for the addresses that it serves at, which are chosen, see [Process].
	Args []string
	// WebhookPort is where the webhook is served, if it has a certificate; the default is any free port.
	WebhookPort int
	// Log is the path of the file that its output is appended to.
	Log string
}

// Process is a process of the operator.
type Process struct {
	// MetricsAddress and ProbesAddress are where it serves its metrics and its probes, as host:port.
	MetricsAddress, ProbesAddress string
	// WebhookPort is where it serves the webhook, if at all.
	WebhookPort int

	cmd *exec.Cmd
	// log is the path of its output, which begins there at the byte logStart.
	log      string
	logStart int64
	ended    chan struct{}
	// err is how it has ended; it is set before ended is closed.
	err error
}

// Start starts an operator and returns when it is ready: /readyz answers 200. It starts it anew, on other ports, when
// another process has taken one. It fails, and the operator has ended then, when that ends, when it is not ready
// within two minutes, and when ctx ends. The process itself outlives ctx.
func Start(ctx context.Context, o Options) (*Process, error) {
	for attempt := 1; ; attempt++ {
		p, err := StartUnready(ctx, o)
		if err != nil {
			return nil, err
		}
		err = p.WaitReady(ctx)
		if err == nil {
			return p, nil
		}
		p.Kill()
		if !errors.Is(err, errPortInUse) || attempt == attempts {
			return nil, err
		}
	}
}

// StartUnready starts an operator and returns at once. Whether it works is what [Process.WaitReady] tells.
func StartUnready(ctx context.Context, o Options) (*Process, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	ports, err := localcluster.FreePorts(3)
	if err != nil {
		return nil, err
	}
	if o.WebhookPort == 0 {
		o.WebhookPort = ports[2]
	}
	log, err := os.OpenFile(o.Log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, fmt.Errorf("the log of the operator: %w", err)
	}
	defer func() { _ = log.Close() }()
	info, err := log.Stat()
	if err != nil {
		return nil, err
	}
	p := &Process{
		MetricsAddress: fmt.Sprintf("127.0.0.1:%d", ports[0]),
		ProbesAddress:  fmt.Sprintf("127.0.0.1:%d", ports[1]),
		WebhookPort:    o.WebhookPort,
		log:            o.Log,
		logStart:       info.Size(),
		ended:          make(chan struct{}),
	}
	// The last flag of a name counts, and the last variable.
	p.cmd = exec.Command(o.Binary, append(slices.Clone(o.Args),
		"--metrics-bind-address="+p.MetricsAddress,
		"--health-probe-bind-address="+p.ProbesAddress,
		fmt.Sprintf("--webhook-port=%d", p.WebhookPort))...)
	p.cmd.Env = append([]string{"KUBECONFIG=" + o.Kubeconfig, "WATCH_NAMESPACE=" + o.Watch}, o.Env...)
	p.cmd.Stdout, p.cmd.Stderr = log, log
	// Ctrl-C is for the test, which then ends the operator.
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := p.cmd.Start(); err != nil {
		return nil, fmt.Errorf("start the operator: %w", err)
	}
	go func() {
		p.err = p.cmd.Wait()
		close(p.ended)
	}()
	return p, nil
}

// WaitReady returns when the operator is ready: /readyz answers 200. It fails when the operator ends, when it is not ready
// within two minutes, and when ctx ends; the operator runs on then.
func (p *Process) WaitReady(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, readyTimeout)
	defer cancel()
	for {
		_, err := get(ctx, "http://"+p.ProbesAddress+"/readyz")
		if err == nil {
			return nil
		}
		select {
		case <-p.ended:
			err := fmt.Errorf("the operator has ended: %w\n%s", p.err, p.Log())
			if strings.Contains(p.Log(), "address already in use") {
				err = fmt.Errorf("%w: %w", errPortInUse, err)
			}
			return err
		case <-ctx.Done():
			return fmt.Errorf("the operator is not ready: %w: %w\n%s", ctx.Err(), err, p.Log())
		case <-time.After(pollInterval):
		}
	}
}

// Kill ends the operator at once, as a machine does that loses power, and returns when it has ended. One that has ended
// before is no error.
func (p *Process) Kill() {
	_ = p.cmd.Process.Kill()
	<-p.ended
}

// Terminate asks the operator to end, as Kubernetes does, and returns when it has ended. It fails when it had ended
// before, when it does not end in time, and is killed then, and when it ends with an error.
func (p *Process) Terminate() error {
	if !p.Runs() {
		return fmt.Errorf("the operator has ended before it was asked to: %w", p.err)
	}
	if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		return err
	}
	select {
	case <-p.ended:
	case <-time.After(terminationTimeout):
		p.Kill()
		return fmt.Errorf("the operator did not end within %s of SIGTERM", terminationTimeout)
	}
	if p.err != nil {
		return fmt.Errorf("the operator ended on SIGTERM with an error: %w", p.err)
	}
	return nil
}

// Pause stops the operator where it is, as a machine that sleeps, until [Process.Resume], and returns when it has stopped.
func (p *Process) Pause() error {
	if err := p.cmd.Process.Signal(syscall.SIGSTOP); err != nil {
		return err
	}
	return awaitStop(p.cmd.Process.Pid)
}

// Resume lets a paused operator go on.
func (p *Process) Resume() error { return p.cmd.Process.Signal(syscall.SIGCONT) }

// Runs tells whether the operator has not ended. A paused one runs.
func (p *Process) Runs() bool {
	select {
	case <-p.ended:
		return false
	default:
		return true
	}
}

// Ended is closed when the operator has ended.
func (p *Process) Ended() <-chan struct{} { return p.ended }

// Err returns how the operator has ended: nil for exit status 0, and while it runs.
func (p *Process) Err() error {
	if p.Runs() {
		return nil
	}
	return p.err
}
