// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"

	"platformapp/controllers"
	"platformapp/internal/localcluster"
	"platformapp/internal/testutil"
	"platformapp/test/audit"
	"platformapp/test/operator"
)

// The users of the API server. What the operator asks for is in the audit log.
const (
	userOperator = "operator"
	userAuditor  = "auditor"
	userBench    = "bench"
)

// auditPolicy logs the operator, and the marks by which the end of the log is found. To log all would slow all down.
const auditPolicy = `apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived]
rules:
- {level: Metadata, users: [` + userOperator + `, ` + userAuditor + `]}
- {level: None}
`

// plane is a control plane that nothing else uses.
type plane struct {
	dir         string
	assets      *localcluster.Assets
	environment *envtest.Environment
	scheme      *runtime.Scheme
	// binary is the operator.
	binary string
	// kubeconfig is that of the operator.
	kubeconfig string
	auditor    kubernetes.Interface
	config     *rest.Config
}

// startPlane builds the operator and starts a control plane. The caller stops what it returns.
func startPlane(ctx context.Context) (_ *plane, err error) {
	assets, err := localcluster.NewAssets(ctx, os.Stderr)
	if err != nil {
		return nil, err
	}
	// Below this folder programs end with this one, also when it is killed.
	p := &plane{dir: assets.Dir, assets: assets, scheme: runtime.NewScheme()}
	defer func() {
		if err != nil {
			err = errors.Join(err, p.stop(ctx))
		}
	}()
	root, err := localcluster.CheckoutRoot()
	if err != nil {
		return nil, err
	}
	p.binary = filepath.Join(p.dir, "manager")
	if err := operator.Build(ctx, operator.BuildOptions{Output: p.binary, Root: root}); err != nil {
		return nil, err
	}
	if err := controllers.AddToScheme(p.scheme); err != nil {
		return nil, err
	}
	policy := filepath.Join(p.dir, "audit-policy.yaml")
	if err := os.WriteFile(policy, []byte(auditPolicy), 0o600); err != nil {
		return nil, err
	}
	environment := testutil.NewEnvironment(p.dir, filepath.Join(root, "config", "crd", "bases"))
	environment.ControlPlane.GetAPIServer().Configure().
		Set("audit-policy-file", policy).Set("audit-log-path", p.auditLog())
	if _, err := environment.Start(); err != nil {
		return nil, fmt.Errorf("start the control plane: %w", err)
	}
	p.environment = environment
	if p.config, err = p.configOf(userBench); err != nil {
		return nil, err
	}
	auditor, err := p.configOf(userAuditor)
	if err != nil {
		return nil, err
	}
	if p.auditor, err = kubernetes.NewForConfig(auditor); err != nil {
		return nil, err
	}
	own, err := p.configOf(userOperator)
	if err != nil {
		return nil, err
	}
	p.kubeconfig = filepath.Join(p.dir, "operator.kubeconfig")
	return p, operator.Kubeconfig(p.kubeconfig, own)
}

// stop ends the control plane and removes what it has written.
func (p *plane) stop(ctx context.Context) error {
	var err error
	if p.environment != nil {
		err = p.environment.Stop()
	}
	return errors.Join(err, p.assets.Remove(context.WithoutCancel(ctx)))
}

func (p *plane) auditLog() string { return filepath.Join(p.dir, "audit.log") }

// configOf connects a user that may do everything, as fast as it can.
func (p *plane) configOf(user string) (*rest.Config, error) {
	added, err := p.environment.AddUser(envtest.User{Name: user, Groups: []string{"system:masters"}}, &rest.Config{QPS: -1})
	if err != nil {
		return nil, err
	}
	return added.Config(), nil
}

// client returns a client that reads from the API server itself.
func (p *plane) client() (client.WithWatch, error) {
	return client.NewWithWatch(p.config, client.Options{Scheme: p.scheme})
}

// requests returns what the operator has asked for so far.
func (p *plane) requests(ctx context.Context) ([]audit.Request, error) {
	if err := audit.Await(ctx, p.auditLog(), p.auditor); err != nil {
		return nil, err
	}
	return audit.Read(p.auditLog(), userOperator)
}
