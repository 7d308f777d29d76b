// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package platform

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"

	apidiscoveryv2 "k8s.io/api/apidiscovery/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/rest"
)

// document is what an API server tells about its APIs.
type document struct {
	groups    map[string]bool
	resources map[schema.GroupVersion]*metav1.APIResourceList
	// failed are the group versions that an aggregated API server did not tell about.
	failed map[schema.GroupVersion]error
}

// aggregatedKind is the kind of the document that tells about all API groups at once.
var aggregatedKind = apidiscoveryv2.SchemeGroupVersion.WithKind("APIGroupDiscoveryList")

// newDiscovery returns a function that asks for the document, by one request.
func newDiscovery(config *rest.Config, client *http.Client) (func(context.Context) (document, error), error) {
	c, err := discovery.NewDiscoveryClientForConfigAndClient(config, client)
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context) (document, error) {
		var contentType string
		body, err := c.RESTClient().Get().AbsPath("/apis").SetHeader("Accept", discovery.AcceptV2).
			Do(ctx).ContentType(&contentType).Raw()
		if err != nil {
			return document{}, fmt.Errorf("discover the APIs of the cluster: %w", err)
		}
		return parse(body, contentType)
	}, nil
}

func parse(body []byte, contentType string) (document, error) {
	switch ok, err := discovery.ContentTypeIsGVK(contentType, aggregatedKind); {
	case err != nil:
		return document{}, fmt.Errorf("discover the APIs of the cluster: %w", err)
	case !ok:
		return document{}, fmt.Errorf("discover the APIs of the cluster: the API server answers with %q, which does not list them", contentType)
	}
	var list apidiscoveryv2.APIGroupDiscoveryList
	if err := json.Unmarshal(body, &list); err != nil {
		return document{}, fmt.Errorf("discover the APIs of the cluster: %w", err)
	}
	// Every API server has APIs, so that an empty list is a broken answer.
	if len(list.Items) == 0 {
		return document{}, errors.New("discover the APIs of the cluster: the API server lists none")
	}
	groups, resources, failed := discovery.SplitGroupsAndResources(list)
	d := document{groups: map[string]bool{}, resources: resources, failed: failed}
	for _, group := range groups.Groups {
		d.groups[group.Name] = true
	}
	return d, nil
}

// used are the verbs without which a kind is of no use to the operator. One whose definition
// is being deleted is listed with fewer: nothing can be made of it any more.
var used = []string{"create", "delete", "get", "list", "patch", "watch"}

// presenceOf tells whether the API server has a kind.
func (d document) presenceOf(kind schema.GroupVersionKind) presence {
	if _, failed := d.failed[kind.GroupVersion()]; failed {
		return unknown
	}
	list := d.resources[kind.GroupVersion()]
	if list == nil {
		return absent
	}
	for _, resource := range list.APIResources {
		if resource.Kind == kind.Kind && sets.New(resource.Verbs...).HasAll(used...) {
			return present
		}
	}
	return absent
}
