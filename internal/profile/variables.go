// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package profile

import (
	"strconv"

	corev1 "k8s.io/api/core/v1"
)

const mebibyte = 1 << 20

// Variable is an environment variable that a runtime reads.
type Variable struct {
	Name string
	// Meaning says for people what the value is and what for.
	Meaning string
	// Documentation of the runtime is where the variable is described.
	Documentation string
	// value follows the limits of the container; empty leaves the variable out.
	value func(limits corev1.ResourceList) string
}

// The variables of the runtimes. A value that follows the limit of memory is left out, or
// is the least, where there is no limit: what a node has is not for one pod.
var (
	goMemoryLimit = Variable{
		Name:          "GOMEMLIMIT",
		Meaning:       "nine tenths of the memory limit: near it the garbage collector works harder, before the kernel ends the process",
		Documentation: "https://go.dev/doc/gc-guide#Memory_limit",
		value:         goMemoryLimitValue,
	}
	// Every JVM reads it before its command line
	// (https://docs.oracle.com/en/java/javase/21/troubleshoot/environment-variables-and-system-properties.html).
	// The page below has MaxRAMPercentage, of the limit since the JVM knows containers; the
	// exit came with 8u92 (https://www.oracle.com/java/technologies/javase/8u92-relnotes.html).
	javaToolOptions = Variable{
		Name:          "JAVA_TOOL_OPTIONS",
		Meaning:       "the heap gets three quarters of the memory limit, or half of a limit below 1Gi, since what the JVM needs beside the heap does not shrink with it; the process ends when the heap is used up, so that the pod is restarted rather than half alive. Options on the command line win",
		Documentation: "https://docs.oracle.com/en/java/javase/21/docs/specs/man/java.html",
		value:         javaToolOptionsValue,
	}
	pythonUnbuffered = Variable{
		Name:          "PYTHONUNBUFFERED",
		Meaning:       "what the application prints is in the log at once, also the last words before a crash",
		Documentation: "https://docs.python.org/3/using/cmdline.html#envvar-PYTHONUNBUFFERED",
		value:         func(corev1.ResourceList) string { return "1" },
	}
	// Left to themselves, images count the cpus of the node. The documentation's rule is two
	// to four workers for each cpu.
	webConcurrency = Variable{
		Name:          "WEB_CONCURRENCY",
		Meaning:       "the number of workers of a web server such as gunicorn: one for each 256Mi of the memory limit, at most two for each limited cpu and one more, or 4 without a limit of cpu",
		Documentation: "https://docs.gunicorn.org/en/stable/settings.html#workers",
		value:         webConcurrencyValue,
	}
)

func goMemoryLimitValue(limits corev1.ResourceList) string {
	limit := limits.Memory().Value() / 10 * 9 / mebibyte
	if limit < 1 {
		return ""
	}
	return strconv.FormatInt(limit, 10) + "MiB"
}

func javaToolOptionsValue(limits corev1.ResourceList) string {
	const exit = "-XX:+ExitOnOutOfMemoryError"
	switch limit := limits.Memory().Value(); {
	case limit == 0:
		return exit
	case limit < 1024*mebibyte:
		return "-XX:MaxRAMPercentage=50.0 " + exit
	default:
		return "-XX:MaxRAMPercentage=75.0 " + exit
	}
}

func webConcurrencyValue(limits corev1.ResourceList) string {
	const unlimitedCPU = 4
	byCPU := int64(unlimitedCPU)
	if cpu, ok := limits[corev1.ResourceCPU]; ok {
		// Value rounds up, so that a part of a cpu counts as one.
		byCPU = min(cpu.Value(), 1<<16)*2 + 1
	}
	byMemory := limits.Memory().Value() / (256 * mebibyte)
	return strconv.FormatInt(max(min(byMemory, byCPU), 1), 10)
}
