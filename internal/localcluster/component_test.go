// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package localcluster

import (
	"context"
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// TestComponents ends and starts components and shows that each end is one, that nothing that was written is lost, and that
// the cluster works again afterwards.
func TestComponents(t *testing.T) {
	skipIfShort(t)
	cluster := StartForTest(t, Options{Name: "components"})
	client := clientOf(t, cluster)
	for _, name := range []string{KubeAPIServer, Etcd, KubeControllerManager, KubeScheduler} {
		written, err := client.CoreV1().ConfigMaps(metav1.NamespaceDefault).Create(t.Context(),
			&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{GenerateName: "written-"}}, metav1.CreateOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if err := cluster.KillComponent(t.Context(), name); err != nil {
			t.Fatal(err)
		}
		if alive, err := cluster.alive(); err != nil || alive[name] {
			t.Errorf("%s still runs, %v", name, err)
		}
		if crashed, err := cluster.crashed(); err != nil || slices.Contains(crashed, name) {
			t.Errorf("%s counts as crashed, %v", name, err)
		}
		if err := cluster.StartComponent(name); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		err = cluster.AwaitAPIServer(ctx)
		cancel()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := client.CoreV1().ConfigMaps(metav1.NamespaceDefault).Get(t.Context(), written.Name, metav1.GetOptions{}); err != nil {
			t.Errorf("after the end of %s: %v", name, err)
		}
	}
	runDeployment(t, client)
	if running, err := cluster.alive(); err != nil || len(running) != len(components) {
		t.Errorf("%v run, want %v; %v", running, components, err)
	}
}

func TestAPausedAPIServerHangs(t *testing.T) {
	skipIfShort(t)
	cluster := StartForTest(t, Options{Name: "pause"})
	client := clientOf(t, cluster)
	if err := cluster.PauseComponent(KubeAPIServer); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	_, err := client.CoreV1().Namespaces().Get(ctx, metav1.NamespaceDefault, metav1.GetOptions{})
	cancel()
	if err == nil || apierrors.IsNotFound(err) {
		t.Errorf("a paused API server answers: %v", err)
	}
	if err := cluster.ResumeComponent(KubeAPIServer); err != nil {
		t.Fatal(err)
	}
	if _, err := client.CoreV1().Namespaces().Get(t.Context(), metav1.NamespaceDefault, metav1.GetOptions{}); err != nil {
		t.Error(err)
	}
}

func TestUnknownComponent(t *testing.T) {
	cluster := &Cluster{dir: canonicalDir(t), name: "none"}
	for what, err := range map[string]error{
		"kill":   cluster.KillComponent(t.Context(), "kubelet"),
		"start":  cluster.StartComponent("kubelet"),
		"pause":  cluster.PauseComponent("kubelet"),
		"resume": cluster.ResumeComponent(Etcd),
	} {
		if err == nil {
			t.Errorf("%s of what is not there succeeds", what)
		}
	}
}
