// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package corpus

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"platformapp/api/egplatform/v1alpha1"
	"platformapp/internal/profile"
)

// A preset that changes restarts all applications that have it, and no other.
func TestChangedPresetIsReported(t *testing.T) {
	version := cut(t)
	later := Operator{Images: profile.Images{v1alpha1.FrameworkPython: "registry.example.com/python:2"}}
	problems, err := later.Check(t.Context(), version, present(t))
	if err != nil {
		t.Fatal(err)
	}
	var want []string
	for _, c := range version.Cases {
		spec, _ := c.Object["spec"].(map[string]any)
		image, _ := spec["image"].(string)
		if spec["framework"] == "python" && image == "" && c.Frozen != nil {
			want = append(want, c.Name)
		}
	}
	if diff := cmp.Diff(want, names(problems)); diff != "" || len(want) == 0 {
		t.Errorf("reported (-want +got):\n%s", diff)
	}
	for _, problem := range problems {
		if !problem.Restarts || !strings.Contains(problem.Message, "registry.example.com/python:2") {
			t.Errorf("not told as a restart by another image: %s", problem)
		}
	}
}

// What a later version must not do to what is stored is reported, whoever finds it.
func TestTightenedSchemaIsReported(t *testing.T) {
	version := cut(t)
	for _, test := range []struct {
		name, old, new, says string
	}{
		{"a choice is gone", "- highCPU\n", "", "spec.instanceType: Unsupported value"},
		{"less is allowed", "maxLength: 512\n", "maxLength: 7\n", "spec.image: Too long"},
		{"a field is gone", "              securityProfile:\n", "              securityProfiles:\n", "no longer knows spec.securityProfile"},
		{"a field is required", "            - environment\n            - framework\n", "            - appId\n            - environment\n            - framework\n", "spec.appId: Required value"},
		{"a rule comes", "oldSelf.hasValue() || (", "oldSelf.hasValue() || (self.metadata.name != 'paused' && ", "Invalid value"},
		{"the version is gone", "    served: true\n", "    served: false\n", "no longer served"},
	} {
		t.Run(test.name, func(t *testing.T) {
			folder := t.TempDir()
			if err := os.CopyFS(folder, os.DirFS(crds)); err != nil {
				t.Fatal(err)
			}
			file := filepath.Join(folder, "egplatform.platform.evillgenius.com_egapps.yaml")
			raw, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if !strings.Contains(string(raw), test.old) {
				t.Fatalf("the schema has no %q", test.old)
			}
			changed := strings.Replace(string(raw), test.old, test.new, 1)
			if err := os.WriteFile(file, []byte(changed), 0o600); err != nil {
				t.Fatal(err)
			}
			schemas, err := ReadSchemas(folder)
			if err != nil {
				t.Fatal(err)
			}
			problems, err := Operator{}.Check(t.Context(), version, schemas)
			if err != nil {
				t.Fatal(err)
			}
			if !slices.ContainsFunc(problems, func(p Problem) bool { return !p.Restarts && strings.Contains(p.Message, test.says) }) {
				t.Errorf("%d problems, none of them %q", len(problems), test.says)
			}
		})
	}
}

// Of what is frozen each part is compared.
func TestEachFrozenPartIsCompared(t *testing.T) {
	version := cut(t)
	i := slices.IndexFunc(version.Cases, func(c Case) bool { return c.Name == "preset-java-prod-balanced" })
	for _, test := range []struct {
		name, says string
		restarts   bool
		change     func(*Frozen)
	}{
		{"a child", "Secret orders is no longer made", false, func(f *Frozen) { f.Children = append(slices.Clone(f.Children), "Secret orders") }},
		{"the pods", "another number of pods", false, func(f *Frozen) { f.Replicas = new(int32(7)) }},
		{"the selector", "the selector", false, func(f *Frozen) { f.Selector = map[string]any{"matchLabels": map[string]any{"app": "orders"}} }},
		{"the Service", "the Service is another", false, func(f *Frozen) { f.Service = map[string]any{"ports": []any{}} }},
		{"the template", "the pod template", true, func(f *Frozen) { f.PodTemplate = map[string]any{"spec": map[string]any{}} }},
	} {
		t.Run(test.name, func(t *testing.T) {
			c := version.Cases[i]
			was := *c.Frozen
			test.change(&was)
			c.Frozen = &was
			problems, err := Operator{}.Check(t.Context(), Version{Name: "0.1.0", Cases: []Case{c}}, present(t))
			if err != nil {
				t.Fatal(err)
			}
			if len(problems) != 1 || problems[0].Restarts != test.restarts || !strings.Contains(problems[0].String(), test.says) {
				t.Errorf("reported is %v, want one with %q", problems, test.says)
			}
		})
	}
}

// A specification that ran and is refused after an upgrade cannot be changed any more.
func TestSpecificationThatIsRefusedNowIsReported(t *testing.T) {
	version := cut(t)
	i := slices.IndexFunc(version.Cases, func(c Case) bool { return c.Name == "own-refused" })
	c := version.Cases[i]
	c.Frozen = &Frozen{}
	problems, err := Operator{}.Check(t.Context(), Version{Name: "0.1.0", Cases: []Case{c}}, present(t))
	if err != nil {
		t.Fatal(err)
	}
	if len(problems) != 1 || !strings.Contains(problems[0].Message, "refused now: ") {
		t.Errorf("reported is %v", problems)
	}
}

func TestOnlyARestartThatIsMeantIsLetThrough(t *testing.T) {
	restart := Restart{Version: "0.2.0", Cases: []string{"preset-java-*"}, Changelog: "Java"}
	for _, test := range []struct {
		name    string
		problem Problem
		passes  bool
	}{
		{"meant", Problem{Version: "0.1.9", Case: "preset-java-dev", Restarts: true}, true},
		{"another case", Problem{Version: "0.1.9", Case: "preset-go-dev", Restarts: true}, false},
		{"what the version itself released", Problem{Version: "0.2.0", Case: "preset-java-dev", Restarts: true}, false},
		{"more than a restart", Problem{Version: "0.1.9", Case: "preset-java-dev"}, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			unmeant, needless := Unmeant([]Problem{test.problem}, []Restart{restart})
			if (len(unmeant) == 0) != test.passes || (len(needless) == 0) != test.passes {
				t.Errorf("unmeant are %v, needless %v", unmeant, needless)
			}
		})
	}
}
