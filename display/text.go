package display

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"unicode/utf8"
)

// Limits of the text form of a value.
const (
	maxText  = 32 << 10 // bytes
	maxNodes = 4096     // values inside it that are formatted as fmt does
	maxItems = 100      // elements shown of a longer slice or map
	maxDepth = 16
)

// text is the plain text form of v: as %+v prints it while it is small, cut with a note otherwise; values that format
// themselves as %v prints them, since to a Formatter %+v is another question (big.Int answers it with a sign). The cost does
// not grow with the size of v.
func text(v any) string {
	switch x := v.(type) {
	case nil:
		return "<nil>"
	case string:
		return cut(x, maxText)
	case RawHTML:
		return cut(string(x), maxText)
	case json.RawMessage:
		return cut(string(x), maxText)
	case error, fmt.Stringer, fmt.Formatter:
		return cut(fmt.Sprintf("%v", x), maxText)
	}
	rv := reflect.ValueOf(v)
	switch rv.Kind() { // of which fmt knows only the address
	case reflect.Func:
		if !rv.IsNil() {
			return cut(rv.Type().String(), maxText)
		}
	case reflect.Chan:
		if !rv.IsNil() {
			return cut(fmt.Sprintf("%s (len %d, cap %d)", rv.Type(), rv.Len(), rv.Cap()), maxText)
		}
	}
	var p printer
	p.print(rv, 0)
	return cut(p.b.String(), maxText)
}

// cut shortens s to about n bytes, saying so.
func cut(s string, n int) string {
	if len(s) <= n {
		return s
	}
	end := n
	for end > 0 && !utf8.RuneStart(s[end]) {
		end--
	}
	return fmt.Sprintf("%s… (%d more bytes)", s[:end], len(s)-end)
}

type printer struct{ b strings.Builder }

// print formats v, which is at depth in the value shown.
func (p *printer) print(v reflect.Value, depth int) {
	if nodes := maxNodes; isFormatter(v) || small(v, depth, &nodes) {
		p.small(v, depth)
		return
	}
	if depth > maxDepth || p.b.Len() > maxText {
		p.b.WriteString("…")
		return
	}
	switch v.Kind() {
	case reflect.String:
		p.b.WriteString(cut(v.String(), maxText))
	case reflect.Interface:
		p.print(v.Elem(), depth)
	case reflect.Pointer: // small says that only the outermost one is followed
		p.b.WriteByte('&')
		p.print(v.Elem(), depth+1)
	case reflect.Struct:
		p.b.WriteByte('{')
		for i := range v.NumField() {
			if i > 0 {
				p.b.WriteByte(' ')
			}
			p.b.WriteString(v.Type().Field(i).Name + ":")
			p.print(v.Field(i), depth+1)
		}
		p.b.WriteByte('}')
	case reflect.Slice, reflect.Array:
		p.b.WriteByte('[')
		n := 0
		for ; n < v.Len() && n < maxItems && p.b.Len() < maxText; n++ {
			if n > 0 {
				p.b.WriteByte(' ')
			}
			p.print(v.Index(n), depth+1)
		}
		p.rest(v.Len() - n)
		p.b.WriteByte(']')
	case reflect.Map:
		p.b.WriteString("map[")
		keys := someKeys(v)
		for i, k := range keys {
			if i > 0 {
				p.b.WriteByte(' ')
			}
			p.print(k, depth+1)
			p.b.WriteByte(':')
			p.print(v.MapIndex(k), depth+1)
		}
		p.rest(v.Len() - len(keys))
		p.b.WriteByte(']')
	default:
		p.small(v, depth)
	}
}

func (p *printer) rest(n int) {
	if n > 0 {
		fmt.Fprintf(&p.b, " … %d more", n)
	}
}

func (p *printer) small(v reflect.Value, depth int) {
	if v.IsValid() && v.Kind() == reflect.Pointer && depth > 0 && !hasText(v) {
		fmt.Fprintf(&p.b, "%#x", v.Pointer()) // as fmt does below the top
		return
	}
	if isFormatter(v) {
		fmt.Fprintf(&p.b, "%v", v)
		return
	}
	fmt.Fprintf(&p.b, "%+v", v)
}

