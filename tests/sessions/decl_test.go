package sessions

import (
	"strings"
)

// decl is a declaration other than a variable.
type decl interface {
	text() string
	declares() string // the name; "" for a method
	names(f func(string))
	typeNames(f func(string)) // those of names that its type is written with
	// check type-checks it, with refs for what its names mean.
	check(w *world, im *impl) bool
}

// constDecl is const name = val.
type constDecl struct {
	name string
	val  expr
}

func (d *constDecl) text() string             { return "const " + d.name + " = " + d.val.text() }
func (d *constDecl) declares() string         { return d.name }
func (d *constDecl) names(f func(string))     { d.val.names(f) }
func (d *constDecl) typeNames(f func(string)) { d.val.names(f) }
func (d *constDecl) check(w *world, im *impl) bool {
	ok := true
	d.val.names(func(n string) { // constants are made of constants
		if s := im.refs[n]; s == nil || s.role != isConst {
			ok = false
		}
	})
	if !ok {
		return false
	}
	_, ok = d.val.check(&scope{w: w, lookup: im.lookup})
	return ok
}

type param struct {
	name string
	typ  tref
}

// typeDecl is a struct type.
type typeDecl struct {
	name   string
	fields []param
}

func (d *typeDecl) text() string {
	var l []string
	for _, f := range d.fields {
		l = append(l, f.name+" "+f.typ.text())
	}
	return "type " + d.name + " struct { " + strings.Join(l, "; ") + " }"
}
func (d *typeDecl) declares() string { return d.name }
func (d *typeDecl) names(f func(string)) {
	for _, x := range d.fields {
		x.typ.named(f)
	}
}
func (d *typeDecl) typeNames(f func(string)) { d.names(f) }
func (d *typeDecl) check(w *world, im *impl) bool {
	for _, f := range d.fields {
		if _, ok := resolve(f.typ, im.lookup); !ok {
			return false
		}
	}
	return true
}

// pairDecl is a generic type with two fields.
type pairDecl struct{ name string }

func (d *pairDecl) text() string             { return "type " + d.name + "[T any] struct { A, B T }" }
func (d *pairDecl) declares() string         { return d.name }
func (d *pairDecl) names(func(string))       {}
func (d *pairDecl) typeNames(func(string))   {}
func (d *pairDecl) check(*world, *impl) bool { return true }

// genericDecl is a generic function that repeats its argument.
type genericDecl struct {
	name string
	more expr
}

func (d *genericDecl) text() string {
	return "func " + d.name + "[T any](x T, n int) (l []T) { for range n + " + d.more.text() + " { l = append(l, x) }; return }"
}
func (d *genericDecl) declares() string       { return d.name }
func (d *genericDecl) names(f func(string))   { d.more.names(f) }
func (d *genericDecl) typeNames(func(string)) {}
func (d *genericDecl) check(w *world, im *impl) bool {
	t, ok := d.more.check(&scope{w: w, lookup: im.lookup})
	return ok && t.kind == tInt
}

// funcDecl is a function, a method (recv is its type), or an init function (name is init).
type funcDecl struct {
	name   string
	recv   string
	ptr    bool
	params []param
	result tref // of kind tInvalid for none
	body   []stmt
	value  expr
}

const receiver = "r"

func (d *funcDecl) text() string {
	var b strings.Builder
	b.WriteString("func ")
	if d.recv != "" {
		b.WriteString("(" + receiver + " ")
		if d.ptr {
			b.WriteString("*")
		}
		b.WriteString(d.recv + ") ")
	}
	b.WriteString(d.name + "(")
	for i, p := range d.params {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(p.name + " " + p.typ.text())
	}
	b.WriteString(") ")
	if d.value != nil {
		b.WriteString(d.result.text() + " ")
	}
	b.WriteString("{ ")
	for _, s := range d.body {
		b.WriteString(s.text() + "; ")
	}
	if d.value != nil {
		b.WriteString("return " + d.value.text() + " ")
	}
	b.WriteString("}")
	return b.String()
}
func (d *funcDecl) declares() string {
	if d.recv != "" || d.name == "init" {
		return ""
	}
	return d.name
}
func (d *funcDecl) names(f func(string)) {
	local := map[string]bool{receiver: d.recv != ""}
	for _, p := range d.params {
		local[p.name] = true
	}
	d.typeNames(f)
	inner := func(n string) {
		if !local[n] {
			f(n)
		}
	}
	for _, s := range d.body {
		s.names(inner)
	}
	if d.value != nil {
		d.value.names(inner)
	}
}
func (d *funcDecl) typeNames(f func(string)) {
	for _, p := range d.params {
		p.typ.named(f)
	}
	d.result.named(f)
	if d.recv != "" {
		f(d.recv)
	}
}
func (d *funcDecl) check(w *world, im *impl) bool {
	sc := &scope{w: w, lookup: im.lookup, locals: map[string]typ{}}
	if d.recv != "" {
		t, ok := resolve(tref{tStruct, d.recv}, im.lookup)
		if !ok {
			return false
		}
		if d.ptr {
			t.kind = tPtr
		}
		sc.locals[receiver] = t
	}
	params, result, ok := im.signature()
	if !ok {
		return false
	}
	for i, p := range d.params {
		sc.locals[p.name] = params[i]
	}
	for _, s := range d.body {
		if !s.check(sc) {
			return false
		}
	}
	if d.value == nil {
		return true
	}
	t, ok := d.value.check(sc)
	return ok && t == result
}

// signature is the types of a function's parameters and of its result.
func (im *impl) signature() (params []typ, result typ, ok bool) {
	d, isPlain := im.decl.(*funcDecl)
	if !isPlain {
		return nil, typ{}, false
	}
	for _, p := range d.params {
		t, ok := resolve(p.typ, im.lookup)
		if !ok {
			return nil, typ{}, false
		}
		params = append(params, t)
	}
	if d.value == nil {
		return params, typ{}, true
	}
	result, ok = resolve(d.result, im.lookup)
	return params, result, ok
}

// call runs the function; recv is the receiver of a method.
func (im *impl) call(ev *env, recv *object, args []value) value {
	d := im.decl.(*funcDecl)
	in := &env{w: ev.w, lookup: im.lookup, locals: map[string]*value{}, run: ev.run}
	if recv != nil {
		var v value = recv
		in.locals[receiver] = &v
	}
	params, result, _ := im.signature()
	for i, p := range d.params {
		v := box(params[i], args[i], ev.w)
		in.locals[p.name] = &v
	}
	for _, s := range d.body {
		s.exec(in)
	}
	if d.value == nil {
		return nil
	}
	return copyOf(result, d.value.eval(in))
}
