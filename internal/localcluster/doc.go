// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

// Package localcluster runs a real Kubernetes control plane on the host, without a container engine
// and without an existing cluster. The demo and the tests use it; the operator itself does not.
//
// A cluster is etcd, kube-apiserver, kube-controller-manager and kube-scheduler, started by kwokctl
// (https://kwok.sigs.k8s.io) in its binary runtime, and the kwok controller, which plays the nodes and
// moves pods to Running and away again. Authorization (RBAC), admission plugins, garbage collection and
// the workload controllers are the real ones; only containers do not run.
//
// [EnsureTools] builds the programs once from their Go modules, at the versions that the go.mod files
// under tools/ pin, and keeps them in a cache folder. [Start] starts a cluster in a folder of its own, on
// free loopback ports, so that any number run side by side. [Cluster.Stop] ends it and leaves nothing.
//
// Which processes belong to a cluster is told by one rule: each of them is started through a path inside
// the cluster's folder. Pid files cannot tell it, because after a crash or a reboot a pid may be somebody
// else's. So [Remove] finds every process of a folder, whoever started it and whatever was killed before.
//
// A cluster that is not [Options.Detached] ends with the process that started it, even when that process
// is killed: a process, see [ServeReaper], waits for the end of its parent and removes the cluster.
package localcluster
