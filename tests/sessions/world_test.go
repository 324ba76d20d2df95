package sessions

import (
	"fmt"
	"maps"
	"sort"
	"strings"
)

// kind is what a type of the model is.
type kind byte

const (
	tInvalid kind = iota
	tInt
	tString
	tBool
	tInts   // []int
	tCounts // map[string]int
	tFunc   // func(int) int
	tAny
	tStruct // of sym
	tPtr    // to the struct of sym
	tPair   // Pair of two ints, of the generic sym
)

// typ is a type; two are identical when they are equal.
type typ struct {
	kind kind
	sym  *symbol
}

// tref is a type as a cell writes it.
type tref struct {
	kind kind
	name string // of tStruct, tPtr and tPair
}

func (t tref) text() string {
	switch t.kind {
	case tStruct:
		return t.name
	case tPtr:
		return "*" + t.name
	case tPair:
		return t.name + "[int]"
	}
	return map[kind]string{tInt: "int", tString: "string", tBool: "bool", tInts: "[]int", tCounts: "map[string]int",
		tFunc: "func(int) int", tAny: "any"}[t.kind]
}

// named calls f with the session's name in t.
func (t tref) named(f func(string)) {
	if t.name != "" {
		f(t.name)
	}
}

// role is what a symbol is.
type role byte

const (
	isVar role = iota
	isConst
	isFunc
	isType
)

// symbol is one meaning of a name. It keeps its identity when it is declared again in a way that nobody can tell by its type.
type symbol struct {
	name  string
	role  role
	typ   typ    // of a variable
	store *value // likewise
}

// impl is what a function, a method, a constant or a type is at present.
type impl struct {
	decl decl
	refs map[string]*symbol
	cell int // that declares it
}

// world is all that is declared. Closures keep the one that they were made in, for compiled code calls what it was compiled with.
type world struct {
	impls   map[*symbol]*impl
	methods map[*symbol]map[string]*impl // of types
}

func (w *world) clone() *world {
	n := &world{impls: maps.Clone(w.impls), methods: map[*symbol]map[string]*impl{}}
	for t, m := range w.methods {
		n.methods[t] = maps.Clone(m)
	}
	return n
}

// names is a namespace.
type names map[string]*symbol

// value is a value of the model: int, string, bool, []int, map[string]int, *object (for a struct a copy, for a pointer what it points
// to), *closure, or dynamic in an any.
type value any

// object is a struct.
type object struct {
	sym    *symbol
	fields []value
}

type closure struct {
	fn  *lambda
	env *env
}

// dynamic is the content of an interface.
type dynamic struct {
	typ typ
	val value
}

// copyOf is v as an assignment copies it.
func copyOf(t typ, v value) value {
	if o, ok := v.(*object); ok && (t.kind == tStruct || t.kind == tPair) {
		c := &object{sym: o.sym, fields: make([]value, len(o.fields))}
		for i, f := range o.fields {
			c.fields[i] = f
			if _, nested := f.(*object); nested {
				c.fields[i] = copyOf(typ{kind: tStruct}, f)
			}
		}
		return c
	}
	return v
}

// zero is the zero value of t.
func (w *world) zero(t typ) value {
	switch t.kind {
	case tInt:
		return 0
	case tString:
		return ""
	case tBool:
		return false
	case tInts:
		return []int(nil)
	case tCounts:
		return map[string]int(nil)
	case tPair:
		return &object{sym: t.sym, fields: []value{0, 0}}
	case tStruct:
		o := &object{sym: t.sym}
		im := w.impls[t.sym]
		for _, f := range im.decl.(*typeDecl).fields {
			ft, _ := resolve(f.typ, im.lookup)
			o.fields = append(o.fields, w.zero(ft))
		}
		return o
	}
	return nil
}

func (im *impl) lookup(name string) *symbol { return im.refs[name] }

// resolve is the type that t means.
func resolve(t tref, lookup func(string) *symbol) (typ, bool) {
	if t.name == "" {
		return typ{kind: t.kind}, true
	}
	s := lookup(t.name)
	if s == nil || s.role != isType {
		return typ{}, false
	}
	return typ{t.kind, s}, true
}

// show is v as fmt.Println prints it.
func show(v value) string {
	switch v := v.(type) {
	case nil:
		return "<nil>"
	case *object:
		var l []string
		for _, f := range v.fields {
			l = append(l, show(f))
		}
		return "{" + strings.Join(l, " ") + "}"
	case dynamic:
		return show(v.val)
	case map[string]int:
		var l []string
		for k, n := range v {
			l = append(l, fmt.Sprintf("%s:%d", k, n))
		}
		sort.Strings(l)
		return "map[" + strings.Join(l, " ") + "]"
	}
	return fmt.Sprint(v)
}
