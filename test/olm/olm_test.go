// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package olm

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	operatorsv1 "github.com/operator-framework/api/pkg/operators/v1"
	operatorsv1alpha1 "github.com/operator-framework/api/pkg/operators/v1alpha1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apiextensions-apiserver/pkg/apihelpers"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/client"
	clientconfig "sigs.k8s.io/controller-runtime/pkg/client/config"

	"platformapp/internal/localcluster"
)

// The environment variables that give OLM to the tests, see the package's documentation.
const (
	binVariable         = "OLM_BIN"
	catalogVariable     = "OLM_CATALOG"
	nextCatalogVariable = "OLM_CATALOG_NEXT"
)

// lifecycleManager is a cluster with OLM in it.
type lifecycleManager struct {
	*suite
	// catalog holds the bundle of the checkout, nextCatalog that and the one of the next version.
	catalog, nextCatalog operatorsv1alpha1.CatalogSourceSpec
	// next is the bundle of the next version.
	next *bundle
	// kubelet runs the managers, where no node does.
	kubelet *kubelet
	// programs are OLM's own, where the tests run them.
	programs []string
}

var (
	olmOnce sync.Once
	theOLM  *lifecycleManager
	errOLM  error
)

// olmScene returns the scene of a test on a cluster with OLM in it, and skips the test where there is none.
func olmScene(t *testing.T) (*scene, *lifecycleManager) {
	t.Helper()
	bin, catalog, next := os.Getenv(binVariable), os.Getenv(catalogVariable), os.Getenv(nextCatalogVariable)
	switch {
	case bin != "":
		s := localSuite(t)
		olmOnce.Do(func() { theOLM, errOLM = startOLM(context.WithoutCancel(t.Context()), s, bin) })
	case catalog != "" && next != "":
		olmOnce.Do(func() { theOLM, errOLM = useOLM(catalog, next) })
	default:
		t.Skipf("needs OLM: set %s, or %s and %s", binVariable, catalogVariable, nextCatalogVariable)
	}
	if errOLM != nil {
		t.Fatal(errOLM)
	}
	t.Cleanup(func() {
		if t.Failed() {
			t.Log(theOLM.show(context.WithoutCancel(t.Context())))
		}
	})
	return &scene{t, theOLM.suite}, theOLM
}

// useOLM connects to the cluster of KUBECONFIG.
func useOLM(catalog, next string) (*lifecycleManager, error) {
	root, err := localcluster.CheckoutRoot()
	if err != nil {
		return nil, err
	}
	config, err := clientconfig.GetConfig()
	if err != nil {
		return nil, err
	}
	config.QPS = -1
	s := &suite{root: root}
	if err := s.connect(config); err != nil {
		return nil, err
	}
	o := &lifecycleManager{suite: s, catalog: catalogAt(catalog), nextCatalog: catalogAt(next)}
	scratch, err := os.MkdirTemp("", "platformapp-olm-")
	if err != nil {
		return nil, err
	}
	o.next, err = s.bundle.nextVersion(filepath.Join(scratch, "next"))
	return o, errors.Join(err, os.RemoveAll(scratch))
}

// catalogAt returns what a CatalogSource says of the catalog that is an image or the address of a server.
func catalogAt(place string) operatorsv1alpha1.CatalogSourceSpec {
	spec := operatorsv1alpha1.CatalogSourceSpec{SourceType: operatorsv1alpha1.SourceTypeGrpc, DisplayName: "platformapp"}
	if !strings.Contains(place, "/") {
		spec.Address = place
		return spec
	}
	spec.Image = place
	spec.GrpcPodConfig = &operatorsv1alpha1.GrpcPodConfig{SecurityContextConfig: operatorsv1alpha1.Restricted}
	return spec
}

