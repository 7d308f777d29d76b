// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/yaml"
)

// render adds the bundle to the template and writes the catalog that comes of it. Versions
// that are in the template already keep their place in the graph, which the template may
// change after their release, and in the catalog what they were rendered as.
func render(ctx context.Context, program opm, b bundle, image, templateFile, catalogFile string) error {
	t, err := readTemplate(templateFile)
	if err != nil {
		return err
	}
	rendered, err := readBundles(catalogFile)
	if err != nil {
		return err
	}
	blob, err := program.bundle(ctx, b.folder, image)
	if err != nil {
		return err
	}
	reference, err := imageOf(blob)
	if err != nil {
		return err
	}
	rendered[reference] = blob
	if err := t.put(b, reference); err != nil {
		return err
	}
	blobs, err := t.expand(rendered)
	if err != nil {
		return fmt.Errorf("%s: %w", templateFile, err)
	}
	catalog, err := program.catalog(ctx, blobs)
	if err != nil {
		return err
	}
	if err := t.write(templateFile); err != nil {
		return err
	}
	return writeFile(catalogFile, catalog)
}

// join writes a catalog of bundles alone, the oldest first, in the graph that they tell
// themselves. Without an image it holds the bundles, so that OLM needs neither their images
// nor a pod to unpack them.
func join(ctx context.Context, program opm, bundles []bundle, image, catalogFile string) error {
	t, rendered := template{Schema: templateSchema}, map[string]json.RawMessage{}
	for _, b := range bundles {
		blob, err := program.bundle(ctx, b.folder, image)
		if err != nil {
			return err
		}
		// Nothing is looked up by image here: the name stands for it.
		rendered[b.entry.Name] = blob
		if err := t.put(b, b.entry.Name); err != nil {
			return err
		}
	}
	blobs, err := t.expand(rendered)
	if err != nil {
		return err
	}
	catalog, err := program.catalog(ctx, blobs)
	if err != nil {
		return err
	}
	return writeFile(catalogFile, catalog)
}

// readBundles returns the bundles of a catalog by image; a file that is not there has none.
func readBundles(catalogFile string) (map[string]json.RawMessage, error) {
	bundles := map[string]json.RawMessage{}
	file, err := os.Open(catalogFile)
	if errors.Is(err, fs.ErrNotExist) {
		return bundles, nil
	}
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }()
	decoder := utilyaml.NewYAMLOrJSONDecoder(file, 4096)
	for {
		var blob json.RawMessage
		if err := decoder.Decode(&blob); errors.Is(err, io.EOF) {
			return bundles, nil
		} else if err != nil {
			return nil, fmt.Errorf("%s: %w", catalogFile, err)
		}
		var meta struct{ Schema, Image string }
		if err := json.Unmarshal(blob, &meta); err != nil {
			return nil, fmt.Errorf("%s: %w", catalogFile, err)
		}
		if meta.Schema == bundleSchema {
			bundles[meta.Image] = blob
		}
	}
}

func imageOf(blob json.RawMessage) (string, error) {
	var b struct{ Image string }
	if err := json.Unmarshal(blob, &b); err != nil {
		return "", err
	}
	if b.Image == "" {
		return "", errors.New("opm rendered the bundle without its image")
	}
	return b.Image, nil
}

// The schemas of what a catalog and its template hold.
const (
	templateSchema = "olm.template.basic"
	packageSchema  = "olm.package"
	channelSchema  = "olm.channel"
	bundleSchema   = "olm.bundle"
)

// template is a basic template of a catalog
// (https://olm.operatorframework.io/docs/reference/catalog-templates/).
type template struct {
	Schema  string           `json:"schema"`
	Entries []map[string]any `json:"entries"`
}

const templateHeader = `# SPDX-FileCopyrightText: The platformapp authors
# SPDX-License-Identifier: Apache-2.0

# The upgrade graph of the operator. make catalog puts the version of bundle/ into it and renders it as
# platformapp/catalog.yaml. What it says of versions before that one may be edited, as when one is to be skipped.
`

