// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"
)

// newLogger returns the operator's log.
func newLogger(o *zap.Options) logr.Logger {
	logger := zap.New(zap.UseFlagOptions(o))
	return logger.WithSink(withoutTermination(logger.GetSink()))
}

// terminationSink tells an error as information when it says that a namespace is being
// deleted. Nothing can be written there any more, an event neither, and there is nothing
// for anybody to do: the namespace takes all with it.
type terminationSink struct{ logr.LogSink }

func withoutTermination(sink logr.LogSink) logr.LogSink {
	if adjusted, ok := sink.(logr.CallDepthLogSink); ok {
		sink = adjusted.WithCallDepth(1)
	}
	return terminationSink{sink}
}

// Error tells an error.
func (s terminationSink) Error(err error, message string, keysAndValues ...any) {
	if !apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause) {
		s.LogSink.Error(err, message, keysAndValues...)
		return
	}
	if s.Enabled(0) {
		s.Info(0, message, append([]any{"reason", err.Error()}, keysAndValues...)...)
	}
}

// WithValues returns the sink with more values.
func (s terminationSink) WithValues(keysAndValues ...any) logr.LogSink {
	return terminationSink{s.LogSink.WithValues(keysAndValues...)}
}

// WithName returns the sink with one more name.
func (s terminationSink) WithName(name string) logr.LogSink {
	return terminationSink{s.LogSink.WithName(name)}
}

// WithCallDepth returns the sink for a caller that far up.
func (s terminationSink) WithCallDepth(depth int) logr.LogSink {
	if adjusted, ok := s.LogSink.(logr.CallDepthLogSink); ok {
		return terminationSink{adjusted.WithCallDepth(depth)}
	}
	return s
}
