// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

// Package outage takes away from the operator what it works with, for a while, and shows that it comes back by itself: the
// API server, etcd, the present (an API server that is behind in time), its rights, its own and the optional
// CustomResourceDefinitions, its webhook, the admission of what it writes, and the peace to write it. Its tests are all
// that it holds.
//
// Each plan is carried out on a whole local cluster (internal/localcluster) by the real operator, with the rights of
// config/rbac, that is kept running as by a kubelet, with the growing delay between two starts. Applications in many
// states live in a namespace of the plan. What they and all that belongs to them are in the end is compared with a
// namespace that went through the same without a fault, in the same run (package fault): the same objects with the same
// fields and managers, each created once, and nothing that moves any more.
//
//	make test-fault                                  all plans, at full length
//	go test ./test/fault/outage                      a sample
//	FAULT_PLAN='outage/rights/.*' make test-fault    some by their names (package choice)
package outage
