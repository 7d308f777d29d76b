// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package security

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/go-logr/logr"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"

	"platformapp/controllers"
	"platformapp/internal/localcluster"
	"platformapp/internal/testutil"
	"platformapp/test/operator"
)

// root is the checkout.
const root = "../.."

// auditPolicy has each request told when it was answered, without bodies.
const auditPolicy = `apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived]
rules: [{level: Metadata}]
`

// cluster is an API server alone, which the tests that need one share. No controller but ours runs.
var cluster struct {
	config *rest.Config
	scheme *runtime.Scheme
	// programs is the folder from which all that is started ends with the test.
	programs string
	auditLog string
}

func TestMain(m *testing.M) {
	localcluster.ServeReaper()
	code, err := runWithControlPlane(m)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

func runWithControlPlane(m *testing.M) (code int, err error) {
	ctrl.SetLogger(logr.Discard())
	ctx := context.Background()
	cluster.scheme = runtime.NewScheme()
	if err := controllers.AddToScheme(cluster.scheme); err != nil {
		return 0, err
	}
	assets, err := localcluster.NewAssets(ctx, os.Stderr)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, assets.Remove(ctx)) }()
	cluster.programs, cluster.auditLog = assets.Dir, filepath.Join(assets.Dir, "audit.log")
	policy := filepath.Join(assets.Dir, "audit-policy.yaml")
	if err := os.WriteFile(policy, []byte(auditPolicy), 0o600); err != nil {
		return 0, err
	}
	optional, err := testutil.OptionalCRDs(ctx)
	if err != nil {
		return 0, err
	}
	environment := testutil.NewEnvironment(assets.Dir, filepath.Join(root, "config", "crd", "bases"), optional["HTTPRoute"], optional["ServiceMonitor"])
	environment.ControlPlane.GetAPIServer().Configure().Set("audit-log-path", cluster.auditLog).Set("audit-policy-file", policy)
	if cluster.config, err = environment.Start(); err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, environment.Stop()) }()
	cluster.config.QPS = -1
	return m.Run(), nil
}

// builtOperator builds the operator once and returns its path.
var builtOperator = sync.OnceValues(func() (string, error) {
	binary := filepath.Join(cluster.programs, "platformapp")
	return binary, operator.Build(context.Background(), operator.BuildOptions{Output: binary})
})
