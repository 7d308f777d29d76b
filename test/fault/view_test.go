// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package fault

import "testing"

// TestRolledOut tells when the control plane has something left to do with a Deployment.
func TestRolledOut(t *testing.T) {
	const done = "observedGeneration: 3, replicas: 2, updatedReplicas: 2, conditions: [{type: Progressing, reason: NewReplicaSetAvailable}]"
	for name, test := range map[string]struct {
		status string
		want   bool
	}{
		"all is done":        {done, true},
		"no pod ends":        {done + ", terminatingReplicas: 0", true},
		"a pod ends":         {done + ", terminatingReplicas: 1", false},
		"nothing is seen":    {"observedGeneration: 2", false},
		"a rollout goes on":  {"observedGeneration: 3, replicas: 2, updatedReplicas: 2", false},
		"a pod is too many":  {done + ", replicas: 3", false},
		"a pod is of before": {done + ", updatedReplicas: 1", false},
	} {
		v := viewOf(t, deployment+"  generation: 3\nspec: {replicas: 2}\nstatus: {"+test.status+"}")
		if err := v.rolledOut(); (err == nil) != test.want {
			t.Errorf("%s: %v", name, err)
		}
	}
}
