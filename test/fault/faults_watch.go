// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package fault

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"slices"
	"sync/atomic"
	"time"

	"platformapp/api/appstatus"
	"platformapp/test/fault/proxy"
)

const (
	// frozen is how long after each step a frozen watch tells nothing of it, delay how late a delayed one tells it.
	frozen = 3 * time.Second
	delay  = 2 * time.Second
	// cuts is the time between two cuts of all watches.
	cuts = time.Second
	// watchedKinds is how many kinds the operator watches.
	watchedKinds = 16
	// copies is how often an event is told that repeats itself.
	copies = 10
)

// failedWatch is what client-go says of a watch that ended otherwise than by its time.
const failedWatch = `"msg":"Failed to watch"`

// lateReasons are what the status may tell in the middle: pods seen late are taken for pods that do not serve.
var lateReasons = []string{appstatus.ReasonRollingOut, appstatus.ReasonPodsNotReady}

// effectOfWatch is what the watches of one resource may lead to when they tell late.
var effectOfWatch = Effect{
	Reasons: lateReasons,
	Delay:   2 * frozen, Blind: frozen + time.Second,
}

// holdFaults are the kinds of fault that keep the watches of one resource, given by the key of its requests, from telling
// anything while a step is done.
func holdFaults(key string) []Fault {
	matches := proxy.Matches(key)
	name := target{key: key}.resource()
	freeze := func(end func(*proxy.Hold)) func(*Stage) armed {
		return func(s *Stage) armed {
			var hold *proxy.Hold
			kept := 0
			letGo := func() {
				if hold != nil {
					kept += hold.Kept()
					end(hold)
					hold = nil
				}
			}
			return resuming(s, armed{
				fired: func() bool { return kept > 0 }, pending: never,
				before: func(context.Context) { hold = s.Proxy.FreezeWatches(matches) },
				after:  func(ctx context.Context) { pause(ctx, frozen); letGo() },
			}, letGo)
		}
	}
	return []Fault{
		{Class: "watch frozen", Name: "frozen/" + name, Effect: effectOfWatch, arm: freeze((*proxy.Hold).Release)},
		{Class: "events missed", Name: "missed/" + name, Effect: effectOfWatch, arm: freeze((*proxy.Hold).Drop)},
	}
}

// delayFault is that of the watches of one resource which tell everything late.
func delayFault(key string) Fault {
	return Fault{Class: "watch delayed", Name: "delayed/" + target{key: key}.resource(), Effect: effectOfWatch, arm: func(s *Stage) armed {
		rule := s.Proxy.DelayWatches(proxy.Matches(key), delay)
		return resuming(s, armed{fired: func() bool { return rule.Fired() > 0 }, pending: never}, rule.Remove)
	}}
}

// allWatchFaults are all kinds of fault that all watches may meet at once. The seed shuffles.
func allWatchFaults(keys []string, seed uint64) []Fault {
	effect := Effect{
		Reasons: lateReasons, Turns: 2 * len(keys),
		Delay: 15 * time.Second, Blind: delay + time.Second,
	}
	cut := effect
	cut.Logs = append([]string{failedWatch}, broken...)
	cut.Requests = watchedKinds + 1 // Each kind is watched again, and what is not told is asked for.
	faults := []Fault{
		{Class: "watches cut each second", Name: "cut/all", Effect: cut, arm: cutEachSecond},
		{Class: "events repeated", Name: "repeated/all", Effect: effect, arm: func(s *Stage) armed {
			rule := s.Proxy.DuplicateWatches(proxy.Any, copies)
			return resuming(s, armed{fired: func() bool { return rule.Fired() > 0 }, pending: never}, rule.Remove)
		}},
		{Class: "events shuffled", Name: "shuffled/all", Effect: effect, arm: func(s *Stage) armed {
			random := rand.New(rand.NewPCG(seed, uint64(len(keys))))
			var rules []*proxy.WatchRule
			for _, key := range keys {
				rules = append(rules, s.Proxy.DelayWatches(proxy.Matches(key), time.Duration(random.Int64N(int64(delay)))))
			}
			isFired := func(r *proxy.WatchRule) bool { return r.Fired() > 0 }
			return resuming(s, armed{fired: func() bool { return slices.ContainsFunc(rules, isFired) }, pending: never}, func() {
				for _, rule := range rules {
					rule.Remove()
				}
			})
		}},
	}
	for _, code := range []int{http.StatusForbidden, http.StatusTooManyRequests, http.StatusInternalServerError} {
		faults = append(faults, reopenFault(code, effect))
	}
	return faults
}

