// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package corpus

import (
	"context"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"

	"platformapp/api/appstatus"
)

const (
	root = "../.."
	crds = root + "/config/crd/bases"
)

func present(t *testing.T) Schemas {
	t.Helper()
	schemas, err := ReadSchemas(crds)
	if err != nil {
		t.Fatal(err)
	}
	return schemas
}

// cut returns what would be written if version 0.1.0 were cut now. It is made once, and
// whoever changes a case changes a copy.
func cut(t *testing.T) Version {
	t.Helper()
	version, err := cutOnce()
	if err != nil {
		t.Fatal(err)
	}
	return version
}

var cutOnce = sync.OnceValues(cutNow)

func cutNow() (Version, error) {
	schemas, err := ReadSchemas(crds)
	if err != nil {
		return Version{}, err
	}
	inputs, err := Inputs(root)
	if err != nil {
		return Version{}, err
	}
	return Operator{}.Cut(context.Background(), "0.1.0", inputs, schemas)
}

func readRestarts(t *testing.T) []Restart {
	t.Helper()
	raw, err := os.ReadFile("restarts.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var restarts []Restart
	if err := yaml.UnmarshalStrict(raw, &restarts); err != nil {
		t.Fatal(err)
	}
	return restarts
}

// Property 14: an upgrade from any version restarts nobody and refuses nothing.
func TestUpgradeFromEachVersionLeavesApplicationsAlone(t *testing.T) {
	names, err := Versions(".")
	if err != nil {
		t.Fatal(err)
	}
	var problems []Problem
	for _, name := range names {
		version, err := Read(".", name)
		if err != nil {
			t.Fatal(err)
		}
		found, err := Operator{}.Check(t.Context(), version, present(t))
		if err != nil {
			t.Fatal(err)
		}
		problems = append(problems, found...)
	}
	unmeant, needless := Unmeant(problems, readRestarts(t))
	for _, problem := range unmeant {
		t.Error(problem)
	}
	for _, restart := range needless {
		t.Errorf("restarts.yaml has a restart that does not happen: %s", restart)
	}
	t.Logf("released versions: %v", names)
}

func TestChangelogTellsWhatRestarts(t *testing.T) {
	changelog, err := os.ReadFile(root + "/CHANGELOG.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, restart := range readRestarts(t) {
		if restart.Changelog == "" || !strings.Contains(string(changelog), restart.Changelog) {
			t.Errorf("CHANGELOG.md does not say %q", restart.Changelog)
		}
	}
}

// What is written is read back the same, whenever it is made.
func TestWrittenVersionIsReadAndHasNoProblems(t *testing.T) {
	folder, version := t.TempDir(), cut(t)
	if err := Write(folder, version, crds); err != nil {
		t.Fatal(err)
	}
	if err := Write(folder, version, crds); err == nil || !strings.Contains(err.Error(), "there already") {
		t.Errorf("a version that is there is written again: %v", err)
	}
	read, err := Read(folder, "0.1.0")
	if err != nil {
		t.Fatal(err)
	}
	if err := Write(t.TempDir(), read, crds); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(toYAML(t, version), toYAML(t, read)); diff != "" {
		t.Errorf("read otherwise than it was written (-written +read):\n%s", diff)
	}
	again, err := cutNow()
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(toYAML(t, version), toYAML(t, again)); diff != "" {
		t.Errorf("made again it is another:\n%s", diff)
	}
	old, err := ReadSchemas(filepath.Join(folder, "0.1.0", crdFolder))
	if err != nil {
		t.Fatal(err)
	}
	for _, schemas := range []Schemas{present(t), old} {
		problems, err := Operator{}.Check(t.Context(), read, schemas)
		if err != nil {
			t.Fatal(err)
		}
		for _, problem := range problems {
			t.Error(problem)
		}
	}
}

// A version that is written by half would prove half of what it seems to.
func TestVersionIsWrittenWhole(t *testing.T) {
	folder := t.TempDir()
	if err := os.MkdirAll(filepath.Join(folder, ".0.1.0.draft", crdFolder), 0o700); err != nil { // of an interrupted run
		t.Fatal(err)
	}
	broken := Version{Name: "0.1.0", Cases: []Case{{Name: "first"}, {Name: "no/such/folder"}}}
	if err := Write(folder, broken, crds); err == nil {
		t.Error("a case that cannot be written is no error")
	}
	if entries, err := os.ReadDir(folder); err != nil || len(entries) != 0 {
		t.Errorf("%v is left of a version that could not be written (%v)", entries, err)
	}
}

func toYAML(t *testing.T, version Version) map[string]string {
	t.Helper()
	cases := map[string]string{}
	for _, c := range version.Cases {
		content, err := yaml.Marshal(c)
		if err != nil {
			t.Fatal(err)
		}
		cases[c.Name] = string(content)
	}
	return cases
}

func TestVersionsAreSortedAndNothingElseIsOne(t *testing.T) {
	folder := t.TempDir()
	for _, name := range []string{"0.10.0", "0.9.0", "0.10.0-rc.1", "inputs", ".0.1.0.draft"} {
		if err := os.Mkdir(filepath.Join(folder, name), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	got, err := Versions(folder)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"0.9.0", "0.10.0-rc.1", "0.10.0"}, got); diff != "" {
		t.Error(diff)
	}
	for _, name := range []string{"v1", "1", "1.0", "1.0.0+build"} {
		if err := Write(folder, Version{Name: name}, crds); err == nil {
			t.Errorf("a version is called %s", name)
		}
	}
	if _, err := Read(folder, "0.9.0"); err == nil {
		t.Error("a version without cases is read, so that it would prove nothing")
	}
}

// alwaysRefused are fields that the schema has from core/v1 and no application may set.
var alwaysRefused = regexp.MustCompile(`^EGApp\.spec\.probes\.(.*\.host|readiness\.terminationGracePeriodSeconds)$`)

// A corpus that leaves something out proves nothing about it.
func TestCorpusHasEachFieldEachChoiceAndEachPhase(t *testing.T) {
	version, schemas := cut(t), present(t)
	carriedOut, stored, phases := map[string]bool{}, map[string]bool{}, map[appstatus.Phase]bool{}
	refused := 0
	for _, c := range version.Cases {
		known, err := schemas.of(c.Object)
		if err != nil {
			t.Fatal(err)
		}
		kind, _ := c.Object["kind"].(string)
		mark(known.structural, c.Object, kind, stored)
		phases[phaseOf(c.Object)] = true
		if c.Frozen == nil {
			refused++
			continue
		}
		mark(known.structural, c.Object, kind, carriedOut)
		if len(c.Frozen.PodTemplate) == 0 || len(c.Frozen.Selector) == 0 {
			t.Errorf("%s has no pods", c.Name)
		}
		if got := slices.ContainsFunc(c.Frozen.Children, func(child string) bool { return strings.HasPrefix(child, "Service ") }); got != (len(c.Frozen.Service) > 0) {
			t.Errorf("%s has a Service: %t, and what is frozen of it is %v", c.Name, got, c.Frozen.Service)
		}
	}
	for name, known := range schemas {
		kind := name[strings.LastIndex(name, " ")+1:]
		for _, path := range leaves(known.structural, kind) {
			switch {
			case carriedOut[path], alwaysRefused.MatchString(path) && stored[path]:
			case strings.HasSuffix(path, ".status=Unknown"): // The operator always knows.
			default:
				t.Errorf("no application has %s: add one to test/corpus/inputs", path)
			}
		}
	}
	for _, phase := range []appstatus.Phase{
		"", appstatus.PhaseRunning, appstatus.PhaseUpdating, appstatus.PhaseDegraded, appstatus.PhaseStopped, appstatus.PhasePaused, appstatus.PhaseInvalid,
	} {
		if !phases[phase] {
			t.Errorf("no application is stored in the phase %q", phase)
		}
	}
	if len(version.Cases) < 100 || refused == 0 {
		t.Errorf("there are %d applications, of which %d are refused", len(version.Cases), refused)
	}
	t.Logf("%d applications, %d of them refused after they were stored", len(version.Cases), refused)
}

// Nothing is left out of a version unless it is there to be refused.
func TestInputThatCannotBeStoredFails(t *testing.T) {
	object := func(spec map[string]any) map[string]any {
		return map[string]any{"apiVersion": "devops.my.domain/v1", "kind": "DemoMicroService", "metadata": map[string]any{"name": "a"}, "spec": spec}
	}
	for _, test := range []struct {
		name, says string
		input      Input
	}{
		{"unknown field", "does not know spec.imagee", Input{Name: "own-a", Object: object(map[string]any{"image": "a", "imagee": "b"})}},
		{"refused", "spec.image", Input{Name: "own-a", Object: object(map[string]any{"image": ""})}},
		{"no kind of ours", "serves v1 Pod", Input{Name: "own-a", Object: map[string]any{"apiVersion": "v1", "kind": "Pod", "metadata": map[string]any{}}}},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, err := Operator{}.Cut(t.Context(), "0.1.0", []Input{test.input}, present(t))
			if err == nil || !strings.Contains(err.Error(), test.says) {
				t.Errorf("it ends with %v, want %q", err, test.says)
			}
		})
	}
	golden := Input{Name: refusedPrefix + "a", Object: object(map[string]any{"image": ""})}
	version, err := Operator{}.Cut(t.Context(), "0.1.0", []Input{golden}, present(t))
	if err != nil || len(version.Cases) != 0 {
		t.Errorf("what is there to be refused gives %d cases and %v", len(version.Cases), err)
	}
}

func names(problems []Problem) []string {
	var cases []string
	for _, problem := range problems {
		cases = append(cases, problem.Case)
	}
	slices.Sort(cases)
	return slices.Compact(cases)
}

// phaseOf returns the phase in the status of a stored application.
func phaseOf(object map[string]any) appstatus.Phase {
	status, _ := object["status"].(map[string]any)
	phase, _ := status["phase"].(string)
	return appstatus.Phase(phase)
}
