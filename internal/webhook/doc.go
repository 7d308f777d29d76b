// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

// Package webhook validates EGApps and DemoMicroServices when they are written, before
// they are stored: whoever writes one learns at once what the loop would refuse to carry
// out, and is warned of what is allowed and likely not meant.
//
// It refuses by the rules of package translate and by no others, so that what it lets
// pass is carried out and what came past it is refused by the loop with the same words.
// The operator works without it: its failure policy is Ignore.
package webhook
