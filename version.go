// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"runtime"
)

// version is the release that this was built as. A release's build sets it by the linker.
var version = "devel"

// versionLine tells the release and what it was built by and for.
func versionLine() string {
	return fmt.Sprintf("platformapp %s %s %s/%s", version, runtime.Version(), runtime.GOOS, runtime.GOARCH)
}
