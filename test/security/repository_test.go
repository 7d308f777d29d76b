// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package security

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/yaml"
)

// tracked returns the files that git keeps, or would keep, by their paths in the checkout.
func tracked(t *testing.T) []string {
	t.Helper()
	command := exec.CommandContext(t.Context(), "git", "ls-files", "-z", "--cached", "--others", "--exclude-standard")
	command.Dir = root
	output, err := command.Output()
	if err != nil {
		t.Fatal(err)
	}
	var files []string
	for file := range strings.SplitSeq(strings.TrimRight(string(output), "\x00"), "\x00") {
		if info, err := os.Lstat(filepath.Join(root, file)); err == nil && info.Mode().IsRegular() {
			files = append(files, file)
		}
	}
	if len(files) < 500 {
		t.Fatalf("git keeps %d files: are they read?", len(files))
	}
	return files
}

func read(t *testing.T, file string) string {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(root, file))
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}

// documents returns the YAML documents of a file, or of a text in one, each as it stands there.
func documents(t *testing.T, file string) [][]byte {
	t.Helper()
	return split(t, read(t, file))
}

func split(t *testing.T, text string) [][]byte {
	t.Helper()
	var found [][]byte
	for reader := utilyaml.NewYAMLReader(bufio.NewReader(strings.NewReader(text))); ; {
		document, err := reader.Read()
		if errors.Is(err, io.EOF) {
			return found
		}
		if err != nil {
			t.Fatal(err)
		}
		found = append(found, document)
	}
}

// matching returns the files whose path matches, and fails when there is none.
func matching(t *testing.T, pattern string) []string {
	t.Helper()
	expression := regexp.MustCompile(pattern)
	found := slices.DeleteFunc(tracked(t), func(file string) bool { return !expression.MatchString(file) })
	if len(found) == 0 {
		t.Fatalf("there is no file %s", pattern)
	}
	return found
}

// S21. What OpenSSF Scorecard (https://scorecard.dev) looks for, as far as the repository itself shows it. Each check is
// named as there.
func TestRepository(t *testing.T) {
	for name, check := range map[string]func(*testing.T){
		"Binary-Artifacts":       hasNoBinaries,
		"Dangerous-Workflow":     hasNoDangerousWorkflow,
		"Dependency-Update-Tool": updatesEveryDependency,
		"Fuzzing":                fuzzesWhatUsersWrite,
		"License":                hasALicence,
		"Pinned-Dependencies":    pinsWhatItRuns,
		"SAST":                   analysesItself,
		"Security-Policy":        hasASecurityPolicy,
		"Signed-Releases":        signsReleases,
		"Token-Permissions":      givesTokensTheLeast,
		"Vulnerabilities":        looksForVulnerabilities,
	} {
		t.Run(name, check)
	}
}

// Pictures of the documentation are all that is no text.
func hasNoBinaries(t *testing.T) {
	pictures := 0
	for _, file := range tracked(t) {
		if strings.HasPrefix(file, "docs/images/") && strings.HasSuffix(file, ".png") {
			pictures++
			continue
		}
		if bytes.ContainsRune([]byte(read(t, file)), 0) {
			t.Errorf("%s is a binary", file)
		}
	}
	if pictures == 0 {
		t.Error("there is no picture: are they looked at?")
	}
}

const workflows = `^\.github/workflows/.*\.ya?ml$`

// Code of a pull request never runs where there is a secret or a token that writes.
func hasNoDangerousWorkflow(t *testing.T) {
	for _, file := range matching(t, workflows) {
		text := read(t, file)
		for _, trigger := range []string{"pull_request_target", "workflow_run", "issue_comment"} {
			if strings.Contains(text, trigger) {
				t.Errorf("%s: %s runs code of others with the rights of the repository", file, trigger)
			}
		}
		for script := range strings.SplitSeq(text, "\n") {
			if regexp.MustCompile(`\$\{\{\s*github\.(event\.|head_ref)`).MatchString(script) && !strings.Contains(script, "event_name") {
				t.Errorf("%s: what others write enters by %s", file, strings.TrimSpace(script))
			}
		}
		if checkouts := strings.Count(text, "actions/checkout@"); checkouts != strings.Count(text, "persist-credentials: false") {
			t.Errorf("%s: a checkout leaves the token to what comes after", file)
		}
	}
}