// reopenFault is that of watches which are cut, all at once, and which the API server does not open again at the first try.
func reopenFault(code int, effect Effect) Fault {
	effect.Logs, effect.Delay = append([]string{failedWatch, injected}, broken...), startDelay
	effect.Blind = startDelay
	return Fault{
		Class: fmt.Sprintf("watches opened again: %d", code), Name: fmt.Sprintf("reopened-%d/all", code), Effect: effect,
		arm: func(s *Stage) armed {
			var injections []*proxy.Injection
			for _, q := range s.Proxy.Watching(proxy.Any) {
				injections = append(injections, s.Proxy.Inject(proxy.Fault{Match: proxy.Matches(q.Key()), Action: answer(code, q.Key())}))
			}
			isPending := func(i *proxy.Injection) bool { return i.Fired() == 0 }
			a := resuming(s, armed{
				fired: func() bool { return !slices.ContainsFunc(injections, isPending) }, pending: never,
			}, func() {
				for _, injection := range injections {
					injection.Remove()
				}
			})
			s.Proxy.CutWatches(proxy.Any)
			return a
		},
	}
}

// cutEachSecond breaks the connections of all watches again and again.
func cutEachSecond(s *Stage) armed {
	ctx, stop := context.WithCancel(context.Background())
	begin := s.Proxy.Count()
	var times, watches atomic.Int64
	go func() {
		for pause(ctx, cuts) {
			times.Add(1)
			watches.Add(int64(s.Proxy.CutWatches(proxy.Any)))
		}
	}()
	return resuming(s, armed{
		fired:   func() bool { return watches.Load() > 0 },
		pending: never,
		wrong:   func() []string { return relists(s.Proxy.RequestsSince(begin), int(times.Load())+2) },
	}, stop)
}

// relists returns of which resources more lists are asked for than so many: a watch that was cut goes on where it was.
func relists(requests []proxy.Request, most int) []string {
	var found []string
	lists := map[string]int{}
	for _, q := range requests {
		if q.IsList() {
			lists[q.Resource]++
		}
	}
	for _, resource := range slices.Sorted(maps.Keys(lists)) {
		if n := lists[resource]; n > most {
			found = append(found, fmt.Sprintf("%d lists of %s, at most %d", n, resource, most))
		}
	}
	return found
}

// resumption is how a fault of watches ends: by end, and by waiting until the operator watches as much as before it.
type resumption struct {
	stage   *Stage
	watched int
	end     func()
	// failures are why the operator did not get so far.
	failures []string
}

// resuming makes an armed fault of watches end as a resumption does. Watches that do not come back are what it sees to be wrong.
func resuming(s *Stage, a armed, end func()) armed {
	r := &resumption{stage: s, watched: len(s.Proxy.Watching(proxy.Any)), end: end}
	wrong := a.wrong
	a.release = r.release
	a.wrong = func() []string {
		if wrong == nil {
			return r.failures
		}
		return append(wrong(), r.failures...)
	}
	return a
}

// release ends the fault and waits until the operator watches as much as it did, and has stopped to ask for what no watch has
// told it.
func (r *resumption) release() {
	r.end()
	ctx, cancel := context.WithTimeout(context.Background(), convergence)
	defer cancel()
	for begin := r.stage.Proxy.Count(); pause(ctx, time.Second); {
		next := r.stage.Proxy.Count()
		live := slices.DeleteFunc(r.stage.Proxy.RequestsSince(begin), func(q proxy.Request) bool { return q.Verb != "get" })
		open := len(r.stage.Proxy.Watching(proxy.Any))
		if open >= r.watched && len(live) == 0 {
			r.failures = nil
			return
		}
		r.failures = []string{fmt.Sprintf("%s after the fault there are %d watches, %d before it, and %d objects are asked for",
			convergence, open, r.watched, len(live))}
		begin = next
	}
}

// pause waits for the time d, which is a fault's, and tells whether the context goes on.
func pause(ctx context.Context, d time.Duration) bool {
	select {
	case <-ctx.Done():
		return false
	case <-time.After(d):
		return true
	}
}
