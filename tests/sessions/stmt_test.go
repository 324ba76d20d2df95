package sessions

import (
	"fmt"
	"strings"
)

// stmt is a statement inside a function or of a cell.
type stmt interface {
	text() string
	names(f func(string))
	check(sc *scope) bool
	exec(ev *env)
}

// box is v, of its own type, as an assignment to a t makes it.
func box(t typ, v value, w *world) value {
	if t.kind != tAny {
		return copyOf(t, v)
	}
	switch x := v.(type) {
	case int:
		return dynamic{typ{kind: tInt}, x}
	case string:
		return dynamic{typ{kind: tString}, x}
	case *object:
		ot := typ{tStruct, x.sym}
		if _, generic := w.impls[x.sym].decl.(*pairDecl); generic {
			ot.kind = tPair
		}
		return dynamic{ot, copyOf(ot, x)}
	}
	return v
}

// fits reports whether a value of type v can be assigned to a t in the model's cells.
func fits(t, v typ) bool {
	return t == v || t.kind == tAny && (v.kind == tInt || v.kind == tString || v.kind == tStruct || v.kind == tPair)
}

// place is what can be assigned to.
type place interface {
	expr
	addr(ev *env) *value
}

// assign is to = x, or to op= x.
type assign struct {
	to place
	op string // "", "+", "-", "*"
	x  expr
}

func (s assign) text() string         { return s.to.text() + " " + s.op + "= " + s.x.text() }
func (s assign) names(f func(string)) { s.to.names(f); s.x.names(f) }
func (s assign) check(sc *scope) bool {
	if r, ok := s.to.(ref); ok && sc.locals[r.name].kind == tInvalid {
		if sym := sc.lookup(r.name); sym == nil || sym.role != isVar {
			return false
		}
	}
	t, ok := s.to.check(sc)
	x, ok2 := s.x.check(sc)
	if s.op != "" {
		return ok && ok2 && t == x && (t.kind == tInt || t.kind == tString && s.op == "+")
	}
	return ok && ok2 && fits(t, x)
}
func (s assign) exec(ev *env) {
	if s.op != "" {
		v := bin{s.op, s.to, s.x}.eval(ev)
		*s.to.addr(ev) = v
		return
	}
	t, _ := s.to.check(&scope{w: ev.w, lookup: ev.lookup, locals: localTypes(ev)})
	v := box(t, s.x.eval(ev), ev.w)
	*s.to.addr(ev) = v
}

// localTypes is good enough to tell structs, which are copied, from what is not.
func localTypes(ev *env) map[string]typ {
	m := map[string]typ{}
	for n, p := range ev.locals {
		switch v := (*p).(type) {
		case *object:
			m[n] = typ{tStruct, v.sym}
		default:
			m[n] = typ{kind: tInt}
		}
	}
	return m
}

// put is m[key] = x.
type put struct {
	m   ref
	key string
	x   expr
}

func (s put) text() string         { return fmt.Sprintf("%s[%q] = %s", s.m.name, s.key, s.x.text()) }
func (s put) names(f func(string)) { s.m.names(f); s.x.names(f) }
func (s put) check(sc *scope) bool {
	t, ok := s.m.check(sc)
	x, ok2 := s.x.check(sc)
	return ok && ok2 && t.kind == tCounts && x.kind == tInt
}
func (s put) exec(ev *env) {
	m := s.m.eval(ev).(map[string]int)
	v := s.x.eval(ev).(int)
	if m == nil {
		panic(stop{"nil map"})
	}
	m[s.key] = v
}

// push is l = append(l, x).
type push struct {
	l ref
	x expr
}

func (s push) text() string         { return s.l.name + " = append(" + s.l.name + ", " + s.x.text() + ")" }
func (s push) names(f func(string)) { s.l.names(f); s.x.names(f) }
func (s push) check(sc *scope) bool {
	t, ok := s.l.check(sc)
	x, ok2 := s.x.check(sc)
	return ok && ok2 && t.kind == tInts && x.kind == tInt
}
func (s push) exec(ev *env) {
	x := s.x.eval(ev).(int)
	p := s.l.addr(ev)
	l, _ := (*p).([]int)
	*p = append(l, x)
}

// print is fmt.Println(args).
type print struct{ args []expr }

