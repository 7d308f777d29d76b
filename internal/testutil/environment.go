// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package testutil

import (
	"time"

	"sigs.k8s.io/controller-runtime/pkg/envtest"
)

// NewEnvironment returns an API server and its etcd, to be started, out of the folder of their programs, with the
// CustomResourceDefinitions in these files and folders.
func NewEnvironment(programs string, crds ...string) *envtest.Environment {
	environment := &envtest.Environment{
		BinaryAssetsDirectory: programs,
		CRDDirectoryPaths:     crds,
		ErrorIfCRDPathMissing: true,
		// Other packages test, and start servers, at the same time.
		ControlPlaneStartTimeout: 2 * time.Minute,
	}
	// The default has room for 254 Services.
	environment.ControlPlane.GetAPIServer().Configure().Set("service-cluster-ip-range", "10.0.0.0/16")
	return environment
}
