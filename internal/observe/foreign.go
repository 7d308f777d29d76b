// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package observe

import (
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unique"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"platformapp/internal/workload"
)

// hashSize is the number of bytes of a workload.ValueHash.
const hashSize = 16

var serviceAccountKind = corev1.SchemeGroupVersion.WithKind("ServiceAccount")

// ServiceAccountMetadata is the metadata of a ServiceAccount, as an object to be read or
// watched.
func ServiceAccountMetadata() *metav1.PartialObjectMetadata {
	object := &metav1.PartialObjectMetadata{}
	object.SetGroupVersionKind(serviceAccountKind)
	return object
}

// isOurs tells whether the operator made an object, by the label that it gives.
func isOurs(object metav1.Object) bool {
	return object.GetLabels()[workload.LabelManagedBy] == workload.ManagedBy
}

// stripForeign keeps of the metadata of an object of somebody else how it is found, and
// what tells whether it is one that lost the operator's label or may be adopted. Names of
// namespaces, which most objects share, are kept once.
func stripForeign(m metav1.ObjectMeta, annotations ...string) metav1.ObjectMeta {
	return metav1.ObjectMeta{
		Namespace: unique.Make(m.Namespace).Value(), Name: m.Name, UID: m.UID, ResourceVersion: m.ResourceVersion,
		DeletionTimestamp: m.DeletionTimestamp, OwnerReferences: m.OwnerReferences,
		Labels:      only(m.Labels, workload.LabelOwnerUID),
		Annotations: only(m.Annotations, append(annotations, workload.AnnotationAdoptBy)...),
	}
}

// only returns the entries with the given keys, or nil if there are none.
func only(m map[string]string, keys ...string) map[string]string {
	var out map[string]string
	for _, key := range keys {
		value, ok := m[key]
		if !ok {
			continue
		}
		if out == nil {
			out = map[string]string{}
		}
		out[key] = value
	}
	return out
}

// stripConfigMap keeps of a ConfigMap of somebody else the hashes of its values. They are
// kept as one string, in a field that no stored ConfigMap needs, since a map would take
// more memory than all else: a cluster has many ConfigMaps, and this is done to each.
func stripConfigMap(object any) (any, error) {
	configMap, ok := object.(*corev1.ConfigMap)
	if !ok {
		return object, nil
	}
	if isOurs(configMap) {
		configMap.ManagedFields = nil
		return configMap, nil
	}
	if configMap.CreationTimestamp.IsZero() {
		return configMap, nil // It is stripped already: what is stored has a time.
	}
	stripped := &corev1.ConfigMap{ObjectMeta: stripForeign(configMap.ObjectMeta)}
	stripped.UID = ""
	if len(stripped.OwnerReferences) > 0 || stripped.Labels != nil || stripped.Annotations != nil {
		stripped.UID = configMap.UID
	}
	var err error
	stripped.GenerateName, err = encode(hashesOf(configMap))
	return stripped, err
}

// ConfigMapOf returns what is remembered of a ConfigMap in the cache.
func ConfigMapOf(object *corev1.ConfigMap) workload.ConfigMap {
	if isOurs(object) {
		return hashesOf(object)
	}
	return decode(object.GenerateName)
}

func hashesOf(object *corev1.ConfigMap) workload.ConfigMap {
	hashes := workload.ConfigMap{}
	for key, value := range object.Data {
		hashes[key] = workload.ValueHash([]byte(value))
	}
	for key, value := range object.BinaryData {
		hashes[key] = workload.ValueHash(value)
	}
	return hashes
}

// encode writes hashes as one string: for each key the key, '=', which none has in it, and
// the bytes of the hash.
func encode(hashes workload.ConfigMap) (string, error) {
	size := 0
	for key := range hashes {
		size += len(key) + len("=") + hashSize
	}
	var out strings.Builder
	out.Grow(size)
	for _, key := range slices.Sorted(maps.Keys(hashes)) {
		hash, err := hex.DecodeString(hashes[key])
		if err != nil {
			return "", fmt.Errorf("remember key %s of a ConfigMap: %w", key, err)
		}
		out.WriteString(key)
		out.WriteByte('=')
		out.Write(hash)
	}
	return out.String(), nil
}

func decode(encoded string) workload.ConfigMap {
	hashes := workload.ConfigMap{}
	for {
		key, rest, ok := strings.Cut(encoded, "=")
		if !ok || len(rest) < hashSize {
			return hashes
		}
		hashes[key] = hex.EncodeToString([]byte(rest[:hashSize]))
		encoded = rest[hashSize:]
	}
}

// stripAutoscaler keeps of an autoscaler of somebody else what it scales, and why it cannot.
func stripAutoscaler(object any) (any, error) {
	autoscaler, ok := object.(*autoscalingv2.HorizontalPodAutoscaler)
	if !ok {
		return object, nil
	}
	if isOurs(autoscaler) {
		autoscaler.ManagedFields = nil
		return autoscaler, nil
	}
	return &autoscalingv2.HorizontalPodAutoscaler{
		ObjectMeta: stripForeign(autoscaler.ObjectMeta),
		Spec:       autoscalingv2.HorizontalPodAutoscalerSpec{ScaleTargetRef: autoscaler.Spec.ScaleTargetRef},
		Status:     autoscalingv2.HorizontalPodAutoscalerStatus{Conditions: stripScaling(autoscaler.Status.Conditions)},
	}, nil
}

func stripScaling(conditions []autoscalingv2.HorizontalPodAutoscalerCondition) []autoscalingv2.HorizontalPodAutoscalerCondition {
	for _, c := range conditions {
		if c.Type == autoscalingv2.ScalingActive && c.Status == corev1.ConditionFalse {
			return []autoscalingv2.HorizontalPodAutoscalerCondition{{Type: c.Type, Status: c.Status, Reason: c.Reason, Message: c.Message}}
		}
	}
	return nil
}

// stripClaim keeps of a claim how it may be accessed.
func stripClaim(object any) (any, error) {
	claim, ok := object.(*corev1.PersistentVolumeClaim)
	if !ok {
		return object, nil
	}
	return &corev1.PersistentVolumeClaim{
		ObjectMeta: stripForeign(claim.ObjectMeta),
		Spec:       corev1.PersistentVolumeClaimSpec{AccessModes: claim.Spec.AccessModes},
	}, nil
}

// ClaimOf returns what is remembered of a claim in the cache. By these access modes, not by
// how a pod mounts it, it is decided whether its volume may be attached to a second node.
func ClaimOf(claim *corev1.PersistentVolumeClaim) workload.Claim {
	ofMany := func(mode corev1.PersistentVolumeAccessMode) bool {
		return mode == corev1.ReadWriteMany || mode == corev1.ReadOnlyMany
	}
	return workload.Claim{OneNode: !slices.ContainsFunc(claim.Spec.AccessModes, ofMany)}
}

// stripServiceAccount keeps of a ServiceAccount's metadata whether it lets EGApps run as it.
func stripServiceAccount(object any) (any, error) {
	account, ok := object.(*metav1.PartialObjectMetadata)
	if !ok {
		return object, nil
	}
	return &metav1.PartialObjectMetadata{
		TypeMeta:   account.TypeMeta,
		ObjectMeta: stripForeign(account.ObjectMeta, workload.AnnotationAllowEGApps),
	}, nil
}

// AllowsEGApps tells whether a ServiceAccount lets EGApps run as it.
func AllowsEGApps(account client.Object) bool {
	return account.GetAnnotations()[workload.AnnotationAllowEGApps] == "true"
}
