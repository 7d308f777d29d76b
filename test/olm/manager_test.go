// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package olm

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"platformapp/internal/localcluster"
)

// manager is a process of the operator that runs as the pod says, in place of its container.
type manager struct {
	suite *suite
	pod   *corev1.Pod
	// program is its name in the cluster.
	program string
	// probes, metrics and webhook are the addresses that it serves them at.
	probes, metrics, webhook string
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
	ports, err := localcluster.FreePorts(3)
	if err != nil {
		return nil, err
	}
	m := &manager{
		suite: s, pod: pod, program: "manager-" + pod.Name,
		probes: addressOf(ports[0]), metrics: addressOf(ports[1]), webhook: addressOf(ports[2]),
	}
	return m, s.cluster.Launch(localcluster.Program{
		Name: m.program,
		Path: s.binary,
		// The last flag of a name counts.
		Args: append(append([]string{}, container.Args...),
			"--metrics-bind-address="+m.metrics, "--metrics-secure=false",
			"--health-probe-bind-address="+m.probes,
			fmt.Sprintf("--webhook-port=%d", ports[2]),
			"--webhook-cert-path="+filepath.Join(dir, certificates),
			"--leader-election-namespace="+pod.Namespace),
		Env: append(env, "KUBECONFIG="+kubeconfig),
	})
}

func addressOf(port int) string { return fmt.Sprintf("127.0.0.1:%d", port) }

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
	config := clientcmdapi.NewConfig()
	config.Clusters["olm"] = &clientcmdapi.Cluster{
		Server: s.config.Host, CertificateAuthority: s.config.CAFile, CertificateAuthorityData: s.config.CAData,
	}
	config.AuthInfos["olm"] = &clientcmdapi.AuthInfo{Token: answer.Status.Token}
	config.Contexts["olm"] = &clientcmdapi.Context{Cluster: "olm", AuthInfo: "olm"}
	config.CurrentContext = "olm"
	path := filepath.Join(dir, "kubeconfig")
	return path, clientcmd.WriteToFile(*config, path)
}

// ready returns nil when the manager is ready to work.
func (m *manager) ready(ctx context.Context) error {
	if pid, err := m.suite.cluster.Running(m.program); err != nil || pid == 0 {
		return fmt.Errorf("the manager of pod %s has ended: %w\n%s", m.pod.Name, err, m.log())
	}
	_, err := get(ctx, "http://"+m.probes+"/readyz")
	return err
}

// get returns the body of an answer 200, and an error for any other.
func get(ctx context.Context, url string) (string, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, http.NoBody)
	if err != nil {
		return "", err
	}
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		return "", err
	}
	defer func() { _ = answer.Body.Close() }()
	body, err := io.ReadAll(answer.Body)
	if err == nil && answer.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s answers %s: %s", url, answer.Status, body)
	}
	return string(body), err
}

// reconciles returns how many turns of the loop have ended.
func (m *manager) reconciles(ctx context.Context) (int, error) {
	metrics, err := get(ctx, "http://"+m.metrics+"/metrics")
	if err != nil {
		return 0, err
	}
	turns := 0
	for _, match := range regexp.MustCompile(`(?m)^controller_runtime_reconcile_total\{.*\} (\d+)`).FindAllStringSubmatch(metrics, -1) {
		n, err := strconv.Atoi(match[1])
		if err != nil {
			return 0, err
		}
		turns += n
	}
	return turns, nil
}

// terminationTimeout is what the pod gives the manager to end.
const terminationTimeout = 30 * time.Second

// terminate ends the manager as the kubelet does.
func (m *manager) terminate(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, terminationTimeout)
	defer cancel()
	return m.suite.cluster.Terminate(ctx, m.program)
}

// log returns what the manager has said.
func (m *manager) log() string {
	content, err := os.ReadFile(m.suite.cluster.ProgramLog(m.program))
	if err != nil {
		return err.Error()
	}
	return string(content)
}