// Every module, action and base is looked after, but for one that is moved by hand, which says why.
func updatesEveryDependency(t *testing.T) {
	dependabot := read(t, ".github/dependabot.yml")
	for _, file := range matching(t, `(^|/)go\.mod$`) {
		if dir := "/" + filepath.Dir(file); file != "go.mod" && !strings.Contains(dependabot, "- "+dir+"\n") && file != "tools/kubernetes/go.mod" {
			t.Errorf("nobody looks for newer versions of what %s requires", file)
		}
	}
	for _, ecosystem := range []string{"gomod", "github-actions", "docker"} {
		if !strings.Contains(dependabot, "package-ecosystem: "+ecosystem) {
			t.Errorf("nobody looks for newer versions by %s", ecosystem)
		}
	}
}

func fuzzesWhatUsersWrite(t *testing.T) {
	targets := map[string]bool{}
	for _, file := range matching(t, `_test\.go$`) {
		for _, match := range regexp.MustCompile(`(?m)^func (Fuzz\w+)\(`).FindAllStringSubmatch(read(t, file), -1) {
			targets[filepath.Dir(file)+"."+match[1]] = true
		}
	}
	if len(targets) < 5 {
		t.Errorf("there are the fuzz targets %v", targets)
	}
}

func hasALicence(t *testing.T) {
	if !strings.Contains(read(t, "LICENSE"), "Apache License") {
		t.Error("LICENSE is not that of Apache")
	}
}

// Whatever is run is known by its content: actions by commit, bases by digest, modules by checksum, downloads too.
func pinsWhatItRuns(t *testing.T) {
	for _, file := range matching(t, workflows) {
		for _, match := range regexp.MustCompile(`(?m)^\s*-?\s*uses:\s*(.+)$`).FindAllStringSubmatch(read(t, file), -1) {
			isPinned := regexp.MustCompile(`^[\w./-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$`).MatchString(match[1])
			if !isPinned && !strings.HasPrefix(match[1], "./.github/workflows/") {
				t.Errorf("%s: %s is not a commit with its version", file, match[1])
			}
		}
	}
	for _, file := range matching(t, `Dockerfile$`) {
		for _, match := range regexp.MustCompile(`(?m)^FROM (.+)$`).FindAllStringSubmatch(read(t, file), -1) {
			// Of Go the newest patch release builds: an old one would leave its vulnerabilities in the program.
			isGo := strings.HasPrefix(match[1], "--platform=$BUILDPLATFORM golang:${GO_VERSION} AS ")
			if !isGo && match[1] != "scratch" && !regexp.MustCompile(`^\S+@sha256:[0-9a-f]{64}$`).MatchString(match[1]) {
				t.Errorf("%s: the base %s is not named by its digest", file, match[1])
			}
		}
	}
	for _, file := range matching(t, `(^|/)go\.mod$`) {
		if _, err := os.Stat(filepath.Join(root, filepath.Dir(file), "go.sum")); err != nil {
			t.Errorf("%s: there are no checksums: %v", file, err)
		}
	}
	for _, file := range matching(t, `(\.sh|\.ya?ml|Makefile|Dockerfile|/run)$`) {
		for line := range strings.SplitSeq(read(t, file), "\n") {
			if regexp.MustCompile(`(curl|wget)\b.*\|\s*(sudo\s+)?(ba)?sh\b`).MatchString(line) {
				t.Errorf("%s: what comes from the network is carried out: %s", file, line)
			}
			if regexp.MustCompile(`\bgo (install|run) \S+@(latest|main|master)\b`).MatchString(line) {
				t.Errorf("%s: whatever is newest is carried out: %s", file, line)
			}
		}
		if text := read(t, file); strings.HasSuffix(file, ".sh") && regexp.MustCompile(`(?m)^\s*curl\b`).MatchString(text) && !strings.Contains(text, "sha256sum --check") {
			t.Errorf("%s: what is downloaded is not checked", file)
		}
	}
}

