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
	"os"
	"os/exec"
	"path/filepath"
)

// opm is the path of operator-registry's program.
type opm string

func (o opm) run(ctx context.Context, args ...string) ([]byte, error) {
	var message bytes.Buffer
	command := exec.CommandContext(ctx, string(o), args...)
	command.Stderr = &message
	out, err := command.Output()
	if err != nil {
		return nil, fmt.Errorf("%s: %w\n%s", command, err, message.Bytes())
	}
	return out, nil
}

// bundle renders a bundle as an olm.bundle. One that has an image is in the form of
// OpenShift 4.17 and later: what is shown of it without its objects, which OLM unpacks
// from the image. One without an image holds its objects itself.
func (o opm) bundle(ctx context.Context, folder, image string) (json.RawMessage, error) {
	args := []string{"render", folder, "--output=json"}
	if image != "" {
		args = append(args, "--migrate-level=bundle-object-to-csv-metadata", "--alpha-image-ref-template="+image)
	}
	out, err := o.run(ctx, args...)
	if err != nil {
		return nil, err
	}
	decoder := json.NewDecoder(bytes.NewReader(out))
	var rendered json.RawMessage
	if err := decoder.Decode(&rendered); err != nil {
		return nil, fmt.Errorf("opm renders %s: %w", folder, err)
	}
	if err := decoder.Decode(new(json.RawMessage)); !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("opm renders %s as more than one bundle", folder)
	}
	return rendered, nil
}

// catalog validates the blobs of a catalog and returns its file, in opm's own form.
func (o opm) catalog(ctx context.Context, blobs []json.RawMessage) ([]byte, error) {
	folder, err := os.MkdirTemp("", "catalog-")
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.RemoveAll(folder) }()
	var content bytes.Buffer
	for _, blob := range blobs {
		content.Write(blob)
		content.WriteByte('\n')
	}
	if err := os.WriteFile(filepath.Join(folder, "catalog.json"), content.Bytes(), 0o600); err != nil {
		return nil, err
	}
	if _, err := o.run(ctx, "validate", folder); err != nil {
		return nil, err
	}
	return o.run(ctx, "render", folder, "--output=yaml")
}
