// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"go/build"
	"os"
	"path/filepath"
	"time"

	"platformapp/test/operator"
)

// clockEnv names the file that the clock of an operator built by clockBuild is set by.
const clockEnv = "PLATFORMAPP_CLOCK"

// clockSource is the other Now, below the root of the checkout.
const clockSource = "test/fault/lifecycle/testdata/clock.go.txt"

// clockBuild returns options for an operator whose clock can be set, without that of the machine: package time of the
// standard library is built with another Now. A time namespace does not do, since it leaves the wall clock alone; nor does a
// library that is loaded before others, since Go asks the kernel without one.
func (s *scene) clockBuild() operator.BuildOptions {
	s.Helper()
	dir := filepath.Join(s.scratch, "clock-"+s.namespaces[0])
	original := filepath.Join(build.Default.GOROOT, "src", "time", "time.go")
	source, err := os.ReadFile(original)
	if err != nil {
		s.Fatal(err)
	}
	renamed := bytes.Replace(source, []byte("\nfunc Now() Time {\n"), []byte("\nfunc machineNow() Time {\n"), 1)
	if bytes.Equal(renamed, source) {
		s.Fatalf("%s has no function Now", original)
	}
	overlay, err := json.Marshal(map[string]map[string]string{"Replace": {
		original: filepath.Join(dir, "time.go"),
		filepath.Join(filepath.Dir(original), "clock.go"): filepath.Join(s.root, clockSource),
	}})
	if err != nil {
		s.Fatal(err)
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		s.Fatal(err)
	}
	for name, content := range map[string][]byte{"time.go": renamed, "overlay.json": overlay} {
		if err := os.WriteFile(filepath.Join(dir, name), content, 0o600); err != nil {
			s.Fatal(err)
		}
	}
	return operator.BuildOptions{Overlay: filepath.Join(dir, "overlay.json")}
}

// wrongClock is the clock of one operator.
type wrongClock struct {
	path string
}

// withClock makes an operator that is to be started have a clock that is off by offset.
func (s *scene) withClock(o *operator.Options, offset time.Duration) *wrongClock {
	s.Helper()
	binary, err := s.binary(s.Context(), "platformapp-clock", s.clockBuild())
	if err != nil {
		s.Fatal(err)
	}
	c := &wrongClock{path: fmt.Sprintf("%s.clock", o.Log)}
	if err := os.WriteFile(c.path, make([]byte, 8), 0o600); err != nil {
		s.Fatal(err)
	}
	o.Binary = binary
	o.Env = append(o.Env, clockEnv+"="+c.path)
	s.set(c, offset)
	return c
}

// set sets the clock.
func (s *scene) set(c *wrongClock, offset time.Duration) {
	s.Helper()
	file, err := os.OpenFile(c.path, os.O_WRONLY, 0)
	if err != nil {
		s.Fatal(err)
	}
	defer func() { _ = file.Close() }()
	// The operator sees all eight bytes change at once: one write within a page.
	if _, err := file.WriteAt(binary.NativeEndian.AppendUint64(nil, uint64(offset)), 0); err != nil {
		s.Fatal(err)
	}
}
