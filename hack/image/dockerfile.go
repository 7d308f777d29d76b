// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"strings"
	"unicode"
)

// stage is what the last stage of a Dockerfile says. BuildKit's own parser would bring the versions of its many
// dependencies into go.mod, and with them into the manager.
type stage struct {
	base            string // of FROM, with its variables replaced
	copies          []copyFiles
	labels          map[string]string
	user            string
	entrypoint, cmd []string
}

// copyFiles is a COPY.
type copyFiles struct {
	from    string // the stage; empty for the context
	sources []string
	target  string
}

// parse reads the last stage of a Dockerfile. The arguments are those of the command line; given are the variables that
// a builder sets itself, such as TARGETARCH. What it does not know is an error that names the line.
func parse(dockerfile string, arguments, given map[string]string) (*stage, error) {
	p := parser{arguments: arguments, given: given, global: map[string]string{}, names: map[string]bool{}}
	maps.Copy(p.global, given)
	statement := ""
	for line := range strings.Lines(dockerfile) {
		p.line++
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' {
			continue
		}
		more := strings.HasSuffix(line, `\`)
		statement += strings.TrimSuffix(line, `\`)
		if more {
			continue
		}
		if err := p.instruction(statement); err != nil {
			return nil, fmt.Errorf("line %d: %w", p.line, err)
		}
		statement = ""
	}
	if p.stage == nil {
		return nil, errors.New("there is no FROM")
	}
	return p.stage, p.unknown
}

// parser is the state between two instructions.
type parser struct {
	arguments, given, global map[string]string
	local                    map[string]string // the variables of the stage
	names                    map[string]bool   // of the stages
	line                     int
	stage                    *stage // nil before the first FROM
	unknown                  error  // the first instruction of the stage that cannot be carried out
}

func (p *parser) instruction(statement string) error {
	keyword, rest, _ := strings.Cut(statement, " ")
	keyword, rest = strings.ToUpper(keyword), strings.TrimSpace(rest)
	switch keyword {
	case "FROM":
		return p.from(rest)
	case "ARG":
		return p.arg(rest)
	}
	if p.stage == nil {
		return fmt.Errorf("%s stands before the first FROM", keyword)
	}
	// Earlier stages are not carried out, and may say what they like.
	if p.unknown == nil {
		if err := p.within(keyword, rest); err != nil {
			p.unknown = fmt.Errorf("line %d: %s: %w", p.line, keyword, err)
		}
	}
	return nil
}

func (p *parser) from(rest string) error {
	words, err := p.words(rest, p.global)
	if err != nil {
		return err
	}
	if len(words) > 0 && strings.HasPrefix(words[0], "--platform=") {
		words = words[1:]
	}
	if len(words) == 0 {
		return errors.New("FROM names no image")
	}
	p.stage = &stage{base: words[0], labels: map[string]string{}}
	p.local, p.unknown = map[string]string{}, nil
	maps.Copy(p.local, p.given)
	if p.names[words[0]] {
		p.unknown = fmt.Errorf("line %d: FROM: %s is a stage; a stage on a stage cannot be built without a container engine", p.line, words[0])
	}
	if len(words) == 3 && strings.EqualFold(words[1], "AS") {
		p.names[words[2]] = true
	}
	return nil
}

// arg declares a variable: before the first FROM for the FROMs, after it for the stage.
func (p *parser) arg(rest string) error {
	scope := p.local
	if p.stage == nil {
		scope = p.global
	}
	words, err := p.words(rest, scope)
	if err != nil {
		return err
	}
	for _, word := range words {
		name, value, _ := strings.Cut(word, "=")
		if outer, ok := p.global[name]; ok {
			value = outer
		}
		if argument, ok := p.arguments[name]; ok {
			value = argument
		}
		scope[name] = value
	}
	return nil
}

// within takes an instruction of a stage.
func (p *parser) within(keyword, rest string) error {
	switch keyword {
	case "ENTRYPOINT":
		return json.Unmarshal([]byte(rest), &p.stage.entrypoint)
	case "CMD":
		return json.Unmarshal([]byte(rest), &p.stage.cmd)
	case "COPY", "LABEL", "USER":
	default:
		return errors.New("cannot be carried out without a container engine")
	}
	words, err := p.words(rest, p.local)
	if err != nil {
		return err
	}
	switch keyword {
	case "COPY":
		return p.copy(words)
	case "LABEL":
		for _, word := range words {
			key, value, ok := strings.Cut(word, "=")
			if !ok || key == "" {
				return fmt.Errorf("%q is not of the form key=value", word)
			}
			p.stage.labels[key] = value
		}
	case "USER":
		if len(words) != 1 {
			return errors.New("wants one user")
		}
		p.stage.user = words[0]
	}
	return nil
}

func (p *parser) copy(words []string) error {
	var c copyFiles
	for len(words) > 0 && strings.HasPrefix(words[0], "--") {
		from, ok := strings.CutPrefix(words[0], "--from=")
		if !ok {
			return fmt.Errorf("the flag %s is not known here", words[0])
		}
		c.from, words = from, words[1:]
	}
	if len(words) < 2 {
		return errors.New("wants what to copy and where to")
	}
	c.sources, c.target = words[:len(words)-1], words[len(words)-1]
	p.stage.copies = append(p.stage.copies, c)
	return nil
}

// words splits at blanks outside of double quotes, removes the quotes and replaces variables.
func (p *parser) words(text string, variables map[string]string) ([]string, error) {
	var words []string
	var word strings.Builder
	quoted, begun := false, false
	for _, r := range text {
		switch {
		case r == '\\' || r == '\'':
			return nil, fmt.Errorf("%c is not known here: quote with \"", r)
		case r == '"':
			quoted, begun = !quoted, true
		case unicode.IsSpace(r) && !quoted:
			if begun {
				words = append(words, word.String())
				word.Reset()
			}
			begun = false
		default:
			word.WriteRune(r)
			begun = true
		}
	}
	if quoted {
		return nil, errors.New("a quote is not closed")
	}
	if begun {
		words = append(words, word.String())
	}
	for i := range words {
		var undeclared error
		words[i] = os.Expand(words[i], func(name string) string {
			value, ok := variables[name]
			if !ok && undeclared == nil {
				undeclared = fmt.Errorf("the variable %s is not declared by ARG", name)
			}
			return value
		})
		if undeclared != nil {
			return nil, undeclared
		}
	}
	return words, nil
}
