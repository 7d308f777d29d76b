// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

// Package choice reads from the environment which plans the tests of faults carry out:
//
//	FAULT=full             all of them, at full length; left out, a small sample
//	FAULT_SEED=7           decides what is left to chance, such as the sample; left out, 1
//	FAULT_PLAN='a/.* b/c'  those with these names: regular expressions between blanks, each of a whole name
//	FAULT_MUTANT='a|b'     the same for the bugs that the suite has to find
package choice
