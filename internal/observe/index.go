// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package observe

import (
	"context"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"platformapp/internal/workload"
)

const (
	// ownerIndex is the index of pods and ReplicaSets by the application that they run.
	ownerIndex = "platformapp-owner"
	// targetIndex is the index of autoscalers by the application that they scale.
	targetIndex = "platformapp-target"
)

func ownerIndexKey(selectorKey, name string) string { return selectorKey + "=" + name }

// selectBy lists what an index has for the owner, without a copy: what is listed is shared with
// the cache.
func selectBy(owner workload.Owner, index string) *client.ListOptions {
	return &client.ListOptions{
		Namespace:             owner.Namespace,
		FieldSelector:         fields.OneTermEqualSelector(index, ownerIndexKey(owner.SelectorKey, owner.Name)),
		UnsafeDisableDeepCopy: new(true),
	}
}

// IndexFields adds the indexes that Read uses. It must run before the cache starts.
func IndexFields(ctx context.Context, indexer client.FieldIndexer) error {
	byOwner := func(object client.Object) []string {
		var keys []string
		for _, selectorKey := range []string{workload.LabelEGApp, workload.LabelDemoMicroService} {
			if name, ok := object.GetLabels()[selectorKey]; ok {
				keys = append(keys, ownerIndexKey(selectorKey, name))
			}
		}
		return keys
	}
	for _, object := range []client.Object{&corev1.Pod{}, ReplicaSetMetadata()} {
		if err := indexer.IndexField(ctx, object, ownerIndex, byOwner); err != nil {
			return err
		}
	}
	byTarget := func(object client.Object) []string {
		var keys []string
		for _, selectorKey := range []string{workload.LabelEGApp, workload.LabelDemoMicroService} {
			if name, ok := ScaledBy(object, selectorKey); ok {
				keys = append(keys, ownerIndexKey(selectorKey, name))
			}
		}
		return keys
	}
	return indexer.IndexField(ctx, &autoscalingv2.HorizontalPodAutoscaler{}, targetIndex, byTarget)
}

// scaledKinds are the kinds of applications, by the label that selects their pods.
var scaledKinds = map[string]schema.GroupKind{
	workload.LabelEGApp:            {Group: "egplatform.platform.evillgenius.com", Kind: "EGApp"},
	workload.LabelDemoMicroService: {Group: "devops.my.domain", Kind: "DemoMicroService"},
}

// ScaledBy returns the name of the application, of the kind with the selector key, that
// an object would scale if there is one: by itself or by its Deployment. It is false for
// all but autoscalers of either.
func ScaledBy(object client.Object, selectorKey string) (string, bool) {
	autoscaler, ok := object.(*autoscalingv2.HorizontalPodAutoscaler)
	if !ok {
		return "", false
	}
	target := autoscaler.Spec.ScaleTargetRef
	gv, err := schema.ParseGroupVersion(target.APIVersion)
	if err != nil {
		return "", false
	}
	switch (schema.GroupKind{Group: gv.Group, Kind: target.Kind}) {
	case schema.GroupKind{Group: "apps", Kind: workload.KindDeployment}, scaledKinds[selectorKey]:
		return target.Name, true
	default:
		return "", false
	}
}
