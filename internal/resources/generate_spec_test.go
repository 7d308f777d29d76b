// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package resources_test

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/runtime"
	"pgregory.net/rapid"

	"platformapp/api/egplatform/v1alpha1"
)

// anySpec is a specification that breaks no rule, with any of the fields.
var anySpec = rapid.Custom(func(t *rapid.T) v1alpha1.EGAppSpec {
	spec := v1alpha1.EGAppSpec{
		AppID:              anyAppID.Draw(t, "appId"),
		Framework:          rapid.SampledFrom(v1alpha1.Frameworks()).Draw(t, "framework"),
		InstanceType:       rapid.SampledFrom(append(v1alpha1.InstanceTypes(), "")).Draw(t, "instanceType"),
		Environment:        rapid.SampledFrom(v1alpha1.Environments()).Draw(t, "environment"),
		ReplicaCount:       maybe(t, "replicaCount", rapid.Int32Min(0)),
		Image:              either(t, "image", anyImage),
		ImagePullPolicy:    rapid.SampledFrom([]corev1.PullPolicy{"", corev1.PullAlways, corev1.PullIfNotPresent, corev1.PullNever}).Draw(t, "imagePullPolicy"),
		Command:            rapid.SampledFrom([][]string{nil, {"/app"}, {"/bin/sh", "-c", "exec $(NAME)"}}).Draw(t, "command"),
		Args:               rapid.SampledFrom([][]string{nil, {"-v"}, {"-Xmx512m", "-v", "-v"}}).Draw(t, "args"),
		Env:                anyEnv.Draw(t, "env"),
		EnvFrom:            anyEnvFrom.Draw(t, "envFrom"),
		Resources:          maybe(t, "resources", anyResources),
		Files:              anyFiles.Draw(t, "files"),
		ServiceAccountName: rapid.SampledFrom([]string{"", "orders-sa"}).Draw(t, "serviceAccountName"),
		SecurityProfile:    rapid.SampledFrom([]v1alpha1.SecurityProfile{"", v1alpha1.SecurityProfileRestricted, v1alpha1.SecurityProfileBaseline}).Draw(t, "securityProfile"),
		NetworkPolicy:      maybe(t, "networkPolicy", anyNetworkPolicy),
		Autoscaling:        maybe(t, "autoscaling", anyAutoscaling),
		Rollout:            maybe(t, "rollout", anyRollout),
		Paused:             rapid.Bool().Draw(t, "paused"),
		PodTemplatePatch:   maybe(t, "podTemplatePatch", anyPodTemplatePatch),
	}
	for _, name := range rapid.SampledFrom([][]string{nil, {"team-reg"}, {"other-reg", "team-reg"}}).Draw(t, "imagePullSecrets") {
		spec.ImagePullSecrets = append(spec.ImagePullSecrets, corev1.LocalObjectReference{Name: name})
	}
	if rapid.IntRange(0, 3).Draw(t, "is a worker") == 0 {
		spec.Service = &v1alpha1.Service{Type: v1alpha1.ServiceTypeNone}
		return spec
	}
	spec.Service = maybe(t, "service", anyService)
	spec.Ports = anyPorts.Draw(t, "ports")
	spec.Probes = maybe(t, "probes", anyProbes)
	spec.Expose = maybe(t, "expose", anyExpose)
	spec.Monitoring = maybe(t, "monitoring", anyMonitoring)
	return spec
})

// maybe draws a value or leaves it out.
func maybe[T any](t *rapid.T, label string, values *rapid.Generator[T]) *T {
	if !rapid.Bool().Draw(t, label+" given") {
		return nil
	}
	return new(values.Draw(t, label))
}

// either draws a value or the zero.
func either[T any](t *rapid.T, label string, values *rapid.Generator[T]) T {
	var value T
	if given := maybe(t, label, values); given != nil {
		value = *given
	}
	return value
}

// anyPorts has a port http of TCP if it has any; two ports may have one number.
var anyPorts = rapid.Custom(func(t *rapid.T) []v1alpha1.Port {
	var ports []v1alpha1.Port
	for i, name := range []string{"http", "metrics", "dns-tcp", "dns-udp", "grpc"}[:rapid.IntRange(0, 5).Draw(t, "ports")] {
		port := v1alpha1.Port{
			Name:          name,
			ContainerPort: rapid.SampledFrom([]int32{80, 5353, 8080, 9090}).Draw(t, "containerPort"),
			ServicePort:   new(int32(8000 + i)),
			AppProtocol:   rapid.SampledFrom([]string{"", "http", "kubernetes.io/h2c"}).Draw(t, "appProtocol"),
		}
		if name == "dns-udp" {
			port.Protocol = corev1.ProtocolUDP
		}
		ports = append(ports, port)
	}
	return ports
})

