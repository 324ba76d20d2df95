package sessions

import (
	"fmt"
	"strings"
)

// composite is T{…} or &T{…}, with a value for every field that is named.
type composite struct {
	t      tref
	fields []string
	vals   []expr
}

func (x composite) text() string {
	var l []string
	for i, f := range x.fields {
		l = append(l, f+": "+x.vals[i].text())
	}
	s := tref{map[kind]kind{tPtr: tStruct, tStruct: tStruct, tPair: tPair}[x.t.kind], x.t.name}.text() + "{" + strings.Join(l, ", ") + "}"
	if x.t.kind == tPtr {
		s = "&" + s
	}
	return s
}
func (x composite) names(f func(string)) {
	x.t.named(f)
	for _, v := range x.vals {
		v.names(f)
	}
}
func (x composite) check(sc *scope) (typ, bool) {
	t, ok := resolve(x.t, sc.lookup)
	if !ok {
		return typ{}, false
	}
	if _, generic := sc.w.impls[t.sym].decl.(*pairDecl); generic != (t.kind == tPair) {
		return typ{}, false
	}
	for i, f := range x.fields {
		_, ft, ok := field{name: f}.find(sc.w, t)
		vt, ok2 := x.vals[i].check(sc)
		if !ok || !ok2 || vt != ft {
			return typ{}, false
		}
	}
	return t, true
}
func (x composite) eval(ev *env) value {
	t, _ := resolve(x.t, ev.lookup)
	if t.kind == tPtr {
		t.kind = tStruct
	}
	o := ev.w.zero(t).(*object)
	for i, f := range x.fields {
		j, ft, _ := field{name: f}.find(ev.w, t)
		o.fields[j] = copyOf(ft, x.vals[i].eval(ev))
	}
	return o
}

// text of a builtin or library function over arguments of any printable types.
type sprint struct{ args []expr }

func (x sprint) text() string { return "fmt.Sprint(" + list(x.args) + ")" }
func (x sprint) names(f func(string)) {
	for _, a := range x.args {
		a.names(f)
	}
}
func (x sprint) check(sc *scope) (typ, bool) {
	for _, a := range x.args {
		t, ok := a.check(sc)
		if !ok {
			return typ{}, false
		}
		if !printable(t) {
			panic(unplayable{})
		}
	}
	return typ{kind: tString}, true
}
func (x sprint) eval(ev *env) value {
	var b strings.Builder
	before := true
	for i, a := range x.args {
		v := a.eval(ev)
		bare := v
		if d, ok := v.(dynamic); ok {
			bare = d.val
		}
		_, isStr := bare.(string)
		if i > 0 && !isStr && !before {
			b.WriteByte(' ')
		}
		before = isStr
		b.WriteString(show(v))
	}
	return b.String()
}

// printable reports whether values of t print the same everywhere: they hold no addresses.
func printable(t typ) bool { return t.kind != tPtr && t.kind != tFunc }

// unplayable is the panic of a check of what compiles, but does not do the same everywhere.
type unplayable struct{}

// length is len(x).
type length struct{ x expr }

func (x length) text() string         { return "len(" + x.x.text() + ")" }
func (x length) names(f func(string)) { x.x.names(f) }
func (x length) check(sc *scope) (typ, bool) {
	t, ok := x.x.check(sc)
	return typ{kind: tInt}, ok && (t.kind == tString || t.kind == tInts || t.kind == tCounts)
}
func (x length) eval(ev *env) value {
	switch v := x.x.eval(ev).(type) {
	case string:
		return len(v)
	case []int:
		return len(v)
	case map[string]int:
		return len(v)
	}
	panic("length of what has none")
}

// index is x[i] of a slice or a map.
type index struct{ x, i expr }

func (x index) text() string         { return x.x.text() + "[" + x.i.text() + "]" }
func (x index) names(f func(string)) { x.x.names(f); x.i.names(f) }
func (x index) check(sc *scope) (typ, bool) {
	t, ok := x.x.check(sc)
	i, ok2 := x.i.check(sc)
	return typ{kind: tInt}, ok && ok2 && (t.kind == tInts && i.kind == tInt || t.kind == tCounts && i.kind == tString)
}
func (x index) eval(ev *env) value {
	switch v := x.x.eval(ev).(type) {
	case []int:
		i := x.i.eval(ev).(int)
		if i < 0 || i >= len(v) {
			panic(stop{"index out of range"})
		}
		return v[i]
	case map[string]int:
		return v[x.i.eval(ev).(string)]
	}
	panic("indexing what cannot be")
}

// isA is a type assertion: whether the any x holds a t.
type isA struct {
	x expr
	t tref
}

func (x isA) text() string {
	return "func() bool { _, ok := " + x.x.text() + ".(" + x.t.text() + "); return ok }()"
}
func (x isA) names(f func(string)) { x.x.names(f); x.t.named(f) }
func (x isA) check(sc *scope) (typ, bool) {
	t, ok := x.x.check(sc)
	_, ok2 := resolve(x.t, sc.lookup)
	return typ{kind: tBool}, ok && ok2 && t.kind == tAny
}
func (x isA) eval(ev *env) value {
	d, ok := x.x.eval(ev).(dynamic)
	t, _ := resolve(x.t, ev.lookup)
	return ok && d.typ == t
}

// values is []int{…}.
type values struct{ l []expr }

func (x values) text() string { return "[]int{" + list(x.l) + "}" }
func (x values) names(f func(string)) {
	for _, v := range x.l {
		v.names(f)
	}
}
func (x values) check(sc *scope) (typ, bool) {
	for _, v := range x.l {
		if t, ok := v.check(sc); !ok || t.kind != tInt {
			return typ{}, false
		}
	}
	return typ{kind: tInts}, true
}
func (x values) eval(ev *env) value {
	l := make([]int, 0, len(x.l))
	for _, v := range x.l {
		l = append(l, v.eval(ev).(int))
	}
	return l
}

// counts is map[string]int{"a": …}.
type counts struct{ v expr }

func (x counts) text() string         { return "map[string]int{\"a\": " + x.v.text() + "}" }
func (x counts) names(f func(string)) { x.v.names(f) }
func (x counts) check(sc *scope) (typ, bool) {
	t, ok := x.v.check(sc)
	return typ{kind: tCounts}, ok && t.kind == tInt
}
func (x counts) eval(ev *env) value { return map[string]int{"a": x.v.eval(ev).(int)} }

// twice is a call of a generic function of the session: name[T any](x T, n int) []T has n times x, of which the length or the text is taken.
type twice struct {
	name string
	x    expr
	n    int
}

func (x twice) text() string         { return fmt.Sprintf("fmt.Sprint(%s(%s, %d))", x.name, x.x.text(), x.n) }
func (x twice) names(f func(string)) { f(x.name); x.x.names(f) }
func (x twice) check(sc *scope) (typ, bool) {
	s := sc.lookup(x.name)
	t, ok := x.x.check(sc)
	if s == nil || s.role != isFunc || !ok || !printable(t) || t.kind == tAny {
		return typ{}, false
	}
	_, generic := sc.w.impls[s].decl.(*genericDecl)
	return typ{kind: tString}, generic
}
func (x twice) eval(ev *env) value {
	im := ev.w.impls[ev.lookup(x.name)]
	d := im.decl.(*genericDecl)
	v := x.x.eval(ev)
	n := x.n + d.more.eval(&env{w: ev.w, lookup: im.lookup, run: ev.run}).(int)
	var l []string
	for range n {
		l = append(l, show(v))
	}
	return "[" + strings.Join(l, " ") + "]"
}
