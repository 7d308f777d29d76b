// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package fault

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"platformapp/internal/localcluster"
	"platformapp/test/fault/proxy"
	"platformapp/test/operator"
)

// Options say how a campaign is made. Cluster, Tools and Folder are required.
type Options struct {
	// Cluster is where the scenarios are played. The campaign installs the operator's definitions and rights there.
	Cluster *localcluster.Cluster
	// Tools are those that the cluster runs.
	Tools localcluster.Tools
	// Binaries are those of the operator as it is, by which the references are made.
	Binaries Binaries
	// Folder takes the logs of the operators.
	Folder string
	// Rest is how long nothing may happen at the end of each plan.
	Rest time.Duration
	// Seed chooses what is chosen by chance.
	Seed uint64
}

// Binaries are the paths of two builds of the operator, see [operator.Build].
type Binaries struct {
	// Present is the operator at work, Next what it is upgraded to: the same but for the version.
	Present, Next string
}

// Campaign carries out plans on one cluster, many at once.
type Campaign struct {
	options  Options
	admin    client.Client
	objects  dynamic.Interface
	recorder *Recorder
	// identity connects to the API server with the rights that the operator has when it is installed.
	identity  *rest.Config
	collected func() error
	number    atomic.Int64
	// left is how many applications the plans have left behind.
	left atomic.Int64

	mu         sync.Mutex
	references map[string]func() (*Reference, error)
	// restless are the namespaces in which there is something that the operator tries again from time to time, or that a plan
	// left which went wrong.
	restless map[string]bool
}

// referenceRuns is how many runs make a reference.
const referenceRuns = 2

// Reference returns the reference of a scenario, which the first call makes.
func (c *Campaign) Reference(ctx context.Context, s Scenario) (*Reference, error) {
	c.mu.Lock()
	reference, ok := c.references[s.String()]
	if !ok {
		reference = sync.OnceValues(func() (*Reference, error) { return c.newReference(ctx, s) })
		c.references[s.String()] = reference
	}
	c.mu.Unlock()
	return reference()
}

func (c *Campaign) newReference(ctx context.Context, s Scenario) (*Reference, error) {
	reference, isTroubled, err := c.tryReference(ctx, s)
	if err != nil && isTroubled {
		reference, _, err = c.tryReference(ctx, s)
	}
	if err != nil {
		return nil, fmt.Errorf("reference of %s: %w", s, err)
	}
	return reference, nil
}

// tryReference makes a reference, and tells whether the control plane failed on the way.
func (c *Campaign) tryReference(ctx context.Context, s Scenario) (_ *Reference, isTroubled bool, _ error) {
	outcomes, errs, runs := make([]*Outcome, referenceRuns), make([]error, referenceRuns), make([]*run, referenceRuns)
	var all sync.WaitGroup
	for i := range referenceRuns {
		runs[i] = &run{scenario: s, rest: c.options.Rest}
		all.Go(func() { outcomes[i], errs[i] = c.run(ctx, runs[i], c.options.Binaries) })
	}
	all.Wait()
	for i, r := range runs {
		isTroubled = isTroubled || r.isTroubled(errs[i])
	}
	if err := errors.Join(errs...); err != nil {
		return nil, isTroubled, err
	}
	reference, err := NewReference(s, outcomes)
	return reference, isTroubled, err
}

// Plans returns all plans of a scenario.
func (c *Campaign) Plans(ctx context.Context, s Scenario) ([]Plan, error) {
	reference, err := c.Reference(ctx, s)
	if err != nil {
		return nil, err
	}
	return Plans(s, reference, c.options.Seed), nil
}

// Report is what came of a plan.
type Report struct {
	// Fired tells whether all its faults have struck. A plan whose faults did not shows nothing.
	Fired bool
	// Violations are what it shows to be wrong.
	Violations []string
	// Log is the operator's.
	Log string
}

