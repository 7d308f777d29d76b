// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package bundle

import (
	"encoding/json"
	"encoding/xml"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	operatorsv1alpha1 "github.com/operator-framework/api/pkg/operators/v1alpha1"
	"golang.org/x/mod/semver"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"platformapp/internal/profile"
)

// One version stands in many places.
func TestVersionIsTheSameEverywhere(t *testing.T) {
	version := variable(t, "VERSION")
	csv := readCSV(t, bundleDir)
	base := variable(t, "IMAGE_TAG_BASE")
	for what, values := range map[string][2]string{
		"spec.version":        {csv.Spec.Version.String(), version},
		"the name":            {csv.Name, packageName + ".v" + version},
		"the manager's image": {manager(t, csv).Image, base + ":v" + version},
		"containerImage":      {csv.Annotations["containerImage"], base + ":v" + version},
		skipRange:             {csv.Annotations[skipRange], ">=" + variable(t, "UPGRADES_FROM") + " <" + version},
	} {
		if values[0] != values[1] {
			t.Errorf("%s is %q, want %q", what, values[0], values[1])
		}
	}
	for _, test := range readScorecard(t).Stages[1].Tests {
		if test.Image != base+"-scorecard:v"+version {
			t.Errorf("the scorecard's image is %s, want that of the version", test.Image)
		}
	}
	replaces := ""
	if of := variable(t, "REPLACES"); of != "" {
		replaces = packageName + ".v" + of
		if semver.Compare("v"+of, "v"+version) >= 0 {
			t.Errorf("version %s replaces %s, which is no earlier one", version, of)
		}
	}
	if csv.Spec.Replaces != replaces {
		t.Errorf("it replaces %q, want %q", csv.Spec.Replaces, replaces)
	}
	if _, err := time.Parse(time.RFC3339, csv.Annotations["createdAt"]); err != nil {
		t.Errorf("createdAt: %v", err)
	}
}

