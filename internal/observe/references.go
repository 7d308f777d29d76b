// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package observe

import (
	"reflect"
	"slices"
	"sync"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"platformapp/internal/workload"
)

// References is the register of which owners of one kind refer to which objects of
// others, so that a change of such an object leads to the owners that it concerns. An
// owner is recorded before what it refers to is read: a change is either read or told.
type References struct {
	mu      sync.Mutex
	byOwner map[types.NamespacedName]workload.References
	// owners are the owners that refer to an object, by kind and name of it.
	owners map[referenceKey]map[types.NamespacedName]bool
}

type referenceKey struct {
	kind string
	name types.NamespacedName
}

const (
	kindConfigMap      = "ConfigMap"
	kindClaim          = "PersistentVolumeClaim"
	kindServiceAccount = "ServiceAccount"
)

// NewReferences returns an empty register.
func NewReferences() *References {
	return &References{byOwner: map[types.NamespacedName]workload.References{}, owners: map[referenceKey]map[types.NamespacedName]bool{}}
}

// Record sets what an owner refers to, which replaces what it referred to before.
func (r *References) Record(owner types.NamespacedName, references workload.References) {
	r.mu.Lock()
	defer r.mu.Unlock()
	before := r.byOwner[owner]
	if reflect.DeepEqual(before, references) {
		return
	}
	for _, key := range referenceKeys(owner.Namespace, before) {
		if delete(r.owners[key], owner); len(r.owners[key]) == 0 {
			delete(r.owners, key)
		}
	}
	keys := referenceKeys(owner.Namespace, references)
	if len(keys) == 0 {
		delete(r.byOwner, owner)
		return
	}
	r.byOwner[owner] = references
	for _, key := range keys {
		if r.owners[key] == nil {
			r.owners[key] = map[types.NamespacedName]bool{}
		}
		r.owners[key][owner] = true
	}
}

// Forget drops an owner that is gone.
func (r *References) Forget(owner types.NamespacedName) { r.Record(owner, workload.References{}) }

func referenceKeys(namespace string, references workload.References) []referenceKey {
	var keys []referenceKey
	add := func(kind, name string) {
		keys = append(keys, referenceKey{kind, types.NamespacedName{Namespace: namespace, Name: name}})
	}
	for _, configMap := range references.ConfigMaps {
		add(kindConfigMap, configMap.Name)
	}
	for _, claim := range references.Claims {
		add(kindClaim, claim)
	}
	if references.ServiceAccount != "" {
		add(kindServiceAccount, references.ServiceAccount)
	}
	return keys
}

// Owners returns the owners that refer to an object, in no order.
func (r *References) Owners(object client.Object) []types.NamespacedName {
	return r.ownersThat(object, func(workload.References) bool { return true })
}

// OwnersOfChange returns the owners for which an object is not what it was, in no order:
// those that use a key of a ConfigMap whose value changed, came or went; for other kinds
// those that refer to it, if what is remembered of it changed.
func (r *References) OwnersOfChange(before, after client.Object) []types.NamespacedName {
	switch after := after.(type) {
	case *corev1.ConfigMap:
		before, ok := before.(*corev1.ConfigMap)
		if !ok {
			return nil
		}
		was, is := ConfigMapOf(before), ConfigMapOf(after)
		return r.ownersThat(after, func(references workload.References) bool {
			return slices.ContainsFunc(references.ConfigMaps, func(reference workload.ConfigMapReference) bool {
				used := []workload.ConfigMapReference{reference}
				return reference.Name == after.Name &&
					workload.ConfigHash(used, map[string]workload.ConfigMap{after.Name: was}) != workload.ConfigHash(used, map[string]workload.ConfigMap{after.Name: is})
			})
		})
	case *corev1.PersistentVolumeClaim:
		if before, ok := before.(*corev1.PersistentVolumeClaim); !ok || ClaimOf(before) == ClaimOf(after) {
			return nil
		}
	default:
		if AllowsEGApps(before) == AllowsEGApps(after) {
			return nil
		}
	}
	return r.Owners(after)
}

func (r *References) ownersThat(object client.Object, holds func(workload.References) bool) []types.NamespacedName {
	r.mu.Lock()
	defer r.mu.Unlock()
	var owners []types.NamespacedName
	for owner := range r.owners[referenceKey{kindOf(object), client.ObjectKeyFromObject(object)}] {
		if holds(r.byOwner[owner]) {
			owners = append(owners, owner)
		}
	}
	return owners
}

// kindOf returns the kind of an object of others that owners may refer to, or nothing.
func kindOf(object client.Object) string {
	switch object.(type) {
	case *corev1.ConfigMap:
		return kindConfigMap
	case *corev1.PersistentVolumeClaim:
		return kindClaim
	case *metav1.PartialObjectMetadata:
		return kindServiceAccount
	default:
		return ""
	}
}

// Referenced returns an empty object of each kind that owners may refer to.
func Referenced() []client.Object {
	return []client.Object{&corev1.ConfigMap{}, &corev1.PersistentVolumeClaim{}, ServiceAccountMetadata()}
}
