// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package observe

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"platformapp/internal/platform"
	"platformapp/internal/workload"
)

// nothing is a cluster without objects. It notes what it is asked for.
type nothing struct {
	client.Reader
	asked []string
}

// Get notes the kind and finds nothing.
func (n *nothing) Get(_ context.Context, key client.ObjectKey, object client.Object, _ ...client.GetOption) error {
	n.asked = append(n.asked, fmt.Sprintf("%T", object))
	return apierrors.NewNotFound(schema.GroupResource{}, key.Name)
}

// List finds nothing.
func (n *nothing) List(context.Context, client.ObjectList, ...client.ListOption) error { return nil }

// An application that waits for a name looks for it again and again; that it asks only for what it wants keeps a thousand of
// them from asking for ten kinds each.
func TestALiveLookAsksOnlyForWhatIsWanted(t *testing.T) {
	for name, test := range map[string]struct {
		live    bool
		service bool
		want    []string
	}{
		"not live":     {false, true, nil},
		"a Deployment": {true, false, []string{"*v1.Deployment"}},
		"both":         {true, true, []string{"*v1.Deployment", "*v1.Service"}},
	} {
		t.Run(name, func(t *testing.T) {
			w := workload.Workload{Owner: workload.Owner{Namespace: "a", Name: "orders", SelectorKey: workload.LabelEGApp}}
			if test.service {
				w.Service = &workload.Service{}
			}
			live := &nothing{}
			r := Reader{
				Cache: &nothing{}, Live: live, Fence: NewFence(),
				Platform: func() (platform.Facts, error) { return platform.Facts{}, nil },
			}
			if _, err := r.Read(t.Context(), w, test.live); err != nil {
				t.Fatal(err)
			}
			slices.Sort(live.asked)
			if diff := cmp.Diff(test.want, live.asked); diff != "" {
				t.Errorf("the API server is asked for (-want +got):\n%s", diff)
			}
		})
	}
}
