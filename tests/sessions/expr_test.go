package sessions

import (
	"fmt"
	"strconv"
	"strings"
)

// expr is an expression of a cell: how it is written, which type it has and what it evaluates to.
type expr interface {
	text() string
	names(f func(name string)) // that it uses of the session, calls f for each
	check(sc *scope) (typ, bool)
	eval(ev *env) value
}

// scope is what names mean where an expression stands.
type scope struct {
	w      *world
	lookup func(string) *symbol
	locals map[string]typ
}

// env is where an expression is evaluated.
type env struct {
	w      *world
	lookup func(string) *symbol
	locals map[string]*value
	run    *run
}

// stop ends a run of the model: the panic of a cell.
type stop struct{ why string }

type intLit int

func (x intLit) text() string             { return strconv.Itoa(int(x)) }
func (x intLit) names(func(string))       {}
func (x intLit) check(*scope) (typ, bool) { return typ{kind: tInt}, true }
func (x intLit) eval(*env) value          { return int(x) }

type strLit string

func (x strLit) text() string             { return strconv.Quote(string(x)) }
func (x strLit) names(func(string))       {}
func (x strLit) check(*scope) (typ, bool) { return typ{kind: tString}, true }
func (x strLit) eval(*env) value          { return string(x) }

// ref is a variable, a parameter or a constant.
type ref struct{ name string }

func (x ref) text() string         { return x.name }
func (x ref) names(f func(string)) { f(x.name) }
func (x ref) check(sc *scope) (typ, bool) {
	if t, ok := sc.locals[x.name]; ok {
		return t, true
	}
	s := sc.lookup(x.name)
	if s == nil {
		return typ{}, false
	}
	switch s.role {
	case isVar:
		return s.typ, true
	case isConst:
		return constType(sc.w, s)
	case isFunc:
		panic(unplayable{}) // a function as a value
	}
	return typ{}, false
}
func (x ref) eval(ev *env) value {
	if p := x.addr(ev); p != nil {
		return *p
	}
	return ev.w.constant(ev.lookup(x.name))
}

// addr is where the variable is; nil for a constant.
func (x ref) addr(ev *env) *value {
	if p, ok := ev.locals[x.name]; ok {
		return p
	}
	s := ev.lookup(x.name)
	if s.role == isConst {
		return nil
	}
	return s.store
}

func constType(w *world, s *symbol) (typ, bool) {
	im := w.impls[s]
	return im.decl.(*constDecl).val.check(&scope{w: w, lookup: im.lookup})
}

func (w *world) constant(s *symbol) value {
	im := w.impls[s]
	return im.decl.(*constDecl).val.eval(&env{w: w, lookup: im.lookup})
}

// bin is a binary operation on two ints or two strings.
type bin struct {
	op   string
	l, r expr
}

func (x bin) text() string         { return "(" + x.l.text() + " " + x.op + " " + x.r.text() + ")" }
func (x bin) names(f func(string)) { x.l.names(f); x.r.names(f) }
func (x bin) check(sc *scope) (typ, bool) {
	a, ok := x.l.check(sc)
	b, ok2 := x.r.check(sc)
	return a, ok && ok2 && a == b && (a.kind == tInt || a.kind == tString && x.op == "+")
}
func (x bin) eval(ev *env) value {
	a, b := x.l.eval(ev), x.r.eval(ev)
	if s, ok := a.(string); ok {
		return s + b.(string)
	}
	m, n := a.(int), b.(int)
	switch x.op {
	case "+":
		return m + n
	case "-":
		return m - n
	}
	return m * n
}

// call calls a function of the session, or one in a variable.
type call struct {
	name string
	args []expr
}

func list(l []expr) string {
	var s []string
	for _, x := range l {
		s = append(s, x.text())
	}
	return strings.Join(s, ", ")
}

func (x call) text() string { return x.name + "(" + list(x.args) + ")" }
func (x call) names(f func(string)) {
	f(x.name)
	for _, a := range x.args {
		a.names(f)
	}
}
func (x call) check(sc *scope) (typ, bool) {
	s := sc.lookup(x.name)
	if s == nil {
		return typ{}, false
	}
	var params []typ
	var result typ
	switch {
	case s.role == isVar && s.typ.kind == tFunc:
		params, result = []typ{{kind: tInt}}, typ{kind: tInt}
	case s.role == isFunc:
		var ok bool
		if params, result, ok = sc.w.impls[s].signature(); !ok {
			return typ{}, false
		}
	default:
		return typ{}, false
	}
	if len(params) != len(x.args) {
		return typ{}, false
	}
	for i, a := range x.args {
		if t, ok := a.check(sc); !ok || t != params[i] && params[i].kind != tAny {
			return typ{}, false
		}
	}
	return result, true
}
func (x call) eval(ev *env) value {
	s := ev.lookup(x.name)
	if s.role == isVar {
		f, _ := (*s.store).(*closure)
		var arg value = x.args[0].eval(ev)
		if f == nil {
			panic(stop{"nil pointer"})
		}
		return f.call(arg)
	}
	im := ev.w.impls[s]
	var args []value
	for _, a := range x.args {
		args = append(args, a.eval(ev))
	}
	return im.call(ev, nil, args)
}

