// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package fault

import (
	"strings"
	"testing"
	"time"
)

// TestReadConfig tells what the environment asks of a campaign.
func TestReadConfig(t *testing.T) {
	read := func(env map[string]string) (config, error) {
		return readConfig(func(key string) string { return env[key] })
	}
	c, err := read(nil)
	if err != nil || c.Full || c.Seed != 1 || c.Plans.Given() || c.binary != "" || c.limit != plansOfFull {
		t.Errorf("nothing asked: %+v, %v", c, err)
	}
	if c.rest() != 3*time.Second || c.restOfAll() != 5*time.Second {
		t.Errorf("a sample rests %s and %s", c.rest(), c.restOfAll())
	}
	c, err = read(map[string]string{"FAULT": "full", "FAULT_SEED": "7", "FAULT_OPERATOR": "/mutant", "FAULT_PLAN": "EGApp/.*"})
	if err != nil || !c.Full || c.Seed != 7 || c.binary != "/mutant" || !c.Plans.Given() {
		t.Errorf("all asked: %+v, %v", c, err)
	}
	if c.rest() != 10*time.Second || c.restOfAll() != time.Minute {
		t.Errorf("a full campaign rests %s and %s", c.rest(), c.restOfAll())
	}
	for text, want := range map[string]int{"all": 0, "12": 12} {
		if c, err := read(map[string]string{"FAULT_PLANS": text}); err != nil || c.limit != want {
			t.Errorf("FAULT_PLANS=%s: %+v, %v", text, c, err)
		}
	}
	for name, env := range map[string]map[string]string{
		"FAULT_SEED": {"FAULT_SEED": "-1"}, "FAULT_PLAN": {"FAULT_PLAN": "("}, "FAULT_PLANS": {"FAULT_PLANS": "0"},
	} {
		if _, err := read(env); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%v is taken: %v", env, err)
		}
	}
}
