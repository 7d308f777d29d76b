// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package olm

import (
	"fmt"
	"os"
	"path/filepath"

	operatorsv1alpha1 "github.com/operator-framework/api/pkg/operators/v1alpha1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	testbundle "platformapp/test/bundle"
)

// bundle is what OLM installs.
type bundle struct {
	// dir is its folder, with manifests/ and metadata/ in it.
	dir  string
	csv  *operatorsv1alpha1.ClusterServiceVersion
	crds []*apiextensionsv1.CustomResourceDefinition
}

// readBundle reads the ClusterServiceVersion and the CustomResourceDefinitions of a bundle.
func readBundle(dir string) (*bundle, error) {
	files, err := filepath.Glob(filepath.Join(dir, "manifests", "*.yaml"))
	if err != nil {
		return nil, err
	}
	b := &bundle{dir: dir}
	for _, file := range files {
		content, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		var kind metav1.TypeMeta
		if err := yaml.Unmarshal(content, &kind); err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		switch kind.Kind {
		case operatorsv1alpha1.ClusterServiceVersionKind:
			b.csv = &operatorsv1alpha1.ClusterServiceVersion{}
			err = yaml.Unmarshal(content, b.csv)
		case "CustomResourceDefinition":
			crd := &apiextensionsv1.CustomResourceDefinition{}
			err = yaml.UnmarshalStrict(content, crd)
			b.crds = append(b.crds, crd)
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
	}
	if b.csv == nil || len(b.crds) == 0 {
		return nil, fmt.Errorf("%s lacks the ClusterServiceVersion or the CustomResourceDefinitions", dir)
	}
	if n := len(b.csv.Spec.InstallStrategy.StrategySpec.DeploymentSpecs); n != 1 {
		return nil, fmt.Errorf("the ClusterServiceVersion has %d Deployments, want the manager's alone", n)
	}
	return b, b.checkAccounts()
}

// checkAccounts fails unless all rights are those of the ServiceAccount that the manager runs as.
func (b *bundle) checkAccounts() error {
	strategy := b.csv.Spec.InstallStrategy.StrategySpec
	for _, p := range append(strategy.Permissions, strategy.ClusterPermissions...) {
		if p.ServiceAccountName != b.serviceAccount() {
			return fmt.Errorf("rights are given to %s, and the manager runs as %s", p.ServiceAccountName, b.serviceAccount())
		}
	}
	return nil
}

// deployment is the manager's.
func (b *bundle) deployment() operatorsv1alpha1.StrategyDeploymentSpec {
	return b.csv.Spec.InstallStrategy.StrategySpec.DeploymentSpecs[0]
}

// serviceAccount is the name of the ServiceAccount that the manager runs as.
func (b *bundle) serviceAccount() string { return b.deployment().Spec.Template.Spec.ServiceAccountName }

// nextVersion writes the bundle of the next patch version to a new folder, and reads it.
func (b *bundle) nextVersion(dir string) (*bundle, error) {
	if _, err := testbundle.WriteNext(b.dir, dir); err != nil {
		return nil, err
	}
	return readBundle(dir)
}
