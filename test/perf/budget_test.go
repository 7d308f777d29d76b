// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package main

import "testing"

func TestVerdicts(t *testing.T) {
	for name, test := range map[string]struct {
		figure figure
		want   verdict
	}{
		"nothing is asked":        {figure{Measured: 1}, told},
		"more than the goal":      {figure{Measured: 0.9}.atLeast(0.85, 0.7), meetsGoal},
		"exactly the goal":        {figure{Measured: 0.85}.atLeast(0.85, 0.7), meetsGoal},
		"between goal and floor":  {figure{Measured: 0.8}.atLeast(0.85, 0.7), meetsFloor},
		"exactly the floor":       {figure{Measured: 0.7}.atLeast(0.85, 0.7), meetsFloor},
		"less than the floor":     {figure{Measured: 0.69}.atLeast(0.85, 0.7), missed},
		"less than the limit":     {figure{Measured: 10}.atMost(12, 20), meetsGoal},
		"between the limits":      {figure{Measured: 13}.atMost(12, 20), meetsFloor},
		"more than both limits":   {figure{Measured: 21}.atMost(12, 20), missed},
		"nothing, as is wanted":   {figure{}.atMost(0, 0), meetsGoal},
		"something in its place":  {figure{Measured: 1}.atMost(0, 0), missed},
		"a goal without a floor":  {figure{Measured: 3}.aimingAtMost(2), short},
		"that goal, which is met": {figure{Measured: 2}.aimingAtMost(2), meetsGoal},
	} {
		if got := test.figure.verdict(); got != test.want {
			t.Errorf("%s: %s, want %s", name, got, test.want)
		}
	}
}

func TestAFigureOfSamplesIsTheirMedian(t *testing.T) {
	f := figure{}.of([]float64{3, 1, 2})
	if f.Measured != 2 || *f.Low != 1 || *f.High != 3 {
		t.Errorf("it is %v, from %v to %v", f.Measured, *f.Low, *f.High)
	}
	if got := (figure{Measured: 0.68}).atLeast(0.85, 0.7).ofGoal(); got != "0.80" {
		t.Errorf("0.68 is %s of the goal 0.85", got)
	}
	if got := (figure{Measured: 24}).atMost(12, 20).ofGoal(); got != "0.50" {
		t.Errorf("24 is %s of the goal 12", got)
	}
}
