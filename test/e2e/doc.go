// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

// Package e2e tests the operator from outside, as a user meets it: the real binary with the rights of config/rbac, on
// a real control plane whose nodes and pods KWOK plays, see internal/localcluster. Its tests are all that it holds.
//
// All tests share one cluster, which ends with the test process, however that ends. Most share one operator too, the
// one that config/default describes, which serves all namespaces, and run in parallel, each in namespaces of its own.
// The tests of TestOperatorOfItsOwn start, stop and kill operators themselves. Each of those is limited to the
// namespaces of its test; they run before the shared operator is started.
package e2e
