// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package security

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/util/retry"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"platformapp/api/egplatform/v1alpha1"
	"platformapp/test/operator"
)

const (
	// large is the size of an EGApp that is as large as anybody's may be meant to be, huge that of one that the API server
	// still stores: etcd takes 1.5 MiB in a request.
	large = 256 << 10
	huge  = 1 << 20
	// largeApps are as many large EGApps as the operator has to bear beside a huge one.
	largeApps = 40
	// memoryLimit is the limit of the manager's container in config/manager.
	memoryLimit = 256 << 20
	// maxStatus and maxLog are how much may be told of all of them.
	maxStatus, maxLog = 32 << 10, 1 << 20
)

// S14. Large EGApps are carried out, and what is too large for one is refused with a cause, within the memory that the
// manager has, and without a word of them filling status or log.
func TestLargeApplicationsAreBorne(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	process, _ := s.start(nil, "--metrics-secure=false")
	for i := range largeApps {
		s.create(s.appOfSize(fmt.Sprintf("large-%d", i), large))
	}
	s.create(s.appOfSize("huge", huge))
	if err := s.admin.Create(t.Context(), s.appOfSize("too-large", 4<<20)); !apierrors.IsRequestEntityTooLargeError(err) && !apierrors.IsInvalid(err) &&
		!strings.Contains(fmt.Sprint(err), "too large") {
		t.Errorf("4 MiB are answered %.200v", err)
	}
	var apps v1alpha1.EGAppList
	s.eventually("every application is looked at", func(ctx context.Context) error {
		if err := s.admin.List(ctx, &apps, client.InNamespace(s.namespace)); err != nil {
			return err
		}
		for _, app := range apps.Items {
			if app.Status.ObservedGeneration != app.Generation {
				return fmt.Errorf("%s is not looked at", app.Name)
			}
		}
		return nil
	})
	if len(apps.Items) != largeApps+1 {
		t.Errorf("there are %d EGApps", len(apps.Items))
	}
	for _, app := range apps.Items {
		s.isCarriedOutOrRefused(&app)
	}

	// What was too large becomes what is not.
	app := s.appOfSize("huge", large)
	s.must(retry.RetryOnConflict(retry.DefaultBackoff, func() error {
		now := &v1alpha1.EGApp{}
		if err := s.admin.Get(t.Context(), client.ObjectKeyFromObject(app), now); err != nil {
			return err
		}
		now.Spec = app.Spec
		return s.admin.Update(t.Context(), now)
	}))
	s.eventually("the application that has shrunk is carried out", func(ctx context.Context) error {
		return s.admin.Get(ctx, client.ObjectKeyFromObject(app), &appsv1.Deployment{})
	})

	peak := s.peakMemory(process)
	t.Logf("%d applications of %d KiB take %d MiB at most", largeApps, large>>10, peak>>20)
	if peak > memoryLimit {
		t.Errorf("the operator takes %d MiB of %d", peak>>20, memoryLimit>>20)
	}
	if written := len(process.Log()); written > maxLog {
		t.Errorf("the log has %d bytes", written)
	}
}

// appOfSize returns an EGApp of about so many bytes, most of which are values of variables.
func (s *scene) appOfSize(name string, size int) *v1alpha1.EGApp {
	const variables = 200
	app := &v1alpha1.EGApp{
		ObjectMeta: s.in(name),
		Spec:       v1alpha1.EGAppSpec{Framework: v1alpha1.FrameworkGo, Environment: v1alpha1.EnvironmentDev, Image: "example.com/large:1"},
	}
	for i := range variables {
		app.Spec.Env = append(app.Spec.Env, v1alpha1.EnvVar{Name: fmt.Sprintf("V%d", i), Value: strings.Repeat("v", size/variables)})
	}
	return app
}

// isCarriedOutOrRefused fails unless an application has its Deployment, or a condition that says why not. Neither way the
// status grows with the application.
func (s *scene) isCarriedOutOrRefused(app *v1alpha1.EGApp) {
	s.Helper()
	err := s.admin.Get(s.Context(), client.ObjectKeyFromObject(app), &appsv1.Deployment{})
	switch conditions := fmt.Sprint(app.Status.Conditions); {
	case err != nil && !strings.Contains(conditions, "Refused"):
		s.Errorf("%s has no Deployment (%v), and nothing says why: %s", app.Name, err, conditions)
	case err != nil && app.Name != "huge":
		s.Errorf("%s is refused: %s", app.Name, conditions)
	}
	if written := len(s.written(app.Status)); written > maxStatus {
		s.Errorf("the status of %s has %d bytes", app.Name, written)
	}
}

// peakMemory returns the most memory that an operator has had so far, in bytes, as the kernel of Linux counts it. Elsewhere it
// is what the operator tells that it has now.
func (s *scene) peakMemory(process *operator.Process) int {
	s.Helper()
	if runtime.GOOS != "linux" {
		resident, err := process.Sum(s.Context(), "process_resident_memory_bytes", nil)
		s.must(err)
		return int(resident)
	}
	// The address of its metrics tells a process from all others.
	lines, err := filepath.Glob("/proc/[0-9]*/cmdline")
	s.must(err)
	for _, line := range lines {
		arguments, err := os.ReadFile(line)
		if err != nil || !strings.Contains(string(arguments), "--metrics-bind-address="+process.MetricsAddress+"\x00") {
			continue
		}
		status, err := os.ReadFile(filepath.Join(filepath.Dir(line), "status"))
		s.must(err)
		_, after, _ := strings.Cut(string(status), "VmHWM:")
		var peak int
		_, err = fmt.Sscanf(after, "%d kB", &peak)
		s.must(err)
		return peak << 10
	}
	s.Fatal("the process of the operator is not found")
	return 0
}
