// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package corpus

import (
	"encoding/json"
	"fmt"

	utiljson "k8s.io/apimachinery/pkg/util/json"

	devopsv1 "platformapp/api/devops/v1"
	"platformapp/api/egplatform/v1alpha1"
	"platformapp/internal/profile"
	"platformapp/internal/resources"
	"platformapp/internal/translate"
	"platformapp/internal/workload"
)

// Frozen is what of an application's children must never change while its specification
// stays: a change would restart pods, scale them, leave them behind, or cut them off.
type Frozen struct {
	// Children are kinds and names, in the order in which they are applied.
	Children []string `json:"children"`
	// Replicas of the Deployment, or nil where an autoscaler decides.
	Replicas *int32 `json:"replicas,omitempty"`
	// Selector of the Deployment, which Kubernetes does not let change either.
	Selector map[string]any `json:"selector"`
	// PodTemplate of the Deployment, whose change restarts the pods.
	PodTemplate map[string]any `json:"podTemplate"`
	// Service is the specification of the Service, by which others reach the pods, or nil if there is none.
	Service map[string]any `json:"service,omitempty"`
}

// Operator is the code that carries out applications.
type Operator struct {
	// Images are the default images of the frameworks; the zero is what the code has.
	Images profile.Images
}

// workload translates an application, or says why its specification is refused; then the
// owner alone is filled in.
func (op Operator) workload(object map[string]any, cluster Cluster) (w workload.Workload, refusal string, err error) {
	options := cluster.options()
	options.Images = op.Images
	var refused error
	switch kind := object["kind"]; kind {
	case "EGApp":
		app := &v1alpha1.EGApp{}
		if err := convert(object, app); err != nil {
			return w, "", err
		}
		w, refused = translate.EGApp(app, options)
	case "DemoMicroService":
		service := &devopsv1.DemoMicroService{}
		if err := convert(object, service); err != nil {
			return w, "", err
		}
		w, refused = translate.DemoMicroService(service)
	default:
		return w, "", fmt.Errorf("%v is no kind of application", kind)
	}
	if refused != nil {
		refusal = refused.Error()
	}
	return w, refusal, err
}

// Render returns what an application makes, or says why its specification is refused.
func (op Operator) Render(object map[string]any, cluster Cluster) (frozen *Frozen, refusal string, err error) {
	w, refusal, err := op.workload(object, cluster)
	if err != nil || refusal != "" {
		return nil, refusal, err
	}
	frozen, err = freeze(resources.Desired(w, cluster.observed(w.Owner)))
	return frozen, "", err
}

func freeze(children []resources.Child) (*Frozen, error) {
	frozen := &Frozen{}
	for _, child := range children {
		frozen.Children = append(frozen.Children, child.Kind+" "+child.Name)
		switch child.Kind {
		case workload.KindDeployment:
			var deployment struct {
				Spec struct {
					Replicas *int32
					Selector map[string]any
					Template map[string]any
				}
			}
			if err := convert(child.Config, &deployment); err != nil {
				return nil, err
			}
			frozen.Replicas, frozen.Selector, frozen.PodTemplate = deployment.Spec.Replicas, deployment.Spec.Selector, deployment.Spec.Template
		case "Service":
			var service struct{ Spec map[string]any }
			if err := convert(child.Config, &service); err != nil {
				return nil, err
			}
			frozen.Service = service.Spec
		}
	}
	return frozen, nil
}

// convert copies by way of JSON, as objects go between the API server and the operator.
func convert(from, to any) error {
	serialized, err := json.Marshal(from)
	if err != nil {
		return err
	}
	return json.Unmarshal(serialized, to)
}

// readObject copies an object with its numbers as the API server reads them.
func readObject(object map[string]any) (map[string]any, error) {
	serialized, err := json.Marshal(object)
	if err != nil {
		return nil, err
	}
	var read map[string]any
	err = utiljson.Unmarshal(serialized, &read)
	return read, err
}
