// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

// Package security holds the tests of what docs/security.md promises, as far as other packages do not have them: what the
// operator may do, what the author of an application gains, what is told in logs and events, how much the operator bears,
// and what a build is made of.
package security
