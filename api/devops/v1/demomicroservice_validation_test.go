// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package v1_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	devopsv1 "platformapp/api/devops/v1"
)

func TestIsValid(t *testing.T) {
	for _, test := range []struct {
		name, object, image, want string
	}{
		{"a name and an image", "demo", "nginx:1", ""},
		{"a name of 63 characters", strings.Repeat("a", 63), "nginx:1", ""},
		{"a name of 64 characters", strings.Repeat("a", 64), "nginx:1", "metadata.name: Invalid value"},
		{"a name with a dot", "my.service", "nginx:1", "metadata.name: Invalid value"},
		{"a name with a digit first", "1demo", "nginx:1", "metadata.name: Invalid value"},
		{"no image", "demo", "", "spec.image: Required value"},
		{"neither", "", "", "metadata.name: Invalid value, spec.image: Required value"},
	} {
		t.Run(test.name, func(t *testing.T) {
			service := &devopsv1.DemoMicroService{Spec: devopsv1.DemoMicroServiceSpec{Image: test.image}}
			service.Name = test.object
			var got []string
			for _, err := range service.IsValid() {
				got = append(got, err.Field+": "+err.Type.String())
			}
			if diff := cmp.Diff(test.want, strings.Join(got, ", ")); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}