func isFormatter(v reflect.Value) bool {
	if !v.IsValid() || !v.CanInterface() {
		return false
	}
	_, ok := v.Interface().(fmt.Formatter)
	return ok
}

// hasText reports whether fmt would ask v's own methods.
func hasText(v reflect.Value) bool {
	if !v.CanInterface() {
		return false
	}
	switch v.Interface().(type) {
	case error, fmt.Stringer, fmt.Formatter:
		return true
	}
	return false
}

// small reports whether fmt would visit no more than *nodes values to print v, none inside it a Formatter, and takes them
// from *nodes.
func small(v reflect.Value, depth int, nodes *int) bool {
	if *nodes--; *nodes < 0 || depth > maxDepth || depth > 0 && isFormatter(v) {
		return false
	}
	switch v.Kind() {
	case reflect.String:
		*nodes -= v.Len() / 8
		return *nodes >= 0
	case reflect.Interface:
		return v.IsNil() || small(v.Elem(), depth+1, nodes)
	case reflect.Pointer:
		if depth > 0 || v.IsNil() {
			return true
		}
		switch v.Elem().Kind() {
		case reflect.Struct, reflect.Slice, reflect.Array, reflect.Map:
			return small(v.Elem(), depth+1, nodes)
		}
		return true
	case reflect.Struct:
		for i := range v.NumField() {
			if !small(v.Field(i), depth+1, nodes) {
				return false
			}
		}
	case reflect.Slice, reflect.Array:
		if v.Len() > *nodes {
			return false
		}
		for i := range v.Len() {
			if !small(v.Index(i), depth+1, nodes) {
				return false
			}
		}
	case reflect.Map:
		if v.Len() > *nodes {
			return false
		}
		for it := v.MapRange(); it.Next(); {
			if !small(it.Key(), depth+1, nodes) || !small(it.Value(), depth+1, nodes) {
				return false
			}
		}
	}
	return true
}

// someKeys returns up to maxItems keys of a map, in order when it has few.
func someKeys(m reflect.Value) []reflect.Value {
	const sortable = 10_000
	var keys []reflect.Value
	for it := m.MapRange(); it.Next() && len(keys) < sortable; {
		keys = append(keys, it.Key())
	}
	slices.SortStableFunc(keys, compareKeys)
	return keys[:min(len(keys), maxItems)]
}

func compareKeys(a, b reflect.Value) int {
	if a.Kind() == reflect.Interface {
		a, b = a.Elem(), b.Elem()
	}
	switch {
	case a.Kind() != b.Kind():
	case a.CanInt():
		return compare(a.Int(), b.Int())
	case a.CanUint():
		return compare(a.Uint(), b.Uint())
	case a.CanFloat():
		return compare(a.Float(), b.Float())
	case a.Kind() == reflect.String:
		return compare(a.String(), b.String())
	}
	return compare(fmt.Sprint(a), fmt.Sprint(b))
}

func compare[T int64 | uint64 | float64 | string](a, b T) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

// Summary describes a variable in one line: a short text of its value, an estimate of its size in bytes (the value
// itself and its elements, not what they point to), and its length, -1 where it has none.
func Summary(v reflect.Value) (value string, bytes int64, length int) {
	bytes, length = int64(v.Type().Size()), -1
	e := v
	for e.Kind() == reflect.Interface && !e.IsNil() {
		e = e.Elem()
	}
	switch e.Kind() {
	case reflect.Slice:
		length = e.Len()
		bytes += int64(e.Cap()) * int64(e.Type().Elem().Size())
	case reflect.String:
		length = e.Len()
		bytes += int64(length)
	case reflect.Map:
		length = e.Len()
		bytes += int64(length) * int64(e.Type().Key().Size()+e.Type().Elem().Size())
	case reflect.Array, reflect.Chan:
		length = e.Len()
	}
	const line = 80
	var s string
	if e.Kind() == reflect.String {
		s = fmt.Sprintf("%q", cut(e.String(), line))
	} else {
		s = text(v.Interface())
	}
	s = strings.Join(strings.Fields(s), " ")
	if r := []rune(s); len(r) > line {
		s = string(r[:line-1]) + "…"
	}
	return s, bytes, length
}
