// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package bundle

import (
	"context"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-containerregistry/pkg/name"
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/defaulting"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/pruning"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
	"sigs.k8s.io/yaml"

	devopsv1 "platformapp/api/devops/v1"
	"platformapp/api/egplatform/v1alpha1"
)

// The files of the kinds in the bundle, which are those of config/crd.
var crdFiles = map[string]string{
	"EGApp":            "egplatform.platform.evillgenius.com_egapps.yaml",
	"DemoMicroService": "devops.my.domain_demomicroservices.yaml",
}

// checker refuses what the API server would refuse of new objects of a kind.
type checker struct {
	schema     *schema.Structural
	validator  validation.SchemaValidator
	rules      *cel.Validator
	apiVersion string
}

func newChecker(t *testing.T, kind string) checker {
	t.Helper()
	var crd apiextensionsv1.CustomResourceDefinition
	if err := yaml.UnmarshalStrict([]byte(readFile(t, filepath.Join(bundleDir, "manifests", crdFiles[kind]))), &crd); err != nil {
		t.Fatal(err)
	}
	var internal apiextensions.CustomResourceDefinition
	if err := apiextensionsv1.Convert_v1_CustomResourceDefinition_To_apiextensions_CustomResourceDefinition(&crd, &internal, nil); err != nil {
		t.Fatal(err)
	}
	version := internal.Spec.Versions[0]
	properties := version.Schema
	if properties == nil {
		properties = internal.Spec.Validation // Of a CRD with one version, here.
	}
	structural, err := schema.NewStructural(properties.OpenAPIV3Schema)
	if err != nil {
		t.Fatal(err)
	}
	validator, _, err := validation.NewSchemaValidator(properties.OpenAPIV3Schema)
	if err != nil {
		t.Fatal(err)
	}
	rules := cel.NewValidator(structural, true, celconfig.PerCallLimit)
	if rules == nil {
		t.Fatalf("%s has no rules", kind)
	}
	return checker{structural, validator, rules, crd.Spec.Group + "/" + version.Name}
}

// refusals returns why an object of the kind would be refused, and which of its fields would be dropped.
func (c checker) refusals(ctx context.Context, object *unstructured.Unstructured) []string {
	var found []string
	if object.GetAPIVersion() != c.apiVersion {
		found = append(found, "apiVersion is "+object.GetAPIVersion()+", want "+c.apiVersion)
	}
	content := object.DeepCopy().Object
	for _, path := range pruning.PruneWithOptions(content, c.schema, true, schema.UnknownFieldPathOptions{TrackUnknownFieldPaths: true}) {
		found = append(found, path+": unknown field")
	}
	defaulting.Default(content, c.schema)
	for _, err := range validation.ValidateCustomResource(nil, content, c.validator) {
		found = append(found, err.Error())
	}
	errs, _ := c.rules.Validate(ctx, nil, c.schema, content, nil, celconfig.RuntimeCELCostBudget)
	for _, err := range errs {
		found = append(found, err.Error())
	}
	return found
}

// examples returns the CSV's alm-examples in their order.
func examples(t *testing.T) []unstructured.Unstructured {
	t.Helper()
	var objects []map[string]any
	if err := yaml.Unmarshal([]byte(readCSV(t, bundleDir).Annotations["alm-examples"]), &objects); err != nil {
		t.Fatal(err)
	}
	var list []unstructured.Unstructured
	for _, object := range objects {
		list = append(list, unstructured.Unstructured{Object: object})
	}
	return list
}

