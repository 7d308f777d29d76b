// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"fmt"
	"path"
	"strconv"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"platformapp/api/appstatus"
	devopsv1 "platformapp/api/devops/v1"
	"platformapp/api/egplatform/v1alpha1"
)

// application is an object of either kind.
type application interface {
	client.Object
	AppStatus() *appstatus.Status
}

// kind is a kind of application.
type kind struct {
	name string
	// resource is how the audit log names it.
	resource string
	// children are the resources of the children that a small one has.
	children []string
	// make returns one that is small. Where it can do without pods it does: how long the control plane takes to replace them
	// is not of interest here.
	make func(namespace, name string) application
	list func() client.ObjectList
}

var egapp = kind{
	name:     "EGApp",
	resource: "egapps.egplatform.platform.evillgenius.com",
	children: []string{"deployments.apps", "services"},
	make: func(namespace, name string) application {
		return &v1alpha1.EGApp{
			ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name},
			Spec: v1alpha1.EGAppSpec{
				Framework: v1alpha1.FrameworkGo, Environment: v1alpha1.EnvironmentDev, ReplicaCount: new(int32(0)), Image: imageOf(1),
			},
		}
	},
	list: func() client.ObjectList { return &v1alpha1.EGAppList{} },
}

var demoMicroService = kind{
	name:     "DemoMicroService",
	resource: "demomicroservices.devops.my.domain",
	children: []string{"deployments.apps"},
	make: func(namespace, name string) application {
		return &devopsv1.DemoMicroService{
			ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name},
			Spec:       devopsv1.DemoMicroServiceSpec{Image: imageOf(1)},
		}
	},
	list: func() client.ObjectList { return &devopsv1.DemoMicroServiceList{} },
}

var kinds = []kind{egapp, demoMicroService}

// makeMany returns so many small applications of the kind.
func (k kind) makeMany(namespace string, n int) []application {
	apps := make([]application, n)
	for i := range apps {
		apps[i] = k.make(namespace, fmt.Sprintf("app-%d", i))
	}
	return apps
}

// imageOf returns the image of a release of the application. KWOK pulls nothing.
func imageOf(release int) string { return fmt.Sprintf("registry.example.com/team/app:%d", release) }

// withPod makes an application run one pod.
func withPod(app application) application {
	if app, ok := app.(*v1alpha1.EGApp); ok {
		app.Spec.ReplicaCount = new(int32(1))
	}
	return app
}

// releaseIn returns the release that an application asks for.
func releaseIn(app application) int {
	_, tag, _ := strings.Cut(path.Base(imageIn(app)), ":")
	release, _ := strconv.Atoi(tag)
	return release
}

// imageIn returns the image that an application asks for.
func imageIn(app application) string {
	switch app := app.(type) {
	case *v1alpha1.EGApp:
		return app.Spec.Image
	case *devopsv1.DemoMicroService:
		return app.Spec.Image
	}
	return ""
}

// setImage makes an application ask for an image.
func setImage(app application, image string) {
	switch app := app.(type) {
	case *v1alpha1.EGApp:
		app.Spec.Image = image
	case *devopsv1.DemoMicroService:
		app.Spec.Image = image
	}
}
