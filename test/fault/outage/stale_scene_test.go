// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package outage

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/resourceversion"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"platformapp/api/appstatus"
	devopsv1 "platformapp/api/devops/v1"
	"platformapp/api/egplatform/v1alpha1"
	"platformapp/internal/localcluster"
	"platformapp/internal/resources"
	"platformapp/test/fault"
	"platformapp/test/fault/proxy"
	"platformapp/test/operator"
)

// staleScene is a plan with a second API server on the same etcd, and an operator that can be sent to either.
type staleScene struct {
	*scene
	etcd      *etcdProxy
	proxy     *proxy.Proxy
	namespace string
	account   account
	options   operator.Options
	process   *operator.Process
	// fresh and stale connect the operator to the API servers; past reads from the stale one as admin.
	fresh, stale *rest.Config
	past         client.Client
	egapp        *v1alpha1.EGApp
	service      *devopsv1.DemoMicroService
}

func newStaleScene(sc *scene) *staleScene {
	sc.Helper()
	s := &staleScene{scene: sc, namespace: sc.newNamespace("stale")}
	args, err := s.cluster.ComponentArgs(localcluster.KubeAPIServer)
	s.must(err)
	ports, err := localcluster.FreePorts(1)
	s.must(err)
	own := map[string]string{"--secure-port=": fmt.Sprint(ports[0]), "--audit-log-path=": "", "--audit-policy-file=": ""}
	var behind []string
	for _, arg := range args {
		name, value, _ := strings.Cut(arg, "=")
		if name == "--etcd-servers" {
			s.etcd = startEtcdProxy(s.T, value)
			own["--etcd-servers="] = s.etcd.url
		}
		replaced, isOwn := own[name+"="]
		switch {
		case !isOwn:
			behind = append(behind, arg)
		case replaced != "":
			behind = append(behind, name+"="+replaced)
		}
	}
	program := "api-server-of-" + s.namespace
	s.must(s.cluster.Launch(localcluster.Program{
		Name: program, Path: s.tools.Path(localcluster.KubeAPIServer), Args: behind, Env: os.Environ(),
	}))
	s.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(s.Context()), time.Second)
		defer cancel()
		if err := s.cluster.Terminate(ctx, program); err != nil {
			s.Error(err)
		}
	})
	config := rest.CopyConfig(s.cluster.Config)
	config.Host = fmt.Sprintf("https://127.0.0.1:%d", ports[0])
	s.past, err = client.New(config, client.Options{Scheme: s.admin.Scheme(), Mapper: s.admin.RESTMapper()})
	s.must(err)
	s.account, err = s.newAccount(s.Context(), s.namespace, managerRole)
	s.must(err)
	s.fresh, err = s.configOf(s.Context(), s.account)
	s.must(err)
	s.stale = rest.CopyConfig(s.fresh)
	s.stale.Host = config.Host
	s.proxy, err = proxy.Start(s.fresh)
	s.must(err)
	s.Cleanup(s.proxy.Close)
	s.options = s.operatorOptions(s.account, []string{s.namespace})
	s.must(operator.Kubeconfig(s.options.Kubeconfig, s.proxy.Config()))
	// Only so are lists answered from the cache of the API server, which is behind.
	s.options.Env = []string{"KUBE_FEATURE_WatchListClient=false"}
	s.egapp, s.service = newEGApp(s.namespace, "orders", everyChild), newDemoMicroService(s.namespace, "podinfo", image)
	return s
}

// applications are those of the plan.
func (s *staleScene) applications() []application { return []application{s.egapp, s.service} }

// work starts the operator with its view of this API server, and its writes to the fresh one.
func (s *staleScene) work(reads *rest.Config) {
	s.Helper()
	s.stop()
	s.must(s.proxy.SetUpstream(reads, s.fresh))
	var err error
	s.process, err = operator.Start(s.Context(), s.options)
	s.must(err)
	s.Cleanup(s.process.Kill)
}

// stop ends the operator, if there is one, which must not have ended by itself nor have panicked.
func (s *staleScene) stop() {
	s.Helper()
	if s.process == nil {
		return
	}
	if !s.process.Runs() {
		s.violate("", "the operator has ended by itself (%v):\n%s", s.process.Err(), s.process.Log())
	}
	s.expectNoPanic(s.process.Log())
	s.process.Kill()
	s.process = nil
}

// ready waits until the applications are Ready.
func (s *staleScene) ready() {
	s.Helper()
	for _, app := range s.applications() {
		s.awaitReports(app, appstatus.ReasonReady)
	}
}

// setImage changes the image of both applications.
func (s *staleScene) setImage(image string) {
	s.Helper()
	s.edit(s.egapp, func() { s.egapp.Spec.Image = image })
	s.edit(s.service, func() { s.service.Spec.Image = image })
}