func readTemplate(file string) (template, error) {
	t := template{Schema: templateSchema}
	raw, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return t, nil
	}
	if err != nil {
		return t, err
	}
	if err := yaml.UnmarshalStrict(raw, &t); err != nil {
		return t, fmt.Errorf("%s: %w", file, err)
	}
	if t.Schema != templateSchema {
		return t, fmt.Errorf("%s: schema is %q, want %s", file, t.Schema, templateSchema)
	}
	return t, nil
}

func (t *template) write(file string) error {
	content, err := yaml.Marshal(t)
	if err != nil {
		return err
	}
	return writeFile(file, slices.Concat([]byte(templateHeader), content))
}

// put gives the version its place in each of its channels, and takes it out of others. It fails when a channel has other
// versions and this one follows none of them.
func (t *template) put(b bundle, reference string) error {
	t.describe(b)
	if err := t.withdraw(b); err != nil {
		return err
	}
	for _, name := range b.channels {
		channel := t.find(channelSchema, "name", name)
		channel["package"] = b.packageName
		var entries []entry
		if err := convert(channel["entries"], &entries); err != nil {
			return fmt.Errorf("entries of channel %s: %w", name, err)
		}
		if i := slices.IndexFunc(entries, func(e entry) bool { return e.Name == b.entry.Name }); i >= 0 {
			entries[i] = b.entry
		} else {
			entries = append(entries, b.entry)
		}
		if len(entries) > 1 && b.entry.Replaces == "" && entries[0].Name != b.entry.Name {
			return fmt.Errorf("%s replaces no version, and channel %s has %s before it: make bundle with REPLACES", b.entry.Name, name, entries[0].Name)
		}
		channel["entries"] = entries
	}
	t.find(bundleSchema, "image", reference)
	return nil
}

// withdraw takes the version out of the channels that its bundle does not name, and these away if they had no other.
func (t *template) withdraw(b bundle) error {
	var kept []map[string]any
	for _, e := range t.Entries {
		if name, _ := e["name"].(string); e["schema"] == channelSchema && !slices.Contains(b.channels, name) {
			var entries []entry
			if err := convert(e["entries"], &entries); err != nil {
				return fmt.Errorf("entries of channel %s: %w", name, err)
			}
			entries = slices.DeleteFunc(entries, func(e entry) bool { return e.Name == b.entry.Name })
			if len(entries) == 0 {
				continue
			}
			e["entries"] = entries
		}
		kept = append(kept, e)
	}
	t.Entries = kept
	return nil
}

// describe gives the package the looks of the bundle's version: catalogs of OpenShift 4.17
// and later have them from nowhere else.
func (t *template) describe(b bundle) {
	operator := t.find(packageSchema, "name", b.packageName)
	operator["defaultChannel"] = b.defaultChannel
	operator["description"] = b.summary
	operator["icon"] = b.icon
}

// find returns the entry of a schema whose key has the value, and makes it if there is none.
func (t *template) find(schema, key, value string) map[string]any {
	for _, e := range t.Entries {
		if e["schema"] == schema && e[key] == value {
			return e
		}
	}
	e := map[string]any{"schema": schema, key: value}
	t.Entries = append(t.Entries, e)
	return e
}

// expand returns the blobs of the catalog: for each image that of its bundle.
func (t *template) expand(bundles map[string]json.RawMessage) ([]json.RawMessage, error) {
	var blobs []json.RawMessage
	for _, e := range t.Entries {
		if e["schema"] == bundleSchema {
			image, _ := e["image"].(string)
			blob, ok := bundles[image]
			if !ok {
				return nil, fmt.Errorf("the bundle %s is not in the catalog; "+
					"if it was released, get it by opm render %s, else take it out of the template", image, image)
			}
			blobs = append(blobs, blob)
			continue
		}
		blob, err := json.Marshal(e)
		if err != nil {
			return nil, err
		}
		blobs = append(blobs, blob)
	}
	return blobs, nil
}

func convert(from, to any) error {
	serialized, err := json.Marshal(from)
	if err != nil {
		return err
	}
	return json.Unmarshal(serialized, to)
}

// writeFile writes a file if that changes it.
func writeFile(file string, content []byte) error {
	if old, err := os.ReadFile(file); err == nil && bytes.Equal(old, content) {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return err
	}
	return os.WriteFile(file, content, 0o644)
}
