// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package workload_test

import (
	"maps"
	"testing"

	"github.com/google/go-cmp/cmp"

	"platformapp/internal/workload"
)

var (
	allOfCfg  = workload.ConfigMapReference{Name: "cfg", All: true}
	someOfCfg = workload.ConfigMapReference{Name: "cfg", Keys: []string{"LEVEL"}, OptionalKeys: []string{"THEME"}}
)

func configMap(values map[string]string) workload.ConfigMap {
	c := workload.ConfigMap{}
	for key, value := range values {
		c[key] = workload.ValueHash([]byte(value))
	}
	return c
}

// Another hash restarts every application at an upgrade of the operator.
func TestConfigHashIsFrozen(t *testing.T) {
	if got, want := workload.ValueHash([]byte("debug")), "0b8e9e995d8d77f1e4770f0f79665aee"; got != want {
		t.Errorf("the hash of a value is %s, want %s", got, want)
	}
	configMaps := map[string]workload.ConfigMap{
		"cfg":   configMap(map[string]string{"LEVEL": "debug", "THEME": "dark", "other": "x"}),
		"other": configMap(map[string]string{"a": "1"}),
	}
	for _, test := range []struct {
		name       string
		references []workload.ConfigMapReference
		want       string
	}{
		{"nothing is used", nil, ""},
		{"some keys", []workload.ConfigMapReference{someOfCfg}, "33c7878c869d50608715b0ff0140fe4f"},
		{"all keys", []workload.ConfigMapReference{allOfCfg}, "4e1a3831718a2a48630ed4e5a3370481"},
		{"two ConfigMaps", []workload.ConfigMapReference{someOfCfg, {Name: "other", All: true}}, "160826b5017835448551b917c0929ab1"},
		{"one that is not there", []workload.ConfigMapReference{{Name: "none", All: true, Optional: true}}, "e3b0c44298fc1c149afbf4c8996fb924"},
	} {
		if got := workload.ConfigHash(test.references, configMaps); got != test.want {
			t.Errorf("%s: the hash is %s, want %s", test.name, got, test.want)
		}
	}
}

// C19
func TestConfigHashFollowsWhatIsUsed(t *testing.T) {
	before := map[string]string{"LEVEL": "debug", "THEME": "dark", "other": "x"}
	hash := func(r workload.ConfigMapReference, values map[string]string) string {
		return workload.ConfigHash([]workload.ConfigMapReference{r}, map[string]workload.ConfigMap{"cfg": configMap(values)})
	}
	with := func(key, value string) map[string]string {
		values := maps.Clone(before)
		values[key] = value
		return values
	}
	without := func(key string) map[string]string {
		values := maps.Clone(before)
		delete(values, key)
		return values
	}
	for _, test := range []struct {
		name      string
		reference workload.ConfigMapReference
		after     map[string]string
		changes   bool
	}{
		{"nothing changes", someOfCfg, before, false},
		{"a used key changes", someOfCfg, with("LEVEL", "info"), true},
		{"an optional key changes", someOfCfg, with("THEME", "light"), true},
		{"an optional key goes", someOfCfg, without("THEME"), true},
		{"a key that is not used changes", someOfCfg, with("other", "y"), false},
		{"a key that is not used comes", someOfCfg, with("more", "y"), false},
		{"every key is used and one changes", allOfCfg, with("other", "y"), true},
		{"every key is used and one comes", allOfCfg, with("more", "y"), true},
		{"every key is used and one goes", allOfCfg, without("other"), true},
	} {
		if got := hash(test.reference, before) != hash(test.reference, test.after); got != test.changes {
			t.Errorf("%s: the hash changes: %t, want %t", test.name, got, test.changes)
		}
	}
	// A key and a value cannot be shifted into each other.
	if hash(allOfCfg, map[string]string{"a": "b\nc"}) == hash(allOfCfg, map[string]string{"a": "b", "c": ""}) {
		t.Error("two ConfigMaps have one hash")
	}
}

// A reference that names a key both as needed and as optional uses it once.
func TestConfigHashCountsAKeyOnce(t *testing.T) {
	configMaps := map[string]workload.ConfigMap{"cfg": configMap(map[string]string{"LEVEL": "debug"})}
	once := workload.ConfigHash([]workload.ConfigMapReference{{Name: "cfg", Keys: []string{"LEVEL"}}}, configMaps)
	twice := workload.ConfigHash([]workload.ConfigMapReference{{Name: "cfg", Keys: []string{"LEVEL", "LEVEL"}, OptionalKeys: []string{"LEVEL"}}}, configMaps)
	if once != twice {
		t.Errorf("the hashes are %s and %s", once, twice)
	}
}

func TestMissingConfig(t *testing.T) {
	configMaps := map[string]workload.ConfigMap{"cfg": configMap(map[string]string{"LEVEL": "debug"})}
	for _, test := range []struct {
		name      string
		reference workload.ConfigMapReference
		want      []string
	}{
		{"everything is there", workload.ConfigMapReference{Name: "cfg", Keys: []string{"LEVEL"}}, nil},
		{"an optional key is missing", someOfCfg, nil},
		{"all that there is", allOfCfg, nil},
		{"keys are missing", workload.ConfigMapReference{Name: "cfg", Keys: []string{"A", "B", "LEVEL"}}, []string{"key A of ConfigMap cfg", "key B of ConfigMap cfg"}},
		{"the ConfigMap is missing", workload.ConfigMapReference{Name: "none", Keys: []string{"A"}}, []string{"ConfigMap none"}},
		{"an optional ConfigMap is missing", workload.ConfigMapReference{Name: "none", All: true, Optional: true}, nil},
		{"a key of an optional ConfigMap that is there", workload.ConfigMapReference{Name: "cfg", Keys: []string{"A"}, Optional: true}, []string{"key A of ConfigMap cfg"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, workload.MissingConfig([]workload.ConfigMapReference{test.reference}, configMaps)); diff != "" {
				t.Errorf("missing (-want +got):\n%s", diff)
			}
		})
	}
}
