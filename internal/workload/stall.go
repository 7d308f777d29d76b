// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package workload

// StallReason is why an application is not carried out as it stands.
type StallReason string

// The reasons why an application is not carried out.
const (
	// StallInvalid: the specification breaks a rule.
	StallInvalid StallReason = "Invalid"
	// StallDuplicateAppID: an older application has the same id.
	StallDuplicateAppID StallReason = "DuplicateAppID"
	// StallServiceAccount: the ServiceAccount does not let EGApps run as it.
	StallServiceAccount StallReason = "ServiceAccount"
)

// Stall keeps an application from being carried out until a person acts. What ran before
// runs on.
type Stall struct {
	Reason StallReason
	// Message says what is wrong and what to do.
	Message string
}

// Error returns the message.
func (s *Stall) Error() string { return s.Message }
