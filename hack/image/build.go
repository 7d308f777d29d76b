// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/google/go-containerregistry/pkg/authn"
	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/types"
	"github.com/moby/patternmatcher"
	"github.com/moby/patternmatcher/ignorefile"
)

// minimal is the base that this program makes itself, for where no registry can be reached.
const minimal = "minimal"

// The annotations that name what an image was built on, see
// https://github.com/opencontainers/image-spec/blob/main/annotations.md.
const (
	baseNameAnnotation   = "org.opencontainers.image.base.name"
	baseDigestAnnotation = "org.opencontainers.image.base.digest"
	annotationPrefix     = "org.opencontainers.image."
)

// build is what an image is built from.
type build struct {
	dockerfile, context string
	args                map[string]string // of ARG
	stages              map[string]string // the folders of earlier stages
	base                string            // instead of FROM; empty means FROM
	platforms           []v1.Platform
	created             time.Time
}

// artifact is an image or an index of images.
type artifact = mutate.Appendable

// run returns the image of the platform, or an index if there are several.
func (b *build) run(ctx context.Context) (artifact, error) {
	content, err := os.ReadFile(b.dockerfile)
	if err != nil {
		return nil, err
	}
	wanted, err := contextFilter(b.context, b.dockerfile)
	if err != nil {
		return nil, err
	}
	index := mutate.IndexMediaType(empty.Index, types.OCIImageIndex)
	for _, platform := range b.platforms {
		s, err := parse(string(content), b.args, given(platform))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", b.dockerfile, err)
		}
		image, err := b.image(ctx, s, platform, wanted)
		if err != nil {
			return nil, fmt.Errorf("%s for %s: %w", b.dockerfile, platform, err)
		}
		if len(b.platforms) == 1 {
			return image, nil
		}
		index = mutate.AppendManifests(index, mutate.IndexAddendum{Add: image, Descriptor: v1.Descriptor{Platform: &platform}})
		index = mutate.Annotations(index, annotations(s.labels)).(v1.ImageIndex)
	}
	return index, nil
}

// image builds the image of one platform.
func (b *build) image(ctx context.Context, s *stage, platform v1.Platform, wanted func(string) (bool, error)) (v1.Image, error) {
	files := tree{}
	if b.base != "" {
		s.base = b.base
	}
	base, notes, err := openBase(ctx, s.base, platform)
	if err != nil {
		return nil, err
	}
	if s.base == minimal {
		files = minimalTree()
	}
	for _, c := range s.copies {
		root, filter := b.context, wanted
		if c.from != "" {
			dir, ok := b.stages[c.from]
			if !ok {
				return nil, fmt.Errorf("stage %s cannot be built without a container engine: give its files with -stage %s=DIR", c.from, c.from)
			}
			root = strings.ReplaceAll(dir, "{platform}", strings.ReplaceAll(platform.String(), "/", "-"))
			filter = func(string) (bool, error) { return true, nil }
		}
		for _, source := range c.sources {
			if err := files.copy(root, source, c.target, len(c.sources) > 1, filter); err != nil {
				return nil, fmt.Errorf("COPY: %w", err)
			}
		}
	}
	layer, err := files.layer(b.created)
	if err != nil {
		return nil, err
	}
	image, err := mutate.Append(base, mutate.Addendum{
		Layer:   layer,
		History: v1.History{Created: v1.Time{Time: b.created}, CreatedBy: "COPY of " + filepath.Base(b.dockerfile)},
	})
	if err != nil {
		return nil, err
	}
	image, err = b.configure(image, s, platform)
	if err != nil {
		return nil, err
	}
	maps.Copy(notes, annotations(s.labels))
	return mutate.Annotations(image, notes).(v1.Image), nil
}

// configure sets what the image says of itself.
func (b *build) configure(image v1.Image, s *stage, platform v1.Platform) (v1.Image, error) {
	config, err := image.ConfigFile()
	if err != nil {
		return nil, err
	}
	config = config.DeepCopy()
	config.Created = v1.Time{Time: b.created}
	config.OS, config.Architecture, config.Variant = platform.OS, platform.Architecture, platform.Variant
	labels := maps.Clone(s.labels)
	for key, value := range config.Config.Labels {
		if _, ok := labels[key]; !ok {
			labels[key] = value
		}
	}
	config.Config.Labels = labels
	if s.user != "" {
		config.Config.User = s.user
	}
	// As in a Dockerfile: an entrypoint of one's own takes away the command of the base.
	if s.entrypoint != nil {
		config.Config.Entrypoint, config.Config.Cmd = s.entrypoint, nil
	}
	if s.cmd != nil {
		config.Config.Cmd = s.cmd
	}
	return mutate.ConfigFile(image, config)
}

