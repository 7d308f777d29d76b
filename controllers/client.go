// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/resourceversion"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
)

const (
	// fencePoll and fenceTimeout pace and bound the wait of a fence. After the timeout
	// the loop goes on: what it then does on an old view is repaired by the next event.
	fencePoll    = 2 * time.Millisecond
	fenceTimeout = 5 * time.Second
)

// NewClient returns how to make a client whose reads see its own writes, for a cache of
// the given namespaces. With one cache controller-runtime sees to it; it cannot with one
// cache for each of several namespaces, where each write waits for its own echo instead.
func NewClient(namespaces []string) client.NewClientFunc {
	return func(config *rest.Config, options client.Options) (client.Client, error) {
		if len(namespaces) <= 1 {
			options.Cache.EnableReadYourWritesConsistency = new(true)
			return client.New(config, options)
		}
		c, err := client.NewWithWatch(config, options)
		if err != nil {
			return nil, err
		}
		return fenced(c), nil
	}
}

// fenced returns a client whose writes return when its reads show them.
func fenced(c client.WithWatch) client.Client {
	return interceptor.NewClient(c, interceptor.Funcs{
		Apply: func(ctx context.Context, c client.WithWatch, config runtime.ApplyConfiguration, opts ...client.ApplyOption) error {
			if err := c.Apply(ctx, config, opts...); err != nil {
				return err
			}
			written, err := objectOf(config, c.Scheme())
			if err != nil {
				return err
			}
			return awaitVersion(ctx, c, written)
		},
		Patch: func(ctx context.Context, c client.WithWatch, object client.Object, patch client.Patch, opts ...client.PatchOption) error {
			if err := c.Patch(ctx, object, patch, opts...); err != nil {
				return err
			}
			return awaitVersion(ctx, c, object)
		},
		Delete: func(ctx context.Context, c client.WithWatch, object client.Object, opts ...client.DeleteOption) error {
			if err := c.Delete(ctx, object, opts...); err != nil {
				return err
			}
			return awaitDeletion(ctx, c, object)
		},
		SubResourcePatch: func(ctx context.Context, c client.Client, subResource string, object client.Object, patch client.Patch, opts ...client.SubResourcePatchOption) error {
			if err := c.SubResource(subResource).Patch(ctx, object, patch, opts...); err != nil {
				return err
			}
			return awaitVersion(ctx, c, object)
		},
	})
}

// objectOf returns an empty object of an apply configuration's kind, with the name and
// the resource version that the server's answer has put into it.
func objectOf(config runtime.ApplyConfiguration, scheme *runtime.Scheme) (client.Object, error) {
	serialized, err := json.Marshal(config)
	if err != nil {
		return nil, err
	}
	var written metav1.PartialObjectMetadata
	if err := json.Unmarshal(serialized, &written); err != nil {
		return nil, err
	}
	object, err := scheme.New(written.GroupVersionKind())
	if err != nil {
		return nil, err
	}
	typed, ok := object.(client.Object)
	if !ok {
		return nil, fmt.Errorf("%T is not an object", object)
	}
	typed.SetNamespace(written.Namespace)
	typed.SetName(written.Name)
	typed.SetUID(written.UID)
	typed.SetResourceVersion(written.ResourceVersion)
	return typed, nil
}

// awaitVersion waits until the object is read at its resource version or a later one.
func awaitVersion(ctx context.Context, reader client.Reader, written client.Object) error {
	return await(ctx, reader, written, false, func(seen client.Object) (bool, error) {
		order, err := resourceversion.CompareResourceVersion(seen.GetResourceVersion(), written.GetResourceVersion())
		return order >= 0, err
	})
}

// awaitDeletion waits until the object is read as being deleted, or is gone.
func awaitDeletion(ctx context.Context, reader client.Reader, deleted client.Object) error {
	return await(ctx, reader, deleted, true, func(seen client.Object) (bool, error) {
		return seen.GetUID() != deleted.GetUID() || seen.GetDeletionTimestamp() != nil, nil
	})
}

func await(ctx context.Context, reader client.Reader, object client.Object, absenceIsSeen bool, seenIt func(client.Object) (bool, error)) error {
	seen, ok := reflect.TypeAssert[client.Object](reflect.New(reflect.TypeOf(object).Elem()))
	if !ok {
		return fmt.Errorf("%T is not an object", object)
	}
	err := wait.PollUntilContextTimeout(ctx, fencePoll, fenceTimeout, true, func(ctx context.Context) (bool, error) {
		if err := reader.Get(ctx, client.ObjectKeyFromObject(object), seen); err != nil {
			return absenceIsSeen && apierrors.IsNotFound(err), client.IgnoreNotFound(err)
		}
		return seenIt(seen)
	})
	if wait.Interrupted(err) && ctx.Err() == nil {
		return nil
	}
	return err
}
