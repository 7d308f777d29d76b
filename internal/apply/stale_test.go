// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package apply_test

import (
	"slices"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
)

// An operator that is started, or takes over, on an API server that is behind in time sees what the application was asked to
// be before, and its children as they were then.
func TestTheFirstWriteOfAProcessIsOfWhatItHasSeen(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.settle()
	past := s.observe()
	s.w.Container.Image = "registry.example.com/orders:3"
	s.settle()
	version := s.deployment().ResourceVersion

	s.restart()
	s.w.Container.Image = "registry.example.com/orders:2"
	applied, err := s.turnOn(past)
	if err == nil || applied.Failure != nil || !strings.Contains(err.Error(), "modified") {
		t.Errorf("the turn ends with %v, %v; want a conflict that nobody is told of", err, applied.Failure)
	}
	if want := []string{"Deployment " + past.Deployment().ResourceVersion}; !slices.Equal(s.ended, want) {
		t.Errorf("the next look is to wait for the end of %v, want of %v", s.ended, want)
	}
	if got := s.deployment(); got.ResourceVersion != version {
		t.Errorf("the Deployment was written: it runs %s", got.Spec.Template.Spec.Containers[0].Image)
	}
	// Its time goes on.
	s.w.Container.Image = "registry.example.com/orders:3"
	s.settle()
	if got := s.deployment(); got.ResourceVersion != version {
		t.Error("the Deployment was written once the present was seen")
	}
}

// What others write to a child all the time does not keep a process from its next writes.
func TestTheNextWritesOfAProcessAreNotInTheWayOfOthers(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.settle()
	s.restart()
	s.w.Container.Image = "registry.example.com/orders:2"
	s.settle()
	seen := s.observe()
	edit(s, "Deployment", func(d *appsv1.Deployment) { d.Annotations["example.com/storm"] = "1" })
	s.w.Container.Image = "registry.example.com/orders:3"
	if _, err := s.turnOn(seen); err != nil {
		t.Error(err)
	}
	if got := s.deployment().Spec.Template.Spec.Containers[0].Image; got != s.w.Container.Image {
		t.Errorf("the Deployment runs %s", got)
	}
}
