package interp

import (
	"go/ast"
	"go/token"
	"go/types"
	"runtime"
)

// Go leaves open in which order a statement's calls and the run-time checks of its other operations come, and the compiler's answer is not
// from left to right: calls come first (with assertions, slicing, map literals, && and ||, in the order of the text), then everything
// else. What is interpreted goes from left to right. The two differ when an operation that may panic stands before such a call; then
// the lowered code makes the calls first, too, and keeps their values in variables.

// effects are what evaluating an expression may do besides yielding a value.
type effects struct {
	panics bool // a run-time check that the compiler leaves where it stands
	calls  bool // something that the compiler does first
}

func (x effects) any() bool { return x.panics || x.calls }

// order is the evaluation of one statement's expressions.
type order struct {
	l        *lowering
	first    []ast.Expr // what the compiler does first
	conflict bool       // one of them stands after a check
	key      bool       // a map's key has a check: the compiler does some of those early
}

// ordered makes the lowering of expressions that are evaluated in turn keep the compiler's order. Where nothing can be put before them, it
// refuses those that would need it. It returns what they may do.
func (l *lowering) ordered(straight bool, exprs ...ast.Expr) effects {
	o := &order{l: l}
	x := o.all(exprs...)
	o.settle(straight)
	return x
}

func (o *order) settle(straight bool) {
	if !o.conflict && (!o.key || len(o.first) == 0) {
		return
	}
	if o.key || !straight {
		refuse("may fail in several ways in an order that is up to the compiler")
	}
	for _, e := range o.first {
		o.l.early[e] = true
	}
}

func (o *order) all(exprs ...ast.Expr) (x effects) {
	for _, e := range exprs {
		x = o.then(x, o.of(e))
	}
	return x
}

// then is what happens when y is evaluated after x.
func (o *order) then(x, y effects) effects {
	o.conflict = o.conflict || x.panics && y.calls
	return effects{x.panics || y.panics, x.calls || y.calls}
}

// call notes that e is done first.
func (o *order) call(e ast.Expr) effects {
	o.first = append(o.first, e)
	return effects{calls: true}
}

// converted is an expression that becomes a t: the compiler copies what it makes an interface of by address.
func (o *order) converted(e ast.Expr, t types.Type) effects {
	x := o.of(e)
	if from := o.l.c.Info.Types[e].Type; x.panics && t != nil && from != nil && types.IsInterface(t) && !types.IsInterface(from) && byAddress(from) && !o.addressable(e) {
		return o.call(e)
	}
	return x
}

// addressable reports whether e is storage, and no value.
func (o *order) addressable(e ast.Expr) bool {
	switch x := ast.Unparen(e).(type) {
	case *ast.Ident, *ast.StarExpr:
		return true
	case *ast.SelectorExpr:
		sel := o.l.c.Info.Selections[x]
		return sel == nil || sel.Indirect() || o.addressable(x.X)
	case *ast.IndexExpr:
		switch o.l.typeOf(x.X).Underlying().(type) {
		case *types.Slice, *types.Pointer:
			return true
		case *types.Array:
			return o.addressable(x.X)
		}
	}
	return false
}

func (o *order) of(e ast.Expr) effects {
	if e == nil {
		return effects{}
	}
	tv := o.l.c.Info.Types[e]
	if tv.Value != nil || tv.IsNil() || tv.IsType() {
		return effects{}
	}
	switch e := e.(type) {
	case *ast.ParenExpr:
		return o.of(e.X)
	case *ast.StarExpr:
		x := o.of(e.X)
		x.panics = true
		return x
	case *ast.SelectorExpr:
		return o.selector(e)
	case *ast.IndexExpr:
		return o.index(e)
	case *ast.SliceExpr:
		o.all(e.X, e.Low, e.High, e.Max)
		return o.call(e)
	case *ast.UnaryExpr:
		return o.of(e.X)
	case *ast.BinaryExpr:
		return o.binary(e)
	case *ast.TypeAssertExpr:
		x := o.of(e.X)
		if t := o.l.c.Info.Types[e.Type].Type; t != nil && pointerShaped(t) {
			x.panics = true
			return x
		}
		return o.call(e)
	case *ast.CompositeLit:
		return o.literal(e)
	case *ast.CallExpr:
		return o.callExpr(e)
	}
	return effects{}
}

func (o *order) selector(e *ast.SelectorExpr) effects {
	sel := o.l.c.Info.Selections[e]
	if sel == nil { // of a package
		return effects{}
	}
	x := o.of(e.X)
	_, pointer := sel.Recv().Underlying().(*types.Pointer)
	x.panics = x.panics || pointer || sel.Indirect()
	return x
}

func (o *order) index(e *ast.IndexExpr) effects {
	t := o.l.typeOf(e.X).Underlying()
	if m, ok := t.(*types.Map); ok {
		x := o.of(e.X)
		k := o.converted(e.Index, m.Key())
		o.key = o.key || k.panics
		x = o.then(x, k)
		x.panics = x.panics || mayNotCompare(m.Key())
		return x
	}
	x := o.all(e.X, e.Index)
	if _, array := t.(*types.Array); !array || o.l.c.Info.Types[e.Index].Value == nil {
		x.panics = true
	}
	return x
}

