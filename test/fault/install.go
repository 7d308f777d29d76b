// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package fault

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"sync"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"platformapp/controllers"
	"platformapp/internal/localcluster"
	"platformapp/internal/testutil"
)

// The names that config/default gives.
const (
	systemNamespace = "platformapp-system"
	managerName     = "platformapp-controller-manager"
)

// tokenLife is how long the operators may work with their token: longer than a campaign.
const tokenLife = 24 * time.Hour

// NewCampaign installs what the operator needs into the cluster and begins to record what happens there. The context is that
// of the campaign.
func NewCampaign(ctx context.Context, o Options) (*Campaign, error) {
	scheme := runtime.NewScheme()
	if err := controllers.AddToScheme(scheme); err != nil {
		return nil, err
	}
	c := &Campaign{options: o, references: map[string]func() (*Reference, error){}, restless: map[string]bool{}}
	c.collected = sync.OnceValue(func() error { return c.awaitCollector(ctx) })
	var err error
	if err := c.install(ctx); err != nil {
		return nil, err
	}
	if c.admin, err = client.New(o.Cluster.Config, client.Options{Scheme: scheme}); err != nil {
		return nil, err
	}
	if c.objects, err = dynamic.NewForConfig(o.Cluster.Config); err != nil {
		return nil, err
	}
	if c.identity, err = identity(ctx, o.Cluster.Config); err != nil {
		return nil, err
	}
	c.recorder, err = StartRecorder(ctx, o.Cluster.Config)
	return c, err
}

// install installs what make deploy installs, and the APIs that a cluster may lack. The Deployment of the manager is there to
// be admitted; its pod is played by KWOK and does nothing.
func (c *Campaign) install(ctx context.Context) error {
	root, err := localcluster.CheckoutRoot()
	if err != nil {
		return err
	}
	optional, err := testutil.OptionalCRDs(ctx)
	if err != nil {
		return err
	}
	for _, args := range [][]string{
		{"apply", "--kustomize", filepath.Join(root, "config", "default")},
		{"apply", "--server-side", "--filename", optional["HTTPRoute"], "--filename", optional["Route"], "--filename", optional["ServiceMonitor"]},
		{"wait", "--for=condition=Established", "--timeout=60s", "crd", "--all"},
	} {
		command := exec.CommandContext(ctx, c.options.Tools.Path(localcluster.Kubectl), append(args, "--kubeconfig", c.options.Cluster.Kubeconfig())...)
		if out, err := command.CombinedOutput(); err != nil {
			return fmt.Errorf("%s: %w\n%s", command, err, out)
		}
	}
	return nil
}

// identity returns the connection of the installed operator.
func identity(ctx context.Context, config *rest.Config) (*rest.Config, error) {
	clientset, err := kubernetes.NewForConfig(config)
	if err != nil {
		return nil, err
	}
	request := &authenticationv1.TokenRequest{Spec: authenticationv1.TokenRequestSpec{ExpirationSeconds: new(int64(tokenLife.Seconds()))}}
	token, err := clientset.CoreV1().ServiceAccounts(systemNamespace).CreateToken(ctx, managerName, request, metav1.CreateOptions{})
	if err != nil {
		return nil, fmt.Errorf("token of the operator: %w", err)
	}
	ca := rest.TLSClientConfig{CAFile: config.CAFile, CAData: config.CAData}
	return &rest.Config{Host: config.Host, BearerToken: token.Status.Token, TLSClientConfig: ca, QPS: -1}, nil
}

// makeNamespace makes a namespace with the ServiceAccount that pods need, which the control plane would make a moment later:
// until then it refuses pods, and the status tells so.
func (c *Campaign) makeNamespace(ctx context.Context, name string) error {
	if err := c.admin.Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}); err != nil {
		return fmt.Errorf("namespace %s: %w", name, err)
	}
	account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: name, Name: "default"}}
	if err := c.admin.Create(ctx, account); err != nil && !apierrors.IsAlreadyExists(err) {
		return fmt.Errorf("ServiceAccount of namespace %s: %w", name, err)
	}
	return nil
}

const (
	// collectorTimeout bounds the wait for the garbage collector, which looks for new APIs twice a minute, and collection that
	// for one object when it knows the API.
	collectorTimeout = 3 * time.Minute
	collection       = 3 * time.Second
)

// awaitCollector waits until the garbage collector knows the kinds of application: what it does not know it does not miss.
func (c *Campaign) awaitCollector(ctx context.Context) error {
	ctx, cancel := context.WithTimeoutCause(ctx, collectorTimeout, errors.New("the garbage collector does not collect"))
	defer cancel()
	const namespace = "collector"
	if err := c.makeNamespace(ctx, namespace); err != nil {
		return err
	}
	for _, s := range []subject{egappSubject, demoMicroServiceSubject} {
		for {
			isCollected, err := c.collects(ctx, namespace, s)
			if err != nil {
				return errors.Join(err, context.Cause(ctx))
			}
			if isCollected {
				break
			}
		}
	}
	return nil
}

// collects makes an application with a dependent, deletes it, and tells whether the dependent goes.
func (c *Campaign) collects(ctx context.Context, namespace string, s subject) (bool, error) {
	owner := s.newApp()
	owner.SetNamespace(namespace)
	if err := c.admin.Create(ctx, owner); err != nil {
		return false, err
	}
	gvk, err := c.admin.GroupVersionKindFor(owner)
	if err != nil {
		return false, err
	}
	dependent := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{
		Namespace: namespace, GenerateName: "dependent-", OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(owner, gvk)},
	}}
	if err := c.admin.Create(ctx, dependent); err != nil {
		return false, err
	}
	if err := c.admin.Delete(ctx, owner); err != nil {
		return false, err
	}
	for begin := time.Now(); time.Since(begin) < collection; pause(ctx, checkInterval) {
		err := c.admin.Get(ctx, client.ObjectKeyFromObject(dependent), dependent)
		if apierrors.IsNotFound(err) {
			return true, nil
		}
		if err != nil {
			return false, err
		}
	}
	return false, nil
}
