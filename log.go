// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"
)

// newLogger returns the operator's log.
func newLogger(o *zap.Options) logr.Logger {
	logger := zap.New(zap.UseFlagOptions(o))
	return logger.WithSink(withoutExpected(logger.GetSink()))
}

// contentVerbosity is from where on client-go logs the bodies of requests and answers, whatever
// they hold: variables of applications, ConfigMaps. Nothing of that verbosity is written.
const contentVerbosity = 8

// expectedSink keeps the log to what may be told there and to what it should be told as. It
// tells an error that is none as information: isExpected.
type expectedSink struct{ logr.LogSink }

// isExpected tells whether an error leaves nothing to do for anybody. In a namespace that is
// being deleted nothing can be written any more, an event neither: the namespace takes all
// with it. And a request whose context was cancelled was asked to end, as all are when the
// operator is; one that took too long ends by another error.
func isExpected(err error) bool {
	return apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause) || errors.Is(err, context.Canceled)
}

func withoutExpected(sink logr.LogSink) logr.LogSink {
	if adjusted, ok := sink.(logr.CallDepthLogSink); ok {
		sink = adjusted.WithCallDepth(1)
	}
	return expectedSink{sink}
}

// Enabled tells whether what has the verbosity is written.
func (s expectedSink) Enabled(verbosity int) bool {
	return verbosity < contentVerbosity && s.LogSink.Enabled(verbosity)
}

// Error tells an error.
func (s expectedSink) Error(err error, message string, keysAndValues ...any) {
	if !isExpected(err) {
		s.LogSink.Error(err, message, keysAndValues...)
		return
	}
	if s.Enabled(0) {
		s.Info(0, message, append([]any{"reason", err.Error()}, keysAndValues...)...)
	}
}

// WithValues returns the sink with more values.
func (s expectedSink) WithValues(keysAndValues ...any) logr.LogSink {
	return expectedSink{s.LogSink.WithValues(keysAndValues...)}
}

// WithName returns the sink with one more name.
func (s expectedSink) WithName(name string) logr.LogSink {
	return expectedSink{s.LogSink.WithName(name)}
}

// WithCallDepth returns the sink for a caller that far up.
func (s expectedSink) WithCallDepth(depth int) logr.LogSink {
	if adjusted, ok := s.LogSink.(logr.CallDepthLogSink); ok {
		return expectedSink{adjusted.WithCallDepth(depth)}
	}
	return s
}
