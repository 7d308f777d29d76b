// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package fault

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
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

// lateWrites is how many more writes there may be when the operator learns late of what it did itself and of what others do:
// status writes that its pace makes of counts it saw one by one, and applies that were decided on what is no more.
const lateWrites = 6

// lateReasons are what the status may tell in the middle: pods seen late are taken for pods that do not serve.
var lateReasons = []string{appstatus.ReasonRollingOut, appstatus.ReasonPodsNotReady}

// watchFaults are all kinds of fault that the watches of one resource, given by the key of its requests, may meet.
func watchFaults(key string) []Fault {
	matches := proxy.Matches(key)
	name := target{key: key}.resource()
	effect := Effect{
		Logs: []string{"too old resource version", "Expired", injected}, Reasons: lateReasons, Writes: lateWrites,
		Delay: 2 * frozen, Blind: frozen + time.Second,
	}
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
			return armed{
				fired: func() bool { return kept > 0 }, pending: never, release: resuming(s, letGo),
				before: func(context.Context) { hold = s.Proxy.FreezeWatches(matches) },
				after:  func(ctx context.Context) { pause(ctx, frozen); letGo() },
			}
		}
	}
	return []Fault{
		{Class: "watch frozen", Name: "frozen/" + name, Effect: effect, arm: freeze((*proxy.Hold).Release)},
		{Class: "events missed", Name: "missed/" + name, Effect: effect, arm: freeze((*proxy.Hold).Drop)},
		{Class: "watch delayed", Name: "delayed/" + name, Effect: effect, arm: func(s *Stage) armed {
			rule := s.Proxy.DelayWatches(matches, delay)
			return armed{fired: func() bool { return rule.Fired() > 0 }, pending: never, release: resuming(s, rule.Remove)}
		}},
	}
}

// allWatchFaults are all kinds of fault that all watches may meet at once. The seed shuffles.
func allWatchFaults(keys []string, seed uint64) []Fault {
	effect := Effect{
		Logs: append([]string{"watch"}, broken...), Reasons: lateReasons, Writes: lateWrites, Turns: 2 * len(keys),
		Delay: 15 * time.Second, Blind: delay + time.Second,
	}
	cut := effect
	cut.Requests = watchedKinds + 1 // Each kind is watched again, and what is not told is asked for.
	return []Fault{
		{Class: "watches cut each second", Name: "cut/all", Effect: cut, arm: cutEachSecond},
		{Class: "events repeated", Name: "repeated/all", Effect: effect, arm: func(s *Stage) armed {
			rule := s.Proxy.DuplicateWatches(proxy.Any, copies)
			return armed{fired: func() bool { return rule.Fired() > 0 }, pending: never, release: resuming(s, rule.Remove)}
		}},
		{Class: "events shuffled", Name: "shuffled/all", Effect: effect, arm: func(s *Stage) armed {
			random := rand.New(rand.NewPCG(seed, uint64(len(keys))))
			var rules []*proxy.WatchRule
			for _, key := range keys {
				rules = append(rules, s.Proxy.DelayWatches(proxy.Matches(key), time.Duration(random.Int64N(int64(delay)))))
			}
			return armed{
				fired:   func() bool { return slices.ContainsFunc(rules, func(r *proxy.WatchRule) bool { return r.Fired() > 0 }) },
				pending: never,
				release: resuming(s, func() {
					for _, rule := range rules {
						rule.Remove()
					}
				}),
			}
		}},
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
	return armed{
		fired:   func() bool { return watches.Load() > 0 },
		pending: never,
		release: resuming(s, stop),
		wrong:   func() []string { return relists(s.Proxy.RequestsSince(begin), int(times.Load())+2) },
	}
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

// resuming returns how a fault of watches ends: by end, and by waiting until the operator watches as much as it does now.
func resuming(s *Stage, end func()) func() {
	watched := len(s.Proxy.Watching(proxy.Any))
	return func() {
		end()
		resume(s, watched)
	}
}

// resume waits until the operator watches as much as it did, and has stopped to ask for what no watch has told it.
func resume(s *Stage, watched int) {
	ctx, cancel := context.WithTimeout(context.Background(), convergence)
	defer cancel()
	isLive := func(q proxy.Request) bool { return q.Verb == "get" }
	for begin := s.Proxy.Count(); pause(ctx, time.Second); {
		next := s.Proxy.Count()
		if len(s.Proxy.Watching(proxy.Any)) >= watched && !slices.ContainsFunc(s.Proxy.RequestsSince(begin), isLive) {
			return
		}
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
