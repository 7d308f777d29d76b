// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

// Package hack tests the scripts of this folder.
package hack

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// The comparison itself is crdify's. Here any difference of two files is an incompatible one.
const anyDifference = "#!/bin/sh\ncmp -s \"${3#file://}\" \"${4#file://}\" || { echo '- default - ERROR'; echo '- enum - ✓'; exit 1; }\n"

const crd = "config/crd/bases/apps.yaml"

// clone is a repository in which a command can be run.
type clone struct {
	*testing.T
	dir string
}

func (c clone) run(name string, args ...string) (string, error) {
	command := exec.CommandContext(c.Context(), name, args...)
	command.Dir = c.dir
	command.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null",
		"GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@example.com", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@example.com")
	out, err := command.CombinedOutput()
	return string(out), err
}

func (c clone) git(args ...string) {
	c.Helper()
	if out, err := c.run("git", args...); err != nil {
		c.Fatalf("git %v: %v\n%s", args, err, out)
	}
}

func (c clone) write(path, content string, mode os.FileMode) {
	c.Helper()
	path = filepath.Join(c.dir, path)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		c.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), mode); err != nil {
		c.Fatal(err)
	}
}

// newClone returns a clone on a branch of its own, beside a main that has one CRD.
func newClone(t *testing.T) clone {
	t.Helper()
	c := clone{T: t, dir: t.TempDir()}
	for _, file := range []string{"crdify.sh", "crdify.yaml"} {
		content, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		c.write("hack/"+file, string(content), 0o700)
	}
	c.write("bin/crdify", anyDifference, 0o700)
	c.write(crd, "first\n", 0o600)
	c.git("init", "--quiet", "--initial-branch=main")
	c.git("add", ".")
	c.git("commit", "--quiet", "--message=first")
	c.git("switch", "--quiet", "--create", "change")
	return c
}

func TestCRDsAreComparedWithEachReleaseAndUntilThenWithMain(t *testing.T) {
	release := func(c clone, version string) {
		c.write(crd, "as in "+version+"\n", 0o600)
		c.write("test/corpus/"+version+"/crds/apps.yaml", "as in "+version+"\n", 0o600)
	}
	for _, test := range []struct {
		name string
		// change is what happens after main.
		change func(clone)
		env    string
		fails  bool
		says   string
	}{
		{"nothing has changed", func(clone) {}, "", false, "compatible with main"},
		{"a change", func(c clone) { c.write(crd, "second\n", 0o600) }, "", true, "CRD_CHANGE=intended"},
		{"an intended change", func(c clone) { c.write(crd, "second\n", 0o600) }, "intended", false, "there is no release yet"},
		{"a CRD that is new", func(c clone) { c.write("config/crd/bases/new.yaml", "x\n", 0o600) }, "", false, "compatible with main"},
		{"a CRD that is gone", func(c clone) { c.git("rm", "--quiet", crd) }, "", true, "the CRD is gone"},
		{"no main", func(c clone) { c.git("branch", "--quiet", "--delete", "main") }, "", false, "nothing to compare with"},
		{"a release", func(c clone) { release(c, "0.1.0") }, "", false, "compatible with 0.1.0"},
		{"a release in a clone without main", func(c clone) { release(c, "0.1.0"); c.git("branch", "--quiet", "--delete", "main") }, "", false, "compatible with 0.1.0"},
		{"a change after a release", func(c clone) { release(c, "0.1.0"); c.write(crd, "second\n", 0o600) }, "intended", true, "compared with 0.1.0"},
		{"what the first of two releases promised", func(c clone) { release(c, "0.9.0"); release(c, "0.10.0") }, "", true, "compared with 0.9.0"},
		{"a CRD of a release that is gone", func(c clone) { release(c, "0.1.0"); c.git("rm", "--quiet", "--force", crd) }, "", true, "0.1.0 has it"},
		{"a version that was not written whole", func(c clone) { c.write("test/corpus/.0.1.0.draft/crds/apps.yaml", "x\n", 0o600) }, "", false, "compatible with main"},
		{"the inputs of the corpus", func(c clone) { c.write("test/corpus/inputs/a.yaml", "x\n", 0o600) }, "", false, "compatible with main"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Setenv("CRD_CHANGE", test.env)
			c := newClone(t)
			test.change(c)
			out, err := c.run("hack/crdify.sh")
			if (err != nil) != test.fails || !strings.Contains(out, test.says) {
				t.Errorf("it ends with %v and says\n%swant failure: %v, and %q", err, out, test.fails, test.says)
			}
			if strings.Contains(out, "✓") {
				t.Errorf("it tells what passed:\n%s", out)
			}
		})
	}
}