var anyService = rapid.Custom(func(t *rapid.T) v1alpha1.Service {
	return v1alpha1.Service{
		Type: rapid.SampledFrom([]v1alpha1.ServiceType{
			"", v1alpha1.ServiceTypeClusterIP, v1alpha1.ServiceTypeHeadless, v1alpha1.ServiceTypeNodePort, v1alpha1.ServiceTypeLoadBalancer,
		}).Draw(t, "type"),
		Annotations: rapid.SampledFrom([]map[string]string{nil, {"service.beta.kubernetes.io/aws-load-balancer-type": "nlb"}}).Draw(t, "annotations"),
	}
})

var anyEnv = rapid.Custom(func(t *rapid.T) []v1alpha1.EnvVar {
	all := []v1alpha1.EnvVar{
		{Name: "GOMEMLIMIT", ValueFrom: &v1alpha1.EnvVarSource{ResourceFieldRef: &corev1.ResourceFieldSelector{Resource: "limits.memory"}}},
		{Name: "JAVA_TOOL_OPTIONS", Value: "-Xmx64m"},
		{Name: "spring.datasource.url", Value: "jdbc:h2:mem:x"},
		{Name: "EMPTY"},
		{Name: "NODE", ValueFrom: &v1alpha1.EnvVarSource{FieldRef: &corev1.ObjectFieldSelector{FieldPath: "spec.nodeName"}}},
		{Name: "LEVEL", ValueFrom: &v1alpha1.EnvVarSource{ConfigMapKeyRef: &corev1.ConfigMapKeySelector{
			LocalObjectReference: corev1.LocalObjectReference{Name: "cfg"}, Key: "LEVEL", Optional: new(rapid.Bool().Draw(t, "optional")),
		}}},
		{Name: "DB_HOST", ValueFrom: &v1alpha1.EnvVarSource{SecretKeyRef: &corev1.SecretKeySelector{
			LocalObjectReference: corev1.LocalObjectReference{Name: "db"}, Key: "db.server.name",
		}}},
	}
	all = rapid.Permutation(all).Draw(t, "order")
	return all[:rapid.IntRange(0, len(all)).Draw(t, "variables")]
})

var anyEnvFrom = rapid.SampledFrom([][]corev1.EnvFromSource{
	nil,
	nil,
	{{ConfigMapRef: &corev1.ConfigMapEnvSource{LocalObjectReference: corev1.LocalObjectReference{Name: "cfg"}}}},
	{
		{SecretRef: &corev1.SecretEnvSource{LocalObjectReference: corev1.LocalObjectReference{Name: "keys"}}, Prefix: "K_"},
		{ConfigMapRef: &corev1.ConfigMapEnvSource{LocalObjectReference: corev1.LocalObjectReference{Name: "cfg"}, Optional: new(true)}},
	},
})

// anyResources overrides some entries of the instance type; a request is at most its limit.
var anyResources = rapid.Custom(func(t *rapid.T) v1alpha1.Resources {
	r := v1alpha1.Resources{Limits: corev1.ResourceList{}, Requests: corev1.ResourceList{}}
	set := func(list corev1.ResourceList, name corev1.ResourceName, quantities ...string) {
		if quantity := rapid.SampledFrom(append(quantities, "")).Draw(t, string(name)); quantity != "" {
			list[name] = resource.MustParse(quantity)
		}
	}
	set(r.Limits, corev1.ResourceCPU, "1000m", "2", "2.5")
	set(r.Limits, corev1.ResourceMemory, "512Mi", "1048576Ki", "4Gi")
	set(r.Limits, corev1.ResourceEphemeralStorage, "2Gi", "2G")
	set(r.Limits, "nvidia.com/gpu", "1")
	set(r.Requests, corev1.ResourceCPU, "50m", "0.25", "1")
	set(r.Requests, corev1.ResourceMemory, "64Mi", "536870912", "0.5Gi")
	return r
})

var anyProbes = rapid.Custom(func(t *rapid.T) v1alpha1.Probes {
	probe := rapid.Custom(func(t *rapid.T) v1alpha1.Probe {
		return v1alpha1.Probe{
			ProbeHandler: rapid.SampledFrom([]v1alpha1.ProbeHandler{
				{}, {Exec: &v1alpha1.ExecAction{Command: []string{"true"}}},
			}).Draw(t, "handler"),
			InitialDelaySeconds: maybe(t, "initialDelaySeconds", rapid.Int32Range(0, 100)),
			PeriodSeconds:       maybe(t, "periodSeconds", rapid.Int32Range(1, 100)),
			FailureThreshold:    maybe(t, "failureThreshold", rapid.Int32Range(1, 100)),
		}
	})
	return v1alpha1.Probes{
		Path:      rapid.SampledFrom([]string{"", "/healthz"}).Draw(t, "path"),
		Startup:   maybe(t, "startup", probe),
		Readiness: maybe(t, "readiness", probe),
		Liveness:  maybe(t, "liveness", probe),
	}
})

