// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package olm

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// kubelet runs the manager as a process for each of its pods, from the time when KWOK says that the pod runs to the
// time when the pod is deleted, and serves the Services in front of it.
type kubelet struct {
	suite *suite

	mu       sync.Mutex
	managers map[types.UID]*manager
	// past are the managers whose pods are gone.
	past    []*manager
	proxies map[types.UID]*proxy
	// err is the last thing that went wrong.
	err error
}

func newKubelet(s *suite) *kubelet {
	return &kubelet{suite: s, managers: map[types.UID]*manager{}, proxies: map[types.UID]*proxy{}}
}

// run plays the kubelet until the context ends.
func (k *kubelet) run(ctx context.Context) {
	for {
		err := errors.Join(k.syncPods(ctx), k.syncServices(ctx))
		if ctx.Err() != nil {
			return
		}
		if err != nil {
			k.mu.Lock()
			k.err = err
			k.mu.Unlock()
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(pollInterval):
		}
	}
}

// syncPods starts the managers that are missing and ends those that are left over.
func (k *kubelet) syncPods(ctx context.Context) error {
	var pods corev1.PodList
	if err := k.suite.admin.List(ctx, &pods, client.MatchingLabels(k.suite.bundle.deployment().Spec.Selector.MatchLabels)); err != nil {
		return err
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	runs := func(pod corev1.Pod) bool {
		return pod.Status.Phase == corev1.PodRunning && pod.DeletionTimestamp == nil
	}
	for _, pod := range pods.Items {
		if runs(pod) && k.managers[pod.UID] == nil {
			m, err := k.suite.runAs(ctx, &pod)
			if err != nil {
				return fmt.Errorf("run the manager of pod %s: %w", pod.Name, err)
			}
			k.managers[pod.UID] = m
		}
	}
	for uid, m := range k.managers {
		if slices.ContainsFunc(pods.Items, func(pod corev1.Pod) bool { return pod.UID == uid && runs(pod) }) {
			continue
		}
		delete(k.managers, uid)
		k.past = append(k.past, m)
		if err := m.terminate(); err != nil {
			return fmt.Errorf("end the manager of pod %s: %w", m.pod.Name, err)
		}
	}
	return nil
}

// syncServices serves each Service in front of the manager.
func (k *kubelet) syncServices(ctx context.Context) error {
	var services corev1.ServiceList
	if err := k.suite.admin.List(ctx, &services); err != nil {
		return err
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, service := range services.Items {
		if service.Name != k.suite.bundle.webhookService() || k.proxies[service.UID] != nil {
			continue
		}
		p, err := newProxy(ctx, &service, func() (string, error) { return k.webhookIn(service.Namespace) })
		if err != nil {
			return err
		}
		k.proxies[service.UID] = p
	}
	for uid, p := range k.proxies {
		if !slices.ContainsFunc(services.Items, func(service corev1.Service) bool { return service.UID == uid }) {
			p.close()
			delete(k.proxies, uid)
		}
	}
	return nil
}

// webhookIn returns the address of the webhook of a manager in a namespace.
func (k *kubelet) webhookIn(namespace string) (string, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, m := range k.managers {
		if m.pod.Namespace == namespace {
			return m.webhook(), nil
		}
	}
	return "", errors.New("no manager runs in namespace " + namespace)
}

// managerOf returns the manager that runs for a pod, and an error as long as there is none or another runs beside it.
func (k *kubelet) managerOf(pod *corev1.Pod) (*manager, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for uid, m := range k.managers {
		if uid != pod.UID && m.pod.Namespace == pod.Namespace {
			return nil, fmt.Errorf("that of pod %s still runs", m.pod.Name)
		}
	}
	if m := k.managers[pod.UID]; m != nil {
		return m, nil
	}
	return nil, errors.Join(errors.New("no manager runs for the pod yet"), k.err)
}

// managersIn returns all that run or have run in a namespace.
func (k *kubelet) managersIn(namespace string) []*manager {
	k.mu.Lock()
	defer k.mu.Unlock()
	return slices.DeleteFunc(slices.AppendSeq(slices.Clone(k.past), maps.Values(k.managers)), func(m *manager) bool {
		return m.pod.Namespace != namespace
	})
}

// idle returns nil when no manager runs.
func (k *kubelet) idle() error {
	k.mu.Lock()
	defer k.mu.Unlock()
	if n := len(k.managers); n > 0 {
		return fmt.Errorf("%d run", n)
	}
	return nil
}

// logs returns the ends of the logs of all managers.
func (k *kubelet) logs() string {
	k.mu.Lock()
	defer k.mu.Unlock()
	out := ""
	for _, m := range k.past {
		out += fmt.Sprintf("\nlog of the manager of pod %s, which is gone:\n%s", m.pod.Name, tail(m.Log()))
	}
	for _, m := range k.managers {
		out += fmt.Sprintf("\nlog of the manager of pod %s:\n%s", m.pod.Name, tail(m.Log()))
	}
	if k.err != nil {
		out += "\n" + k.err.Error()
	}
	return out
}
