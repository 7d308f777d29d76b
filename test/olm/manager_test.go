// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package olm

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"

	"platformapp/test/operator"
)

// manager is a process of the operator that runs as the pod says, in place of its container.
type manager struct {
	*operator.Process
	pod *corev1.Pod
}

// runAs starts the operator with the rights, the arguments, the environment and the mounted Secrets of a pod. What a
// process on this machine cannot share with others is different: its ports, and where its files lie.
func (s *suite) runAs(ctx context.Context, pod *corev1.Pod) (*manager, error) {
	container := &pod.Spec.Containers[0]
	dir := filepath.Join(s.scratch, string(pod.UID))
	kubeconfig, err := s.kubeconfigFor(ctx, account{pod.Namespace, pod.Spec.ServiceAccountName}, dir)
	if err != nil {
		return nil, err
	}
	env, err := environment(pod, container)
	if err != nil {
		return nil, err
	}
	if err := s.mountSecrets(ctx, pod, container, dir); err != nil {
		return nil, err
	}
	certificates, err := s.certificatePath(ctx)
	if err != nil {
		return nil, err
	}
	process, err := operator.StartUnready(ctx, operator.Options{
		Binary:     s.binary,
		Kubeconfig: kubeconfig,
		// It holds WATCH_NAMESPACE, unless all are watched.
		Env: env,
		Args: append(slices.Clone(container.Args), "--metrics-secure=false",
			"--webhook-cert-path="+filepath.Join(dir, certificates), "--leader-election-namespace="+pod.Namespace),
		Log: filepath.Join(dir, "log"),
	})
	return &manager{Process: process, pod: pod}, err
}

// environment returns the container's, as the kubelet makes it.
func environment(pod *corev1.Pod, container *corev1.Container) ([]string, error) {
	var env []string
	for _, variable := range container.Env {
		value := variable.Value
		if variable.ValueFrom != nil {
			var err error
			if value, err = fieldOf(pod, variable.ValueFrom); err != nil {
				return nil, fmt.Errorf("%s: %w", variable.Name, err)
			}
		}
		env = append(env, variable.Name+"="+value)
	}
	return env, nil
}

// fieldOf returns the annotation of the pod that a variable takes its value from.
func fieldOf(pod *corev1.Pod, source *corev1.EnvVarSource) (string, error) {
	if source.FieldRef != nil {
		if key, ok := strings.CutPrefix(source.FieldRef.FieldPath, "metadata.annotations['"); ok {
			return pod.Annotations[strings.TrimSuffix(key, "']")], nil
		}
	}
	return "", fmt.Errorf("this test knows no source %s", source)
}

// mountSecrets writes the Secrets that are mounted to below dir, where the container has them below its root.
func (s *suite) mountSecrets(ctx context.Context, pod *corev1.Pod, container *corev1.Container, dir string) error {
	volumes := map[string]*corev1.SecretVolumeSource{}
	for _, volume := range pod.Spec.Volumes {
		volumes[volume.Name] = volume.Secret
	}
	for _, mount := range container.VolumeMounts {
		source := volumes[mount.Name]
		if source == nil {
			continue
		}
		secret, err := s.clientset.CoreV1().Secrets(pod.Namespace).Get(ctx, source.SecretName, metav1.GetOptions{})
		if err != nil {
			return err
		}
		folder := filepath.Join(dir, mount.MountPath)
		if err := os.MkdirAll(folder, 0o700); err != nil {
			return err
		}
		for _, item := range source.Items {
			if err := os.WriteFile(filepath.Join(folder, item.Path), secret.Data[item.Key], 0o600); err != nil {
				return err
			}
		}
	}
	return nil
}

// certificatePath returns where the operator looks for the webhook's certificate unless a flag says otherwise.
func (s *suite) certificatePath(ctx context.Context) (string, error) {
	out, err := exec.CommandContext(ctx, s.binary, "--help").Output()
	if err != nil {
		return "", err
	}
	match := regexp.MustCompile(`(?s)-webhook-cert-path.*?\(default "([^"]+)"\)`).FindSubmatch(out)
	if match == nil {
		return "", errors.New("--help does not tell the default of --webhook-cert-path")
	}
	return string(match[1]), nil
}

// kubeconfigFor writes a kubeconfig with a token of the account and returns its path.
func (s *suite) kubeconfigFor(ctx context.Context, a account, dir string) (string, error) {
	request := &authenticationv1.TokenRequest{Spec: authenticationv1.TokenRequestSpec{ExpirationSeconds: new(int64(3600))}}
	answer, err := s.clientset.CoreV1().ServiceAccounts(a.namespace).CreateToken(ctx, a.name, request, metav1.CreateOptions{})
	if err != nil {
		return "", fmt.Errorf("token of %s: %w", a.user(), err)
	}
	path := filepath.Join(dir, "kubeconfig")
	ca := rest.TLSClientConfig{CAFile: s.config.CAFile, CAData: s.config.CAData}
	return path, operator.Kubeconfig(path, &rest.Config{Host: s.config.Host, BearerToken: answer.Status.Token, TLSClientConfig: ca})
}

// ready returns nil when the manager is ready to work.
func (m *manager) ready(ctx context.Context) error {
	if err := m.WaitReady(ctx); err != nil {
		return fmt.Errorf("the manager of pod %s: %w", m.pod.Name, err)
	}
	return nil
}

// webhook returns the address that it serves the webhook at.
func (m *manager) webhook() string { return fmt.Sprintf("127.0.0.1:%d", m.WebhookPort) }

// reconciles returns how many turns of the loop have ended.
func (m *manager) reconciles(ctx context.Context) (int, error) {
	turns, err := m.Sum(ctx, "controller_runtime_reconcile_total", nil)
	return int(turns), err
}

// terminate ends the manager as the kubelet does. How it ends, or has ended before, is told by its log.
func (m *manager) terminate() error {
	if !m.Runs() {
		return nil
	}
	err := m.Terminate()
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
		return nil
	}
	return err
}
