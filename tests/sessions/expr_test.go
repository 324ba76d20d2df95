package sessions

import (
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
