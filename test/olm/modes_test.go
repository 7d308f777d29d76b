// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package olm

import (
	"fmt"
	"slices"
	"strings"

	operatorsv1alpha1 "github.com/operator-framework/api/pkg/operators/v1alpha1"
	corev1 "k8s.io/api/core/v1"
)

// targetNamespacesAnnotation is what OLM writes to the manager's pods: the namespaces to watch.
const targetNamespacesAnnotation = "olm.targetNamespaces"

// mode is an install mode: which namespaces the manager watches.
type mode struct {
	name operatorsv1alpha1.InstallModeType
	// all, own: it watches all namespaces, that of its own.
	all, own bool
	// others is how many other namespaces it watches.
	others int
}

// modes are those that OLM knows.
var modes = []mode{
	{name: operatorsv1alpha1.InstallModeTypeOwnNamespace, own: true},
	{name: operatorsv1alpha1.InstallModeTypeSingleNamespace, others: 1},
	{name: operatorsv1alpha1.InstallModeTypeMultiNamespace, others: 2},
	{name: operatorsv1alpha1.InstallModeTypeAllNamespaces, all: true},
}

// places are the namespaces of an installation.
type places struct {
	mode mode
	// own is where the manager runs.
	own string
	// targets are what the OperatorGroup names; none means all namespaces.
	targets []string
	// watched are namespaces in which applications are to be served, unwatched such in which they are not.
	watched, unwatched []string
}

// places makes the namespaces of an installation.
func (s *scene) places(m mode) places {
	s.Helper()
	if m.all {
		s.noneTerminates()
	}
	p := places{mode: m, own: s.namespace("manager")}
	if m.own {
		p.targets = append(p.targets, p.own)
	}
	for range m.others {
		p.targets = append(p.targets, s.namespace("watched"))
	}
	p.watched = p.targets
	outside := s.namespace("outside")
	if m.all {
		p.watched = []string{outside}
	} else {
		p.unwatched = []string{outside}
	}
	return p
}

// noneTerminates waits for the namespaces of earlier tests. A manager that watches all of them would serve the
// applications there to the last, and be refused new objects.
func (s *scene) noneTerminates() {
	s.Helper()
	s.eventually(longWait, "no namespace is being deleted", func() error {
		var namespaces corev1.NamespaceList
		if err := s.admin.List(s.Context(), &namespaces); err != nil {
			return err
		}
		for _, namespace := range namespaces.Items {
			if namespace.DeletionTimestamp != nil {
				return fmt.Errorf("%s is", namespace.Name)
			}
		}
		return nil
	})
}

// annotation returns the namespaces as OLM writes them.
func (p places) annotation() string {
	return strings.Join(slices.Sorted(slices.Values(p.targets)), ",")
}

// watches tells whether the manager watches a namespace; without a name, all of them.
func (p places) watches(namespace string) bool {
	return p.mode.all || slices.Contains(p.targets, namespace)
}
