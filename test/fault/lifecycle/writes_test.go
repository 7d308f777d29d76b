// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"net/http"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"platformapp/test/audit"
)

// requestsOf returns the requests of an account since a time that were answered before, in the order of their answers.
func (s *scene) requestsOf(a account, since time.Time) []audit.Request {
	s.Helper()
	return s.requestsBy(a.user(), since)
}

// requestsOfAll returns those of everybody.
func (s *scene) requestsOfAll(since time.Time) []audit.Request {
	s.Helper()
	return s.requestsBy("", since)
}

func (s *scene) requestsBy(user string, since time.Time) []audit.Request {
	s.Helper()
	if err := audit.Await(s.Context(), s.cluster.AuditLog(), s.clientset); err != nil {
		s.Fatal(err)
	}
	requests, err := audit.Read(s.cluster.AuditLog(), user)
	if err != nil {
		s.Fatal(err)
	}
	return audit.Since(requests, since)
}

// expectMadeOnce fails unless the operators made each child of the applications once, and deleted none.
func (s *scene) expectMadeOnce(apps []application, accounts ...account) {
	s.Helper()
	made := map[string]int{}
	for _, a := range accounts {
		for _, r := range s.requestsOf(a, time.Time{}) {
			switch {
			case r.Verb == "delete" || r.Verb == "deletecollection":
				s.Errorf("the operator deletes: %s", r)
			case r.Code == http.StatusCreated && r.IsWrite():
				made[r.Resource+" "+r.Name]++
			}
		}
	}
	for _, app := range apps {
		for _, resource := range s.kind.children {
			if n := made[resource+" "+app.GetName()]; n != 1 {
				s.Errorf("%s %s was made %d times", resource, app.GetName(), n)
			}
		}
	}
}

// expectGeneration fails unless the Deployments of the applications were made and changed so often in all.
func (s *scene) expectGeneration(apps []application, want int64) {
	s.Helper()
	for _, app := range apps {
		deployment := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: app.GetNamespace(), Name: app.GetName()}}
		s.get(deployment)
		if deployment.Generation != want {
			s.Errorf("the Deployment of %s has the generation %d, want %d: one for each change that was asked for",
				app.GetName(), deployment.Generation, want)
		}
	}
}
