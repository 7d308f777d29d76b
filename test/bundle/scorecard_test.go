// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package bundle

import (
	"path/filepath"
	"regexp"
	"testing"

	"github.com/google/go-cmp/cmp"
	scorecardv1alpha3 "github.com/operator-framework/api/pkg/apis/scorecard/v1alpha3"
	"sigs.k8s.io/yaml"
)

func readScorecard(t *testing.T) scorecardv1alpha3.Configuration {
	t.Helper()
	var config scorecardv1alpha3.Configuration
	if err := yaml.UnmarshalStrict([]byte(readFile(t, filepath.Join(bundleDir, scorecardFile))), &config); err != nil {
		t.Fatal(err)
	}
	if len(config.Stages) != 2 {
		t.Fatalf("the scorecard has %d stages, want 2", len(config.Stages))
	}
	return config
}

// The first stage is all that operator-sdk brings, in its version; the second one is ours, whose names test/scorecard
// compares with its own.
func TestScorecardRunsAllOfTheSDKAndOurs(t *testing.T) {
	config := readScorecard(t)
	want := map[string]string{
		"basic-check-spec":         "basic",
		"olm-bundle-validation":    "olm",
		"olm-crds-have-resources":  "olm",
		"olm-crds-have-validation": "olm",
		"olm-spec-descriptors":     "olm",
		"olm-status-descriptors":   "olm",
	}
	got := map[string]string{}
	image := "quay.io/operator-framework/scorecard-test:" + variable(t, "OPERATOR_SDK_VERSION")
	for _, test := range config.Stages[0].Tests {
		if len(test.Entrypoint) != 2 || test.Entrypoint[0] != "scorecard-test" || test.Labels["test"] != test.Entrypoint[1]+"-test" || test.Image != image {
			t.Errorf("test %v with the labels %v has the image %s, want %s", test.Entrypoint, test.Labels, test.Image, image)
			continue
		}
		got[test.Entrypoint[1]] = test.Labels["suite"]
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("tests of the SDK (-want +got):\n%s", diff)
	}
	for _, test := range config.Stages[1].Tests {
		if len(test.Entrypoint) != 2 || test.Entrypoint[0] != "/scorecard" || test.Labels["test"] != test.Entrypoint[1] || test.Labels["suite"] != packageName {
			t.Errorf("test %v has the labels %v", test.Entrypoint, test.Labels)
		}
	}
	if len(config.Stages[1].Tests) == 0 {
		t.Error("there is no test of ours")
	}
}

// The program that make bundle gets where PATH has none is the one whose checksum is known, on every system that it is
// released for.
func TestSDKIsKnownByItsChecksum(t *testing.T) {
	script := readFile(t, root+"/hack/operator-sdk.sh")
	for _, platform := range []string{"linux-amd64", "linux-arm64", "darwin-amd64", "darwin-arm64"} {
		line := regexp.MustCompile(`(?m)^  ` + regexp.QuoteMeta(variable(t, "OPERATOR_SDK_VERSION")) + `-` + platform + `\) checksum=[0-9a-f]{64} ;;$`)
		if !line.MatchString(script) {
			t.Errorf("hack/operator-sdk.sh has no checksum for %s", platform)
		}
	}
}