var anyAutoscaling = rapid.Custom(func(t *rapid.T) v1alpha1.Autoscaling {
	most := rapid.Int32Range(1, 100).Draw(t, "maxReplicas")
	a := v1alpha1.Autoscaling{
		MaxReplicas:                       most,
		MinReplicas:                       maybe(t, "minReplicas", rapid.Int32Range(1, most)),
		TargetMemoryUtilizationPercentage: maybe(t, "memory", rapid.Int32Range(1, 200)),
	}
	if a.TargetMemoryUtilizationPercentage == nil || rapid.Bool().Draw(t, "cpu too") {
		a.TargetCPUUtilizationPercentage = new(rapid.Int32Range(1, 200).Draw(t, "cpu"))
	}
	return a
})

// anyExpose fits what it asks for: a Route has one host and one path.
var anyExpose = rapid.Custom(func(t *rapid.T) v1alpha1.Expose {
	kind := rapid.SampledFrom([]v1alpha1.ExposeType{
		"", v1alpha1.ExposeTypeAuto, v1alpha1.ExposeTypeIngress, v1alpha1.ExposeTypeHTTPRoute, v1alpha1.ExposeTypeRoute,
	}).Draw(t, "type")
	e := v1alpha1.Expose{
		Type:  kind,
		Hosts: rapid.SampledFrom([][]string{{"a.example.com"}, {"*.shop.example.com"}, {"a.example.com", "*.b.example.com"}}).Draw(t, "hosts"),
		Paths: rapid.SampledFrom([][]v1alpha1.ExposePath{
			nil, {{Path: "/api"}}, {{Path: "/", PathType: v1alpha1.PathTypePrefix}, {Path: "/exact", PathType: v1alpha1.PathTypeExact}},
		}).Draw(t, "paths"),
	}
	switch kind {
	case v1alpha1.ExposeTypeRoute:
		e.Hosts, e.Paths = e.Hosts[:rapid.IntRange(0, 1).Draw(t, "has a host")], e.Paths[:min(1, len(e.Paths))]
		e.Route = maybe(t, "route", anyExposeRoute)
	case v1alpha1.ExposeTypeIngress:
		e.Ingress = maybe(t, "ingress", anyExposeIngress)
	case v1alpha1.ExposeTypeHTTPRoute:
		e.HTTPRoute = new(anyExposeHTTPRoute.Draw(t, "httpRoute"))
	case "", v1alpha1.ExposeTypeAuto:
		e.HTTPRoute = maybe(t, "httpRoute", anyExposeHTTPRoute)
		e.Ingress = maybe(t, "ingress", anyExposeIngress)
	}
	return e
})

var anyExposeRoute = rapid.Custom(func(t *rapid.T) v1alpha1.ExposeRoute {
	return v1alpha1.ExposeRoute{
		Termination:    rapid.SampledFrom([]v1alpha1.RouteTermination{"", v1alpha1.RouteTerminationEdge, v1alpha1.RouteTerminationReencrypt}).Draw(t, "termination"),
		InsecurePolicy: rapid.SampledFrom([]v1alpha1.RouteInsecurePolicy{"", v1alpha1.RouteInsecurePolicyAllow, v1alpha1.RouteInsecurePolicyNone}).Draw(t, "insecurePolicy"),
	}
})

var anyExposeIngress = rapid.Custom(func(t *rapid.T) v1alpha1.ExposeIngress {
	return v1alpha1.ExposeIngress{
		ClassName:     rapid.SampledFrom([]string{"", "nginx"}).Draw(t, "className"),
		TLSSecretName: rapid.SampledFrom([]string{"", "shop-tls"}).Draw(t, "tlsSecretName"),
		Annotations:   rapid.SampledFrom([]map[string]string{nil, {"cert-manager.io/cluster-issuer": "le"}}).Draw(t, "annotations"),
	}
})

var anyExposeHTTPRoute = rapid.Custom(func(t *rapid.T) v1alpha1.ExposeHTTPRoute {
	return v1alpha1.ExposeHTTPRoute{GatewayRef: v1alpha1.GatewayRef{
		Name:        "public",
		Namespace:   rapid.SampledFrom([]string{"", "gateways"}).Draw(t, "namespace"),
		SectionName: rapid.SampledFrom([]string{"", "https"}).Draw(t, "sectionName"),
	}}
})