func (o *order) binary(e *ast.BinaryExpr) effects {
	if e.Op == token.LAND || e.Op == token.LOR {
		x := o.of(e.X)
		right := &order{l: o.l}
		y := right.of(e.Y)
		right.settle(false) // what is evaluated only sometimes cannot be put before the rest
		if x.any() || y.any() {
			return o.call(e)
		}
		return effects{}
	}
	x := o.all(e.X, e.Y)
	b, ok := basic(o.l.typeOf(e.X))
	constant := o.l.c.Info.Types[e.Y].Value != nil
	switch e.Op {
	case token.QUO, token.REM:
		x.panics = x.panics || ok && b.Info()&types.IsInteger != 0 && !constant
	case token.SHL, token.SHR:
		by, _ := basic(o.l.typeOf(e.Y))
		x.panics = x.panics || !constant && by != nil && by.Info()&types.IsUnsigned == 0
	case token.EQL, token.NEQ:
		x.panics = x.panics || mayNotCompare(o.l.typeOf(e.X)) && mayNotCompare(o.l.typeOf(e.Y))
	}
	return x
}

func (o *order) literal(e *ast.CompositeLit) (x effects) {
	t := o.l.typeOf(e)
	if p, ok := t.Underlying().(*types.Pointer); ok {
		t = p.Elem()
	}
	for i, elt := range e.Elts {
		switch u := t.Underlying().(type) {
		case *types.Struct:
			f := u.Field(min(i, u.NumFields()-1))
			if kv, ok := elt.(*ast.KeyValueExpr); ok {
				f, elt = fieldNamed(u, kv.Key.(*ast.Ident).Name), kv.Value
			}
			x = o.then(x, o.converted(elt, f.Type()))
		case *types.Map:
			if kv, ok := elt.(*ast.KeyValueExpr); ok {
				x = o.then(x, o.converted(kv.Key, u.Key()))
				x = o.then(x, o.converted(kv.Value, u.Elem()))
				x.panics = x.panics || mayNotCompare(u.Key())
			}
		case interface{ Elem() types.Type }:
			if kv, ok := elt.(*ast.KeyValueExpr); ok {
				elt = kv.Value
			}
			x = o.then(x, o.converted(elt, u.Elem()))
		}
	}
	if _, ok := t.Underlying().(*types.Map); ok && x.any() {
		return o.call(e)
	}
	return x
}

func (o *order) callExpr(e *ast.CallExpr) effects {
	tv := o.l.c.Info.Types[e.Fun]
	if tv.IsType() {
		return o.converted(e.Args[0], tv.Type)
	}
	if tv.IsBuiltin() {
		return o.builtin(e)
	}
	var x effects
	sig, ok := o.l.typeOf(e.Fun).Underlying().(*types.Signature)
	if sel, method := ast.Unparen(e.Fun).(*ast.SelectorExpr); method {
		x = o.selector(sel)
	} else {
		x = o.of(ast.Unparen(e.Fun))
	}
	for i, a := range e.Args {
		var to types.Type
		if _, tuple := o.l.c.Info.Types[a].Type.(*types.Tuple); ok && !tuple {
			to = parameter(sig, i, e.Ellipsis.IsValid())
		}
		x = o.then(x, o.converted(a, to))
	}
	return o.call(e)
}

func (o *order) builtin(e *ast.CallExpr) effects {
	id, ok := ast.Unparen(e.Fun).(*ast.Ident)
	if !ok {
		return effects{}
	}
	switch id.Name {
	case "len", "cap", "min", "max":
		return o.all(e.Args...)
	case "make":
		if o.all(e.Args[1:]...); o.l.variableSize(e.Args[1:]) {
			return o.call(e)
		}
		return effects{}
	case "new":
		return effects{}
	}
	o.all(e.Args...)
	return o.call(e)
}

// operands are what an assignment of several values evaluates of a place before the values.
func (o *order) operands(e ast.Expr) effects {
	switch e := ast.Unparen(e).(type) {
	case *ast.IndexExpr:
		return o.all(e.X, e.Index)
	case *ast.StarExpr:
		return o.of(e.X)
	case *ast.SelectorExpr:
		return o.of(e.X)
	}
	return effects{}
}

// mayNotCompare reports whether comparing values of t may panic, because of an interface in them.
func mayNotCompare(t types.Type) bool {
	switch u := t.Underlying().(type) {
	case *types.Interface:
		return true
	case *types.Array:
		return mayNotCompare(u.Elem())
	case *types.Struct:
		for f := range u.Fields() {
			if mayNotCompare(f.Type()) {
				return true
			}
		}
	}
	return false
}

// pointerShaped reports whether an interface holds values of t as they are: pointers, maps, channels, functions, and what consists of one.
func pointerShaped(t types.Type) bool {
	switch u := t.Underlying().(type) {
	case *types.Pointer, *types.Map, *types.Chan, *types.Signature:
		return true
	case *types.Basic:
		return u.Kind() == types.UnsafePointer
	case *types.Array:
		return u.Len() == 1 && pointerShaped(u.Elem())
	case *types.Struct:
		return u.NumFields() == 1 && pointerShaped(u.Field(0).Type())
	}
	return false
}

// byAddress reports whether the compiler makes an interface of the address of a t, rather than of its value.
func byAddress(t types.Type) bool {
	if pointerShaped(t) {
		return false
	}
	switch u := t.Underlying().(type) {
	case *types.Slice:
		return false
	case *types.Basic:
		if u.Info()&types.IsString != 0 {
			return false
		}
	}
	sizes := types.SizesFor("gc", runtime.GOARCH)
	size, align := sizes.Sizeof(t), sizes.Alignof(t)
	return !(size == align && (size == 2 || size == 4 || size == 8) && !hasPointers(t))
}

func hasPointers(t types.Type) bool {
	switch u := t.Underlying().(type) {
	case *types.Basic:
		return u.Info()&types.IsString != 0 || u.Kind() == types.UnsafePointer
	case *types.Array:
		return u.Len() > 0 && hasPointers(u.Elem())
	case *types.Struct:
		for f := range u.Fields() {
			if hasPointers(f.Type()) {
				return true
			}
		}
		return false
	}
	return true
}
