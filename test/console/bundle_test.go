// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package console

import (
	"cmp"
	"math"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	operatorsv1alpha1 "github.com/operator-framework/api/pkg/operators/v1alpha1"
	"sigs.k8s.io/yaml"

	"platformapp/internal/resources"
)

// printed is a descriptor in the bundle's CSV.
type printed struct {
	path, displayName, description string
	capabilities                   []string
}

// readCSV returns the CSV of the bundle.
func readCSV(t *testing.T) *operatorsv1alpha1.ClusterServiceVersion {
	t.Helper()
	raw, err := os.ReadFile("../../bundle/manifests/platformapp.clusterserviceversion.yaml")
	if err != nil {
		t.Fatal(err)
	}
	csv := &operatorsv1alpha1.ClusterServiceVersion{}
	if err := yaml.UnmarshalStrict(raw, csv); err != nil {
		t.Fatal(err)
	}
	return csv
}

// readPrinted returns the descriptors of a kind in the bundle, by spec and status, in their order.
func readPrinted(t *testing.T, kind string) map[string][]printed {
	t.Helper()
	for _, crd := range readCSV(t).Spec.CustomResourceDefinitions.Owned {
		if crd.Kind != kind {
			continue
		}
		of := map[string][]printed{}
		for _, d := range crd.SpecDescriptors {
			of["spec"] = append(of["spec"], printed{d.Path, d.DisplayName, d.Description, d.XDescriptors})
		}
		for _, d := range crd.StatusDescriptors {
			of["status"] = append(of["status"], printed{d.Path, d.DisplayName, d.Description, d.XDescriptors})
		}
		return of
	}
	t.Fatalf("the bundle has no %s", kind)
	return nil
}

// readDescribed returns the fields of a kind that have a descriptor: those with a marker, and those that only the bundle
// has one of.
func readDescribed(t *testing.T, folder, crdFile, kind string) []field {
	t.Helper()
	fields := slices.DeleteFunc(readFields(t, folder, crdFile, kind), func(f field) bool { return f.descriptor == nil })
	root := readSchema(t, crdFile)
	for part, descriptors := range readPrinted(t, kind) {
		for _, d := range descriptors {
			if slices.ContainsFunc(fields, func(f field) bool { return f.part == part && f.path == d.path }) {
				continue
			}
			at := root.Properties[part].find(d.path)
			if at == nil {
				t.Errorf("%s: %s.%s has a descriptor, and the schema has no such field", kind, part, d.path)
				continue
			}
			fields = append(fields, field{part: part, path: d.path, schema: at, descriptor: &descriptor{part: part, displayName: d.displayName, capabilities: d.capabilities}})
		}
	}
	return fields
}

var pathSteps = regexp.MustCompile(`[^.\[\]]+|\[0\]`)

// find returns what a schema has at a path such as ports[0].name, or nil.
func (s *schema) find(path string) *schema {
	for _, step := range pathSteps.FindAllString(path, -1) {
		if s == nil {
			return nil
		}
		if step == "[0]" {
			s = s.Items
		} else {
			s = s.Properties[step]
		}
	}
	return s
}

// What people write are the markers, what the console reads is the bundle.
func TestBundleHasTheDescriptorsOfTheMarkers(t *testing.T) {
	// What no marker reaches: config/manifests/descriptors_patch.yaml.
	more := map[string][]string{"EGApp spec": {
		"expose.hosts[0]", "envFrom[0].configMapRef.name", "envFrom[0].secretRef.name", "command[0]", "args[0]", "imagePullSecrets[0].name",
	}}
	for _, kind := range kinds {
		for part, got := range readPrinted(t, kind.name) {
			t.Run(kind.name+" "+part, func(t *testing.T) {
				var want []printed
				fields := readFields(t, kind.folder, kind.crd, kind.name)
				// As operator-sdk sorts them: those without an order come last, equal ones in alphabetical order.
				slices.SortStableFunc(fields, func(a, b field) int {
					return cmp.Or(cmp.Compare(a.order(), b.order()), strings.Compare(a.path, b.path))
				})
				for _, f := range fields {
					if f.part == part && f.descriptor != nil {
						want = append(want, printed{f.path, f.descriptor.displayName, f.schema.Description, f.descriptor.capabilities})
					}
				}
				var added []string
				marked := slices.DeleteFunc(slices.Clone(got), func(d printed) bool {
					isMarked := slices.ContainsFunc(want, func(w printed) bool { return w.path == d.path })
					if !isMarked {
						added = append(added, d.path)
					}
					return !isMarked
				})
				if diff := gocmp.Diff(want, marked, gocmp.AllowUnexported(printed{})); diff != "" {
					t.Errorf("make bundle (-markers +bundle):\n%s", diff)
				}
				if diff := gocmp.Diff(more[kind.name+" "+part], added); diff != "" {
					t.Errorf("descriptors without a marker (-want +bundle):\n%s", diff)
				}
				for _, d := range got {
					if d.displayName == "" || d.description == "" {
						t.Errorf("%s.%s has no name or no description", part, d.path)
					}
				}
			})
		}
	}
}