// freeze stops the time of the stale API server once it shows the applications as they are now.
func (s *staleScene) freeze() {
	s.Helper()
	for _, app := range s.applications() {
		version := app.GetResourceVersion()
		seen := app.DeepCopyObject().(client.Object)
		s.eventually(patience, "the second API server has the present", func(ctx context.Context) error {
			// Without a resource version the cache would wait until it has the present.
			err := s.past.Get(ctx, client.ObjectKeyFromObject(app), seen, &client.GetOptions{Raw: &metav1.GetOptions{ResourceVersion: "0"}})
			if err != nil {
				return err
			}
			order, err := resourceversion.CompareResourceVersion(seen.GetResourceVersion(), version)
			if err == nil && order < 0 {
				err = errors.New("it has an older version")
			}
			return err
		})
	}
	s.etcd.hold()
}

// release lets the stale API server catch up. Until now it must have shown something else of each application than the
// present: else nothing was stale.
func (s *staleScene) release() {
	s.Helper()
	for _, app := range s.applications() {
		past, present := app.DeepCopyObject().(client.Object), app.DeepCopyObject().(client.Object)
		s.must(s.admin.Get(s.Context(), client.ObjectKeyFromObject(app), present))
		asBefore := &client.GetOptions{Raw: &metav1.GetOptions{ResourceVersion: "0"}}
		err := s.past.Get(s.Context(), client.ObjectKeyFromObject(app), past, asBefore)
		s.must(client.IgnoreNotFound(err))
		if err == nil && past.GetResourceVersion() == present.GetResourceVersion() {
			s.Fatalf("the second API server shows %s as it is: it is not behind", app.GetName())
		}
	}
	s.etcd.release()
}

// recreate replaces the applications by others of the same names, and an image of their own.
func (s *staleScene) recreate() {
	s.Helper()
	s.awaitEnd()
	s.egapp, s.service = newEGApp(s.namespace, "orders", everyChild), newDemoMicroService(s.namespace, "podinfo", newImage)
	s.egapp.Spec.Image = newImage
	s.create(s.egapp, s.service)
}

// awaitEnd waits until the applications are gone, or others have their names.
func (s *staleScene) awaitEnd() {
	s.Helper()
	for _, app := range s.applications() {
		uid := app.GetUID()
		s.eventually(patience, app.GetName()+" is gone", func(context.Context) error {
			if now := s.uidOf(app.DeepCopyObject().(client.Object)); now == uid {
				return errors.New("it is there")
			}
			return nil
		})
	}
}

// blind keeps from the operator what becomes of the applications, and nothing else, until the function that it returns is
// called.
func (s *staleScene) blind() (see func()) {
	hold := s.proxy.FreezeWatches(func(r proxy.Request) bool { return r.Resource == "egapps" || r.Resource == "demomicroservices" })
	return func() {
		s.Helper()
		if hold.Kept() == 0 {
			s.Fatal("the operator was told all of the applications: it did not see them late")
		}
		hold.Release()
	}
}

// visitThePast lets the operator start on the stale API server, which then catches up, and tells of what is not as it was.
func (s *staleScene) visitThePast() {
	s.Helper()
	want, before := s.settledState(s.namespace), s.children(s.namespace)
	generations := s.generations()
	s.work(s.stale)
	time.Sleep(stalePeriod())
	s.expectChildren(before)
	s.release()
	took := s.awaitState(time.Now(), s.namespace, want)
	s.Logf("all is as before %s after the API server has caught up", took)
	s.expectChildren(before)
	s.expectUnwritten(generations)
	s.finish()
}

// expectUnwritten tells of children whose specification was written since they had these generations.
func (s *staleScene) expectUnwritten(before map[string]int64) {
	s.Helper()
	for child, generation := range s.generations() {
		if generation != before[child] {
			s.violate("", "%s was written by a view of the past: generation %d, before %d", child, generation, before[child])
		}
	}
}

// orphans returns what has the kind of a child and is controlled by nothing, by kind and name.
func (s *staleScene) orphans() map[string]child {
	s.Helper()
	view, err := fault.List(s.Context(), s.objects, s.namespace)
	s.must(err)
	orphans := map[string]child{}
	for _, kind := range resources.Kinds {
		for _, object := range view.Of(kind.Name) {
			if metav1.GetControllerOf(object) == nil {
				orphans[kind.Name+" "+object.GetName()] = child{uid: object.GetUID()}
			}
		}
	}
	return orphans
}

// expectChildren tells of children that are gone or were made anew.
func (s *staleScene) expectChildren(before map[string]child) {
	s.Helper()
	s.expectSame(before, s.children(s.namespace))
}

// finish checks what holds at the end of each of these plans.
func (s *staleScene) finish() {
	s.Helper()
	s.expectQuiet(s.account)
	s.stop()
}
