// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package observe

import (
	"context"
	"fmt"
	"slices"
	"strings"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"platformapp/internal/workload"
)

// readOthers reads what the workload refers to and what scales it. All of it is in the
// cache, whosever it is.
func (r Reader) readOthers(ctx context.Context, w workload.Workload, observed *workload.Observed) error {
	if err := r.readAutoscalers(ctx, w.Owner, observed); err != nil {
		return err
	}
	if err := r.readConfigMaps(ctx, w, observed); err != nil {
		return err
	}
	if err := r.readClaims(ctx, w, observed); err != nil {
		return err
	}
	return r.readServiceAccount(ctx, w, observed)
}

// readAutoscalers reads the autoscalers of others that scale the owner or its Deployment.
// One that is to be adopted as the owner's child is none of them.
func (r Reader) readAutoscalers(ctx context.Context, owner workload.Owner, observed *workload.Observed) error {
	var list autoscalingv2.HorizontalPodAutoscalerList
	if err := r.Cache.List(ctx, &list, selectBy(owner, targetIndex)); err != nil {
		return fmt.Errorf("list autoscalers of %s/%s: %w", owner.Namespace, owner.Name, err)
	}
	for i := range list.Items {
		autoscaler := &list.Items[i]
		isOffered := autoscaler.Name == owner.Name && owner.MayAdopt(autoscaler)
		if owner.OwnershipOf(autoscaler) == workload.Foreign && !isOffered {
			observed.Autoscalers = append(observed.Autoscalers, workload.Autoscaler{
				Name: autoscaler.Name, TargetKind: autoscaler.Spec.ScaleTargetRef.Kind, Problem: workload.ScalingProblem(autoscaler),
			})
		}
	}
	slices.SortFunc(observed.Autoscalers, func(a, b workload.Autoscaler) int { return strings.Compare(a.Name, b.Name) })
	return nil
}

func (r Reader) readConfigMaps(ctx context.Context, w workload.Workload, observed *workload.Observed) error {
	for _, reference := range w.References.ConfigMaps {
		var configMap corev1.ConfigMap
		found, err := r.other(ctx, w.Owner, reference.Name, &configMap)
		if err != nil {
			return err
		}
		if !found {
			continue
		}
		if observed.ConfigMaps == nil {
			observed.ConfigMaps = map[string]workload.ConfigMap{}
		}
		observed.ConfigMaps[reference.Name] = ConfigMapOf(&configMap)
	}
	return nil
}

func (r Reader) readClaims(ctx context.Context, w workload.Workload, observed *workload.Observed) error {
	for _, name := range w.References.Claims {
		var claim corev1.PersistentVolumeClaim
		found, err := r.other(ctx, w.Owner, name, &claim)
		if err != nil {
			return err
		}
		if !found {
			continue
		}
		if observed.Claims == nil {
			observed.Claims = map[string]workload.Claim{}
		}
		observed.Claims[name] = ClaimOf(&claim)
	}
	return nil
}

func (r Reader) readServiceAccount(ctx context.Context, w workload.Workload, observed *workload.Observed) error {
	if w.References.ServiceAccount == "" {
		return nil
	}
	account := ServiceAccountMetadata()
	found, err := r.other(ctx, w.Owner, w.References.ServiceAccount, account)
	observed.ServiceAccountExists = found
	observed.ServiceAccountAllowed = found && AllowsEGApps(account)
	return err
}

// other reads an object of somebody else in the owner's namespace and tells whether it
// is there.
func (r Reader) other(ctx context.Context, owner workload.Owner, name string, object client.Object) (bool, error) {
	err := r.Cache.Get(ctx, types.NamespacedName{Namespace: owner.Namespace, Name: name}, object, client.UnsafeDisableDeepCopy)
	if apierrors.IsNotFound(err) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("read %T %s/%s: %w", object, owner.Namespace, name, err)
	}
	return true, nil
}
