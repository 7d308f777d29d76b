// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"platformapp/api/appstatus"
)

// kubelet plays the kubelet that finds what is wrong with the containers of a pod; what runs has started just now. The
// phase stays Running: KWOK heals a pod that is Pending.
func (s *scene) kubelet(pod corev1.Pod, finds ...corev1.ContainerStatus) {
	s.Helper()
	s.get(&pod)
	now := metav1.Now()
	for _, found := range finds {
		if found.State.Running != nil {
			found.State.Running = &corev1.ContainerStateRunning{StartedAt: now}
		}
		setContainer(&pod.Status, found)
	}
	for i := range pod.Status.ContainerStatuses {
		// KWOK leaves out what every kubelet tells.
		if c := &pod.Status.ContainerStatuses[i]; c.Started == nil {
			c.Started = new(c.State.Running != nil)
		}
	}
	for i := range pod.Status.Conditions {
		if c := &pod.Status.Conditions[i]; c.Type == corev1.PodReady || c.Type == corev1.ContainersReady {
			c.Status, c.Reason, c.LastTransitionTime = corev1.ConditionFalse, "ContainersNotReady", now
			c.Message = fmt.Sprintf("containers with unready status: [%s]", finds[0].Name)
		}
	}
	if err := s.admin.Status().Update(s.Context(), &pod); err != nil {
		s.Fatal(err)
	}
}

// setContainer replaces the status of a container, or adds it.
func setContainer(status *corev1.PodStatus, found corev1.ContainerStatus) {
	for _, list := range [][]corev1.ContainerStatus{status.InitContainerStatuses, status.ContainerStatuses} {
		for i := range list {
			if list[i].Name == found.Name {
				found.Image = list[i].Image
				list[i] = found
				return
			}
		}
	}
	status.ContainerStatuses = append(status.ContainerStatuses, found)
}

// waiting is a container that does not run.
func waiting(container, reason, message string) corev1.ContainerStatus {
	return corev1.ContainerStatus{Name: container, State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: reason, Message: message}}}
}

// crashing is a container that ended and waits for its next start.
func crashing(container string, exitCode int32, reason, message string) corev1.ContainerStatus {
	status := waiting(container, "CrashLoopBackOff", "back-off 10s restarting failed container")
	status.RestartCount = 1
	status.LastTerminationState.Terminated = &corev1.ContainerStateTerminated{ExitCode: exitCode, Reason: reason, Message: message}
	return status
}

func TestN28TheContainerThatFailsIsTheOneThatIsNamed(t *testing.T) {
	s := newSharedScene(t)
	namespace := s.namespace("containers")
	const containers = `
spec:
  initContainers:
  - {name: migrate, image: "registry.example.com/migrate:1"}
  - {name: proxy, image: "registry.example.com/proxy:1", restartPolicy: Always}
  containers:
  - {name: helper, image: "registry.example.com/helper:1"}`
	for i, test := range []struct {
		what   string
		finds  []corev1.ContainerStatus
		reason string
		words  []string
	}{
		{"an init container ends with an error",
			[]corev1.ContainerStatus{crashing("migrate", 1, "Error", ""), waiting("orders-0", "PodInitializing", "")},
			appstatus.ReasonCrashLoop, []string{"init container migrate ", "exit code 1 (Error)"}},
		{"a native sidecar needs too much memory",
			[]corev1.ContainerStatus{crashing("proxy", 137, "OOMKilled", "")},
			appstatus.ReasonCrashLoop, []string{"sidecar proxy ", "exit code 137 (OOMKilled)", "more memory"}},
		{"an injected container is not ready",
			[]corev1.ContainerStatus{{Name: "istio-proxy", State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}}},
			appstatus.ReasonPodsNotReady, []string{"containers with unready status: [istio-proxy]"}},
		{"a sidecar's Secret is missing",
			[]corev1.ContainerStatus{waiting("helper", "CreateContainerConfigError", `secret "helper-settings" not found`)},
			appstatus.ReasonConfigMissing, []string{"sidecar helper", `secret "helper-settings" not found`}},
		{"the application and its sidecar fail",
			[]corev1.ContainerStatus{crashing("helper", 1, "Error", ""), waiting("orders-4", "ImagePullBackOff", "Back-off pulling image")},
			appstatus.ReasonImagePullFailed, []string{"container orders-4", "image " + image, "Back-off pulling image"}},
	} {
		app := newEGApp(namespace, fmt.Sprintf("orders-%d", i), 1)
		app.Spec.PodTemplatePatch = s.patch(containers)
		s.create(app)
		pods := s.runs(app, 1)
		s.ready(app)
		s.kubelet(pods[0], test.finds...)
		t.Log(test.what)
		s.says(s.reports(shortWait, app, metav1.ConditionFalse, test.reason), append(test.words, "Pod "+app.Name+"-")...)
	}
}

func TestN32AContainerThatEndsAtOnceIsToldWithWhy(t *testing.T) {
	s := newSharedScene(t)
	namespace := s.namespace("ends")
	app, service := newEGApp(namespace, "orders", 1), newDemoMicroService(namespace, "podinfo")
	s.create(app, service)
	apps := map[application]corev1.Pod{app: s.runs(app, 1)[0], service: s.runs(service, 1)[0]}
	for _, test := range []struct {
		exitCode        int32
		reason, message string
		words           []string
	}{
		{0, "Completed", "", []string{"exit code 0 (Completed)", "a service must keep running"}},
		{128, "StartError", "exec /app: exec format error", []string{"exit code 128 (StartError)", "exec /app: exec format error", "processor architecture"}},
		{255, "Error", "", []string{"exit code 255 (Error)", "processor architecture"}},
		{1, "", "", []string{"exit code 1"}},
	} {
		for a, pod := range apps {
			s.kubelet(pod, crashing(pod.Spec.Containers[0].Name, test.exitCode, test.reason, test.message))
			s.tells(a, appstatus.ReasonCrashLoop, append(test.words, "container "+pod.Spec.Containers[0].Name)...)
		}
	}
}

func TestN31AnImageThatCannotBePulledRecoversByAFix(t *testing.T) {
	t.Parallel()
	for reason, message := range map[string]string{
		"InvalidImageName":  `Failed to apply default image tag "registry.example.com/team/App": couldn't parse image name`,
		"ErrImageNeverPull": "Container image is not present with pull policy of Never",
		"ImagePullBackOff":  "Back-off pulling image: not found",
	} {
		t.Run(reason, func(t *testing.T) {
			s := newSharedScene(t)
			namespace := s.namespace("image")
			app, service := newEGApp(namespace, "orders", 1), newDemoMicroService(namespace, "podinfo")
			s.create(app, service)
			for _, a := range []application{app, service} {
				pod := s.runs(a, 1)[0]
				s.kubelet(pod, waiting(pod.Spec.Containers[0].Name, reason, message))
				s.tells(a, appstatus.ReasonImagePullFailed, reason, message, "image "+image)
			}
			const fixed = "registry.example.com/team/app:2"
			s.edit(app, func() { app.Spec.Image = fixed })
			s.edit(service, func() { service.Spec.Image = fixed })
			for _, a := range []application{app, service} {
				s.reports(podWait, a, metav1.ConditionTrue, appstatus.ReasonReady)
				s.runs(a, 1)
				if got := a.AppStatus().Image; got != fixed {
					t.Errorf("status.image of %T is %s, want %s", a, got, fixed)
				}
			}
		})
	}
}
