// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package inputs

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
)

// Value is what a plan puts in the place of a field.
type Value struct {
	// Name of the value, unique in its field.
	Name string
	// JSON is its text; it may be what no JSON value is, such as one that a second key of the same name follows.
	JSON string
	// Refused tells that the API server must refuse it: by the schema, or since it is read strictly.
	Refused bool
}

// values returns what plans put in the place of a field, beside what the seed has there.
func (f Field) values() []Value {
	v := valueList{now: text(f.Value), free: f.free}
	v.add("null", "null", false)
	s := f.schema
	switch {
	case s.XIntOrString:
		v.intOrString(s)
	case s.Type == "string":
		v.strings(s)
	case s.Type == "integer":
		v.integers(s)
	case s.Type == "boolean":
		v.add("false", "false", false)
		v.add("true", "true", false)
	case s.Type == "array":
		v.lists(s, f.Value)
	}
	v.wrongTypes(s)
	if s.Type == "object" {
		v.objects(s, f.Value)
	}
	if name, ok := f.Path[len(f.Path)-1].(string); ok && !f.absent {
		twice := v.now + "," + text(name) + ":" + v.now
		v.values = append(v.values, Value{Name: "twice", JSON: twice, Refused: true})
	}
	return v.values
}

// valueList collects values, each once.
type valueList struct {
	// now is the value that the seed has.
	now string
	// free tells that no schema refuses anything.
	free   bool
	values []Value
}

func (v *valueList) add(name, json string, refused bool) {
	known := func(other Value) bool { return other.JSON == json }
	if json != v.now && !slices.ContainsFunc(v.values, known) {
		v.values = append(v.values, Value{Name: name, JSON: json, Refused: refused && !v.free})
	}
}

// strings: choices and a wrong one, lengths at their bounds, and hostile texts.
func (v *valueList) strings(s *structuralschema.Structural) {
	bounds := s.ValueValidation
	if bounds == nil {
		bounds = &structuralschema.ValueValidation{}
	}
	for _, choice := range bounds.Enum {
		v.add(fmt.Sprint(choice.Object), text(choice.Object), false)
		v.add("no "+fmt.Sprint(choice.Object), text(fmt.Sprint(choice.Object)+"x"), true)
	}
	isChoice := len(bounds.Enum) > 0
	v.add("empty", `""`, isChoice || bounds.MinLength != nil)
	for _, h := range hostile {
		v.add(h.name, text(h.text), isChoice)
	}
	if most := bounds.MaxLength; most != nil {
		v.add("longest", text(strings.Repeat("a", int(*most))), false)
		v.add("longest path", text("/"+strings.Repeat("a", int(*most)-1)), false)
		v.add("too long", text(strings.Repeat("a", int(*most)+1)), true)
	}
	v.add("a mebibyte", text(strings.Repeat("a", mebibyte)), isChoice || bounds.MaxLength != nil)
	v.add("another", text(changedText(v.now)), false)
}

// changedText is like a text, with a digit or a letter more where that is likely to keep it legal.
func changedText(quoted string) string {
	before, err := strconv.Unquote(quoted)
	if err != nil {
		return "a2"
	}
	return before + "2"
}

// integers: the bounds of the schema and those of its format, and beyond.
func (v *valueList) integers(s *structuralschema.Structural) {
	least, most := int64(math.MinInt64), int64(math.MaxInt64)
	if s.ValueValidation != nil && s.ValueValidation.Format == "int32" {
		least, most = math.MinInt32, math.MaxInt32
	}
	if s.ValueValidation != nil && s.ValueValidation.Minimum != nil {
		least = int64(*s.ValueValidation.Minimum)
	}
	if s.ValueValidation != nil && s.ValueValidation.Maximum != nil {
		most = int64(*s.ValueValidation.Maximum)
	}
	candidates := []int64{0, 1, 2, 3, -1, math.MaxInt32, math.MaxInt32 + 1, math.MaxInt64, least, most}
	if least > math.MinInt64 {
		candidates = append(candidates, least-1)
	}
	if most < math.MaxInt64 {
		candidates = append(candidates, most+1)
	}
	slices.Sort(candidates)
	for _, n := range candidates {
		v.add(strconv.FormatInt(n, 10), strconv.FormatInt(n, 10), n < least || n > most)
	}
	v.add("2^63", "9223372036854775808", true)
	v.add("a fraction", "1.5", true)
	v.add("a whole fraction", "2.0", false)
	v.add("an exponent", "1e1000", true)
	v.add("a number as text", `"1"`, true)
}

