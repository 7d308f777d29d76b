// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"archive/tar"
	"errors"
	"fmt"
	"io"
	"log"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/registry"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/random"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/types"
	"github.com/google/go-containerregistry/pkg/v1/validate"
	"sigs.k8s.io/yaml"
)

// write writes files below a new folder.
func write(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for path, content := range files {
		path = filepath.Join(dir, path)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// image runs the command and returns what it prints, without the newline.
func image(t *testing.T, args ...string) string {
	t.Helper()
	var out strings.Builder
	if err := run(t.Context(), args, &out); err != nil {
		t.Fatalf("image %s: %v", strings.Join(args, " "), err)
	}
	return strings.TrimSpace(out.String())
}

// serve serves an empty registry and returns its address.
func serve(t *testing.T) string {
	t.Helper()
	server := httptest.NewServer(registry.New(registry.Logger(log.New(io.Discard, "", 0))))
	t.Cleanup(server.Close)
	return strings.TrimPrefix(server.URL, "http://")
}

// pull returns an image of a registry; nil is the platform of an image that is not in an index.
func pull(t *testing.T, ref string, platform *v1.Platform) v1.Image {
	t.Helper()
	parsed, err := name.ParseReference(ref)
	if err != nil {
		t.Fatal(err)
	}
	var options []remote.Option
	if platform != nil {
		options = append(options, remote.WithPlatform(*platform))
	}
	pulled, err := remote.Image(parsed, options...)
	if err != nil {
		t.Fatal(err)
	}
	if err := validate.Image(pulled); err != nil {
		t.Fatal(err)
	}
	return pulled
}

// files returns the headers and contents of all files of an image.
func files(t *testing.T, image v1.Image) (map[string]*tar.Header, map[string]string) {
	t.Helper()
	headers, contents := map[string]*tar.Header{}, map[string]string{}
	packed := mutate.Extract(image)
	defer func() { _ = packed.Close() }()
	for r := tar.NewReader(packed); ; {
		header, err := r.Next()
		if errors.Is(err, io.EOF) {
			return headers, contents
		}
		if err != nil {
			t.Fatal(err)
		}
		content, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		headers[header.Name], contents[header.Name] = header, string(content)
	}
}

// The image of the manager, from the Dockerfile itself, with programs that only have the right names.
func TestManagersImage(t *testing.T) {
	stages := write(t, map[string]string{
		"linux-amd64/out/manager":                           "for amd64",
		"linux-amd64/out/licenses/LICENSE":                  "ours",
		"linux-amd64/out/licenses/third_party/go/LICENSE":   "theirs",
		"linux-arm64-v8/out/manager":                        "for arm64",
		"linux-arm64-v8/out/licenses/LICENSE":               "ours",
		"linux-arm64-v8/out/licenses/third_party/x/LICENSE": "theirs",
	})
	for _, platform := range []string{"linux-amd64", "linux-arm64-v8"} {
		if err := os.Chmod(filepath.Join(stages, platform, "out/manager"), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("SOURCE_DATE_EPOCH", "1700000000")
	store, ref := t.TempDir(), serve(t)+"/team/platformapp:v0.1.0"
	built := image(t, "build", "-t", ref, "-store", store, "-f", "../../Dockerfile", "-base", "minimal",
		"-platform", "linux/amd64,linux/arm64/v8", "-stage", "builder="+stages+"/{platform}",
		"-build-arg", "VERSION=0.1.0", "-build-arg", "REVISION=abc", "../..")
	if pushed := image(t, "push", "-store", store, ref); pushed != built {
		t.Errorf("built %s but pushed %s", built, pushed)
	}
	if same := image(t, "compare", "-store", store, ref); same != built {
		t.Errorf("built %s but compared %s", built, same)
	}

	for architecture, platform := range map[string]*v1.Platform{
		"amd64": {OS: "linux", Architecture: "amd64"},
		"arm64": {OS: "linux", Architecture: "arm64", Variant: "v8"},
	} {
		pulled := pull(t, strings.Replace(built, ":v0.1.0@", "@", 1), platform)
		config, err := pulled.ConfigFile()
		if err != nil {
			t.Fatal(err)
		}
		if config.Architecture != architecture || config.OS != "linux" || config.Variant != platform.Variant {
			t.Errorf("%s: it says it is for %s/%s/%s", architecture, config.OS, config.Architecture, config.Variant)
		}
		if !config.Created.Equal(time.Unix(1700000000, 0)) {
			t.Errorf("%s: created %s", architecture, config.Created)
		}
		// Kubernetes can only see that a numeric user is not root.
		if config.Config.User != "65532:65532" {
			t.Errorf("%s: the user is %q", architecture, config.Config.User)
		}
		if diff := cmp.Diff(managerCommand(t), config.Config.Entrypoint); diff != "" {
			t.Errorf("%s: -command of config/manager +entrypoint:\n%s", architecture, diff)
		}
		for _, label := range []string{
			"name", "vendor", "version", "release", "summary", "description", "maintainer",
			"org.opencontainers.image.title", "org.opencontainers.image.description", "org.opencontainers.image.source",
			"org.opencontainers.image.licenses", "org.opencontainers.image.version", "org.opencontainers.image.revision",
		} {
			if config.Config.Labels[label] == "" {
				t.Errorf("%s: the label %s is missing", architecture, label)
			}
		}
		if got := config.Config.Labels["version"]; got != "0.1.0" {
			t.Errorf("%s: the label version is %q", architecture, got)
		}
		manifest, err := pulled.Manifest()
		if err != nil {
			t.Fatal(err)
		}
		if got := manifest.Annotations["org.opencontainers.image.revision"]; got != "abc" {
			t.Errorf("%s: the annotation of the revision is %q", architecture, got)
		}

		headers, contents := files(t, pulled)
		if contents["manager"] != "for "+architecture || headers["manager"].Mode != 0o755 {
			t.Errorf("%s: manager is %q with mode %o", architecture, contents["manager"], headers["manager"].Mode)
		}
		if contents["licenses/LICENSE"] != "ours" {
			t.Errorf("%s: /licenses/LICENSE is %q", architecture, contents["licenses/LICENSE"])
		}
		if !strings.Contains(contents["etc/passwd"], "nonroot:x:65532:65532:") {
			t.Errorf("%s: /etc/passwd does not know the user: %q", architecture, contents["etc/passwd"])
		}
		if mode := headers["tmp"].Mode; mode != 0o1777 {
			t.Errorf("%s: the mode of /tmp is %o", architecture, mode)
		}
		if n := strings.Count(contents["etc/ssl/certs/ca-certificates.crt"], "BEGIN CERTIFICATE"); n < 50 {
			t.Errorf("%s: %d certificate authorities", architecture, n)
		}
	}
}

// managerCommand returns the command of the Deployment.
func managerCommand(t *testing.T) []string {
	t.Helper()
	content, err := os.ReadFile("../../config/manager/manager.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for document := range strings.SplitSeq(string(content), "\n---\n") {
		var deployment struct {
			Kind string
			Spec struct {
				Template struct {
					Spec struct{ Containers []struct{ Command []string } }
				}
			}
		}
		if err := yaml.Unmarshal([]byte(document), &deployment); err != nil {
			t.Fatal(err)
		}
		if deployment.Kind == "Deployment" {
			return deployment.Spec.Template.Spec.Containers[0].Command
		}
	}
	t.Fatal("config/manager/manager.yaml has no Deployment")
	return nil
}

// Who builds the same again gets the same, whenever, wherever and with whatever umask; any other file gives another image.
func TestEqualFilesGiveAnEqualImage(t *testing.T) {
	build := func(change func(dir string)) string {
		dir := write(t, map[string]string{
			"Dockerfile": "FROM scratch\nLABEL b=1 a=2 c=3\nCOPY files /files\nCOPY program /\n",
			"files/one":  "1", "files/two": "2", "files/deep/three": "3", "program": "run",
		})
		change(dir)
		built := image(t, "build", "-t", "example.com/it:v1", "-store", t.TempDir(), "-f", dir+"/Dockerfile", "-platform", "linux/amd64,linux/arm64", dir)
		_, digest, _ := strings.Cut(built, "@")
		return digest
	}
	change := func(do func(string, os.FileMode) error, path string, mode os.FileMode) func(string) {
		return func(dir string) {
			if err := do(filepath.Join(dir, path), mode); err != nil {
				t.Fatal(err)
			}
		}
	}
	t.Setenv("SOURCE_DATE_EPOCH", "")
	first := build(func(string) {})
	for name, f := range map[string]func(string){
		"time":  func(dir string) { _ = os.Chtimes(filepath.Join(dir, "program"), time.Unix(1, 0), time.Unix(1, 0)) },
		"umask": change(os.Chmod, "files/one", 0o600),
	} {
		if got := build(f); got != first {
			t.Errorf("%s: another image", name)
		}
	}
	for name, f := range map[string]func(string){
		"content":    func(dir string) { _ = os.WriteFile(filepath.Join(dir, "files/one"), []byte("4"), 0o644) },
		"executable": change(os.Chmod, "program", 0o755),
		"file more":  func(dir string) { _ = os.WriteFile(filepath.Join(dir, "files/four"), nil, 0o644) },
		"date":       func(string) { t.Setenv("SOURCE_DATE_EPOCH", "1") },
	} {
		if got := build(f); got == first {
			t.Errorf("%s: the same image", name)
		}
	}
}

// An image on one of a registry has its files and settings, for the right platform, and says what it was built on.
func TestImageOnABase(t *testing.T) {
	address, store := serve(t), t.TempDir()
	dir := write(t, map[string]string{
		"base/Dockerfile": "FROM scratch\nLABEL from=base kept=yes\nCOPY --from=os /release /etc/release\nCMD [\"base\"]\nUSER 1\n",
		"Dockerfile":      "ARG BASE\nFROM ${BASE}\nLABEL from=here\nCOPY program /\nENTRYPOINT [\"/program\"]\n",
		"program":         "run", "os/linux-amd64/release": "amd64", "os/linux-arm64/release": "arm64",
	})
	base := address + "/base:v1"
	image(t, "build", "-t", base, "-store", store, "-f", dir+"/base/Dockerfile", "-platform", "linux/amd64,linux/arm64",
		"-stage", "os="+dir+"/os/{platform}", dir)
	base = image(t, "push", "-store", store, base)
	ref := address + "/it:v1"
	image(t, "build", "-t", ref, "-store", store, "-f", dir+"/Dockerfile", "-platform", "linux/arm64", "-build-arg", "BASE="+base, dir)
	image(t, "push", "-store", store, ref)

	// Built again on nothing it is another one, and is told from that in the registry.
	image(t, "build", "-t", ref, "-store", store, "-f", dir+"/Dockerfile", "-platform", "linux/arm64", "-base", "scratch", "-build-arg", "BASE=x", dir)
	err := run(t.Context(), []string{"compare", "-store", store, ref}, io.Discard)
	if err == nil || !strings.Contains(err.Error(), "the registry has sha256:") {
		t.Errorf("another image than that of the registry: %v", err)
	}

	pulled := pull(t, ref, nil)
	headers, contents := files(t, pulled)
	if diff := cmp.Diff([]string{"etc", "etc/release", "program"}, slices.Sorted(maps.Keys(headers))); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if contents["etc/release"] != "arm64" {
		t.Errorf("the base is that for %s", contents["etc/release"])
	}
	config, err := pulled.ConfigFile()
	if err != nil {
		t.Fatal(err)
	}
	want := v1.Config{Labels: map[string]string{"from": "here", "kept": "yes"}, Entrypoint: []string{"/program"}, User: "1"}
	if diff := cmp.Diff(want, config.Config); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	manifest, err := pulled.Manifest()
	if err != nil {
		t.Fatal(err)
	}
	_, digest, _ := strings.Cut(base, "@")
	if got := manifest.Annotations[baseDigestAnnotation]; got != digest {
		t.Errorf("it says that it was built on %q, not on %s", got, digest)
	}
}

// A repository can have the name of another one's image.
func TestNoImageLiesWithinAnother(t *testing.T) {
	dir := write(t, map[string]string{"Dockerfile": "FROM scratch\nCOPY program /\n", "program": "run"})
	for _, refs := range [][]string{{"example.com/it:v1", "example.com/it/v1:x"}, {"example.com/it/v1/deep:x", "example.com/it:v1"}} {
		store := t.TempDir()
		build := func(ref string) error {
			return run(t.Context(), []string{"build", "-t", ref, "-store", store, "-f", dir + "/Dockerfile", dir}, io.Discard)
		}
		if err := build(refs[0]); err != nil {
			t.Fatal(err)
		}
		if err := build(refs[1]); err == nil {
			t.Errorf("%s is built into the place of %s", refs[1], refs[0])
		}
		// What was there is there, and can be built anew.
		image(t, "digest", "-store", store, refs[0])
		if err := build(refs[0]); err != nil {
			t.Error(err)
		}
	}
}

// Registries such as quay.io refuse an image that has media types of OCI and of docker.
func TestImageOnABaseOfDocker(t *testing.T) {
	base, err := random.Image(64, 2)
	if err != nil {
		t.Fatal(err)
	}
	address, store := serve(t), t.TempDir()
	ref, err := name.NewTag(address + "/base:v1")
	if err != nil {
		t.Fatal(err)
	}
	if err := remote.Write(ref, base); err != nil {
		t.Fatal(err)
	}
	old, err := base.Manifest()
	if err != nil {
		t.Fatal(err)
	}
	if old.Layers[0].MediaType != types.DockerLayer {
		t.Fatalf("the base has layers of type %s: it proves nothing", old.Layers[0].MediaType)
	}
	dir := write(t, map[string]string{"Dockerfile": "FROM " + ref.Name() + "\nCOPY program /\n", "program": "run"})
	image(t, "build", "-t", address+"/it:v1", "-store", store, "-f", dir+"/Dockerfile", dir)
	image(t, "push", "-store", store, address+"/it:v1")

	pulled := pull(t, address+"/it:v1", nil)
	manifest, err := pulled.Manifest()
	if err != nil {
		t.Fatal(err)
	}
	if manifest.MediaType != types.OCIManifestSchema1 || manifest.Config.MediaType != types.OCIConfigJSON {
		t.Errorf("the manifest is %s, the configuration %s", manifest.MediaType, manifest.Config.MediaType)
	}
	if len(manifest.Layers) != 3 {
		t.Fatalf("of 2 layers and one more it has %d", len(manifest.Layers))
	}
	for i, layer := range manifest.Layers {
		if layer.MediaType != types.OCILayer {
			t.Errorf("layer %d is %s", i, layer.MediaType)
		}
		if i < 2 && layer.Digest != old.Layers[i].Digest {
			t.Errorf("layer %d is not that of the base", i)
		}
	}
	config, err := pulled.ConfigFile()
	if err != nil {
		t.Fatal(err)
	}
	if len(config.History) != 3 {
		t.Errorf("the history of 3 layers has %d entries", len(config.History))
	}
}

// A tag that was released is never moved; nodes and OLM go on with what they have pulled.
func TestPushOfNewImagesMovesNoTag(t *testing.T) {
	address, store := serve(t), t.TempDir()
	refs := []string{address + "/one:v1", address + "/two:v1"}
	build := func(content string) (built []string) {
		dir := write(t, map[string]string{"Dockerfile": "FROM scratch\nCOPY program /\n", "program": content})
		for _, ref := range refs {
			built = append(built, image(t, "build", "-t", ref, "-store", store, "-f", dir+"/Dockerfile", dir))
		}
		return built
	}
	first := strings.Join(build("first"), "\n")
	if got := image(t, "digest", "-store", store, refs[0], refs[1]); got != first {
		t.Errorf("built %s, the digests are %s", first, got)
	}
	// The second is published; a run that broke off is run again.
	image(t, "push", "-new", "-store", store, refs[1])
	if got := image(t, "push", "-new", "-store", store, refs[0], refs[1]); got != first {
		t.Errorf("built %s, pushed %s", first, got)
	}
	// Of the next two one is not published, and must not be either when the other is refused.
	next := address + "/three:v1"
	refs = append(refs, next)
	build("second")
	err := run(t.Context(), []string{"push", "-new", "-store", store, next, refs[0], refs[1]}, io.Discard)
	for _, ref := range refs[:2] {
		if err == nil || !strings.Contains(err.Error(), ref+": the registry has sha256:") {
			t.Errorf("another image of a published name: got %v", err)
		}
		pulled := pull(t, ref, nil)
		if _, contents := files(t, pulled); contents["program"] != "first" {
			t.Errorf("%s was moved", ref)
		}
	}
	if err := run(t.Context(), []string{"compare", "-store", store, next}, io.Discard); err == nil {
		t.Errorf("%s was pushed, though the others are refused", next)
	}
	// Where it is asked for, as in a cluster for trials, a tag moves.
	image(t, "push", "-store", store, refs[0])
	if _, contents := files(t, pull(t, refs[0], nil)); contents["program"] != "second" {
		t.Error("without -new the tag is not moved")
	}
}

// A registry that does not say whether it has a tag may have it.
func TestPushOfNewImagesNeedsAnAnswer(t *testing.T) {
	pushed := false
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.URL.Path == "/v2/":
		case r.Method == http.MethodHead && strings.Contains(r.URL.Path, "/manifests/"):
			w.WriteHeader(http.StatusForbidden)
		default:
			pushed = true
		}
	}))
	t.Cleanup(server.Close)
	ref, store := strings.TrimPrefix(server.URL, "http://")+"/it:v1", t.TempDir()
	dir := write(t, map[string]string{"Dockerfile": "FROM scratch\nCOPY program /\n", "program": "run"})
	image(t, "build", "-t", ref, "-store", store, "-f", dir+"/Dockerfile", dir)
	err := run(t.Context(), []string{"push", "-new", "-store", store, ref}, io.Discard)
	if err == nil || !strings.Contains(err.Error(), "403") || pushed {
		t.Errorf("got %v, pushed %t", err, pushed)
	}
}