// A console offers the first example of each kind as the start of a form; the scorecard makes all of them.
func TestEachKindHasAnExample(t *testing.T) {
	var metadata map[string]struct{ Description string }
	if err := yaml.UnmarshalStrict([]byte(readCSV(t, bundleDir).Annotations["alm-examples-metadata"]), &metadata); err != nil {
		t.Fatal(err)
	}
	var kinds, owned []string
	for _, example := range examples(t) {
		kinds = append(kinds, example.GetKind())
		if metadata[example.GetName()].Description == "" {
			t.Errorf("alm-examples-metadata does not describe %s", example.GetName())
		}
		if got := example.GetLabels(); got != nil {
			t.Errorf("%s has the labels %v, which everybody who starts with it would keep", example.GetName(), got)
		}
	}
	if len(metadata) != len(kinds) {
		t.Errorf("alm-examples-metadata describes %d examples, there are %d", len(metadata), len(kinds))
	}
	for _, crd := range readCSV(t, bundleDir).Spec.CustomResourceDefinitions.Owned {
		owned = append(owned, crd.Kind)
	}
	if diff := cmp.Diff([]string{"EGApp", "DemoMicroService"}, owned); diff != "" {
		t.Errorf("owned kinds (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(owned, kinds); diff != "" {
		t.Errorf("kinds of the examples (-owned +examples):\n%s", diff)
	}
}

func TestExamplesAreValid(t *testing.T) {
	for _, example := range examples(t) {
		for _, refusal := range newChecker(t, example.GetKind()).refusals(t.Context(), &example) {
			t.Errorf("%s %s: %s", example.GetKind(), example.GetName(), refusal)
		}
		expectCarriedOut(t, &example)
	}
}

// expectCarriedOut fails unless the operator would carry an object out.
func expectCarriedOut(t *testing.T, object *unstructured.Unstructured) {
	t.Helper()
	raw, err := yaml.Marshal(object.Object)
	if err != nil {
		t.Fatal(err)
	}
	var valid error
	switch object.GetKind() {
	case "EGApp":
		var app v1alpha1.EGApp
		if err := yaml.UnmarshalStrict(raw, &app); err != nil {
			t.Fatal(err)
		}
		valid = app.IsValid().ToAggregate()
		// Two of one appId wait for each other: everybody begins with this example.
		if app.Spec.AppID != "" {
			t.Errorf("%s has the appId %s", app.Name, app.Spec.AppID)
		}
	case "DemoMicroService":
		var service devopsv1.DemoMicroService
		if err := yaml.UnmarshalStrict(raw, &service); err != nil {
			t.Fatal(err)
		}
		valid = service.IsValid().ToAggregate()
	}
	if valid != nil {
		t.Errorf("%s %s: %v", object.GetKind(), object.GetName(), valid)
	}
}

// A node that is told no registry may ask several, or refuse to guess, as those of OpenShift do.
func TestImagesOfExamplesNameTheirRegistry(t *testing.T) {
	named := 0
	objects := examples(t)
	for _, block := range yamlBlocks.FindAllStringSubmatch(readCSV(t, bundleDir).Spec.Description, -1) {
		var object unstructured.Unstructured
		if err := yaml.Unmarshal([]byte(block[1]), &object.Object); err != nil {
			t.Fatal(err)
		}
		objects = append(objects, object)
	}
	for _, object := range objects {
		for _, image := range imagesIn(object.Object["spec"]) {
			named++
			if _, err := name.ParseReference(image, name.StrictValidation); err != nil {
				t.Errorf("%s: image: %v", object.GetName(), err)
			}
		}
	}
	if named == 0 {
		t.Error("no example has an image: are they read?")
	}
}

// imagesIn returns the value of each field image in a value.
func imagesIn(value any) []string {
	var images []string
	switch v := value.(type) {
	case map[string]any:
		for key, field := range v {
			if image, isText := field.(string); isText && key == "image" {
				images = append(images, image)
			}
			images = append(images, imagesIn(field)...)
		}
	case []any:
		for _, item := range v {
			images = append(images, imagesIn(item)...)
		}
	}
	return images
}

var yamlBlocks = regexp.MustCompile("(?sm)^(?:```yaml|kubectl apply -f - <<END)\n(.*?)^(?:```|END)$")

// So are the objects in the description on the hub.
func TestObjectsInTheDescriptionAreValid(t *testing.T) {
	blocks := yamlBlocks.FindAllStringSubmatch(readCSV(t, bundleDir).Spec.Description, -1)
	if len(blocks) != 2 {
		t.Fatalf("the description has %d objects, want 2", len(blocks))
	}
	for _, block := range blocks {
		var object unstructured.Unstructured
		if err := yaml.Unmarshal([]byte(block[1]), &object.Object); err != nil {
			t.Fatal(err)
		}
		for _, refusal := range newChecker(t, object.GetKind()).refusals(t.Context(), &object) {
			t.Errorf("%s: %s", object.GetName(), refusal)
		}
		expectCarriedOut(t, &object)
	}
}

// The tests above can refuse.
func TestInvalidObjectsAreRefused(t *testing.T) {
	for name, spec := range map[string]string{
		"an unknown field":         `{framework: go, environment: dev, replicas: 2}`,
		"a value of no enum":       `{framework: rust, environment: dev}`,
		"nothing of what it needs": `{}`,
		"a broken rule":            `{framework: go, environment: dev, appId: "-"}`,
		"no image":                 `{framework: go, environment: dev, image: "a b"}`,
	} {
		t.Run(name, func(t *testing.T) {
			var object unstructured.Unstructured
			text := "apiVersion: egplatform.platform.evillgenius.com/v1alpha1\nkind: EGApp\nmetadata: {name: bad}\nspec: " + spec
			if err := yaml.Unmarshal([]byte(text), &object.Object); err != nil {
				t.Fatal(err)
			}
			if refusals := newChecker(t, "EGApp").refusals(t.Context(), &object); len(refusals) == 0 {
				t.Errorf("%s is taken", strings.TrimSpace(spec))
			}
		})
	}
}
