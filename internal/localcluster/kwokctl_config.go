// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package localcluster

// kwokctlConfiguration is the part of kwokctl's configuration file that is used here.
type kwokctlConfiguration struct {
	APIVersion        string             `json:"apiVersion"`
	Kind              string             `json:"kind"`
	Options           kwokctlOptions     `json:"options"`
	ComponentsPatches []componentPatches `json:"componentsPatches"`
}

type kwokctlOptions struct {
	Runtime                     string `json:"runtime"`
	BindAddress                 string `json:"bindAddress"`
	SecurePort                  bool   `json:"securePort"`
	KubeAuthorization           bool   `json:"kubeAuthorization"`
	KubeAdmission               bool   `json:"kubeAdmission"`
	KubeAuditPolicy             string `json:"kubeAuditPolicy,omitempty"`
	DisableQPSLimits            bool   `json:"disableQPSLimits"`
	KubeVersion                 string `json:"kubeVersion"`
	EtcdBinary                  string `json:"etcdBinary"`
	KubeApiserverBinary         string `json:"kubeApiserverBinary"`
	KubeControllerManagerBinary string `json:"kubeControllerManagerBinary"`
	KubeSchedulerBinary         string `json:"kubeSchedulerBinary"`
	KwokControllerBinary        string `json:"kwokControllerBinary"`
	KubectlBinary               string `json:"kubectlBinary"`
	EtcdPort                    int    `json:"etcdPort"`
	EtcdPeerPort                int    `json:"etcdPeerPort"`
	KubeApiserverPort           int    `json:"kubeApiserverPort"`
	KubeControllerManagerPort   int    `json:"kubeControllerManagerPort"`
	KubeSchedulerPort           int    `json:"kubeSchedulerPort"`
	KwokControllerPort          int    `json:"kwokControllerPort"`
}

type componentPatches struct {
	Name      string     `json:"name"`
	ExtraArgs []extraArg `json:"extraArgs"`
}

type extraArg struct {
	Key   string `json:"key"`
	Value string `json:"value"`
}

// newKwokctlConfiguration returns the configuration of a cluster on the six ports. It names every program by its
// path, so kwokctl has nothing to download.
func newKwokctlConfiguration(tools Tools, ports []int, auditPolicy string) kwokctlConfiguration {
	return kwokctlConfiguration{
		APIVersion: "config.kwok.x-k8s.io/v1alpha1",
		Kind:       "KwokctlConfiguration",
		Options: kwokctlOptions{
			Runtime:                     "binary",
			BindAddress:                 loopback,
			SecurePort:                  true,
			KubeAuthorization:           true,
			KubeAdmission:               true,
			KubeAuditPolicy:             auditPolicy,
			DisableQPSLimits:            true,
			KubeVersion:                 tools.KubernetesVersion,
			EtcdBinary:                  tools.Path(Etcd),
			KubeApiserverBinary:         tools.Path(KubeAPIServer),
			KubeControllerManagerBinary: tools.Path(KubeControllerManager),
			KubeSchedulerBinary:         tools.Path(KubeScheduler),
			KwokControllerBinary:        tools.Path(Kwok),
			KubectlBinary:               tools.Path(Kubectl),
			EtcdPort:                    ports[0],
			EtcdPeerPort:                ports[1],
			KubeApiserverPort:           ports[2],
			KubeControllerManagerPort:   ports[3],
			KubeSchedulerPort:           ports[4],
			KwokControllerPort:          ports[5],
		},
		ComponentsPatches: []componentPatches{
			// The data need not outlive a power cut.
			{Name: Etcd, ExtraArgs: []extraArg{{"unsafe-no-fsync", "true"}}},
			{Name: KubeAPIServer, ExtraArgs: []extraArg{
				// Without an address to advertise it looks for a default route, which a machine that is offline
				// lacks. Nobody reaches the API server through the kubernetes Service, so that gets no endpoints.
				{"advertise-address", loopback},
				{"endpoint-reconciler-type", "none"},
				// Addresses of this machine, so that what nothing serves is refused at once, and a test can serve a Service
				// there. Apart from kwok's addresses of pods, which are in 10.0.0.0/24.
				{"service-cluster-ip-range", "127.96.0.0/16"},
			}},
			// There is one of each: a lease would only be traffic.
			{Name: KubeControllerManager, ExtraArgs: []extraArg{{"leader-elect", "false"}}},
			{Name: KubeScheduler, ExtraArgs: []extraArg{{"leader-elect", "false"}}},
		},
	}
}

// portsOfCluster is the number of ports that newKwokctlConfiguration takes.
const portsOfCluster = 6

// auditPolicy records every request when it is answered, without bodies.
const auditPolicy = `apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived]
rules: [{level: Metadata}]
`
