// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package inputs

import (
	"context"
	"fmt"
	"os"
	"testing"

	"github.com/go-logr/logr"
	ctrl "sigs.k8s.io/controller-runtime"

	"platformapp/internal/localcluster"
)

func TestMain(m *testing.M) {
	localcluster.ServeReaper()
	ctrl.SetLogger(logr.Discard())
	code := m.Run()
	if assets != nil {
		if err := assets.Remove(context.Background()); err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = 1
		}
	}
	os.Exit(code)
}

// assets are the programs of the API server, once a test has needed them.
var assets *localcluster.Assets