func TestCopy(t *testing.T) {
	dir := filepath.Join(write(t, map[string]string{
		"context/.dockerignore": "**\n!kept/\n!file\n**/*_test.go\n",
		"context/file":          "f", "context/kept/a.go": "a", "context/kept/a_test.go": "t", "context/kept/deep/b": "b",
		"context/secret": "s", "outside": "o",
	}), "context")
	build := func(instruction string) ([]string, error) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, "Dockerfile"), []byte("FROM scratch\n"+instruction+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
		address, store := serve(t), t.TempDir()
		ref := address + "/it:v1"
		if err := run(t.Context(), []string{"build", "-t", ref, "-store", store, "-f", dir + "/Dockerfile", dir}, io.Discard); err != nil {
			return nil, err
		}
		image(t, "push", "-store", store, ref)
		headers, _ := files(t, pull(t, ref, nil))
		return slices.Sorted(maps.Keys(headers)), nil
	}
	for instruction, want := range map[string][]string{
		"COPY file /":             {"file"},
		"COPY file /there":        {"there"},
		"COPY file /there/":       {"there", "there/file"},
		"COPY kept /there":        {"there", "there/a.go", "there/deep", "there/deep/b"},
		"COPY . /":                {"file", "kept", "kept/a.go", "kept/deep", "kept/deep/b"},
		"COPY file kept/a.go ./x": {"x", "x/a.go", "x/file"},
		"COPY kept/../../file /":  {"file"},
	} {
		got, err := build(instruction)
		if err != nil {
			t.Errorf("%s: %v", instruction, err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: -want +got:\n%s", instruction, diff)
		}
	}
	for instruction, want := range map[string]string{
		"COPY missing /":             "no such file",
		"COPY ../outside /":          "no such file",
		"COPY secret /":              "of secret nothing is left to copy; see .dockerignore",
		"COPY --from=builder /out /": "stage builder cannot be built without a container engine",
	} {
		if _, err := build(instruction); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want an error with %q", instruction, err, want)
		}
	}
}