func (s print) text() string         { return "fmt.Println(" + list(s.args) + ")" }
func (s print) names(f func(string)) { sprint(s).names(f) }
func (s print) check(sc *scope) bool { _, ok := sprint(s).check(sc); return ok }
func (s print) exec(ev *env) {
	var l []string
	for _, a := range s.args {
		l = append(l, show(a.eval(ev)))
	}
	ev.run.out.WriteString(strings.Join(l, " ") + "\n")
}

// loop repeats a statement, with i counting.
type loop struct {
	n    int
	body stmt
}

func (s loop) text() string { return fmt.Sprintf("for i := range %d { %s }", s.n, s.body.text()) }
func (s loop) names(f func(string)) {
	s.body.names(func(n string) {
		if n != "i" {
			f(n)
		}
	})
}
func (s loop) check(sc *scope) bool {
	locals := map[string]typ{"i": {kind: tInt}}
	for n, t := range sc.locals {
		if n != "i" {
			locals[n] = t
		}
	}
	return s.body.check(&scope{sc.w, sc.lookup, locals})
}
func (s loop) exec(ev *env) {
	for i := range s.n {
		var v value = i
		locals := map[string]*value{"i": &v}
		for n, p := range ev.locals {
			if n != "i" {
				locals[n] = p
			}
		}
		s.body.exec(&env{ev.w, ev.lookup, locals, ev.run})
	}
}

// when is if x > n { body }.
type when struct {
	x    expr
	n    int
	body stmt
}

func (s when) text() string         { return fmt.Sprintf("if %s > %d { %s }", s.x.text(), s.n, s.body.text()) }
func (s when) names(f func(string)) { s.x.names(f); s.body.names(f) }
func (s when) check(sc *scope) bool {
	t, ok := s.x.check(sc)
	return ok && t.kind == tInt && s.body.check(sc)
}
func (s when) exec(ev *env) {
	if s.x.eval(ev).(int) > s.n {
		s.body.exec(ev)
	}
}

// spawn runs a statement in a goroutine and waits for it.
type spawn struct{ body stmt }

func (s spawn) text() string {
	return "{ end := make(chan bool); go func() { " + s.body.text() + "; close(end) }(); <-end }"
}
func (s spawn) names(f func(string)) { s.body.names(f) }
func (s spawn) check(sc *scope) bool { return s.body.check(sc) }
func (s spawn) exec(ev *env)         { s.body.exec(ev) }

// fail panics.
type fail struct{ how string }

var failures = map[string]string{
	"explicit": "panic(\"boom\")", "nil": "{ var p *int; *p = 1 }", "index": "{ l := []int{}; fmt.Println(l[len(l)]) }",
	"error": "panic(fmt.Errorf(\"no %d\", 7))", "map": "{ var m map[string]int; m[\"a\"]++ }",
	"goroutine": "{ go func() { panic(\"beside\") }(); select {} }",
}

func (s fail) text() string         { return failures[s.how] }
func (s fail) names(func(string))   {}
func (s fail) check(sc *scope) bool { return true }
func (s fail) exec(*env)            { panic(stop{s.how}) }

// hang never ends.
type hang struct{ how string }

var hangs = map[string]string{
	"loop": "for { }", "channel": "<-make(chan int)", "select": "select {}", "sleep": "time.Sleep(time.Hour)", "work": "for i := 0; ; i++ { _ = fmt.Sprint(i) }",
}

func (s hang) text() string         { return hangs[s.how] }
func (s hang) names(f func(string)) {}
func (s hang) check(sc *scope) bool { return true }
func (s hang) exec(*env)            { panic(stop{hanging}) }

const hanging = "interrupt"

// wrong never compiles.
type wrong string

func (s wrong) text() string         { return string(s) }
func (s wrong) names(func(string))   {}
func (s wrong) check(sc *scope) bool { return false }
func (s wrong) exec(*env)            { panic("running a mistake") }

// evaluate is an expression as a statement; as the last one of a cell it is the cell's value.
type evaluate struct{ x expr }

func (s evaluate) text() string         { return s.x.text() }
func (s evaluate) names(f func(string)) { s.x.names(f) }
func (s evaluate) check(sc *scope) bool {
	t, ok := s.x.check(sc)
	if ok && t.kind != tInt && t.kind != tString {
		panic(unplayable{}) // shown in ways of its own
	}
	return ok
}
func (s evaluate) exec(ev *env) { ev.run.value = show(s.x.eval(ev)) }