// order returns where the descriptor of a field stands.
func (f field) order() int {
	if f.descriptor == nil || f.descriptor.order == 0 {
		return math.MaxInt32
	}
	return f.descriptor.order
}

// The form shows the fields of an object in the order of their descriptors: whoever has chosen the type of an exposure
// gives the hosts next.
func TestHostsFollowTheTypeOfTheExposure(t *testing.T) {
	descriptors := readPrinted(t, "EGApp")["spec"]
	at := slices.IndexFunc(descriptors, func(d printed) bool { return d.path == "expose.type" })
	if at < 0 || at+1 >= len(descriptors) || descriptors[at+1].path != "expose.hosts[0]" {
		t.Errorf("descriptor %d is that of expose.type, and not followed by that of its hosts", at)
	}
}

// The scorecard wants a descriptor for each field that an example sets; a form shows only such fields in a good order.
func TestEachFieldOfAnExampleHasADescriptor(t *testing.T) {
	var examples []struct {
		Kind string
		Spec map[string]any
	}
	if err := yaml.Unmarshal([]byte(readCSV(t).Annotations["alm-examples"]), &examples); err != nil || len(examples) == 0 {
		t.Fatalf("%d examples (%v)", len(examples), err)
	}
	for _, example := range examples {
		descriptors := readPrinted(t, example.Kind)["spec"]
		for name := range example.Spec {
			if !slices.ContainsFunc(descriptors, func(d printed) bool { return d.path == name }) {
				t.Errorf("the example of %s sets spec.%s, which has no descriptor", example.Kind, name)
			}
		}
	}
}

// The page of an application finds what belongs to it by the owner references, in the order of these kinds: an owner
// stands before what it owns. The console knows the kinds of some groups only by the group, which is in the name.
func TestEachKindNamesWhatComesOfIt(t *testing.T) {
	made := []string{"ReplicaSet", "Pod"}
	for _, kind := range resources.Kinds {
		made = append(made, kind.Name)
	}
	slices.Sort(made)
	want := map[string][]string{"EGApp": made, "DemoMicroService": {"Deployment", "Pod", "ReplicaSet"}}
	names := map[string]string{
		"HTTPRoute": "httproutes.gateway.networking.k8s.io", "Ingress": "ingresses.networking.k8s.io", "ServiceMonitor": "servicemonitors.monitoring.coreos.com",
	}
	for _, crd := range readCSV(t).Spec.CustomResourceDefinitions.Owned {
		if crd.DisplayName == "" || crd.Description == "" {
			t.Errorf("%s has no name or no description", crd.Kind)
		}
		var kinds []string
		for _, resource := range crd.Resources {
			kinds = append(kinds, resource.Kind)
			if resource.Name != names[resource.Kind] {
				t.Errorf("%s: %s is called %q, want %q", crd.Kind, resource.Kind, resource.Name, names[resource.Kind])
			}
		}
		if slices.Index(kinds, "Deployment") > slices.Index(kinds, "ReplicaSet") || slices.Index(kinds, "ReplicaSet") > slices.Index(kinds, "Pod") {
			t.Errorf("%s: what is owned stands before its owner: %v", crd.Kind, kinds)
		}
		if diff := gocmp.Diff(want[crd.Kind], slices.Sorted(slices.Values(kinds))); diff != "" {
			t.Errorf("kinds that come of a %s (-want +bundle):\n%s", crd.Kind, diff)
		}
	}
}
