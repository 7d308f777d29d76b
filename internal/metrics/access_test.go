// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package metrics_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/go-logr/logr"
	"github.com/go-logr/logr/funcr"
	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"

	"platformapp/internal/metrics"
)

// The tokens that the API server of these tests knows, and one that nobody has.
const (
	readersToken   = "token-of-a-reader"
	strangersToken = "token-of-a-stranger"
	lostToken      = "token-of-one-who-cannot-be-judged"
	nobodysToken   = "token-of-nobody"
	unreviewed     = "token-that-cannot-be-reviewed"
)

// apiServer knows the tokens, and lets the reader get /metrics. It returns a client's configuration, and what tells how
// often it was asked who somebody is.
func apiServer(t *testing.T) (config *rest.Config, asked func() int) {
	t.Helper()
	var mu sync.Mutex
	reviews := 0
	answer := func(w http.ResponseWriter, code int, object any) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(code)
		if err := json.NewEncoder(w).Encode(object); err != nil {
			t.Error(err)
		}
	}
	forbidden := metav1.Status{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Status"}, Status: metav1.StatusFailure, Reason: metav1.StatusReasonForbidden, Code: http.StatusForbidden,
	}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /apis/authentication.k8s.io/v1/tokenreviews", func(w http.ResponseWriter, request *http.Request) {
		mu.Lock()
		reviews++
		mu.Unlock()
		var review authenticationv1.TokenReview
		if err := json.NewDecoder(request.Body).Decode(&review); err != nil {
			t.Error(err)
		}
		switch name, known := strings.CutPrefix(review.Spec.Token, "token-of-a-"); {
		case review.Spec.Token == unreviewed:
			answer(w, http.StatusForbidden, forbidden)
			return
		case known:
			review.Status = authenticationv1.TokenReviewStatus{Authenticated: true, User: authenticationv1.UserInfo{Username: name}}
		case review.Spec.Token == lostToken:
			review.Status = authenticationv1.TokenReviewStatus{Authenticated: true, User: authenticationv1.UserInfo{Username: "lost"}}
		default:
			review.Status.Error = "[invalid bearer token, token lookup failed]"
		}
		answer(w, http.StatusCreated, review)
	})
	mux.HandleFunc("POST /apis/authorization.k8s.io/v1/subjectaccessreviews", func(w http.ResponseWriter, request *http.Request) {
		var review authorizationv1.SubjectAccessReview
		if err := json.NewDecoder(request.Body).Decode(&review); err != nil {
			t.Error(err)
		}
		if review.Spec.User == "lost" {
			answer(w, http.StatusForbidden, forbidden)
			return
		}
		want := authorizationv1.NonResourceAttributes{Path: "/metrics", Verb: "get"}
		review.Status.Allowed = review.Spec.User == "reader" && review.Spec.NonResourceAttributes != nil && *review.Spec.NonResourceAttributes == want
		answer(w, http.StatusCreated, review)
	})
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	config = &rest.Config{Host: server.URL, QPS: -1, ContentConfig: rest.ContentConfig{ContentType: "application/json"}}
	return config, func() int {
		mu.Lock()
		defer mu.Unlock()
		return reviews
	}
}

// protected returns what serves "metrics" to whom the API server lets in, and what returns its log.
func protected(t *testing.T, config *rest.Config, verbosity int) (served http.Handler, written func() string) {
	t.Helper()
	client, err := rest.HTTPClientFor(config)
	if err != nil {
		t.Fatal(err)
	}
	filter, err := metrics.Restricted(config, client)
	if err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex
	var out strings.Builder
	log := funcr.New(func(prefix, args string) {
		mu.Lock()
		defer mu.Unlock()
		out.WriteString(prefix + args + "\n")
	}, funcr.Options{Verbosity: verbosity})
	served, err = filter(log, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("metrics")) }))
	if err != nil {
		t.Fatal(err)
	}
	return served, func() string {
		mu.Lock()
		defer mu.Unlock()
		return out.String()
	}
}

// S10
func TestMetricsAreServedToWhomTheAPIServerLetsIn(t *testing.T) {
	config, _ := apiServer(t)
	served, written := protected(t, config, 10)
	for _, test := range []struct {
		name, method, path, authorization string
		want                              int
	}{
		{"nobody", "GET", "/metrics", "", http.StatusUnauthorized},
		{"an empty token", "GET", "/metrics", "Bearer ", http.StatusUnauthorized},
		{"a token that nobody has", "GET", "/metrics", "Bearer " + nobodysToken, http.StatusUnauthorized},
		{"a password", "GET", "/metrics", "Basic cmVhZGVyOnJlYWRlcg==", http.StatusUnauthorized},
		{"a token that the API server does not review", "GET", "/metrics", "Bearer " + unreviewed, http.StatusUnauthorized},
		{"one without a right", "GET", "/metrics", "Bearer " + strangersToken, http.StatusForbidden},
		{"one of whose rights the API server does not tell", "GET", "/metrics", "Bearer " + lostToken, http.StatusInternalServerError},
		{"who may read, and writes", "POST", "/metrics", "Bearer " + readersToken, http.StatusForbidden},
		{"who may read, elsewhere", "GET", "/debug", "Bearer " + readersToken, http.StatusForbidden},
		{"who may read", "GET", "/metrics", "Bearer " + readersToken, http.StatusOK},
	} {
		t.Run(test.name, func(t *testing.T) {
			request := httptest.NewRequestWithContext(t.Context(), test.method, test.path, http.NoBody)
			request.Header.Set("Authorization", test.authorization)
			answer := httptest.NewRecorder()
			served.ServeHTTP(answer, request)
			if answer.Code != test.want {
				t.Errorf("the answer is %d %q, want %d", answer.Code, answer.Body, test.want)
			}
			if got := strings.Contains(answer.Body.String(), "metrics"); got != (test.want == http.StatusOK) {
				t.Errorf("the answer %d says %q", answer.Code, answer.Body)
			}
		})
	}
	for _, token := range []string{readersToken, strangersToken, lostToken, nobodysToken, unreviewed} {
		if strings.Contains(written(), token) {
			t.Errorf("a token is in the log:\n%s", written())
		}
	}
}

// Whoever reaches the port can send tokens that nobody has, as many as they like.
func TestInvalidTokensFillNoLog(t *testing.T) {
	config, asked := apiServer(t)
	served, written := protected(t, config, 0)
	for range 20 {
		request := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/metrics", http.NoBody)
		request.Header.Set("Authorization", "Bearer "+nobodysToken)
		served.ServeHTTP(httptest.NewRecorder(), request)
	}
	if written() != "" {
		t.Errorf("the log has:\n%s", written())
	}
	if asked() == 0 {
		t.Error("the API server was not asked: this test sees nothing")
	}
}

// A configuration that no client can be made of is told, not served without a filter.
func TestRestrictedNeedsAnAPIServer(t *testing.T) {
	if filter, err := metrics.Restricted(&rest.Config{Host: "http://a b"}, http.DefaultClient); err == nil {
		t.Errorf("it gives the filter %v", filter)
		_, _ = filter(logr.Discard(), http.NotFoundHandler())
	}
}