// CarryOut carries out a plan with a build of the operator and judges it by the reference, which the true one made. It fails
// when the plan cannot be carried out, which tells nothing about the operator.
func (c *Campaign) CarryOut(ctx context.Context, p Plan, binaries Binaries) (*Report, error) {
	reference, err := c.Reference(ctx, p.Scenario)
	if err != nil {
		return nil, err
	}
	for attempt := 1; ; attempt++ {
		r := &run{scenario: p.Scenario, faults: p.Faults, want: reference, rest: c.options.Rest}
		outcome, err := c.run(ctx, r, binaries)
		var report *Report
		if err == nil {
			report = &Report{Fired: outcome.Fired, Violations: Judge(p, reference, outcome), Log: outcome.Log}
		}
		isWrong := err != nil || len(report.Violations) > 0
		if isWrong && r.Stage != nil {
			c.expectUnrest(r.Namespace)
		}
		if isWrong && r.isTroubled(err) && attempt < attempts {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("plan %s: %w", p, err)
		}
		return report, nil
	}
}

// expectUnrest leaves a namespace out when all of them are looked at in the end.
func (c *Campaign) expectUnrest(namespace string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.restless[namespace] = true
}

// attempts is how often a plan is carried out when the control plane itself fails in it.
const attempts = 2

// isTroubled tells whether the control plane failed in a run, in an answer to the operator or in the error that ended the run.
func (r *run) isTroubled(err error) bool {
	if status := apierrors.APIStatus(nil); errors.As(err, &status) && status.Status().Code >= http.StatusInternalServerError {
		return true
	}
	return r.Stage != nil && r.Proxy != nil && hasOwnErrors(r.Proxy.Requests())
}

// hasOwnErrors tells whether the API server answered a request with an error of its own, which no fault made.
func hasOwnErrors(requests []proxy.Request) bool {
	return slices.ContainsFunc(requests, func(q proxy.Request) bool {
		return q.Code >= http.StatusInternalServerError && q.Fault == ""
	})
}

// run plays a scenario in a namespace of its own, with an operator of its own.
func (c *Campaign) run(ctx context.Context, r *run, binaries Binaries) (_ *Outcome, err error) {
	if r.scenario.Collects {
		if err := c.collected(); err != nil {
			return nil, err
		}
	}
	namespace := fmt.Sprintf("plan-%04d", c.number.Add(1))
	r.Stage = &Stage{
		Namespace: namespace, History: c.recorder.Begin(namespace), admin: c.admin, objects: c.objects, binaries: binaries,
	}
	defer c.recorder.End(namespace)
	if r.scenario.Rechecks {
		c.expectUnrest(namespace)
	}
	if err := c.makeNamespace(ctx, namespace); err != nil {
		return nil, err
	}
	if r.Proxy, err = proxy.Start(c.identity); err != nil {
		return nil, err
	}
	defer r.Proxy.Close()
	kubeconfig := filepath.Join(c.options.Folder, namespace+".kubeconfig")
	if err := operator.Kubeconfig(kubeconfig, r.Proxy.Config()); err != nil {
		return nil, err
	}
	r.Operator, err = StartKubelet(ctx, lean(operator.Options{
		Binary: binaries.Present, Kubeconfig: kubeconfig, Watch: namespace, Log: filepath.Join(c.options.Folder, namespace+".log"),
	}))
	if err != nil {
		return nil, err
	}
	err = r.play(ctx)
	if errStop := r.Operator.Stop(); errStop != nil {
		r.fail("the operator does not end as it should: %v", errStop)
	}
	if err := errors.Join(err, c.recorder.Err()); err != nil {
		return nil, err
	}
	r.outcome.Log = r.Operator.Log()
	view := r.History.View()
	c.left.Add(int64(len(view.Of(EGApp)) + len(view.Of(DemoMicroService))))
	return r.outcome, nil
}

// lean makes an operator take little of the machine: it has one application, so one worker does, and few pauses of its
// garbage collector.
func lean(o operator.Options) operator.Options {
	o.Args = append(o.Args, "--max-concurrent-reconciles=1", "--metrics-secure=false")
	o.Env = append(o.Env, "ENABLE_WEBHOOKS=false", "GOGC=400")
	return o
}