// openBase returns the base for the platform and the annotations that name it. Its media types are those of OCI.
func openBase(ctx context.Context, base string, platform v1.Platform) (v1.Image, map[string]string, error) {
	if base == "scratch" || base == minimal {
		image, err := toOCI(empty.Image)
		return image, map[string]string{}, err
	}
	ref, err := name.ParseReference(base)
	if err != nil {
		return nil, nil, fmt.Errorf("FROM: %w", err)
	}
	descriptor, err := remote.Get(ref, remote.WithContext(ctx), remote.WithAuthFromKeychain(authn.DefaultKeychain), remote.WithPlatform(platform))
	if err != nil {
		return nil, nil, fmt.Errorf("FROM %s (a static program does without it by -base %s): %w", base, minimal, err)
	}
	image, err := descriptor.Image()
	if err != nil {
		return nil, nil, fmt.Errorf("FROM %s: %w", base, err)
	}
	if image, err = toOCI(image); err != nil {
		return nil, nil, fmt.Errorf("FROM %s: %w", base, err)
	}
	return image, map[string]string{baseNameAnnotation: ref.Name(), baseDigestAnnotation: descriptor.Digest.String()}, nil
}

// ociLayers are the media types of layers and what OCI calls the same.
var ociLayers = map[types.MediaType]types.MediaType{
	types.DockerLayer:             types.OCILayer,
	types.DockerUncompressedLayer: types.OCIUncompressedLayer,
	types.OCILayer:                types.OCILayer,
	types.OCILayerZStd:            types.OCILayerZStd,
	types.OCIUncompressedLayer:    types.OCIUncompressedLayer,
}

// toOCI returns the image with the media types of OCI for all its parts: registries and podman refuse a manifest of OCI
// whose layers have docker's.
func toOCI(image v1.Image) (v1.Image, error) {
	layers, err := image.Layers()
	if err != nil {
		return nil, err
	}
	var additions []mutate.Addendum
	for _, layer := range layers {
		mediaType, err := layer.MediaType()
		if err != nil {
			return nil, err
		}
		oci, ok := ociLayers[mediaType]
		if !ok {
			return nil, fmt.Errorf("a layer has the media type %s, which OCI does not have", mediaType)
		}
		additions = append(additions, mutate.Addendum{Layer: layer, MediaType: oci})
	}
	converted := mutate.ConfigMediaType(mutate.MediaType(empty.Image, types.OCIManifestSchema1), types.OCIConfigJSON)
	if converted, err = mutate.Append(converted, additions...); err != nil {
		return nil, err
	}
	config, err := image.ConfigFile()
	if err != nil {
		return nil, err
	}
	return mutate.ConfigFile(converted, config.DeepCopy())
}

// annotations returns those labels that are annotations too; registries show these of an image and of an index.
func annotations(labels map[string]string) map[string]string {
	notes := map[string]string{}
	for key, value := range labels {
		if strings.HasPrefix(key, annotationPrefix) && value != "" {
			notes[key] = value
		}
	}
	return notes
}

// given are the variables that BuildKit sets.
func given(platform v1.Platform) map[string]string {
	return map[string]string{
		"BUILDPLATFORM":  platform.String(), // of a stage that is not carried out
		"TARGETPLATFORM": platform.String(),
		"TARGETOS":       platform.OS,
		"TARGETARCH":     platform.Architecture,
		"TARGETVARIANT":  platform.Variant,
	}
}

// contextFilter returns whether a file of the context may be copied, by its path in the context: .dockerignore says so,
// or what has the name of the Dockerfile before that ending.
func contextFilter(context, dockerfile string) (func(string) (bool, error), error) {
	file, err := os.Open(dockerfile + ".dockerignore")
	if errors.Is(err, fs.ErrNotExist) {
		file, err = os.Open(filepath.Join(context, ".dockerignore"))
	}
	if errors.Is(err, fs.ErrNotExist) {
		return func(string) (bool, error) { return true, nil }, nil
	}
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }() // read only
	patterns, err := ignorefile.ReadAll(file)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file.Name(), err)
	}
	matcher, err := patternmatcher.New(patterns)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file.Name(), err)
	}
	return func(path string) (bool, error) {
		ignored, err := matcher.MatchesOrParentMatches(path)
		return !ignored, err
	}, nil
}
