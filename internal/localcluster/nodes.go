// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package localcluster

import (
	"context"
	"fmt"
	"runtime"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
)

// zones are what topology spread constraints tell apart; the nodes take turns in them.
var zones = []string{"zone-a", "zone-b", "zone-c"}

// node returns the i-th node, the size of a common cloud machine: 16 CPU, 64 GiB, 110 pods.
func node(i int, kubernetesVersion string) *corev1.Node {
	name := fmt.Sprintf("node-%d", i)
	size := corev1.ResourceList{
		corev1.ResourceCPU:              resource.MustParse("16"),
		corev1.ResourceMemory:           resource.MustParse("64Gi"),
		corev1.ResourceEphemeralStorage: resource.MustParse("100Gi"),
		corev1.ResourcePods:             resource.MustParse("110"),
	}
	return &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{
			Name: name,
			Labels: map[string]string{
				corev1.LabelHostname:       name,
				corev1.LabelOSStable:       "linux",
				corev1.LabelArchStable:     runtime.GOARCH,
				corev1.LabelTopologyRegion: "local",
				corev1.LabelTopologyZone:   zones[i%len(zones)],
			},
			Annotations: map[string]string{"kwok.x-k8s.io/node": "fake"},
		},
		Status: corev1.NodeStatus{
			Capacity:    size,
			Allocatable: size,
			NodeInfo:    corev1.NodeSystemInfo{KubeletVersion: kubernetesVersion},
		},
	}
}

// createNodes creates n nodes; kwok makes them Ready.
func createNodes(ctx context.Context, client kubernetes.Interface, n int, kubernetesVersion string) error {
	for i := range n {
		node := node(i, kubernetesVersion)
		if _, err := client.CoreV1().Nodes().Create(ctx, node, metav1.CreateOptions{}); err != nil {
			return fmt.Errorf("create %s: %w", node.Name, err)
		}
	}
	return nil
}

// schedulable counts the nodes that take pods: Ready, and without the taint that a new node carries.
func schedulable(nodes []corev1.Node) int {
	count := 0
	for _, node := range nodes {
		if nodeReady(node) && len(node.Spec.Taints) == 0 {
			count++
		}
	}
	return count
}

func nodeReady(node corev1.Node) bool {
	for _, condition := range node.Status.Conditions {
		if condition.Type == corev1.NodeReady {
			return condition.Status == corev1.ConditionTrue
		}
	}
	return false
}
