// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"encoding/pem"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/types"
	"golang.org/x/crypto/x509roots/fallback/bundle"
)

// tree is the files and folders of a layer by their paths, which begin with no slash.
type tree map[string]file

// file is a file or a folder. All belong to root but those that say otherwise.
type file struct {
	mode    fs.FileMode // with fs.ModeDir, fs.ModeSticky and the permissions; nothing else
	content []byte
	user    int
}

// add adds a file or folder and the folders above it.
func (t tree) add(name string, f file) {
	for above := path.Dir(name); above != "."; above = path.Dir(above) {
		if _, ok := t[above]; !ok {
			t[above] = file{mode: fs.ModeDir | 0o755}
		}
	}
	t[name] = f
}

// copy does what COPY does: of a folder it copies what is inside. Modes become 0755 or 0644, so that they do not depend
// on the umask. It returns an error for a source that is not there or of which nothing is wanted: COPY says so as well.
func (t tree) copy(root, source, target string, several bool, wanted func(string) (bool, error)) error {
	// As in a Dockerfile nothing is above the root: ../x is x.
	from := filepath.Join(root, filepath.FromSlash(path.Clean("/"+source)))
	info, err := os.Stat(from)
	if err != nil {
		return err
	}
	into := strings.TrimPrefix(path.Clean("/"+target), "/")
	if !info.IsDir() && (several || strings.HasSuffix(target, "/")) {
		into = path.Join(into, path.Base(source))
	}
	copied := 0
	err = filepath.WalkDir(from, func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		if ok, err := wanted(relative(root, name)); err != nil || !ok {
			return err
		}
		f, err := readFile(name)
		if err != nil {
			return err
		}
		t.add(path.Join(into, filepath.ToSlash(relative(from, name))), f)
		copied++
		return nil
	})
	if err == nil && copied == 0 {
		err = fmt.Errorf("of %s nothing is left to copy; see .dockerignore", source)
	}
	return err
}

// relative returns the path of what is below a folder, or is it.
func relative(dir, name string) string {
	below, err := filepath.Rel(dir, name)
	if err != nil {
		panic(err) // name was found below dir
	}
	return below
}

func readFile(name string) (file, error) {
	info, err := os.Lstat(name)
	if err != nil {
		return file{}, err
	}
	if !info.Mode().IsRegular() {
		return file{}, fmt.Errorf("%s is neither file nor folder", name)
	}
	f := file{mode: 0o644}
	if info.Mode()&0o111 != 0 {
		f.mode = 0o755
	}
	f.content, err = os.ReadFile(name)
	return f, err
}

// layer packs the tree, sorted by path.
func (t tree) layer(created time.Time) (v1.Layer, error) {
	var packed bytes.Buffer
	w := tar.NewWriter(&packed)
	for _, name := range slices.Sorted(maps.Keys(t)) {
		f := t[name]
		header := tar.Header{
			Typeflag: tar.TypeReg, Name: name, Size: int64(len(f.content)), Mode: int64(f.mode.Perm()),
			Uid: f.user, Gid: f.user, ModTime: created, Format: tar.FormatPAX,
		}
		if f.mode.IsDir() {
			header.Typeflag, header.Name = tar.TypeDir, name+"/"
		}
		if f.mode&fs.ModeSticky != 0 {
			header.Mode |= 0o1000
		}
		if err := w.WriteHeader(&header); err != nil {
			return nil, fmt.Errorf("pack %s: %w", name, err)
		}
		if _, err := w.Write(f.content); err != nil {
			return nil, fmt.Errorf("pack %s: %w", name, err)
		}
	}
	if err := w.Close(); err != nil {
		return nil, fmt.Errorf("pack the files: %w", err)
	}
	open := func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(packed.Bytes())), nil }
	return tarball.LayerFromOpener(open,
		tarball.WithMediaType(types.OCILayer), tarball.WithCompressionLevel(gzip.DefaultCompression), tarball.WithCompressedCaching)
}

// minimalTree returns what a static program may look for in an image, and what distroless/static has of it: who it is,
// the certificate authorities that Mozilla trusts, and a folder for temporary files.
func minimalTree() tree {
	const nonroot = 65532
	t := tree{}
	t.add("etc/passwd", file{mode: 0o644, content: []byte("root:x:0:0:root:/root:/sbin/nologin\n" +
		"nonroot:x:65532:65532:nonroot:/home/nonroot:/sbin/nologin\n")})
	t.add("etc/group", file{mode: 0o644, content: []byte("root:x:0:\nnonroot:x:65532:\n")})
	t.add("home/nonroot", file{mode: fs.ModeDir | 0o700, user: nonroot})
	t.add("tmp", file{mode: fs.ModeDir | fs.ModeSticky | 0o777})
	var roots bytes.Buffer
	for root := range bundle.Roots() {
		// A constraint cannot be told in a file, and what is trusted only under one must not be trusted without it.
		if root.Constraint == nil {
			// A buffer takes everything.
			_ = pem.Encode(&roots, &pem.Block{Type: "CERTIFICATE", Bytes: root.Certificate})
		}
	}
	t.add("etc/ssl/certs/ca-certificates.crt", file{mode: 0o644, content: roots.Bytes()})
	return t
}
