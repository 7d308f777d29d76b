// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package localcluster

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
)

// runDeployment creates a Deployment and waits until its pods run.
func runDeployment(t *testing.T, client kubernetes.Interface) *appsv1.Deployment {
	t.Helper()
	labels := map[string]string{"app": "web"}
	replicas := int32(2)
	deployment, err := client.AppsV1().Deployments(metav1.NamespaceDefault).Create(t.Context(), &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Name: "web"},
		Spec: appsv1.DeploymentSpec{
			Replicas: &replicas,
			Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: labels},
				Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "web", Image: "example.com/web:1"}}},
			},
		},
	}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	waitForPods(t, client, 2)
	return deployment
}

func scaleTo(t *testing.T, client kubernetes.Interface, deployment *appsv1.Deployment, replicas int32) {
	t.Helper()
	scale := &autoscalingv1.Scale{
		ObjectMeta: metav1.ObjectMeta{Name: deployment.Name, Namespace: deployment.Namespace},
		Spec:       autoscalingv1.ScaleSpec{Replicas: replicas},
	}
	_, err := client.AppsV1().Deployments(deployment.Namespace).
		UpdateScale(t.Context(), deployment.Name, scale, metav1.UpdateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	waitForPods(t, client, int(replicas))
}

// collectsGarbage shows that what a deleted object owned goes with it.
func collectsGarbage(t *testing.T, client kubernetes.Interface, owner *appsv1.Deployment) {
	t.Helper()
	configMap := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{
		Name:            "owned",
		OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(owner, appsv1.SchemeGroupVersion.WithKind("Deployment"))},
	}}
	configMaps := client.CoreV1().ConfigMaps(owner.Namespace)
	if _, err := configMaps.Create(t.Context(), configMap, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	if err := client.AppsV1().Deployments(owner.Namespace).Delete(t.Context(), owner.Name, metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	waitForPods(t, client, 0)
	eventually(t, "the owned ConfigMap is collected", func() bool {
		list, err := configMaps.List(t.Context(), metav1.ListOptions{FieldSelector: "metadata.name=owned"})
		return err == nil && len(list.Items) == 0
	})
}

// auditedRequests counts the events of this test's own client in the audit log.
func auditedRequests(t *testing.T, cluster *Cluster) int {
	t.Helper()
	log, err := os.ReadFile(cluster.AuditLog())
	if err != nil {
		t.Fatal(err)
	}
	count := 0
	for line := range bytes.Lines(log) {
		var event struct {
			UserAgent string `json:"userAgent"`
		}
		if err := json.Unmarshal(line, &event); err == nil && event.UserAgent == testUserAgent {
			count++
		}
	}
	return count
}

// refusesStrangers shows that authorization is on.
func refusesStrangers(t *testing.T, cluster *Cluster) {
	t.Helper()
	config := rest.AnonymousClientConfig(cluster.Config)
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := client.CoreV1().Pods(metav1.NamespaceDefault).List(t.Context(), metav1.ListOptions{}); err == nil {
		t.Error("an anonymous client may list pods")
	}
}

const testUserAgent = "localcluster-test"

func clientOf(t *testing.T, cluster *Cluster) kubernetes.Interface {
	t.Helper()
	config := rest.CopyConfig(cluster.Config)
	config.UserAgent = testUserAgent
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	return client
}

// waitForPods waits until exactly n pods exist and all of them are Running and Ready.
func waitForPods(t *testing.T, client kubernetes.Interface, n int) {
	t.Helper()
	eventually(t, fmt.Sprintf("%d pods run", n), func() bool {
		pods, err := client.CoreV1().Pods(metav1.NamespaceDefault).List(t.Context(), metav1.ListOptions{})
		if err != nil || len(pods.Items) != n {
			return false
		}
		for _, pod := range pods.Items {
			if pod.Status.Phase != corev1.PodRunning || pod.Spec.NodeName == "" {
				return false
			}
		}
		return true
	})
}

func eventually(t *testing.T, what string, condition func() bool) {
	t.Helper()
	err := wait.PollUntilContextTimeout(t.Context(), 50*time.Millisecond, 30*time.Second, true,
		func(context.Context) (bool, error) { return condition(), nil })
	if err != nil {
		t.Fatalf("%s: %v", what, err)
	}
}