func (f *closure) call(arg value) value {
	locals := map[string]*value{f.fn.param: &arg}
	for n, p := range f.env.locals {
		if n != f.fn.param {
			locals[n] = p
		}
	}
	return f.fn.body.eval(&env{f.env.w, f.env.lookup, locals, f.env.run})
}

// lambda is func(param int) int { return body }.
type lambda struct {
	param string
	body  expr
}

func (x *lambda) text() string {
	return "func(" + x.param + " int) int { return " + x.body.text() + " }"
}
func (x *lambda) names(f func(string)) {
	x.body.names(func(n string) {
		if n != x.param {
			f(n)
		}
	})
}
func (x *lambda) check(sc *scope) (typ, bool) {
	locals := map[string]typ{}
	for n, t := range sc.locals {
		locals[n] = t
	}
	locals[x.param] = typ{kind: tInt}
	t, ok := x.body.check(&scope{sc.w, sc.lookup, locals})
	return typ{kind: tFunc}, ok && t.kind == tInt
}
func (x *lambda) eval(ev *env) value {
	keep := map[string]*symbol{} // what names mean now, not when it is called
	x.names(func(n string) { keep[n] = ev.lookup(n) })
	return &closure{fn: x, env: &env{ev.w, func(n string) *symbol { return keep[n] }, ev.locals, ev.run}}
}

// field is x.name of a struct or a pointer to one.
type field struct {
	x    expr
	name string
}

func (x field) text() string         { return x.x.text() + "." + x.name }
func (x field) names(f func(string)) { x.x.names(f) }
func (x field) find(w *world, t typ) (i int, ft typ, ok bool) {
	switch t.kind {
	case tPair:
		i = strings.Index("AB", x.name)
		return i, typ{kind: tInt}, i >= 0
	case tStruct, tPtr:
		im := w.impls[t.sym]
		for i, f := range im.decl.(*typeDecl).fields {
			if f.name == x.name {
				ft, ok := resolve(f.typ, im.lookup)
				return i, ft, ok
			}
		}
	}
	return 0, typ{}, false
}
func (x field) check(sc *scope) (typ, bool) {
	t, ok := x.x.check(sc)
	if !ok {
		return typ{}, false
	}
	_, ft, ok := x.find(sc.w, t)
	return ft, ok
}
func (x field) addr(ev *env) *value {
	o, _ := x.x.eval(ev).(*object)
	if o == nil {
		panic(stop{"nil pointer"})
	}
	t := typ{tStruct, o.sym}
	if _, isType := ev.w.impls[o.sym].decl.(*pairDecl); isType {
		t.kind = tPair
	}
	i, _, _ := x.find(ev.w, t)
	return &o.fields[i]
}
func (x field) eval(ev *env) value { return *x.addr(ev) }

// method is x.name(arg).
type method struct {
	x    expr
	name string
	arg  expr
}

func (x method) text() string         { return x.x.text() + "." + x.name + "(" + x.arg.text() + ")" }
func (x method) names(f func(string)) { x.x.names(f); x.arg.names(f) }
func (x method) check(sc *scope) (typ, bool) {
	t, ok := x.x.check(sc)
	a, ok2 := x.arg.check(sc)
	if !ok || !ok2 || a.kind != tInt || t.kind != tStruct && t.kind != tPtr {
		return typ{}, false
	}
	return typ{kind: tInt}, sc.w.methods[t.sym][x.name] != nil
}
func (x method) eval(ev *env) value {
	o, _ := x.x.eval(ev).(*object)
	arg := x.arg.eval(ev)
	if o == nil {
		panic(stop{"nil pointer"})
	}
	im := ev.w.methods[o.sym][x.name]
	if !im.decl.(*funcDecl).ptr {
		o = copyOf(typ{kind: tStruct}, o).(*object)
	}
	return im.call(ev, o, []value{arg})
}

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
