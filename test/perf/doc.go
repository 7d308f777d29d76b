// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

// Perf measures the operator on a control plane of its own, etcd and one API server, and compares it with the budgets of
// the project: make bench.
//
// What takes time is never told as such, since it says more about the machine than about the operator. It is told as a
// ratio to a bare loop of clients that makes the same writes in the same run, with the same parallelism: nothing that
// goes through the API can be faster. The bare loop runs before and after the operator in each round; a run in which it
// varies by more than 15 % is void. Requests, writes and bytes are counted, not timed.
//
// No controller manager runs, whose 20 requests a second would be what is measured. A helper plays the Deployment
// controller: it writes the status of a Deployment, in the bare loop as well, as soon as it sees it.
package main
