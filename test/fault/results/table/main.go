// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

// Table prints what came of the plans whose results are in a folder, and fails when anything was violated:
//
//	go run ./test/fault/results/table FOLDER
package main

import (
	"fmt"
	"os"

	"platformapp/test/fault/results"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: table FOLDER")
		os.Exit(2)
	}
	violations, err := printTable(os.Args[1])
	if err != nil {
		fmt.Fprintln(os.Stderr, "table:", err)
		os.Exit(2)
	}
	if violations > 0 {
		os.Exit(1)
	}
}

// printTable prints the table of a folder and returns the number of violations.
func printTable(folder string) (int, error) {
	all, err := results.Read(folder)
	if err != nil {
		return 0, err
	}
	return results.Print(os.Stdout, all)
}
