// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

// Scorecard is the program of the scorecard image: tests of an installed operator, which operator-sdk scorecard runs as
// pods. A test makes applications in the namespace of its pod, with the rights of the pod's ServiceAccount (rbac.yaml),
// looks at what the operator does, and removes them again.
//
//	scorecard [flags] <test>    runs a test and prints its result, a v1alpha3.TestStatus in JSON
//	scorecard list              prints the names of the tests, and what each shows
//
// operator-sdk reads the result from the log of the pod, which holds the standard output and the standard error alike.
// So nothing but the result is printed to either; what there is to tell besides is in the result.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/operator-framework/api/pkg/apis/scorecard/v1alpha3"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

const (
	// bundleDir is where the pod of a test has the bundle.
	bundleDir = "/bundle"
	// namespaceVariable names the namespace of the pod.
	namespaceVariable = "SCORECARD_NAMESPACE"
	// testTimeout is how long a test may take. operator-sdk gives up on all of its pods after its own --wait-time, and
	// loses their results: it has to be longer than this and cleanUpTimeout together.
	testTimeout = 4 * time.Minute
)

// options are what the command line says.
type options struct {
	test      string
	bundle    string
	namespace string
	timeout   time.Duration
}

func main() {
	os.Exit(run(ctrl.SetupSignalHandler(), os.Args[1:], os.Getenv, os.Stdout))
}

// run does what the arguments say and returns the exit code: 0 if the test passed.
func run(ctx context.Context, args []string, env func(string) string, stdout io.Writer) int {
	o, usage, err := parse(args, env)
	switch {
	case errors.Is(err, flag.ErrHelp):
		fmt.Fprint(stdout, usage)
		return 0
	case err == nil && o.test == "list":
		fmt.Fprint(stdout, list())
		return 0
	}
	result := v1alpha3.TestResult{Name: o.test, State: v1alpha3.ErrorState}
	if err == nil {
		result = runTest(ctx, o)
	} else {
		result.Errors = []string{err.Error()}
	}
	result.CreationTimestamp = metav1.Now()
	out, err := json.MarshalIndent(v1alpha3.TestStatus{Results: []v1alpha3.TestResult{result}}, "", "  ")
	if err != nil {
		panic(err) // strings alone
	}
	fmt.Fprintf(stdout, "%s\n", out)
	if result.State != v1alpha3.PassState {
		return 1
	}
	return 0
}

// parse reads the command line. The usage is what --help prints.
func parse(args []string, env func(string) string) (o options, usage string, err error) {
	var out strings.Builder
	flags := flag.NewFlagSet("scorecard", flag.ContinueOnError)
	flags.SetOutput(&out)
	flags.StringVar(&o.bundle, "bundle", bundleDir, "the folder of the bundle")
	flags.StringVar(&o.namespace, "namespace", env(namespaceVariable),
		"where applications are made; the operator must watch it. The default is the value of "+namespaceVariable)
	flags.DurationVar(&o.timeout, "timeout", testTimeout, "how long the test may take")
	if err := flags.Parse(args); err != nil {
		return o, out.String(), err
	}
	switch {
	case flags.NArg() == 0:
		return o, "", fmt.Errorf("no test is named; the tests are %s", strings.Join(names(), ", "))
	case flags.NArg() > 1:
		return o, "", fmt.Errorf("one test runs at a time, and %d are named: %s", flags.NArg(), strings.Join(flags.Args(), ", "))
	}
	o.test = flags.Arg(0)
	return o, "", nil
}

// runTest runs the test on the cluster that KUBECONFIG names, or on that of the pod.
func runTest(ctx context.Context, o options) v1alpha3.TestResult {
	test, found := testOf(o.test)
	if !found {
		return v1alpha3.TestResult{Name: o.test, State: v1alpha3.FailState, Errors: []string{
			fmt.Sprintf("there is no test %q; the tests are %s", o.test, strings.Join(names(), ", "))}}
	}
	t, err := newTrial(o)
	if err != nil {
		return v1alpha3.TestResult{Name: o.test, State: v1alpha3.ErrorState, Errors: []string{err.Error()}}
	}
	ctx, cancel := context.WithTimeout(ctx, o.timeout)
	defer cancel()
	return t.run(ctx, test)
}

// newTrial reads the bundle and connects to the cluster.
func newTrial(o options) (*trial, error) {
	if o.namespace == "" {
		return nil, fmt.Errorf("%s is not set: operator-sdk scorecard sets it, elsewhere --namespace names the namespace", namespaceVariable)
	}
	scheme, err := newScheme()
	if err != nil {
		return nil, err
	}
	samples, err := readSamples(o.bundle, scheme)
	if err != nil {
		return nil, err
	}
	log := &journal{start: time.Now()}
	// By default both would write to the standard error.
	ctrl.SetLogger(log.logger())
	klog.SetLogger(log.logger())
	cluster, err := ctrl.GetConfig()
	if err != nil {
		return nil, fmt.Errorf("no cluster to test: %w", err)
	}
	cluster.WarningHandler = log
	c, err := client.New(cluster, client.Options{Scheme: scheme})
	if err != nil {
		return nil, fmt.Errorf("connect to %s: %w", cluster.Host, err)
	}
	return &trial{Client: c, namespace: o.namespace, samples: samples, log: log, interval: pollInterval}, nil
}
