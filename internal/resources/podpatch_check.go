// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package resources

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/validation"
	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"platformapp/internal/workload"
)

// reservedPrefix is that of the operator's own labels and annotations.
const reservedPrefix = "platform.evillgenius.com/"

// check returns the rules that the patch breaks by itself, before it is merged.
func (p *patch) check(w workload.Workload) field.ErrorList {
	spec := patchPath.Child("spec")
	errs := p.checkMetadata(w, patchPath.Child("metadata"))
	errs = append(errs, p.checkPodSpec(w, spec)...)
	errs = append(errs, p.checkContainers(w, spec)...)
	errs = append(errs, p.checkKeys(spec)...)
	return append(errs, p.checkOneOfs(spec)...)
}

// checkMetadata keeps the labels and annotations of the operator: pods are selected, counted
// and restarted by them.
func (p *patch) checkMetadata(w workload.Workload, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	metadata := objectAt(p.document, "metadata")
	for _, key := range slices.Sorted(maps.Keys(metadata)) {
		if key != "labels" && key != "annotations" {
			errs = append(errs, field.Forbidden(path.Child(key), "pods are named by their ReplicaSet: only labels and annotations can be given"))
		}
	}
	ours := w.Owner.PodLabels()
	labels, _ := metadata["labels"].(map[string]any)
	for _, key := range slices.Sorted(maps.Keys(labels)) {
		if value, isOurs := ours[key]; isOurs && labels[key] != value || !isOurs && isReserved(key) {
			errs = append(errs, field.Forbidden(path.Child("labels").Key(key), "the operator sets this label, and tells pods apart by it"))
		}
	}
	annotations, _ := metadata["annotations"].(map[string]any)
	for _, key := range slices.Sorted(maps.Keys(annotations)) {
		if isReserved(key) || key == workload.AnnotationDefaultContainer && annotations[key] != w.Container.Name {
			errs = append(errs, field.Forbidden(path.Child("annotations").Key(key), "the operator sets this annotation"))
		}
	}
	errs = append(errs, metav1validation.ValidateLabels(p.template.Labels, path.Child("labels"))...)
	return append(errs, validation.ValidateAnnotations(p.template.Annotations, path.Child("annotations"))...)
}

// isReserved tells whether a key is for the operator, or for the Deployment's controller.
func isReserved(key string) bool {
	return strings.HasPrefix(key, reservedPrefix) || key == workload.LabelDemoMicroService || key == "pod-template-hash"
}

// checkPodSpec refuses what gives the pods more than their author may give them, and what no
// pod of a Deployment can have. The rest is judged by the Pod Security Standard.
func (p *patch) checkPodSpec(w workload.Workload, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	forbid := func(given bool, name, why string) {
		if given {
			errs = append(errs, field.Forbidden(path.Child(name), why))
		}
	}
	const account = "spec.serviceAccountName of the application names the ServiceAccount, which must consent to it"
	spec := p.template.Spec
	forbid(spec.ServiceAccountName != "" && spec.ServiceAccountName != w.ServiceAccountName, "serviceAccountName", account)
	forbid(spec.DeprecatedServiceAccount != "" && spec.DeprecatedServiceAccount != w.ServiceAccountName, "serviceAccount", account)
	forbid(spec.NodeName != "", "nodeName", "the scheduler chooses the node; use nodeSelector or affinity")
	forbid(strings.HasPrefix(spec.PriorityClassName, "system-"), "priorityClassName", "the classes that begin with system- are for the cluster's own pods")
	forbid(spec.Priority != nil, "priority", "the server takes it from priorityClassName")
	forbid(len(spec.Overhead) > 0, "overhead", "the server takes it from runtimeClassName")
	forbid(len(spec.EphemeralContainers) > 0, "ephemeralContainers", "they are added to running pods, by kubectl debug")
	forbid(len(spec.ResourceClaims) > 0, "resourceClaims", "claims of devices are not supported")
	forbid(spec.RestartPolicy != "" && spec.RestartPolicy != corev1.RestartPolicyAlways, "restartPolicy", "it is Always: an application must keep running")
	forbid(spec.ActiveDeadlineSeconds != nil, "activeDeadlineSeconds", "an application must keep running")
	forbid(spec.OS != nil && spec.OS.Name != corev1.Linux, "os", "the pods run on Linux")
	document := objectAt(p.document, "spec")
	if value, given := p.document["spec"]; given && value == nil {
		errs = append(errs, field.Forbidden(path, "the pods cannot be left out"))
	}
	if value, given := document["containers"]; given && value == nil {
		errs = append(errs, field.Forbidden(path.Child("containers"), "the application's container cannot be left out"))
	}
	return errs
}

