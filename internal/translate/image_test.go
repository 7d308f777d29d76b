// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package translate_test

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"platformapp/internal/profile"
	"platformapp/internal/translate"
)

const (
	digest = "sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

	egappCRD            = "../../config/crd/bases/egplatform.platform.evillgenius.com_egapps.yaml"
	demoMicroServiceCRD = "../../config/crd/bases/devops.my.domain_demomicroservices.yaml"
)

// images are references with what a runtime makes of them: the words of the refusal, or
// nothing for a reference that is used to the letter.
var images = []struct{ name, image, refusal string }{
	{"a short name", "nginx", ""},
	{"a tag", "stefanprodan/podinfo:0.0.1", ""},
	{"a name with an underscore", "my_app:latest", ""},
	{"a registry with port and digest", "registry.example.com:5000/team/app@" + digest, ""},
	{"a tag and a digest", "host:5000/app:1.2@" + digest, ""},
	{"a registry on localhost", "localhost:4000/repo/my-image:tag", ""},
	{"a deep path", "registry.example.com/a/b/c/d:1.2_3-rc.1", ""},
	{"a registry in capitals", "REGISTRY.example.com/app:1", ""},
	{"a registry by its address", "[fd00::1]:5000/app:1", ""},
	{"a tag in capitals", "app:V1", ""},
	{"a tag of 128 characters", "app:" + strings.Repeat("a", 128), ""},

	{"a name in capitals", "MyOrg/App:1.0", "must be lowercase"},
	{"a transport", "docker://nginx:1", "invalid reference format"},
	{"a URL", "https://registry.example.com/app:1", "invalid reference format"},
	{"a colon without a tag", "nginx:", "invalid reference format"},
	{"a line end", "nginx:1\n", "invalid reference format"},
	{"a zero-width space", "ngi\u200bnx", "invalid reference format"},
	{"a blank inside", "a b", "invalid reference format"},
	{"a blank before", " nginx", "invalid reference format"},
	{"a blank behind", "nginx ", "invalid reference format"},
	{"blanks alone", "   ", "invalid reference format"},
	{"a plus in the tag", "registry.example.com/a/b/c/d:1.2_3-rc.1+x", "invalid reference format"},
	{"two tags", "nginx:1:2", "invalid reference format"},
	{"a tag of 129 characters", "app:" + strings.Repeat("a", 129), "invalid reference format"},
	{"a dash first", "-nginx", "invalid reference format"},
	{"an empty part", "registry.example.com//app", "invalid reference format"},
	{"a password", "user:secret@registry.example.com/app", "invalid reference format"},
	{"a name of 300 characters", strings.Repeat("a", 300), "must not be more than 255 characters"},
	{"a digest that is too short", "nginx@sha256:0123456789abcdef0123456789abcdef", "invalid checksum digest length"},
	{"a digest of an unknown algorithm", "nginx@md5:0123456789abcdef0123456789abcdef", "unsupported digest algorithm"},
	{"an image's id", "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef", "cannot specify 64-byte hexadecimal strings"},
	{"a variable", "${IMAGE}", "invalid reference format"},
}

func TestImageIsUsedToTheLetterOrRefused(t *testing.T) {
	for _, test := range images {
		t.Run(test.name, func(t *testing.T) {
			app := newEGApp()
			app.Spec.Image = test.image
			w, err := translate.EGApp(app, translate.Options{})
			expectImage(t, "EGApp", w.Container.Image, err, test.image, test.refusal)

			service := newDemoMicroService()
			service.Spec.Image = test.image
			w, err = translate.DemoMicroService(service)
			expectImage(t, "DemoMicroService", w.Container.Image, err, test.image, test.refusal)
		})
	}
}

func expectImage(t *testing.T, kind, got string, err error, image, refusal string) {
	t.Helper()
	switch {
	case refusal == "" && err != nil:
		t.Errorf("%s: %v", kind, err)
	case refusal == "" && got != image:
		t.Errorf("%s runs %q, want %q", kind, got, image)
	case refusal != "" && err == nil:
		t.Errorf("%s runs %q, want a refusal", kind, got)
	case refusal != "" && (!strings.HasPrefix(err.Error(), "spec.image: ") || !strings.Contains(err.Error(), refusal)):
		t.Errorf("%s is refused by %q, want the field spec.image and %q", kind, err, refusal)
	}
}

// What the schema refuses is refused here as well, for objects that are stored already.
func TestWhatTheSchemaRefusesOfAnImageIsRefused(t *testing.T) {
	for _, path := range []string{egappCRD, demoMicroServiceCRD} {
		raw, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		rule := imageRule(t, raw)
		refused := 0
		for _, test := range images {
			if rule.MatchString(test.image) {
				continue
			}
			refused++
			if test.refusal == "" {
				t.Errorf("%s: the schema in %s refuses %q, which a runtime can pull", test.name, path, test.image)
			}
		}
		if refused == 0 {
			t.Errorf("the rule %s in %s refuses none of the images", rule, path)
		}
	}
}

func imageRule(t *testing.T, crd []byte) *regexp.Regexp {
	t.Helper()
	var parsed struct {
		Spec struct {
			Versions []struct {
				Schema struct {
					OpenAPIV3Schema struct {
						Properties struct {
							Spec struct {
								Properties map[string]struct {
									Validations []struct{ Rule string } `json:"x-kubernetes-validations"`
								}
							}
						}
					} `json:"openAPIV3Schema"`
				}
			}
		}
	}
	if err := yaml.Unmarshal(crd, &parsed); err != nil {
		t.Fatal(err)
	}
	validations := parsed.Spec.Versions[0].Schema.OpenAPIV3Schema.Properties.Spec.Properties["image"].Validations
	if len(validations) != 1 {
		t.Fatalf("%d rules for the image, want 1", len(validations))
	}
	match := regexp.MustCompile(`matches\('([^']+)'\)`).FindStringSubmatch(validations[0].Rule)
	if match == nil {
		t.Fatalf("no pattern in %s", validations[0].Rule)
	}
	return regexp.MustCompile(match[1])
}

func TestDefaultImageIsThePlatforms(t *testing.T) {
	app := newEGApp()
	for _, test := range []struct {
		name   string
		images profile.Images
		image  string
		want   string
	}{
		{"neither names one", nil, "", "gcr.io/kuar-demo/kuard-amd64:1"},
		{"the platform names one", profile.Images{"go": "registry.example.com/base/go:1.26"}, "", "registry.example.com/base/go:1.26"},
		{"the platform names one of another framework", profile.Images{"java": "registry.example.com/base/java:21"}, "", "gcr.io/kuar-demo/kuard-amd64:1"},
		{"the EGApp names one", profile.Images{"go": "registry.example.com/base/go:1.26"}, "nginx:1", "nginx:1"},
	} {
		t.Run(test.name, func(t *testing.T) {
			app.Spec.Image = test.image
			w, err := translate.EGApp(app, translate.Options{Images: test.images})
			if err != nil || w.Container.Image != test.want {
				t.Errorf("runs %q (%v), want %q", w.Container.Image, err, test.want)
			}
		})
	}
}
