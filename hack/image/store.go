// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"

	"github.com/google/go-containerregistry/pkg/authn"
	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/remote/transport"
)

// An image is kept as an OCI image layout of its own in STORE/REPOSITORY/TAG, which tar makes an archive that podman,
// docker, ctr and kind load.

// The annotations by which they know its name.
const (
	refNameAnnotation   = "org.opencontainers.image.ref.name"
	imageNameAnnotation = "io.containerd.image.name"
)

func folder(store string, ref name.Tag) string {
	return filepath.Join(store, filepath.FromSlash(ref.Context().Name()), ref.TagStr())
}

// save keeps an image or index, in place of a former one of that name, and returns its digest.
func save(store string, ref name.Tag, image artifact) (v1.Hash, error) {
	digest, err := image.Digest()
	if err != nil {
		return v1.Hash{}, err
	}
	dir := folder(store, ref)
	if err := checkPlace(store, dir); err != nil {
		return v1.Hash{}, err
	}
	if err := os.MkdirAll(filepath.Dir(dir), 0o755); err != nil {
		return v1.Hash{}, err
	}
	// Beside it, then renamed: an interrupted build leaves no half of an image.
	draft, err := os.MkdirTemp(filepath.Dir(dir), ".draft-")
	if err != nil {
		return v1.Hash{}, err
	}
	defer func() { _ = os.RemoveAll(draft) }() // gone unless there was an error
	if err := os.Chmod(draft, 0o755); err != nil {
		return v1.Hash{}, err
	}
	path, err := layout.Write(draft, empty.Index)
	if err != nil {
		return v1.Hash{}, err
	}
	names := layout.WithAnnotations(map[string]string{refNameAnnotation: ref.TagStr(), imageNameAnnotation: ref.Name()})
	switch image := image.(type) {
	case v1.ImageIndex:
		err = path.AppendIndex(image, names)
	case v1.Image:
		err = path.AppendImage(image, names)
	default:
		err = fmt.Errorf("%T is neither image nor index", image)
	}
	if err != nil {
		return v1.Hash{}, err
	}
	if err := os.RemoveAll(dir); err != nil {
		return v1.Hash{}, err
	}
	return digest, os.Rename(draft, dir)
}

// checkPlace returns an error if one image would lie within another, where a new build of the outer one would remove it:
// a repository may be called as a tag is, as in a/c/v1:x and a/c:v1.
func checkPlace(store, dir string) error {
	isImage := func(dir string) bool {
		_, err := os.Stat(filepath.Join(dir, "oci-layout"))
		return err == nil
	}
	if _, err := os.Stat(dir); err == nil && !isImage(dir) {
		return fmt.Errorf("%s holds other images, or what is none", dir)
	}
	for above := filepath.Dir(dir); len(above) > len(filepath.Clean(store)); above = filepath.Dir(above) {
		if isImage(above) {
			return fmt.Errorf("%s would lie within the image %s", dir, above)
		}
	}
	return nil
}

// load returns the image or index of that name.
func load(store string, ref name.Tag) (artifact, error) {
	path, err := layout.FromPath(folder(store, ref))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%s is not in %s: build it first", ref, store)
	}
	if err != nil {
		return nil, err
	}
	root, err := path.ImageIndex()
	if err != nil {
		return nil, err
	}
	manifest, err := root.IndexManifest()
	if err != nil {
		return nil, err
	}
	if len(manifest.Manifests) != 1 {
		return nil, fmt.Errorf("%s holds %d images instead of one", path, len(manifest.Manifests))
	}
	descriptor := manifest.Manifests[0]
	if descriptor.MediaType.IsIndex() {
		return root.ImageIndex(descriptor.Digest)
	}
	return root.Image(descriptor.Digest)
}

// push sends the image or index of that name to its registry and returns its digest. Of an image that is there already
// nothing is sent.
func push(ctx context.Context, store string, ref name.Tag) (v1.Hash, error) {
	image, err := load(store, ref)
	if err != nil {
		return v1.Hash{}, err
	}
	options := []remote.Option{remote.WithContext(ctx), remote.WithAuthFromKeychain(authn.DefaultKeychain)}
	switch image := image.(type) {
	case v1.ImageIndex:
		err = remote.WriteIndex(ref, image, options...)
	case v1.Image:
		err = remote.Write(ref, image, options...)
	default:
		err = fmt.Errorf("%T is neither image nor index", image)
	}
	if err != nil {
		return v1.Hash{}, err
	}
	return image.Digest()
}

// digest returns the digest of the image or index of that name.
func digest(_ context.Context, store string, ref name.Tag) (v1.Hash, error) {
	image, err := load(store, ref)
	if err != nil {
		return v1.Hash{}, err
	}
	return image.Digest()
}

// compare returns the digest of the image or index of that name, and an error unless the registry has the same.
func compare(ctx context.Context, store string, ref name.Tag) (v1.Hash, error) {
	built, err := digest(ctx, store, ref)
	if err != nil {
		return v1.Hash{}, err
	}
	published, err := remote.Head(ref, remote.WithContext(ctx), remote.WithAuthFromKeychain(authn.DefaultKeychain))
	if err != nil {
		return v1.Hash{}, err
	}
	if published.Digest != built {
		return v1.Hash{}, fmt.Errorf("%s: the registry has %s, built here was %s", ref, published.Digest, built)
	}
	return built, nil
}

// checkNew returns an error that names each image of which the registry has another one, and each of which it cannot
// tell: OLM and nodes keep what they have once pulled by a tag.
func checkNew(ctx context.Context, store string, refs []name.Tag) error {
	var refused []error
	for _, ref := range refs {
		_, err := compare(ctx, store, ref)
		var answer *transport.Error
		if errors.As(err, &answer) && answer.StatusCode == http.StatusNotFound {
			continue
		}
		refused = append(refused, err)
	}
	return errors.Join(refused...)
}
