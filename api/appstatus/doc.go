// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

// Package appstatus holds what the EGApp and the DemoMicroService report alike:
// the status fields, the condition types, the phases and every reason that a
// condition or an event of this operator can carry.
//
// The condition types Ready, Reconciling and Stalled have the meaning that kstatus
// gives them, so that kubectl wait, Flux and Argo CD read an object correctly
// (https://github.com/kubernetes-sigs/cli-utils/blob/master/pkg/kstatus/README.md).
//
// +kubebuilder:object:generate=true
package appstatus