func TestCommandLineRefuses(t *testing.T) {
	for args, want := range map[string]string{
		"":                           usage,
		"bake":                       usage,
		"build .":                    `-t: "" is not of the form REGISTRY/REPOSITORY:TAG`,
		"build -t example.com/it .":  `-t: "example.com/it" is not of the form`,
		"build -t example.com/it:v1": "one folder is the context",
		"build -t example.com/it:v1 -platform x .":  `"x" is not of the form os/architecture`,
		"build -t example.com/it:v1 -stage builder": "not of the form NAME=VALUE",
		"push":                           "the name of an image is missing",
		"push example.com/it:v1":         "build it first",
		"push -new example.com/it:v1":    "build it first",
		"compare -new example.com/it:v1": "flag provided but not defined",
	} {
		err := run(t.Context(), strings.Fields(args), io.Discard)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("image %s: got %v, want an error with %q", args, err, want)
		}
	}
	t.Setenv("SOURCE_DATE_EPOCH", "yesterday")
	want := `SOURCE_DATE_EPOCH: "yesterday" is not a number of seconds since 1970`
	if err := run(t.Context(), []string{"build", "-t", "example.com/it:v1", "."}, io.Discard); fmt.Sprint(err) != want {
		t.Errorf("got %v, want %s", err, want)
	}
}

