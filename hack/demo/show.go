// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// samplesTimeout bounds the samples' way to readiness.
const samplesTimeout = 2 * time.Minute

// waitForSamples waits until both samples are Ready, and fails when the manager ends.
func (d *demo) waitForSamples(ctx context.Context) (string, error) {
	start := time.Now()
	running, stop := d.whileManagerRuns(ctx)
	defer stop()
	_, err := d.kubectl(running, "wait", "--for=condition=Ready", "--timeout="+samplesTimeout.String(),
		"egapp/egapp-sample", "demomicroservice/demomicroservice-sample")
	if err == nil {
		return "both samples, after " + seconds(start), nil
	}
	err = errors.Join(err, context.Cause(running))
	if state, getErr := d.kubectl(ctx, "get", shown, "--output=wide"); getErr == nil {
		err = fmt.Errorf("%w\n%s", err, state)
	}
	return "", err
}

// shown are the kinds that a person looks at.
const shown = "egapps,demomicroservices,deployments,pods"

const tryNext = `
Try next:

  export KUBECONFIG=%s PATH=%s:"$PATH"

  kubectl scale egapp egapp-sample --replicas=5   # then: kubectl get egapp,pods
  kubectl explain egapp.spec                      # every field, with its meaning
  kubectl describe egapp egapp-sample             # why it is, or is not, ready
  kubectl delete deployment egapp-sample          # it is back at once
  kubectl set image deployment/egapp-sample '*=nginx'  # repaired: the image is the EGApp's
  tail -f %s

  make demo        # after a change of the code: builds and restarts the manager
  make demo-down   # ends everything
`

// show prints what runs and what to do with it.
func (d *demo) show(ctx context.Context) error {
	objects, err := d.kubectl(ctx, "get", shown)
	if err != nil {
		return err
	}
	fmt.Printf("\n%s", objects)
	fmt.Printf(tryNext, shellQuote(d.cluster.Kubeconfig()), shellQuote(filepath.Dir(d.kubectlLink())),
		shellQuote(d.fromHere(d.cluster.ProgramLog(managerName))))
	return nil
}

// fromHere returns path as seen from the working directory.
func (d *demo) fromHere(path string) string {
	here, err := os.Getwd()
	if err != nil {
		return path
	}
	if relative, err := filepath.Rel(here, path); err == nil {
		return relative
	}
	return path
}

// shellQuote returns text as one word of a POSIX shell.
func shellQuote(text string) string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("/._-+@:,", r)
	}
	if text != "" && strings.IndexFunc(text, func(r rune) bool { return !plain(r) }) < 0 {
		return text
	}
	return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
}
