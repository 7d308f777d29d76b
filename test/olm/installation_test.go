// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package olm

import (
	"errors"
	"fmt"
	"io"
	"time"

	operatorsv1 "github.com/operator-framework/api/pkg/operators/v1"
	operatorsv1alpha1 "github.com/operator-framework/api/pkg/operators/v1alpha1"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// installation is the operator as OLM has installed it from a catalog.
type installation struct {
	*scene
	places
	olm *lifecycleManager
	// present is the bundle that is installed.
	present *bundle
	catalog *operatorsv1alpha1.CatalogSource
}

// install subscribes to the operator, waits until OLM has installed it and it works, and has it uninstalled when the
// test ends.
func (o *lifecycleManager) install(s *scene, p places, config *operatorsv1alpha1.SubscriptionConfig) *installation {
	s.Helper()
	i := &installation{scene: s, places: p, olm: o, present: o.bundle}
	group := &operatorsv1.OperatorGroup{ObjectMeta: i.meta(), Spec: operatorsv1.OperatorGroupSpec{TargetNamespaces: p.targets}}
	i.catalog = &operatorsv1alpha1.CatalogSource{ObjectMeta: i.meta(), Spec: o.catalog}
	s.create(group, i.catalog)
	i.subscribe(config)
	return i
}

// meta is the name of each object that asks OLM for the operator.
func (i *installation) meta() metav1.ObjectMeta {
	return metav1.ObjectMeta{Namespace: i.own, Name: packageName}
}

// subscribe asks OLM for the operator and waits until it works.
func (i *installation) subscribe(config *operatorsv1alpha1.SubscriptionConfig) {
	i.Helper()
	i.create(&operatorsv1alpha1.Subscription{
		ObjectMeta: i.meta(),
		Spec: &operatorsv1alpha1.SubscriptionSpec{
			CatalogSource: i.catalog.Name, CatalogSourceNamespace: i.own, Package: packageName, Channel: channel,
			InstallPlanApproval: operatorsv1alpha1.ApprovalAutomatic, Config: config,
		},
	})
	i.Cleanup(func() { i.uninstall() })
	i.works()
}

// works waits until OLM says that the present version is installed, and until its manager is ready.
func (i *installation) works() {
	i.Helper()
	start := time.Now()
	i.eventually(longWait, "the ClusterServiceVersion has succeeded", func() error {
		if err := i.olm.runs(); err != nil {
			i.Fatal(err)
		}
		csv := i.csv()
		if err := i.admin.Get(i.Context(), client.ObjectKeyFromObject(csv), csv); err != nil {
			return err
		}
		if csv.Status.Phase != operatorsv1alpha1.CSVPhaseSucceeded {
			return fmt.Errorf("it is %s: %s %s", csv.Status.Phase, csv.Status.Reason, csv.Status.Message)
		}
		return nil
	})
	i.Logf("%s has succeeded after %s", i.present.csv.Name, time.Since(start).Round(100*time.Millisecond))
	if !i.isLocal() {
		i.managerPod()
		return
	}
	i.eventually(longWait, "the manager is ready", func() error {
		// OLM may roll out the Deployment once more meanwhile.
		m, err := i.olm.kubelet.managerOf(i.managerPod())
		if err != nil {
			return err
		}
		return m.ready(i.Context())
	})
}

func (i *installation) csv() *operatorsv1alpha1.ClusterServiceVersion {
	return &operatorsv1alpha1.ClusterServiceVersion{ObjectMeta: metav1.ObjectMeta{Namespace: i.own, Name: i.present.csv.Name}}
}

// deployment reads the manager's Deployment.
func (i *installation) deployment() *appsv1.Deployment {
	i.Helper()
	deployment := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: i.own, Name: i.present.deployment().Name}}
	i.get(deployment)
	return deployment
}

// managerPod waits until exactly one pod of the manager is left, that of the present version and of the Deployment's
// last revision, and Ready, and returns it.
func (i *installation) managerPod() *corev1.Pod {
	i.Helper()
	var found *corev1.Pod
	i.eventually(longWait, "one pod of the manager is left", func() error {
		deployment := i.deployment()
		if status := deployment.Status; status.ObservedGeneration != deployment.Generation || status.Replicas != 1 ||
			status.UpdatedReplicas != 1 || status.AvailableReplicas != 1 {
			return fmt.Errorf("the Deployment is rolling out: %+v", status)
		}
		var pods corev1.PodList
		if err := i.admin.List(i.Context(), &pods, client.InNamespace(i.own), client.MatchingLabels(deployment.Spec.Selector.MatchLabels)); err != nil {
			return err
		}
		if len(pods.Items) != 1 {
			return fmt.Errorf("there are %d", len(pods.Items))
		}
		found = &pods.Items[0]
		for _, variable := range found.Spec.Containers[0].Env {
			if variable.Name == "OPERATOR_CONDITION_NAME" && variable.Value == i.present.csv.Name {
				return nil
			}
		}
		return errors.New("it is not that of " + i.present.csv.Name)
	})
	return found
}

// manager returns the process that runs in place of the manager's pod.
func (i *installation) manager() *manager {
	i.Helper()
	m, err := i.olm.kubelet.managerOf(i.managerPod())
	if err != nil {
		i.Fatal(err)
	}
	return m
}

// managerLog returns what the manager has said.
func (i *installation) managerLog() string {
	i.Helper()
	if i.isLocal() {
		return i.manager().Log()
	}
	pod := i.managerPod()
	stream, err := i.clientset.CoreV1().Pods(pod.Namespace).GetLogs(pod.Name, &corev1.PodLogOptions{}).Stream(i.Context())
	if err != nil {
		i.Fatal(err)
	}
	defer func() { _ = stream.Close() }()
	log, err := io.ReadAll(stream)
	if err != nil {
		i.Fatal(err)
	}
	return string(log)
}

// account is the one whose rights the manager has.
func (i *installation) account() account { return account{i.own, i.present.serviceAccount()} }

// upgrade puts the next version into the catalog and waits until OLM has replaced the present one by it.
func (i *installation) upgrade() {
	i.Helper()
	former := i.csv()
	i.get(i.catalog)
	before := i.catalog.DeepCopy()
	i.catalog.Spec = i.olm.nextCatalog
	if err := i.admin.Patch(i.Context(), i.catalog, client.MergeFrom(before)); err != nil {
		i.Fatal(err)
	}
	i.present = i.olm.next
	i.works()
	i.isGone(former)
}

// uninstall takes the operator away as a person does: the Subscription, then the ClusterServiceVersion.
func (i *installation) uninstall() {
	i.Helper()
	i.deleteNow(&operatorsv1alpha1.Subscription{ObjectMeta: i.meta()})
	i.deleteNow(i.csv())
	i.isGone(i.csv())
	i.isGone(&appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: i.own, Name: i.present.deployment().Name}})
	i.eventually(longWait, "the pods of the manager are gone", func() error {
		var pods corev1.PodList
		err := i.admin.List(i.Context(), &pods, client.InNamespace(i.own), client.MatchingLabels(i.present.deployment().Spec.Selector.MatchLabels))
		if err == nil && len(pods.Items) > 0 {
			err = fmt.Errorf("there are %d", len(pods.Items))
		}
		return err
	})
	if i.isLocal() {
		i.eventually(longWait, "the processes of the manager are gone", i.olm.kubelet.idle)
	}
}
