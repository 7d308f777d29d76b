// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package fault

import "context"

// Scenario is what happens to an application without any fault.
type Scenario struct {
	// Kind is the kind of application that it is about: EGApp or DemoMicroService.
	Kind string
	// Name tells what happens, in a word or two without blanks.
	Name string
	// Before are steps that lead to where the scenario begins; no fault is injected in them.
	Before []Step
	// Steps are what faults are injected into.
	Steps []Step
	// Collects tells that the garbage collector has a part: an application is deleted.
	Collects bool
	// Races tells that it depends on the control plane's pace whether pods are rolled out on the way: others change the pods'
	// template or their number, and the operator changes it back.
	Races bool
	// Rechecks tells that the scenario ends with something that the operator tries again from time to time.
	Rechecks bool
	// Uses are what the steps themselves do with requests of the operator, or wait for it to tell, while they are done: the
	// names of those requests, such as apply-deployments-1, and the keys of the watches that it learns by. Faults leave the
	// former alone, and hold back none of the latter while a step is done, which would wait for it.
	Uses []string
	// TakenNames is how many children cannot be made because somebody else has their names: each turn tries it again.
	TakenNames int
}

// String is the beginning of the names of the scenario's plans.
func (s Scenario) String() string { return s.Kind + "/" + s.Name }

// Step is one thing that somebody does, and what has to come of it.
type Step struct {
	// Name tells what is done.
	Name string
	// Do does it. It returns when the history has reached what it did. A [wrongdoing] is the operator's, all other errors tell
	// nothing of it.
	Do func(context.Context, *Stage) error
	// Holds fails until what is done has been carried out. It is asked in the reference run and in each plan, so that a
	// reference run that ends in the wrong state is noticed too.
	Holds func(View) error
	// Restores tells that the state after the step has to be the one before it: others have changed what is the operator's.
	Restores bool
}

// wrongdoing is an error of a step that the operator is to blame for.
type wrongdoing struct{ error }

// restores returns the steps with Restores set.
func restores(steps ...Step) []Step {
	for i := range steps {
		steps[i].Restores = true
	}
	return steps
}

// steps returns all steps, those before the faults first.
func (s Scenario) steps() []Step { return append(append([]Step{}, s.Before...), s.Steps...) }

// Scenarios returns all scenarios.
func Scenarios() []Scenario {
	var all []Scenario
	for _, some := range [][]Scenario{
		lifeOfEGApp(), featuresOfEGApp(), lifeOfDemoMicroService(), troubleOfEGApp(),
		drift(egappSubject), drift(demoMicroServiceSubject), ownership(egappSubject), ownership(demoMicroServiceSubject),
		operation(egappSubject), operation(demoMicroServiceSubject), others(egappSubject), others(demoMicroServiceSubject), othersOfEGApp(),
	} {
		all = append(all, some...)
	}
	return all
}