// intOrString: quantities, and numbers and names of ports.
func (v *valueList) intOrString(s *structuralschema.Structural) {
	for _, quantity := range quantities {
		v.add(quantity, quantity, false)
	}
	for _, port := range []string{"-1", "65535", "65536", `"http"`, `"nope"`, `"8080"`} {
		v.add(port, port, false)
	}
	for _, h := range hostile {
		v.add(h.name, text(h.text), s.ValueValidation != nil && s.ValueValidation.Pattern != "" && h.text != "1")
	}
	v.add("a mebibyte", text(strings.Repeat("a", mebibyte)), s.ValueValidation != nil && s.ValueValidation.Pattern != "")
}

// lists: none, nothing in it, one item twice, and as many as there may be and one more.
func (v *valueList) lists(s *structuralschema.Structural, now any) {
	v.add("empty", "[]", false)
	v.add("of null", "[null]", false)
	items, _ := now.([]any)
	if len(items) == 0 {
		return
	}
	unique := s.XListType != nil && *s.XListType != "atomic"
	v.add("an item twice", text([]any{items[0], items[0]}), unique)
	v.add("the last item", text(items[len(items)-1:]), false)
	reversed := slices.Clone(items)
	slices.Reverse(reversed)
	v.add("reversed", text(reversed), false)
	if s.ValueValidation == nil || s.ValueValidation.MaxItems == nil {
		return
	}
	most := int(*s.ValueValidation.MaxItems)
	v.add("as many as may be", text(many(s, items[0], most)), false)
	v.add("too many", text(many(s, items[0], most+1)), true)
}

// many returns so many items like one, with keys of their own.
func many(s *structuralschema.Structural, item any, count int) []any {
	var items []any
	for i := range count {
		switch item := item.(type) {
		case string:
			items = append(items, fmt.Sprintf("x%d.%s", i, item))
		case map[string]any:
			item = maps.Clone(item)
			for _, key := range s.XListMapKeys {
				item[key] = fmt.Sprintf("%v%d", item[key], i)
			}
			if _, isPort := item["containerPort"]; isPort {
				item["containerPort"], item["servicePort"] = 1000+i, 1000+i
			}
			items = append(items, item)
		default:
			items = append(items, item)
		}
	}
	return items
}

// objects: nothing in it, a key that nobody knows, and for maps keys of all kinds.
func (v *valueList) objects(s *structuralschema.Structural, now any) {
	if s.XPreserveUnknownFields {
		v.free = true
	}
	v.add("empty", "{}", false)
	object, _ := now.(map[string]any)
	with := func(key string, value any) string {
		changed := maps.Clone(object)
		if changed == nil {
			changed = map[string]any{}
		}
		changed[key] = value
		return text(changed)
	}
	isMap := s.AdditionalProperties != nil && s.AdditionalProperties.Structural != nil
	if !isMap {
		v.add("unknown key", with("unknownKey", "x"), true)
		v.add("key in another case", with("Framework", "go"), true)
		return
	}
	var value any = "1"
	for _, key := range slices.Sorted(maps.Keys(object)) {
		value = object[key]
	}
	for _, h := range hostile {
		v.add("key "+h.name, with(h.text, value), false)
	}
	v.add("key empty", with("", value), false)
	if s.ValueValidation != nil && s.ValueValidation.MaxProperties != nil {
		most := int(*s.ValueValidation.MaxProperties)
		v.add("as many as may be", text(manyKeys(object, value, most)), false)
		v.add("too many", text(manyKeys(object, value, most+1)), true)
	}
}

// manyKeys returns a map with so many keys, which begin as those that it has.
func manyKeys(object map[string]any, value any, count int) map[string]any {
	out := maps.Clone(object)
	if out == nil {
		out = map[string]any{}
	}
	first := "x"
	for _, key := range slices.Sorted(maps.Keys(object)) {
		first = key
	}
	for i := 0; len(out) < count; i++ {
		out[fmt.Sprintf("%s%d", first, i)] = value
	}
	return out
}

// wrongTypes are values of every other type.
func (v *valueList) wrongTypes(s *structuralschema.Structural) {
	for _, wrong := range []struct{ name, kind, json string }{
		{"a text", "string", `"x"`}, {"a number", "integer", "7"}, {"a truth", "boolean", "true"},
		{"a list", "array", `["x"]`}, {"an object", "object", `{"x":"y"}`},
	} {
		if s.Type == wrong.kind || s.XIntOrString && (wrong.kind == "string" || wrong.kind == "integer") {
			continue
		}
		v.add(wrong.name, wrong.json, true)
	}
}

func text(value any) string {
	content, err := json.Marshal(value)
	if err != nil {
		panic(fmt.Sprintf("%T cannot be written as JSON: %v", value, err))
	}
	return string(content)
}