// The catalog is rendered and checked by the opm that serves it.
func TestCatalogIsServedByTheOpmThatRendersIt(t *testing.T) {
	base := regexp.MustCompile(`(?m)^FROM quay\.io/operator-framework/opm:(v\S+)@sha256:[0-9a-f]{64}$`)
	module := regexp.MustCompile(`(?m)\sgithub\.com/operator-framework/operator-registry (v\S+)`)
	var versions []string
	for path, pattern := range map[string]*regexp.Regexp{"../../catalog.Dockerfile": base, "../../tools/opm/go.mod": module} {
		content, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		found := pattern.FindSubmatch(content)
		if found == nil {
			t.Fatalf("%s has no %s", path, pattern)
		}
		versions = append(versions, string(found[1]))
	}
	if versions[0] != versions[1] {
		t.Errorf("catalog.Dockerfile and tools/opm have %s: move both", strings.Join(versions, " and "))
	}
}

// Each Dockerfile of the project can be built without a container engine, and its context holds what it copies.
func TestDockerfiles(t *testing.T) {
	stages := write(t, map[string]string{"out/manager": "", "out/scorecard": "", "out/licenses/LICENSE": ""})
	for dockerfile, want := range map[string][]string{
		"Dockerfile":                {"manager", "licenses/LICENSE"},
		"test/scorecard/Dockerfile": {"scorecard", "licenses/LICENSE"},
		"bundle.Dockerfile":         {"manifests/platformapp.clusterserviceversion.yaml", "metadata/annotations.yaml", "tests/scorecard/config.yaml"},
		"catalog.Dockerfile":        {"configs/platformapp/catalog.yaml"},
	} {
		address, store := serve(t), t.TempDir()
		ref := address + "/it:v1"
		image(t, "build", "-t", ref, "-store", store, "-f", "../../"+dockerfile, "-base", "scratch", "-stage", "builder="+stages, "../..")
		image(t, "push", "-store", store, ref)
		headers, _ := files(t, pull(t, ref, nil))
		for _, path := range want {
			if headers[path] == nil {
				t.Errorf("%s: the image has no /%s", dockerfile, path)
			}
		}
	}
}
