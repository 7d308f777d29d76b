// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"
)

// list is a flag whose value is a list, separated by commas, in which blanks and empty
// items do not count. Giving it replaces the default; an empty value names nothing.
type list struct {
	items *[]string
	// check returns what is wrong with an item, or nil.
	check func(string) error
}

// newList returns a flag that sets items, and sets them to the default.
func newList(items *[]string, check func(string) error, standard string) *list {
	l := &list{items: items, check: check}
	*items = split(standard)
	return l
}

// Set reads the flag's value.
func (l *list) Set(value string) error {
	items := split(value)
	for _, item := range items {
		if err := l.check(item); err != nil {
			return err
		}
	}
	*l.items = items
	return nil
}

// String returns the items as Set takes them.
func (l *list) String() string {
	if l.items == nil {
		return ""
	}
	return strings.Join(*l.items, ",")
}

func split(value string) []string {
	var items []string
	for item := range strings.SplitSeq(value, ",") {
		if item = strings.TrimSpace(item); item != "" && !slices.Contains(items, item) {
			items = append(items, item)
		}
	}
	return items
}

func isNamespace(item string) error {
	if problems := validation.IsDNS1123Label(item); len(problems) > 0 {
		return fmt.Errorf("%q is not the name of a namespace: %s", item, strings.Join(problems, "; "))
	}
	return nil
}

// isServiceAccount takes namespace/name and, for the name in every namespace, */name.
func isServiceAccount(item string) error {
	namespace, name, ok := strings.Cut(item, "/")
	if !ok {
		return fmt.Errorf("%q is not namespace/name or */name", item)
	}
	if namespace != "*" {
		if err := isNamespace(namespace); err != nil {
			return err
		}
	}
	if problems := validation.IsDNS1123Subdomain(name); len(problems) > 0 {
		return fmt.Errorf("%q is not the name of a ServiceAccount: %s", name, strings.Join(problems, "; "))
	}
	return nil
}

// isAnnotationPrefix takes the whole domain of a key with its slash, and maybe the
// beginning of the name: a shorter one would allow the keys of others too.
func isAnnotationPrefix(item string) error {
	domain, name, ok := strings.Cut(item, "/")
	if !ok {
		return fmt.Errorf("%q must hold the whole domain of the keys and a slash, as in example.com/", item)
	}
	problems := validation.IsDNS1123Subdomain(domain)
	if name != "" {
		// What begins a name, completed to one.
		problems = append(problems, validation.IsQualifiedName(name+"x")...)
	}
	if len(problems) > 0 {
		return errors.New(fmt.Sprintf("%q cannot begin an annotation key: ", item) + strings.Join(problems, "; "))
	}
	return nil
}