var anyFiles = rapid.Custom(func(t *rapid.T) []v1alpha1.File {
	all := []v1alpha1.File{
		{MountPath: "/etc/app", ConfigMap: &v1alpha1.ConfigMapFiles{Name: "cfg", Items: []corev1.KeyToPath{{Key: "app.yaml", Path: "app.yaml"}}}},
		{MountPath: "/etc/all", ReadOnly: true, ConfigMap: &v1alpha1.ConfigMapFiles{Name: "cfg", Optional: true, DefaultMode: new(int32(0o400))}},
		{MountPath: "/etc/keys", ReadOnly: true, Secret: &v1alpha1.SecretFiles{SecretName: "keys"}},
		{MountPath: "/data", PersistentVolumeClaim: &v1alpha1.ClaimFiles{ClaimName: "orders-data"}},
		{MountPath: "/data/logs", SubPath: "logs", PersistentVolumeClaim: &v1alpha1.ClaimFiles{ClaimName: "orders-data"}},
		{MountPath: "/shared", ReadOnly: true, PersistentVolumeClaim: &v1alpha1.ClaimFiles{ClaimName: "shared-data"}},
		{MountPath: "/tmp", EmptyDir: &v1alpha1.EmptyDirFiles{Medium: v1alpha1.EmptyDirMediumMemory, SizeLimit: new(resource.MustParse("64Mi"))}},
	}
	all = rapid.Permutation(all).Draw(t, "order")
	return all[:rapid.IntRange(0, len(all)).Draw(t, "files")]
})

var anyMonitoring = rapid.Custom(func(t *rapid.T) v1alpha1.Monitoring {
	return v1alpha1.Monitoring{
		Port:     "http",
		Path:     rapid.SampledFrom([]string{"", "/actuator/prometheus"}).Draw(t, "path"),
		Interval: rapid.SampledFrom([]string{"", "30s", "1m30s"}).Draw(t, "interval"),
		Labels:   rapid.SampledFrom([]map[string]string{nil, {"release": "kube-prometheus-stack"}}).Draw(t, "labels"),
	}
})

var anyNetworkPolicy = rapid.Custom(func(t *rapid.T) v1alpha1.NetworkPolicy {
	return v1alpha1.NetworkPolicy{
		Isolation: rapid.SampledFrom([]v1alpha1.Isolation{v1alpha1.IsolationNamespace, v1alpha1.IsolationListed}).Draw(t, "isolation"),
		From:      rapid.SampledFrom([][]v1alpha1.NetworkPeer{nil, {{App: "billing"}}, {{App: "billing"}, {App: "billing", Namespace: "team-b"}}}).Draw(t, "from"),
	}
})

var anyRollout = rapid.Custom(func(t *rapid.T) v1alpha1.Rollout {
	return v1alpha1.Rollout{
		Strategy:                rapid.SampledFrom([]v1alpha1.RolloutStrategy{"", v1alpha1.RolloutStrategyRecreate, v1alpha1.RolloutStrategyRollingUpdate}).Draw(t, "strategy"),
		ProgressDeadlineSeconds: maybe(t, "progressDeadlineSeconds", rapid.Int32Range(60, 3600)),
		ConfigChangePolicy:      rapid.SampledFrom([]v1alpha1.ConfigChangePolicy{"", v1alpha1.ConfigChangePolicyRestart, v1alpha1.ConfigChangePolicyIgnore}).Draw(t, "configChangePolicy"),
	}
})

var anyPodTemplatePatch = rapid.Custom(func(t *rapid.T) runtime.RawExtension {
	return runtime.RawExtension{Raw: []byte(rapid.SampledFrom([]string{
		`{}`,
		`{"metadata":{"annotations":{"dapr.io/enabled":"true"},"labels":{"tier":"web"}}}`,
		`{"spec":{"containers":[{"name":"shipper","image":"fluent/fluent-bit:3","ports":[{"name":"http","containerPort":2020}]}]}}`,
		`{"spec":{"containers":[{"name":"main","lifecycle":{"preStop":{"exec":{"command":["true"]}}}}]}}`,
		`{"spec":{"initContainers":[{"name":"migrate","image":"example.com/mig:1","envFrom":[{"configMapRef":{"name":"cfg"}}]}]}}`,
		`{"spec":{"tolerations":[{"key":"spot","operator":"Exists"}],"nodeSelector":{"kubernetes.io/arch":"arm64"},"priorityClassName":"low"}}`,
		`{"spec":{"topologySpreadConstraints":[{"maxSkew":2,"topologyKey":"topology.kubernetes.io/zone","whenUnsatisfiable":"DoNotSchedule"}]}}`,
		`{"spec":{"volumes":[{"name":"kv","csi":{"driver":"secrets-store.csi.k8s.io","readOnly":true,"volumeAttributes":{"secretProviderClass":"kv"}}}]}}`,
	}).Draw(t, "patch"))}
})
