// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package fault

import (
	"os"
	"testing"

	"github.com/go-logr/logr"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"platformapp/internal/localcluster"
	"platformapp/internal/testutil"
)

// parallelPlans is how many plans are carried out at once: they wait nearly all of the time.
const parallelPlans = 48

func TestMain(m *testing.M) {
	if role := os.Getenv(roleEnv); role != "" {
		os.Exit(playOperator(role))
	}
	localcluster.ServeReaper()
	// Nothing of controller-runtime's own logging is of interest here.
	log.SetLogger(logr.Discard())
	if err := testutil.RunInParallel(parallelPlans); err != nil {
		panic(err)
	}
	os.Exit(m.Run())
}
