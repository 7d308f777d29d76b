// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package workload

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
)

// ValueHash returns the hash of the value of a ConfigMap's key: the first 128 bits of its
// SHA-256, in hexadecimal. It is frozen: another one would restart every application.
func ValueHash(value []byte) string {
	sum := sha256.Sum256(value)
	return hex.EncodeToString(sum[:16])
}

// ConfigHash returns the hash of the configuration that pods with these references use of
// the ConfigMaps, or the empty string if they use none. It depends on the used keys and
// their values alone. It is frozen: another one would restart every application.
func ConfigHash(references []ConfigMapReference, configMaps map[string]ConfigMap) string {
	if len(references) == 0 {
		return ""
	}
	hash := sha256.New()
	for _, reference := range references {
		configMap := configMaps[reference.Name]
		for _, key := range reference.usedOf(configMap) {
			fmt.Fprintf(hash, "%s\x00%s\x00%s\n", reference.Name, key, configMap[key])
		}
	}
	return hex.EncodeToString(hash.Sum(nil)[:16])
}

// usedOf returns the keys that the reference uses of what there is, in alphabetical order.
func (r ConfigMapReference) usedOf(configMap ConfigMap) []string {
	if r.All {
		return slices.Sorted(maps.Keys(configMap))
	}
	var keys []string
	for _, key := range slices.Concat(r.Keys, r.OptionalKeys) {
		if _, ok := configMap[key]; ok {
			keys = append(keys, key)
		}
	}
	slices.Sort(keys)
	return slices.Compact(keys)
}

// MissingConfig returns what the references need and the ConfigMaps lack, as text for a
// person, one item for each ConfigMap or key.
func MissingConfig(references []ConfigMapReference, configMaps map[string]ConfigMap) []string {
	var missing []string
	for _, reference := range references {
		configMap, ok := configMaps[reference.Name]
		if !ok {
			if !reference.Optional {
				missing = append(missing, "ConfigMap "+reference.Name)
			}
			continue
		}
		for _, key := range reference.Keys {
			if _, ok := configMap[key]; !ok {
				missing = append(missing, fmt.Sprintf("key %s of ConfigMap %s", key, reference.Name))
			}
		}
	}
	return missing
}