// S15. The rules of gosec hold for the operator's code without an exception.
func analysesItself(t *testing.T) {
	var config struct {
		Linters struct {
			Enable   []string
			Settings map[string]any
			// Exclusions are of tests and tools alone.
			Exclusions struct {
				Rules []struct {
					Path, Text string
					Linters    []string
				}
			}
		}
	}
	if err := yaml.Unmarshal([]byte(read(t, ".golangci.yml")), &config); err != nil {
		t.Fatal(err)
	}
	for _, linter := range []string{"gosec", "govet", "staticcheck", "errcheck"} {
		if !slices.Contains(config.Linters.Enable, linter) {
			t.Errorf("%s is not run", linter)
		}
	}
	if config.Linters.Settings["gosec"] != nil {
		t.Error("rules of gosec are changed")
	}
	for _, rule := range config.Linters.Exclusions.Rules {
		isOperators := func(path string) bool { return path == "" || regexp.MustCompile(rule.Path).MatchString(path) }
		if slices.Contains(rule.Linters, "gosec") && (isOperators("main.go") || isOperators("controllers/setup.go") || isOperators("internal/apply/apply.go")) {
			t.Errorf("gosec does not look at %s", rule.Path)
		}
	}
	for _, file := range matching(t, `^([^/]*|api/.*|controllers/.*|internal/(apply|metrics|observe|platform|profile|resources|status|translate|webhook|workload)/.*)\.go$`) {
		if text := read(t, file); !strings.HasSuffix(file, "_test.go") && regexp.MustCompile(`//\s*(nolint|#nosec)`).MatchString(text) {
			t.Errorf("%s: a finding is hidden", file)
		}
	}
	if !strings.Contains(read(t, "hack/verify.sh"), "golangci-lint run ./...") {
		t.Error("make verify does not run the linters")
	}
}

func hasASecurityPolicy(t *testing.T) {
	for _, words := range []string{"privately", "working days", "latest"} {
		if !strings.Contains(read(t, "SECURITY.md"), words) {
			t.Errorf("SECURITY.md does not say %q", words)
		}
	}
}

func signsReleases(t *testing.T) {
	script := read(t, "hack/release/sign.sh")
	for _, command := range []string{`"$cosign" sign `, `"$cosign" attest `, `"$cosign" sign-blob `} {
		if !strings.Contains(script, command) {
			t.Errorf("hack/release/sign.sh does not run %s", command)
		}
	}
}

// A workflow has no permission but those that its jobs name. hack/release tests which may write.
func givesTokensTheLeast(t *testing.T) {
	for _, file := range matching(t, workflows) {
		var workflow struct {
			Permissions map[string]string
			Jobs        map[string]struct{ Permissions map[string]string }
		}
		text := read(t, file)
		if err := yaml.Unmarshal([]byte(text), &workflow); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(text, "\npermissions: {}\n") {
			t.Errorf("%s: the workflow itself has permissions", file)
		}
		for name, job := range workflow.Jobs {
			if job.Permissions == nil {
				t.Errorf("%s: the job %s does not say what it may do", file, name)
			}
		}
	}
}

// S16. hack/vulncheck tells what is known of the code that is reached, without asking anybody.
func looksForVulnerabilities(t *testing.T) {
	if !strings.Contains(read(t, "hack/verify.sh"), "go run ./hack/vulncheck") {
		t.Error("make verify does not look for vulnerabilities")
	}
}
