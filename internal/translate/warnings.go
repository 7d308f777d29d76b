// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package translate

import (
	"slices"
	"strings"

	"github.com/distribution/reference"

	"platformapp/api/egplatform/v1alpha1"
)

// Warnings returns what of a valid EGApp is allowed and likely not meant, as sentences for
// whoever writes it.
func Warnings(app *v1alpha1.EGApp, options Options) []string {
	spec := &app.Spec
	var warnings []string
	if spec.Environment == v1alpha1.EnvironmentProd {
		warnings = append(warnings, prodWarnings(spec)...)
	}
	if claim := firstClaim(spec.Files); mostPods(spec) > 1 && claim != "" {
		warnings = append(warnings, "spec.files: several pods will use the claim "+claim+": one that is ReadWriteOnce lets only those of one node start, also if they only read it, and one that is ReadWriteOncePod a single pod")
	}
	if spec.NetworkPolicy != nil {
		warnings = append(warnings, policyWarnings(app, options)...)
	}
	return warnings
}

func prodWarnings(spec *v1alpha1.EGAppSpec) []string {
	var warnings []string
	if leastPods(spec) == 1 {
		warnings = append(warnings, "spec.replicaCount: one pod in prod leaves nobody to serve while it is moved or fails; ask for at least 2, or for autoscaling.minReplicas of 2")
	}
	if warning := mutableTag(spec.Image); warning != "" {
		warnings = append(warnings, "spec.image: "+warning)
	}
	if spec.SecurityProfile == v1alpha1.SecurityProfileBaseline {
		warnings = append(warnings, "spec.securityProfile: Baseline in prod lets the image run as root; leave it out if the image can run as any user")
	}
	return warnings
}

// leastPods and mostPods are the bounds of how many pods the application asks for.
func leastPods(spec *v1alpha1.EGAppSpec) int32 {
	replicas := valueOr(spec.ReplicaCount, 1)
	if a := spec.Autoscaling; a != nil && replicas > 0 {
		return valueOr(a.MinReplicas, 1)
	}
	return replicas
}

func mostPods(spec *v1alpha1.EGAppSpec) int32 {
	replicas := valueOr(spec.ReplicaCount, 1)
	if a := spec.Autoscaling; a != nil && replicas > 0 {
		return a.MaxReplicas
	}
	return replicas
}

// mutableTag says why an image may be another one tomorrow, or nothing.
func mutableTag(image string) string {
	if image == "" {
		return ""
	}
	named, err := reference.ParseNormalizedNamed(image)
	if err != nil {
		return ""
	}
	if _, ok := named.(reference.Digested); ok {
		return ""
	}
	const advice = "; name a digest (" + "image@sha256:...) so that every pod of prod runs the same"
	tagged, ok := named.(reference.Tagged)
	if !ok || tagged.Tag() == "latest" {
		return "it is whatever is newest when a pod starts" + advice
	}
	return "the tag " + tagged.Tag() + " can be moved to another image" + advice
}

// firstClaim returns the name of the first claim, or nothing. What nodes may use a claim
// depends on the claim alone, not on whether it is only read.
func firstClaim(files []v1alpha1.File) string {
	for _, file := range files {
		if file.PersistentVolumeClaim != nil {
			return file.PersistentVolumeClaim.ClaimName
		}
	}
	return ""
}

// policyWarnings tell of what the rest of the specification asks for whom the network policy
// lets in, and whom it may keep out.
func policyWarnings(app *v1alpha1.EGApp, options Options) []string {
	var warnings []string
	if app.Spec.Expose != nil {
		warnings = append(warnings, exposedPolicyWarning(app, options.IngressNamespaces))
	}
	if s := app.Spec.Service; s != nil && (s.Type == v1alpha1.ServiceTypeLoadBalancer || s.Type == v1alpha1.ServiceTypeNodePort) {
		warnings = append(warnings, "spec.networkPolicy: what comes from outside by the Service of type "+string(s.Type)+" is kept out; leave the policy out, or let it in by spec.expose")
	}
	if app.Spec.Monitoring != nil && len(options.MonitoringNamespaces) == 0 {
		warnings = append(warnings, "spec.networkPolicy: the platform names no namespace of Prometheus, so the policy may keep out what spec.monitoring lets in")
	}
	return warnings
}

// exposedPolicyWarning tells who is let in for the sake of expose: the given namespaces of
// ingress controllers, and that of a gateway if one is used.
func exposedPolicyWarning(app *v1alpha1.EGApp, namespaces []string) string {
	e := app.Spec.Expose
	if e.HTTPRoute != nil && e.SettledType() == v1alpha1.ExposeTypeHTTPRoute {
		gateway := e.HTTPRoute.GatewayRef.Namespace
		if gateway == "" {
			gateway = app.Namespace
		}
		if !slices.Contains(namespaces, gateway) {
			namespaces = slices.Insert(slices.Clone(namespaces), 0, gateway)
		}
	}
	const elsewhere = " may connect too; a controller elsewhere is kept out"
	switch len(namespaces) {
	case 0:
		return "spec.networkPolicy: the platform names no namespace of ingress controllers, so the policy may keep out what spec.expose lets in"
	case 1:
		return "spec.networkPolicy: for spec.expose the namespace " + namespaces[0] + elsewhere
	}
	return "spec.networkPolicy: for spec.expose the namespaces " + strings.Join(namespaces, ", ") + elsewhere
}
