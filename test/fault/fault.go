// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package fault

import (
	"context"
	"fmt"
	"strings"
	"time"

	"platformapp/test/fault/proxy"
)

// Fault is a disturbance of the operator while the steps of a scenario are played.
type Fault struct {
	// Class is the kind of fault as the table of results has it.
	Class string
	// Name tells the fault apart from all others of its scenario; it is the end of the plan's name.
	Name string
	// Effect is what it may lead to on the way.
	Effect Effect
	// arm makes it strike from now on.
	arm func(*Stage) armed
}

// Effect is what a fault may legitimately lead to on the way to the state that the reference ends in.
type Effect struct {
	// Logs are parts of the errors that the operator may log. Without them it may log none.
	Logs []string
	// Reasons are those that Ready=False may have beside the reasons of the reference.
	Reasons []string
	// Must is the reason that Ready=False has to have soon after each answer of the fault, unless the application is changed or
	// deleted before; empty for none.
	Must string
	// Struck are the keys of the requests that the fault strikes, Writes how many more of those than in the reference there may
	// be, and Others how many more of any other request to write.
	Struck         []string
	Writes, Others int
	// Requests is how many more requests there may be for each second that the steps take.
	Requests int
	// Turns is how many turns of the loop more there may be at rest: what was told late wakes it.
	Turns int
	// Ends is how often the operator may end by itself.
	Ends int
	// Replaced are the kinds of which the child may be created and deleted more often than in the reference: somebody else did
	// it.
	Replaced []string
	// Delay is how much longer than without a fault the way may take.
	Delay time.Duration
	// Blind is how long the operator may have seen nothing of what changed.
	Blind time.Duration
}

// armed is a fault in place.
type armed struct {
	// fired tells whether it has struck; a plan whose faults have not is not counted.
	fired func() bool
	// pending tells what has struck and is not over.
	pending func() bool
	// before and after are called around what each step does; they may be nil.
	before, after func(context.Context)
	// release ends it, so that the operator comes to rest; it may be nil.
	release func()
	// wrong returns what the fault itself saw the operator do and that it must not; it may be nil.
	wrong func() []string
}

// never is for a fault of which nothing is pending.
func never() bool { return false }

// target is a request of the reference run: the n-th of its kind.
type target struct {
	key     string
	ordinal int
}

// String is the target as part of a plan's name: apply-deployments-2.
func (t target) String() string {
	verb, _, isOfResource := strings.Cut(t.key, " ")
	if !isOfResource {
		return fmt.Sprintf("%s-%d", t.resource(), t.ordinal)
	}
	return fmt.Sprintf("%s-%s-%d", verb, t.resource(), t.ordinal)
}

// resource is what the target is asked of, without its group: deployments, egapps-status, and for a path its words.
func (t target) resource() string {
	_, resource, isOfResource := strings.Cut(t.key, " ")
	if !isOfResource {
		return strings.Trim(strings.ReplaceAll(t.key, "/", "-"), "-")
	}
	name, subresource, _ := strings.Cut(resource, "/")
	// The group follows the name, and a subresource the group.
	name, _, _ = strings.Cut(name, ".")
	if subresource != "" {
		name += "-" + subresource
	}
	return name
}

// strike makes the proxy do something to the target.
func (t target) strike(s *Stage, times int, action proxy.Action) armed {
	injection := s.Proxy.Inject(proxy.Fault{Match: proxy.Matches(t.key), Skip: t.ordinal - 1, Times: times, Action: action})
	return armed{
		fired: func() bool { return injection.Fired() >= times },
		pending: func() bool {
			if injection.Fired() == 0 {
				return false
			}
			select {
			case <-injection.Done():
				return false
			default:
				return true
			}
		},
		release: injection.Remove,
	}
}
