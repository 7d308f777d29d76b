// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package bundle

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/operator-framework/api/pkg/manifests"
	"github.com/operator-framework/api/pkg/validation"
	interfaces "github.com/operator-framework/api/pkg/validation/interfaces"

	"platformapp/internal/profile"
)

// tolerated are the findings that the bundle may have: how each begins, and why.
var tolerated = map[string]string{
	"not all images specified are providing the support described via the CSV labels. Note that (OS.architecture): " +
		"(linux.arm64) was not found for the image(s) [" + profile.DefaultImage + "]": demonstration,
	"check if the image " + profile.DefaultImage + ` should not support ["arm64"]`: demonstration,
}

const demonstration = "the operator runs on arm64, and so do applications that name an image of their own; the default image, " +
	"which is for amd64, is for a first try, and a platform replaces it by RELATED_IMAGE_*"

// validators are those that operator-sdk bundle validate runs by default, the suite operatorframework, and multiarch.
var validators = map[string]interfaces.Validators{
	"default":               validation.DefaultBundleValidators,
	"object":                {validation.ObjectValidator},
	"operatorhubv2":         {validation.OperatorHubV2Validator},
	"standardcapabilities":  {validation.StandardCapabilitiesValidator},
	"standardcategories":    {validation.StandardCategoriesValidator},
	"good-practices":        {validation.GoodPracticesValidator},
	"alpha-deprecated-apis": {validation.AlphaDeprecatedAPIsValidator},
	"multiarch":             {validation.MultipleArchitecturesValidator},
}

func TestValidatorsFindNothing(t *testing.T) { validate(t, bundleDir) }

// validate fails for each error and each warning of any validator that is not tolerated.
func validate(t *testing.T, dir string) {
	t.Helper()
	// The validator of architectures asks a container engine which ones the images are built for, and cannot do without.
	// This one tells of our images what the Makefile builds, of the default image what it is known to be: the labels are
	// compared with these, not with what a registry has.
	engine := t.TempDir()
	script := `#!/bin/sh
case "$*" in
  "manifest inspect ` + variable(t, "IMAGE_TAG_BASE") + `:"*) echo '` + manifestOf(t, strings.Split(variable(t, "PLATFORMS"), ",")) + `' ;;
  "manifest inspect ` + profile.DefaultImage + `") echo '` + manifestOf(t, []string{"linux/amd64"}) + `' ;;
  "pull "*) ;;
  *) exit 1 ;;
esac
`
	if err := os.WriteFile(filepath.Join(engine, "docker"), []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", engine+":"+os.Getenv("PATH"))

	bundle, err := manifests.GetBundleFromDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	objects := bundle.ObjectsToValidate()
	objects = append(objects, map[string]string{"k8s-version": "1.37"})
	seen := map[string]bool{}
	for name, of := range validators {
		results := of.Validate(objects...)
		if len(results) == 0 {
			t.Errorf("%s: it has looked at nothing", name)
		}
		for _, result := range results {
			for _, found := range slices.Concat(result.Errors, result.Warnings) {
				if !tolerates(found.Detail, seen) {
					t.Errorf("%s: %s: %s", name, found.Level, found.Detail)
				}
			}
		}
	}
	for beginning := range tolerated {
		if !seen[beginning] {
			t.Errorf("no longer found, so it need not be tolerated: %s", beginning)
		}
	}
}

// manifestOf returns what a container engine tells of an image that is built for some platforms, such as linux/amd64.
func manifestOf(t *testing.T, platforms []string) string {
	t.Helper()
	type platform struct {
		OS           string `json:"os"`
		Architecture string `json:"architecture"`
	}
	type manifest struct {
		Platform platform `json:"platform"`
	}
	var list []manifest
	for _, of := range platforms {
		system, architecture, _ := strings.Cut(of, "/")
		list = append(list, manifest{platform{system, architecture}})
	}
	content, err := json.Marshal(map[string]any{"manifests": list})
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}

// tolerates says whether a finding may be there, and remembers that it was seen.
func tolerates(finding string, seen map[string]bool) bool {
	for beginning := range tolerated {
		if strings.HasPrefix(finding, beginning) {
			seen[beginning] = true
			return true
		}
	}
	return false
}
