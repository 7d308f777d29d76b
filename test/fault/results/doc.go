// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

// Package results collects what came of the plans that tests of faults carried out: each test process appends to a folder,
// and the program in table prints the sum.
package results
