// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package main

import "fmt"

// figure is one measured figure with what is asked of it.
type figure struct {
	// Name says what is measured.
	Name string `json:"name"`
	// Unit is what Measured, Goal and Floor are in; "x" is a ratio.
	Unit string `json:"unit"`
	// Goal is aimed at, Floor must be met; nil asks nothing.
	Goal  *float64 `json:"goal,omitempty"`
	Floor *float64 `json:"floor,omitempty"`
	// HigherIsBetter tells in which direction.
	HigherIsBetter bool    `json:"higherIsBetter,omitempty"`
	Measured       float64 `json:"measured"`
	// Low and High are the least and the greatest of what Measured is the median of, if it is one.
	Low  *float64 `json:"low,omitempty"`
	High *float64 `json:"high,omitempty"`
	// Note says how it came to be.
	Note string `json:"note,omitempty"`
}

// atLeast and atMost ask something of a figure.
func (f figure) atLeast(goal, floor float64) figure {
	f.Goal, f.Floor, f.HigherIsBetter = &goal, &floor, true
	return f
}

func (f figure) atMost(goal, floor float64) figure {
	f.Goal, f.Floor = &goal, &floor
	return f
}

// aimingAtMost asks for a goal alone.
func (f figure) aimingAtMost(goal float64) figure {
	f.Goal = &goal
	return f
}

// of makes the figure the median of samples.
func (f figure) of(samples []float64) figure {
	low, high := lowest(samples), highest(samples)
	f.Measured, f.Low, f.High = median(samples), &low, &high
	return f
}

// verdict tells what a figure meets.
type verdict string

const (
	meetsGoal  verdict = "goal"
	meetsFloor verdict = "floor"
	missed     verdict = "MISSED"
	// short is a goal that is not met, without a floor below it.
	short verdict = "short"
	// told is a figure of which nothing is asked.
	told verdict = "-"
)

func (f figure) verdict() verdict {
	reaches := func(bound *float64) bool {
		return bound != nil && (f.Measured == *bound || f.Measured > *bound == f.HigherIsBetter)
	}
	switch {
	case f.Goal == nil && f.Floor == nil:
		return told
	case reaches(f.Goal):
		return meetsGoal
	case reaches(f.Floor):
		return meetsFloor
	case f.Floor == nil:
		return short
	default:
		return missed
	}
}

// ofGoal is how the figure stands to its goal: 1 is the goal, more is better.
func (f figure) ofGoal() string {
	switch {
	case f.Goal == nil:
		return ""
	case f.HigherIsBetter && *f.Goal != 0:
		return fmt.Sprintf("%.2f", f.Measured / *f.Goal)
	case !f.HigherIsBetter && f.Measured > 0:
		return fmt.Sprintf("%.2f", *f.Goal/f.Measured)
	default:
		return "1.00"
	}
}
