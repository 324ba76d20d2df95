package interp

import (
	"go/ast"
	"go/token"
	"go/types"
)

// Go leaves open in which order a statement's calls come, and the run-time checks of its other operations and the reads of its variables, and the
// compiler's answer is not from left to right: calls come first (with assertions, slicing, map literals, && and ||, in the order of the
// text), then everything else. What is interpreted goes from left to right. The two differ when an operation that may panic stands before
// such a call, or a variable before a call that may change it; then the lowered code makes the calls first, too, and keeps their values
// in variables.

// effects are what evaluating an expression may do besides yielding a value.
type effects struct {
	panics  bool // a run-time check that the compiler leaves where it stands
	reads   bool // a variable is read there
	calls   bool // something that the compiler does first, and that may be noticed
	changes bool // of that, a call that may change variables
}

func (x effects) any() bool { return x.panics || x.calls }

func (x effects) and(y effects) effects {
	return effects{x.panics || y.panics, x.reads || y.reads, x.calls || y.calls, x.changes || y.changes}
}

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
	o.conflict = o.conflict || x.panics && y.calls || x.reads && y.changes
	return x.and(y)
}

// early notes that e, whose parts have the effects x, is done first.
func (o *order) early(e ast.Expr, x effects) effects {
	if x == (effects{}) {
		return x
	}
	o.first = append(o.first, e)
	return effects{calls: x.any(), changes: x.changes}
}

// call is early for what can be noticed in any case.
func (o *order) call(e ast.Expr, x effects) effects {
	x.calls = true
	return o.early(e, x)
}

// converted is an expression that becomes a t: the compiler copies what it makes an interface of by address.
func (o *order) converted(e ast.Expr, t types.Type) effects {
	x := o.of(e)
	if from := o.l.c.Info.Types[e].Type; (x.panics || x.reads) && t != nil && from != nil && types.IsInterface(t) && !types.IsInterface(from) && byAddress(from) && !o.addressable(e) {
		return o.early(e, x)
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
	case *ast.Ident:
		_, variable := o.l.c.Info.ObjectOf(e).(*types.Var)
		return effects{reads: variable}
	case *ast.ParenExpr:
		return o.of(e.X)
	case *ast.StarExpr:
		x := o.of(e.X)
		x.panics, x.reads = true, true
		return x
	case *ast.SelectorExpr:
		return o.selector(e)
	case *ast.IndexExpr:
		return o.index(e)
	case *ast.SliceExpr:
		return o.call(e, o.all(e.X, e.Low, e.High, e.Max))
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
		return o.call(e, x)
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
		_, variable := o.l.c.Info.Uses[e.Sel].(*types.Var)
		return effects{reads: variable}
	}
	x := o.of(e.X)
	_, pointer := sel.Recv().Underlying().(*types.Pointer)
	x.panics = x.panics || pointer || sel.Indirect()
	x.reads = x.reads || x.panics
	return x
}

func (o *order) index(e *ast.IndexExpr) effects {
	t := o.l.typeOf(e.X).Underlying()
	if m, ok := t.(*types.Map); ok {
		x := o.of(e.X)
		k := o.converted(e.Index, m.Key())
		o.key = o.key || k.panics
		x = o.then(x, k)
		x.panics, x.reads = x.panics || mayNotCompare(m.Key()), true
		if c, ok := ast.Unparen(e.Index).(*ast.CallExpr); ok && o.l.c.Info.Types[c.Fun].IsType() && text(o.l.typeOf(c.Args[0])) {
			return o.early(e, x)
		}
		return x
	}
	x := o.all(e.X, e.Index)
	x.reads = true
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
		return o.early(e, x.and(y))
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
		switch o.l.typeOf(e.X).Underlying().(type) {
		case *types.Struct, *types.Array: // copied before they are compared
			if !o.addressable(e.X) || !o.addressable(e.Y) {
				return o.early(e, x)
			}
		}
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
			if kv, ok := elt.(*ast.KeyValueExpr); ok { // one after the other
				entry := &order{l: o.l}
				y := entry.then(entry.converted(kv.Key, u.Key()), entry.converted(kv.Value, u.Elem()))
				entry.conflict = entry.conflict || x.reads && y.changes // yaegi reads variables last
				entry.settle(false)
				x = x.and(y)
				x.panics = x.panics || mayNotCompare(u.Key())
			}
		case interface{ Elem() types.Type }:
			if kv, ok := elt.(*ast.KeyValueExpr); ok {
				elt = kv.Value
			}
			x = o.then(x, o.converted(elt, u.Elem()))
		}
	}
	if isMap(t) {
		return o.early(e, x)
	}
	return x
}

func (o *order) callExpr(e *ast.CallExpr) effects {
	tv := o.l.c.Info.Types[e.Fun]
	if tv.IsType() {
		x := o.converted(e.Args[0], tv.Type)
		if text(tv.Type) {
			return o.early(e, x)
		}
		return x
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
	x.changes = x.changes || !o.leavesAlone(e, sig)
	return o.call(e, x)
}

// leavesAlone reports whether a call cannot change variables: the callee is a package's, and gets numbers and strings only.
func (o *order) leavesAlone(e *ast.CallExpr, sig *types.Signature) bool {
	f, ok := ast.Unparen(e.Fun).(*ast.SelectorExpr)
	if !ok || sig == nil || o.l.c.Info.Selections[f] != nil {
		return false
	}
	if _, ok := o.l.c.Info.Uses[f.Sel].(*types.Func); !ok {
		return false
	}
	for p := range sig.Params().Variables() {
		if _, ok := basic(p.Type()); !ok {
			return false
		}
	}
	return true
}

func (o *order) builtin(e *ast.CallExpr) effects {
	id, ok := ast.Unparen(e.Fun).(*ast.Ident)
	if !ok {
		return effects{}
	}
	switch id.Name {
	case "len", "cap", "min", "max":
		return o.early(e, o.all(e.Args...))
	case "make":
		x := o.all(e.Args[1:]...)
		if o.l.variableSize(e.Args[1:]) {
			return o.call(e, x)
		}
		return effects{}
	case "new":
		return effects{}
	}
	x := o.all(e.Args...)
	x.changes = x.changes || id.Name != "append"
	return o.call(e, x)
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
