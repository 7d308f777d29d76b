// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package hack

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// One finding is tolerated, and nothing that comes in one message with it: the validator joins APIs in any order.
func TestBundleValidateToleratesEventsAlone(t *testing.T) {
	const removed = `this bundle is using APIs which were deprecated and removed in v1.25. More info: https://example.com. Migrate the API(s) for `
	for _, test := range []struct {
		name, message string
		passes        bool
	}{
		{"nothing", "", true},
		{"events", removed + `events: ([\"ClusterServiceVersion.Spec.InstallStrategy.StrategySpec.ClusterPermissions[0].Rules[7]\"])`, true},
		{"another API", removed + `cronjobs: ([\"a\"])`, false},
		{"another API behind events", removed + `events: ([\"a\"]),horizontalpodautoscalers: ([\"b\"])`, false},
		{"another API before events", removed + `horizontalpodautoscalers: ([\"b\"]),events: ([\"a\"])`, false},
		{"something else", "csv.Spec.minKubeVersion is not informed", false},
	} {
		t.Run(test.name, func(t *testing.T) {
			out, err := bundleValidate(t, test.message)
			if (err == nil) != test.passes || !test.passes && !strings.Contains(out, "operator-sdk finds in bundle:") {
				t.Errorf("it ends with %v:\n%s", err, out)
			}
		})
	}
}

// bundleValidate runs the script with an operator-sdk that warns of something, and an opm that likes everything.
func bundleValidate(t *testing.T, message string) (string, error) {
	t.Helper()
	programs := t.TempDir()
	found := "{\n  \"passed\": true,\n  \"outputs\": null\n}\n"
	if message != "" {
		found = "{\n  \"passed\": true,\n  \"outputs\": [\n    {\n      \"type\": \"warning\",\n      \"message\": \"" + message + "\"\n    }\n  ]\n}\n"
	}
	for name, script := range map[string]string{"operator-sdk": "#!/bin/sh\ncat <<'END'\n" + found + "END\n", "opm": "#!/bin/sh\n"} {
		if err := os.WriteFile(filepath.Join(programs, name), []byte(script), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	command := exec.CommandContext(t.Context(), "./bundle-validate.sh")
	command.Env = append(os.Environ(), "OPERATOR_SDK="+filepath.Join(programs, "operator-sdk"), "OPM="+filepath.Join(programs, "opm"))
	out, err := command.CombinedOutput()
	return string(out), err
}
