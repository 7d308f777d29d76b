// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package outage

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"platformapp/internal/localcluster"
)

// apiServerPlans take the API server away for a time, from an operator alone and from a replica, which loses its lease and
// is started anew, and kill it while the operator writes.
func apiServerPlans() [][]plan {
	length := 25 * time.Second
	if isFull {
		length = 5 * time.Minute
	}
	var stopped []plan
	for _, o := range []ordeal{{}, {isReplica: true, ends: 1}} {
		who := "alone"
		if o.isReplica {
			who = "replica"
		}
		o.strike = func(s *scene, fleet []member) time.Time {
			s.changeBefore(fleet)
			for _, component := range others {
				s.must(s.cluster.KillComponent(s.Context(), component))
			}
			s.must(s.cluster.KillComponent(s.Context(), localcluster.KubeAPIServer))
			time.Sleep(length)
			back := s.restart(localcluster.KubeAPIServer)
			for _, component := range others {
				s.must(s.cluster.StartComponent(component))
			}
			return back
		}
		stopped = append(stopped, plan{
			class: "API server stopped", name: "outage/api-server-stopped/" + who, kinds: bothKinds, alone: true,
			run: func(s *scene) { s.endure(o) },
		})
	}
	return [][]plan{stopped, killedWhileWriting("API server killed mid-write", "api-server-killed", localcluster.KubeAPIServer)}
}

// others are the components that have a part in the convergence of an application. They go and come with the API server: the
// controller manager would go by the heartbeats of nodes that it missed, and each would look at it again a minute later.
var others = []string{localcluster.KubeControllerManager, localcluster.KubeScheduler, localcluster.KwokController}

// killsInFull is how many plans kill a component of the control plane, at different moments, and killStep is how far these
// are apart. The operator does what changes ask for within half a second, on a machine that does much else in a few.
const (
	killsInFull = 8
	killStep    = 120 * time.Millisecond
)

// killedWhileWriting kills a component at a moment after the operator has begun to carry out the changes, starts it again, and
// does so once more when the operator has come back to its work, if it has left any.
func killedWhileWriting(class, name, component string) []plan {
	var plans []plan
	for i := range killsInFull {
		moment := time.Duration(i) * killStep
		plans = append(plans, plan{
			class: class, name: fmt.Sprintf("outage/%s/after-%s", name, moment), kinds: bothKinds, alone: true,
			run: func(s *scene) {
				s.endure(ordeal{strike: func(s *scene, fleet []member) time.Time {
					namespace := fleet[0].app.GetNamespace()
					writes := s.writesIn(namespace)
					changed := make(chan struct{})
					go func() {
						defer close(changed)
						s.insist(fleet)
					}()
					if !isWritten(writes, patience) {
						s.Fatal("the operator writes nothing: there is nothing to interrupt")
					}
					time.Sleep(moment)
					s.must(s.cluster.KillComponent(s.Context(), component))
					s.restart(component)
					isWritten(s.writesIn(namespace), resumption)
					time.Sleep(moment)
					s.must(s.cluster.KillComponent(s.Context(), component))
					s.restart(component)
					<-changed
					return time.Now()
				}})
			},
		})
	}
	return plans
}

// resumption is how long the second kill waits for the operator to write again. It may have nothing left to write.
const resumption = 5 * time.Second

// writesIn watches the Deployments of a namespace from now on.
func (s *scene) writesIn(namespace string) watch.Interface {
	s.Helper()
	var now appsv1.DeploymentList
	s.must(s.admin.List(s.Context(), &now, client.InNamespace(namespace)))
	writes, err := s.admin.Watch(s.Context(), &appsv1.DeploymentList{}, client.InNamespace(namespace),
		&client.ListOptions{Raw: &metav1.ListOptions{ResourceVersion: now.ResourceVersion}})
	s.must(err)
	return writes
}

// isWritten tells whether a Deployment is written within a time, and ends the watch.
func isWritten(writes watch.Interface, within time.Duration) bool {
	defer writes.Stop()
	select {
	case event := <-writes.ResultChan():
		_, isDeployment := event.Object.(*appsv1.Deployment)
		return isDeployment
	case <-time.After(within):
		return false
	}
}

// restart starts a component that was killed, again when it ends at once, as a kubelet does, and returns when the API
// server was ready.
func (s *scene) restart(component string) time.Time {
	s.Helper()
	s.Cleanup(func() {
		if s.Failed() {
			s.Logf("the log of %s ends by\n%s", component, s.endOfLog(component))
		}
	})
	s.eventually(patience, component+" works again", func(ctx context.Context) error {
		if err := s.cluster.StartComponent(component); err != nil {
			return err
		}
		ctx, cancel := context.WithTimeout(ctx, time.Second)
		defer cancel()
		return s.cluster.AwaitAPIServer(ctx)
	})
	return time.Now()
}

// ready waits until the API server is ready and returns when that was.
func (s *scene) ready() time.Time {
	s.Helper()
	ctx, cancel := context.WithTimeout(s.Context(), patience)
	defer cancel()
	s.must(s.cluster.AwaitAPIServer(ctx))
	return time.Now()
}

// endOfLog returns the last lines of what a component has said.
func (s *scene) endOfLog(component string) string {
	content, err := os.ReadFile(filepath.Join(s.cluster.LogDir(), component+".log"))
	if err != nil {
		return err.Error()
	}
	const shown = 4000
	return string(content[max(0, len(content)-shown):])
}