// checkContainers refuses a container that is neither the application's nor complete, and of
// the application's what has a field of the application.
func (p *patch) checkContainers(w workload.Workload, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	spec := p.template.Spec
	documents := itemsOf(objectAt(p.document, "spec")["containers"])
	for i, c := range spec.Containers {
		at := path.Child("containers").Index(i)
		if c.Name == w.Container.Name {
			errs = append(errs, checkMain(at, c, documents[i])...)
			continue
		}
		errs = append(errs, checkAdded(w, at, c)...)
		errs = append(errs, checkClaims(at, c)...)
	}
	for i, c := range spec.InitContainers {
		at := path.Child("initContainers").Index(i)
		errs = append(errs, checkAdded(w, at, c)...)
		errs = append(errs, checkClaims(at, c)...)
		isTaken := func(other corev1.Container) bool { return other.Name == c.Name }
		if c.Name == w.Container.Name || slices.ContainsFunc(spec.Containers, isTaken) {
			errs = append(errs, field.Duplicate(at.Child("name"), c.Name))
		}
	}
	return errs
}

// checkMain refuses what has a field of the application that more follows than the container:
// the status, the runtime's variables. It keeps the application running.
func checkMain(path *field.Path, c corev1.Container, document map[string]any) field.ErrorList {
	var errs field.ErrorList
	for _, f := range []struct{ name, why string }{
		{"image", "use spec.image of the application: the status names it"},
		{"envFrom", "use spec.envFrom of the application: the runtime's variables give way to it"},
		{"resources", "use spec.resources of the application: the runtime's variables follow its limits, and the status shows them"},
	} {
		if _, given := document[f.name]; given {
			errs = append(errs, field.Forbidden(path.Child(f.name), f.why))
		}
	}
	if c.RestartPolicy != nil && *c.RestartPolicy != corev1.ContainerRestartPolicyAlways || len(c.RestartPolicyRules) > 0 {
		errs = append(errs, field.Forbidden(path.Child("restartPolicy"), "an application must keep running"))
	}
	return errs
}

// checkAdded refuses a container that the patch adds with an image that no runtime can pull,
// or without one, which is most likely a wrong name for one that is there.
func checkAdded(w workload.Workload, path *field.Path, c corev1.Container) field.ErrorList {
	if c.Name == "" {
		return nil
	}
	if c.Image != "" {
		if err := workload.CheckImage(c.Image); err != nil {
			return field.ErrorList{field.Invalid(path.Child("image"), c.Image, fmt.Sprintf("of the container %s %v", c.Name, err))}
		}
		return nil
	}
	return field.ErrorList{field.Required(path.Child("image"), fmt.Sprintf(
		"the container %s has no image, and is not the application's container, which is called %s or %s",
		c.Name, workload.MainContainer, w.Container.Name))}
}

func checkClaims(path *field.Path, c corev1.Container) field.ErrorList {
	if len(c.Resources.Claims) == 0 {
		return nil
	}
	return field.ErrorList{field.Forbidden(path.Child("resources", "claims"), "claims of devices are not supported")}
}
