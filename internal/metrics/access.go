// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package metrics

import (
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/apiserver/pkg/apis/apiserver"
	"k8s.io/apiserver/pkg/authentication/authenticator"
	"k8s.io/apiserver/pkg/authentication/authenticatorfactory"
	"k8s.io/apiserver/pkg/authorization/authorizer"
	"k8s.io/apiserver/pkg/authorization/authorizerfactory"
	authenticationv1 "k8s.io/client-go/kubernetes/typed/authentication/v1"
	authorizationv1 "k8s.io/client-go/kubernetes/typed/authorization/v1"
	"k8s.io/client-go/rest"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
)

const (
	// reviewTimeout is how long the API server may take to say who a caller is.
	reviewTimeout = 10 * time.Second
	// The API server's answers are remembered: who has a token, that a caller is let in, and
	// that one is not, which a role given in the meantime changes.
	tokenTTL, allowTTL, denyTTL = time.Minute, 5 * time.Minute, 30 * time.Second
)

// reviewBackoff paces the questions to an API server that fails, as API servers themselves
// pace those to their webhooks.
var reviewBackoff = wait.Backoff{Duration: 500 * time.Millisecond, Factor: 1.5, Jitter: 0.2, Steps: 5}

// Restricted returns the filter that serves the metrics to those alone whom the API server
// knows by their token and lets "get" the path: it asks by TokenReview and by
// SubjectAccessReview, through the client.
//
// It differs from filters.WithAuthenticationAndAuthorization of controller-runtime in the
// answer to a token that nobody has: that one takes it for a failure of its own, answers 500
// and logs an error, so that whoever reaches the port fills the log. Here it is 401, as API
// servers answer, and the API server's reason is a detail of the log.
func Restricted(config *rest.Config, client *http.Client) (metricsserver.Filter, error) {
	tokenReviews, err := authenticationv1.NewForConfigAndClient(config, client)
	if err != nil {
		return nil, err
	}
	accessReviews, err := authorizationv1.NewForConfigAndClient(config, client)
	if err != nil {
		return nil, err
	}
	authentication, _, err := authenticatorfactory.DelegatingAuthenticatorConfig{
		Anonymous:                &apiserver.AnonymousAuthConfig{Enabled: false},
		CacheTTL:                 tokenTTL,
		TokenAccessReviewClient:  tokenReviews,
		TokenAccessReviewTimeout: reviewTimeout,
		WebhookRetryBackoff:      &reviewBackoff,
	}.New()
	if err != nil {
		return nil, fmt.Errorf("authenticate the callers of the metrics: %w", err)
	}
	authorization, err := authorizerfactory.DelegatingAuthorizerConfig{
		SubjectAccessReviewClient: accessReviews,
		AllowCacheTTL:             allowTTL,
		DenyCacheTTL:              denyTTL,
		WebhookRetryBackoff:       &reviewBackoff,
	}.New()
	if err != nil {
		return nil, fmt.Errorf("authorize the callers of the metrics: %w", err)
	}
	return func(log logr.Logger, served http.Handler) (http.Handler, error) {
		return &restricted{log: log, authentication: authentication, authorization: authorization, served: served}, nil
	}, nil
}

// restricted serves what it is given to callers who are let in.
type restricted struct {
	log            logr.Logger
	authentication authenticator.Request
	authorization  authorizer.Authorizer
	served         http.Handler
}

// ServeHTTP answers 401 when it does not know who the caller is, 403 to whom the cluster does
// not let in, and 500 when the API server does not say whether it does. A token that the API
// server knows not and one that it fails to review come as one error: both are 401.
func (r *restricted) ServeHTTP(w http.ResponseWriter, request *http.Request) {
	caller, known, err := r.authentication.AuthenticateRequest(request)
	if err != nil || !known {
		// That the API server cannot be asked is logged where it is asked.
		r.log.V(1).Info("the caller is not authenticated", "reason", fmt.Sprint(err))
		http.Error(w, "Unauthorized", http.StatusUnauthorized)
		return
	}
	decision, reason, err := r.authorization.Authorize(request.Context(), authorizer.AttributesRecord{
		User: caller.User, Verb: strings.ToLower(request.Method), Path: request.URL.Path,
	})
	switch {
	case err != nil:
		r.log.Error(err, "it is not known whether the caller may read the metrics", "caller", caller.User.GetName())
		http.Error(w, "Internal Server Error", http.StatusInternalServerError)
	case decision != authorizer.DecisionAllow:
		r.log.V(1).Info("the caller may not read the metrics", "caller", caller.User.GetName(), "reason", reason)
		http.Error(w, "Forbidden", http.StatusForbidden)
	default:
		r.served.ServeHTTP(w, request)
	}
}
