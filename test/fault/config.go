// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package fault

import (
	"fmt"
	"os"
	"strconv"
	"time"
)

// config is what the environment asks of a campaign.
type config struct {
	// full has the plans carried out, not a small sample of them.
	full bool
	// plans is how many plans a full campaign carries out at most; 0 is all.
	plans int
	// seed chooses the sample and the pairs of faults.
	seed uint64
	// selection chooses plans by their names; nil leaves the choice to full and seed.
	selection *Selection
	// binary is the operator that meets the faults; empty is the one of this checkout. The references are always its.
	binary string
}

// plansOfFull is how many plans a full campaign carries out unless FAULT_PLANS says otherwise: what two cores do in three
// quarters of an hour.
const plansOfFull = 1600

// readConfig reads FAULT=full, FAULT_PLANS (a number or all), FAULT_SEED, FAULT_PLAN and FAULT_OPERATOR.
func readConfig(env func(string) string) (config, error) {
	c := config{full: env("FAULT") == "full", seed: 1, plans: plansOfFull, binary: env("FAULT_OPERATOR")}
	var err error
	if plans := env("FAULT_PLANS"); plans == "all" {
		c.plans = 0
	} else if plans != "" {
		if c.plans, err = strconv.Atoi(plans); err != nil || c.plans < 1 {
			return c, fmt.Errorf("FAULT_PLANS is a number above 0 or all, not %q", plans)
		}
	}
	if seed := env("FAULT_SEED"); seed != "" {
		if c.seed, err = strconv.ParseUint(seed, 10, 64); err != nil {
			return c, fmt.Errorf("FAULT_SEED: %w", err)
		}
	}
	if plan := env("FAULT_PLAN"); plan != "" {
		if c.selection, err = NewSelection(plan); err != nil {
			return c, fmt.Errorf("FAULT_PLAN: %w", err)
		}
	}
	return c, nil
}

// rest is how long nothing may happen at the end of a plan, and restOfAll at the end of all.
func (c config) rest() time.Duration {
	if c.full {
		return 10 * time.Second
	}
	return 3 * time.Second
}

func (c config) restOfAll() time.Duration {
	if c.full {
		return time.Minute
	}
	return 5 * time.Second
}

// replay is the command that carries a plan out again.
func (c config) replay(p Plan) string {
	return fmt.Sprintf("FAULT_PLAN='%s' FAULT_SEED=%d make test-fault", Quote(p), c.seed)
}

// configOfTest is the configuration of this test process.
func configOfTest() (config, error) { return readConfig(os.Getenv) }
