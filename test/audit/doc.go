// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

// Package audit reads the audit log of an API server, in which each request is an event when it was answered, see
// https://kubernetes.io/docs/reference/config-api/apiserver-audit.v1/. It is what tells for sure what the operator asked
// for, whatever the operator itself says.
package audit
