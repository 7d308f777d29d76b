// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package observe

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"platformapp/internal/workload"
)

func named(name string) types.NamespacedName {
	return types.NamespacedName{Namespace: "team-a", Name: name}
}

func namesOf(owners []types.NamespacedName) []string {
	var names []string
	for _, owner := range owners {
		names = append(names, owner.Name)
	}
	slices.Sort(names)
	return names
}

// stripped is an object as the cache holds it.
func stripped[T client.Object](t *testing.T, strip func(any) (any, error), object T) T {
	t.Helper()
	out, err := strip(object)
	if err != nil {
		t.Fatal(err)
	}
	return out.(T)
}

func settings(t *testing.T, data map[string]string) *corev1.ConfigMap {
	t.Helper()
	return stripped(t, stripConfigMap, &corev1.ConfigMap{ObjectMeta: foreignMetadata("settings", "u"), Data: data})
}

// C19: a change of a key concerns those that use it.
func TestAChangeOfAConfigMapLeadsToThoseThatUseWhatChanged(t *testing.T) {
	references := NewReferences()
	record := func(owner string, configMaps ...workload.ConfigMapReference) {
		references.Record(named(owner), workload.References{ConfigMaps: configMaps})
	}
	record("uses-a", workload.ConfigMapReference{Name: "settings", Keys: []string{"a"}})
	record("may-use-b", workload.ConfigMapReference{Name: "settings", OptionalKeys: []string{"b"}})
	record("uses-all", workload.ConfigMapReference{Name: "settings", All: true})
	record("uses-another", workload.ConfigMapReference{Name: "others", All: true})
	references.Record(types.NamespacedName{Namespace: "team-b", Name: "elsewhere"}, workload.References{ConfigMaps: []workload.ConfigMapReference{{Name: "settings", All: true}}})

	base := map[string]string{"a": "1", "b": "1", "c": "1"}
	with := func(key, value string) map[string]string {
		out := map[string]string{"a": "1", "b": "1", "c": "1"}
		if out[key] = value; value == "" {
			delete(out, key)
		}
		return out
	}
	for name, test := range map[string]struct {
		after map[string]string
		want  []string
	}{
		"nothing, or a label": {base, nil},
		"a used key":          {with("a", "2"), []string{"uses-a", "uses-all"}},
		"a used key goes":     {with("a", ""), []string{"uses-a", "uses-all"}},
		"an optional key":     {with("b", "2"), []string{"may-use-b", "uses-all"}},
		"a key for all":       {with("c", "2"), []string{"uses-all"}},
		"a key comes":         {with("d", "1"), []string{"uses-all"}},
	} {
		t.Run(name, func(t *testing.T) {
			got := namesOf(references.OwnersOfChange(settings(t, base), settings(t, test.after)))
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("it leads to (-want +got):\n%s", diff)
			}
		})
	}
	t.Run("it comes or goes", func(t *testing.T) {
		if diff := cmp.Diff([]string{"may-use-b", "uses-a", "uses-all"}, namesOf(references.Owners(settings(t, base)))); diff != "" {
			t.Errorf("it leads to (-want +got):\n%s", diff)
		}
	})
}

func TestAChangeOfAClaimOrServiceAccountLeadsToItsUsersIfItMatters(t *testing.T) {
	references := NewReferences()
	references.Record(named("orders"), workload.References{Claims: []string{"data"}, ServiceAccount: "robot"})

	claim, shared := fullClaim(), fullClaim()
	shared.Spec.AccessModes = []corev1.PersistentVolumeAccessMode{corev1.ReadWriteMany}
	account, denied := fullServiceAccount(), fullServiceAccount()
	denied.Annotations = nil
	for name, test := range map[string]struct {
		before, after client.Object
		want          []string
	}{
		"the claim's status":         {claim, claim.DeepCopy(), nil},
		"the claim's access":         {claim, shared, []string{"orders"}},
		"the account's secrets":      {account, account.DeepCopy(), nil},
		"the account consents":       {denied, account, []string{"orders"}},
		"the account takes it back":  {account, denied, []string{"orders"}},
		"a ConfigMap of those names": {&corev1.ConfigMap{ObjectMeta: claim.ObjectMeta}, settings(t, nil), nil},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, namesOf(references.OwnersOfChange(test.before, test.after))); diff != "" {
				t.Errorf("it leads to (-want +got):\n%s", diff)
			}
		})
	}
}

func TestTheRegisterHoldsWhatIsReferredToNow(t *testing.T) {
	references := NewReferences()
	first := workload.References{ConfigMaps: []workload.ConfigMapReference{{Name: "settings", All: true}}, Claims: []string{"data"}}
	references.Record(named("orders"), first)
	references.Record(named("orders"), first)
	references.Record(named("orders"), workload.References{Claims: []string{"data"}})
	if got := references.Owners(settings(t, nil)); len(got) != 0 {
		t.Errorf("a reference that was given up leads to %v", got)
	}
	if got := namesOf(references.Owners(fullClaim())); !slices.Equal(got, []string{"orders"}) {
		t.Errorf("a reference that was kept leads to %v", got)
	}
	references.Forget(named("orders"))
	if len(references.byOwner) != 0 || len(references.owners) != 0 {
		t.Errorf("of an owner that is gone remain %v, %v", references.byOwner, references.owners)
	}
}
