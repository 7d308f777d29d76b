// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package fault

import (
	"fmt"
	"os"
	"strconv"
	"time"

	"platformapp/test/fault/choice"
)

// config is what the environment asks of a campaign.
type config struct {
	choice.Choice
	// limit is how many plans a full campaign carries out at most; 0 is all.
	limit int
	// binary is the operator that meets the faults; empty is the one of this checkout. The references are always its.
	binary string
}

// plansOfFull is how many plans a full campaign carries out unless FAULT_PLANS says otherwise: what two cores do in three
// quarters of an hour.
const plansOfFull = 1600

// readConfig reads the choice of plans, FAULT_PLANS (a number or all) and FAULT_OPERATOR.
func readConfig(env func(string) string) (config, error) {
	chosen, err := choice.Read(env)
	if err != nil {
		return config{}, err
	}
	c := config{Choice: chosen, limit: plansOfFull, binary: env("FAULT_OPERATOR")}
	if plans := env("FAULT_PLANS"); plans == "all" {
		c.limit = 0
	} else if plans != "" {
		if c.limit, err = strconv.Atoi(plans); err != nil || c.limit < 1 {
			return config{}, fmt.Errorf("FAULT_PLANS is a number above 0 or all, not %q", plans)
		}
	}
	return c, nil
}

// rest is how long nothing may happen at the end of a plan, and restOfAll at the end of all.
func (c config) rest() time.Duration {
	if c.Full {
		return 10 * time.Second
	}
	return 3 * time.Second
}

func (c config) restOfAll() time.Duration {
	if c.Full {
		return time.Minute
	}
	return 5 * time.Second
}

// configOfTest is the configuration of this test process.
func configOfTest() (config, error) { return readConfig(os.Getenv) }
