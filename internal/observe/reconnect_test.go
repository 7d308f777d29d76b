// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package observe

import (
	"context"
	"errors"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"platformapp/internal/resources"
)

var pods = schema.GroupResource{Resource: "pods"}

func TestAListIsBackWithinSecondsOfTheAPIServer(t *testing.T) {
	for outage, failure := range map[string]error{
		"refused":           syscall.ECONNREFUSED,
		"reset":             syscall.ECONNRESET,
		"internal error":    apierrors.NewInternalError(errors.New("etcdserver: no leader")),
		"unavailable":       apierrors.NewServiceUnavailable("starting"),
		"timeout":           apierrors.NewTimeoutError("etcd is slow", 1),
		"too many requests": apierrors.NewTooManyRequests("the storage is initializing", 1),
		"no right":          apierrors.NewForbidden(pods, "", errors.New(`User "x" cannot list resource "pods"`)),
		"no definition":     apierrors.NewNotFound(pods, ""),
		"no identity":       apierrors.NewUnauthorized("the API server starts"),
	} {
		t.Run(outage, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				back := time.Now().Add(2 * time.Minute)
				attempts := 0
				answer, err := reconnect(t.Context(), watched{kind: "pods"}, func() (string, error) {
					attempts++
					if time.Now().Before(back) {
						return "", failure
					}
					return "a list", nil
				})
				if answer != "a list" || err != nil {
					t.Fatalf("reconnect = %q, %v", answer, err)
				}
				if late := time.Since(back); late > 2*lastReconnect {
					t.Errorf("the list comes %s after the API server", late)
				}
				if attempts > 40 {
					t.Errorf("%d attempts in two minutes", attempts)
				}
			})
		})
	}
}

func TestWhatTheInformerHasToActOnIsNotTriedAgain(t *testing.T) {
	tooLarge := apierrors.NewTimeoutError("Too large resource version: 7, current: 6", 1)
	tooLarge.ErrStatus.Details.Causes = []metav1.StatusCause{{Type: metav1.CauseTypeResourceVersionTooLarge}}
	for name, failure := range map[string]error{
		"expired":       apierrors.NewResourceExpired("too old resource version"),
		"too large":     tooLarge,
		"gone":          apierrors.NewNotFound(pods, ""),
		"no watch list": apierrors.NewInvalid(schema.GroupKind{Kind: "ListOptions"}, "", nil),
		"no watch":      apierrors.NewMethodNotSupported(pods, "watch"),
	} {
		attempts := 0
		_, err := reconnect(t.Context(), watched{kind: "routes", mayGo: true}, func() (string, error) {
			attempts++
			return "", failure
		})
		if !errors.Is(err, failure) || attempts != 1 {
			t.Errorf("%s: %v after %d attempts", name, err, attempts)
		}
	}
}

func TestTheInformerIsToldOfALongOutage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		_, err := reconnect(t.Context(), watched{kind: "pods"}, func() (string, error) { return "", syscall.ECONNREFUSED })
		if !errors.Is(err, syscall.ECONNREFUSED) {
			t.Errorf("reconnect = %v", err)
		}
		// client-go's own delay begins anew after two minutes without an error.
		if took := time.Since(start); took < 2*time.Minute || took > 3*time.Minute {
			t.Errorf("it is told after %s", took)
		}
	})
}

func TestNobodyWaitsForTheAPIServerWhenTheInformerEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
		defer cancel()
		start := time.Now()
		if _, err := reconnect(ctx, watched{kind: "pods"}, func() (string, error) { return "", syscall.ECONNREFUSED }); err == nil {
			t.Error("reconnect gives an answer that nobody gave")
		}
		if took := time.Since(start); took != 3*time.Second {
			t.Errorf("it ends after %s", took)
		}
	})
}

func TestAKindIsCalledByItsName(t *testing.T) {
	for want, object := range map[string]runtime.Object{
		"ReplicaSet": ReplicaSetMetadata(), "ServiceAccount": ServiceAccountMetadata(), "Pod": &corev1.Pod{},
	} {
		if got := nameOf(object); got != want {
			t.Errorf("a %s is called %s", want, got)
		}
	}
	for _, kind := range resources.Kinds {
		if got := nameOf(kind.New()); got != kind.Name {
			t.Errorf("a %s is called %s", kind.Name, got)
		}
	}
}

func TestOnlyOptionalKindsMayGo(t *testing.T) {
	for _, kind := range resources.Kinds {
		if got := isOptional(kind.New()); got != kind.Optional {
			t.Errorf("%s counts as optional: %t", kind.Name, got)
		}
	}
	if isOptional(&corev1.Pod{}) || isOptional(ReplicaSetMetadata()) {
		t.Error("pods and ReplicaSets count as optional")
	}
}
