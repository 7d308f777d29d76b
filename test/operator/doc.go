// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

// Package operator runs the operator as tests do: built from the checkout, as a process of its own that is started,
// asked, stopped for a while, and ended gently or not.
//
// A process ends with the test process, even when that is killed, if its executable lies in the folder of a local cluster
// or of localcluster.Assets: whatever is started through a path in there is ended by the folder's reaper. [BuildOptions]
// therefore wants such a place.
package operator