// The manager and the images that it runs by itself are all related, so that they are mirrored.
func TestImagesAreRelated(t *testing.T) {
	csv := readCSV(t, bundleDir)
	container := manager(t, csv)
	want := map[string]string{container.Name: container.Image}
	defaults := map[string]bool{}
	for _, variable := range container.Env {
		if name, related := strings.CutPrefix(variable.Name, "RELATED_IMAGE_"); related {
			want[strings.ToLower(name)] = variable.Value
			defaults[variable.Value] = true
		}
	}
	got := map[string]string{}
	for _, image := range csv.Spec.RelatedImages {
		got[image.Name] = image.Image
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("related images (-those of the manager +those of the CSV):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"go", "java", "manager", "python"}, slices.Sorted(maps.Keys(got))); diff != "" {
		t.Errorf("names of related images (-want +got):\n%s", diff)
	}
	// A release that changes a default image restarts applications; the bundle must not do it by the way.
	if diff := cmp.Diff(map[string]bool{profile.DefaultImage: true}, defaults); diff != "" {
		t.Errorf("default images (-the manager's own +those that the bundle sets):\n%s", diff)
	}
}

// Each is "true" only where something here shows it. What OpenShift calls disconnected wants every image by its digest,
// which no release has, see docs/install.md.
func TestFeaturesAreThoseThatAreShown(t *testing.T) {
	csv := readCSV(t, bundleDir)
	want := map[string]string{
		"disconnected":     "false",
		"fips-compliant":   "false",
		"proxy-aware":      "false",
		"tls-profiles":     "false",
		"token-auth-aws":   "false",
		"token-auth-azure": "false",
		"token-auth-gcp":   "false",
	}
	got := map[string]string{}
	for key, value := range csv.Annotations {
		if feature, found := strings.CutPrefix(key, "features.operators.openshift.io/"); found {
			got[feature] = value
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("features (-want +got):\n%s", diff)
	}
}

func TestIconIsThatOfTheProject(t *testing.T) {
	icons := readCSV(t, bundleDir).Spec.Icon
	if len(icons) != 1 || icons[0].MediaType != "image/svg+xml" {
		t.Fatalf("the CSV has %d icons, want an SVG", len(icons))
	}
	var data []byte
	if err := json.Unmarshal([]byte(`"`+icons[0].Data+`"`), &data); err != nil {
		t.Fatalf("the icon is no base64: %v", err)
	}
	if diff := cmp.Diff(readFile(t, root+"/config/manifests/icon.svg"), string(data)); diff != "" {
		t.Errorf("icon (-config/manifests/icon.svg +CSV):\n%s", diff)
	}
	var image struct {
		XMLName xml.Name `xml:"http://www.w3.org/2000/svg svg"`
		Width   int      `xml:"width,attr"`
		Height  int      `xml:"height,attr"`
	}
	if err := xml.Unmarshal(data, &image); err != nil {
		t.Fatal(err)
	}
	if image.Width < 1 || image.Width > 80 || image.Height < 1 || image.Height > 40 {
		t.Errorf("the icon is %d by %d, want at most 80 by 40", image.Width, image.Height)
	}
}

// What the hub shows of the operator, and the console of its installation.
func TestCSVTellsPeopleWhatTheyNeed(t *testing.T) {
	csv := readCSV(t, bundleDir)
	for _, heading := range []string{"Features", "Prerequisites", "Try it", "Configuration", "Limits"} {
		if !strings.Contains(csv.Spec.Description, "\n## "+heading+"\n") {
			t.Errorf("the description lacks %q", heading)
		}
	}
	// The hub cuts the short one.
	if n := len(csv.Annotations["description"]); n < 10 || n > 135 {
		t.Errorf("the short description has %d characters, want 10 to 135", n)
	}
	for _, key := range []string{"repository", "support", "operator.openshift.io/uninstall-message"} {
		if csv.Annotations[key] == "" {
			t.Errorf("the annotation %s is missing", key)
		}
	}
	if len(csv.Spec.Keywords) == 0 || len(csv.Spec.Links) == 0 || len(csv.Spec.Maintainers) == 0 || csv.Spec.Maturity == "" {
		t.Error("keywords, links, maintainers or maturity are missing")
	}
}

// The console makes the namespace that is suggested, with what the template says.
func TestSuggestedNamespaceIsRestricted(t *testing.T) {
	csv := readCSV(t, bundleDir)
	var namespace corev1.Namespace
	if err := yaml.UnmarshalStrict([]byte(csv.Annotations["operatorframework.io/suggested-namespace-template"]), &namespace); err != nil {
		t.Fatal(err)
	}
	want := corev1.Namespace{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Namespace"},
		ObjectMeta: metav1.ObjectMeta{
			Name:   csv.Annotations["operatorframework.io/suggested-namespace"],
			Labels: map[string]string{"pod-security.kubernetes.io/enforce": "restricted"},
		},
	}
	if diff := cmp.Diff(want, namespace); diff != "" {
		t.Errorf("template (-want +got):\n%s", diff)
	}
	if namespace.Name != "platformapp-system" {
		t.Errorf("the namespace is %s, want that of config/default", namespace.Name)
	}
}

func TestEveryInstallModeIsSupported(t *testing.T) {
	got := map[operatorsv1alpha1.InstallModeType]bool{}
	for _, mode := range readCSV(t, bundleDir).Spec.InstallModes {
		got[mode.Type] = mode.Supported
	}
	want := map[operatorsv1alpha1.InstallModeType]bool{
		operatorsv1alpha1.InstallModeTypeOwnNamespace:    true,
		operatorsv1alpha1.InstallModeTypeSingleNamespace: true,
		operatorsv1alpha1.InstallModeTypeMultiNamespace:  true,
		operatorsv1alpha1.InstallModeTypeAllNamespaces:   true,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("install modes (-want +got):\n%s", diff)
	}
}

// The first OpenShift of the bundle has the Kubernetes that the CSV wants at least.
func TestOpenShiftHasTheKubernetesThatIsNeeded(t *testing.T) {
	kubernetes := map[string]string{
		"v4.14": "1.27.0", "v4.15": "1.28.0", "v4.16": "1.29.0", "v4.17": "1.30.0", "v4.18": "1.31.0", "v4.19": "1.32.0",
	}
	first := annotations(t)["com.redhat.openshift.versions"]
	if want := kubernetes[first]; readCSV(t, bundleDir).Spec.MinKubeVersion != want {
		t.Errorf("minKubeVersion is %s, want %s, that of OpenShift %s", readCSV(t, bundleDir).Spec.MinKubeVersion, want, first)
	}
}

// OLM v1 installs nothing that depends on other operators.
func TestBundleNeedsNoOtherOperator(t *testing.T) {
	csv := readCSV(t, bundleDir)
	if n := len(csv.Spec.CustomResourceDefinitions.Required) + len(csv.Spec.APIServiceDefinitions.Required) + len(csv.Spec.NativeAPIs); n > 0 {
		t.Errorf("the CSV requires %d APIs", n)
	}
	for _, key := range []string{"olm.properties", "operatorframework.io/initialization-resource", "operators.operatorframework.io/internal-objects"} {
		if csv.Annotations[key] != "" {
			t.Errorf("the CSV has the annotation %s", key)
		}
	}
}