// startOLM starts OLM's programs in bin against the local control plane, serves the catalogs and plays the kubelet for
// the manager's pods.
func startOLM(ctx context.Context, s *suite, bin string) (*lifecycleManager, error) {
	o := &lifecycleManager{suite: s}
	kubectl := exec.CommandContext(ctx, s.kubectl, "apply", "--server-side", "--filename", filepath.Join(bin, "crds"))
	kubectl.Env = []string{"KUBECONFIG=" + s.cluster.Kubeconfig(), "KUBECACHEDIR=" + filepath.Join(s.scratch, "kubectl"), "KUBERC=off"}
	if out, err := kubectl.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("install OLM's CustomResourceDefinitions: %w\n%s", err, out)
	}
	if err := s.establishAll(ctx); err != nil {
		return nil, err
	}
	if err := s.admin.Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "olm"}}); err != nil {
		return nil, err
	}
	// Nothing of the user's own settings, such as a proxy.
	env := []string{"KUBECONFIG=" + s.cluster.Kubeconfig(), "HOME=" + s.scratch}
	for name, args := range map[string][]string{"olm": {"--namespace=olm"}, "catalog": {"--namespace=olm"}} {
		if err := s.cluster.Launch(localcluster.Program{Name: "olm-" + name, Path: filepath.Join(bin, name), Args: args, Env: env}); err != nil {
			return nil, err
		}
		o.programs = append(o.programs, "olm-"+name)
	}
	if err := o.serveCatalogs(ctx); err != nil {
		return nil, err
	}
	o.kubelet = newKubelet(s)
	go o.kubelet.run(ctx)
	return o, nil
}

// establishAll waits until every CustomResourceDefinition is served.
func (s *suite) establishAll(ctx context.Context) error {
	return wait.PollUntilContextTimeout(ctx, pollInterval, shortWait, true, func(ctx context.Context) (bool, error) {
		var crds apiextensionsv1.CustomResourceDefinitionList
		err := s.admin.List(ctx, &crds)
		return !slices.ContainsFunc(crds.Items, func(crd apiextensionsv1.CustomResourceDefinition) bool {
			return !apihelpers.IsCRDConditionTrue(&crd, apiextensionsv1.Established)
		}), err
	})
}

func (o *lifecycleManager) serveCatalogs(ctx context.Context) error {
	var err error
	if o.next, err = o.bundle.nextVersion(filepath.Join(o.scratch, "next")); err != nil {
		return err
	}
	address, err := o.serveCatalog(ctx, "catalog-present", o.bundle)
	nextAddress, nextErr := o.serveCatalog(ctx, "catalog-next", o.bundle, o.next)
	o.catalog, o.nextCatalog = catalogAt(address), catalogAt(nextAddress)
	return errors.Join(err, nextErr)
}

// runs returns an error unless OLM's programs run, where the tests run them.
func (o *lifecycleManager) runs() error {
	for _, program := range o.programs {
		if pid, err := o.cluster.Running(program); err != nil || pid == 0 {
			return errors.Join(errors.New(program+" has ended"), err)
		}
	}
	return nil
}

// show returns what tells why OLM does not do what it should.
func (o *lifecycleManager) show(ctx context.Context) string {
	var out strings.Builder
	for _, list := range []client.ObjectList{
		&operatorsv1.OperatorGroupList{}, &operatorsv1alpha1.CatalogSourceList{}, &operatorsv1alpha1.SubscriptionList{},
		&operatorsv1alpha1.InstallPlanList{}, &operatorsv1alpha1.ClusterServiceVersionList{},
	} {
		if err := o.admin.List(ctx, list); err != nil {
			fmt.Fprintln(&out, err)
		}
		_ = meta.EachListItem(list, func(object runtime.Object) error {
			content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(object)
			status, _ := json.Marshal(content["status"])
			fmt.Fprintf(&out, "%T %s: %v %s\n", object, object.(client.Object).GetName(), err, status)
			return nil
		})
	}
	for _, program := range o.programs {
		log, err := os.ReadFile(o.cluster.ProgramLog(program))
		fmt.Fprintf(&out, "log of %s: %v\n%s\n", program, err, tail(string(log)))
	}
	if o.kubelet != nil {
		out.WriteString(o.kubelet.logs())
	}
	return out.String()
}
