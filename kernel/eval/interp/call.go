package interp

import (
	"go/ast"
	"go/types"
	"strings"

	"github.com/gander-go/gander/kernel/eval/check"
)

// call lowers a call: of a package's or a session's function, of a method, of a function value, a conversion, or a
// builtin.
func (l *lowering) call(e *ast.CallExpr) string {
	fun := ast.Unparen(e.Fun)
	tv := l.c.Info.Types[e.Fun]
	switch {
	case tv.IsType():
		return l.conversion(tv.Type, e.Args[0])
	case tv.IsBuiltin():
		return l.builtin(fun, e)
	}
	sig, ok := l.typeOf(e.Fun).Underlying().(*types.Signature)
	if !ok {
		refuse("calls a value of type %s", l.typeOf(e.Fun))
	}
	if sig.TypeParams().Len() > 0 {
		refuse("calls a generic function")
	}
	if sig.RecvTypeParams().Len() > 0 {
		refuse("calls a method of a generic type")
	}
	return l.callee(fun) + "(" + l.args(e, sig) + ")"
}

func (l *lowering) callee(fun ast.Expr) string {
	switch f := fun.(type) {
	case *ast.Ident:
		if _, generic := l.c.Info.Instances[f]; generic {
			refuse("calls the generic function %s", f.Name)
		}
		switch obj := l.c.Info.Uses[f].(type) {
		case *types.Func:
			l.use(callFunction)
			return l.function(f, obj)
		case *types.Var:
			l.use(callValue)
			return l.ident(f)
		}
	case *ast.SelectorExpr:
		if inst, generic := l.c.Info.Instances[f.Sel]; generic {
			fn, ok := l.c.Info.Uses[f.Sel].(*types.Func)
			if !ok {
				refuse("uses the generic type %s", f.Sel.Name)
			}
			return l.generic(fn.Pkg().Path(), fn.Name(), inst)
		}
		if id, ok := f.X.(*ast.Ident); ok {
			if pn, ok := l.c.Info.Uses[id].(*types.PkgName); ok {
				l.use(callPackage)
				return l.pkg(pn.Imported()) + "." + f.Sel.Name
			}
		}
		sel := l.c.Info.Selections[f]
		if sel != nil && sel.Kind() == types.MethodVal {
			return l.method(f, sel)
		}
		l.use(callValue)
		return l.selector(f)
	case *ast.IndexExpr, *ast.CallExpr:
		l.use(callValue)
		return l.expr(fun)
	}
	refuse("calls something that is not trusted to the interpreter")
	return ""
}

// function is a function of the session.
func (l *lowering) function(id *ast.Ident, obj *types.Func) string {
	sym := l.c.Symbol(obj)
	if sym == nil || sym.Name != id.Name || sym.Kind != check.FuncSymbol {
		refuse("uses an older version of %s", id.Name)
	}
	if obj.Signature().TypeParams().Len() > 0 {
		refuse("uses the generic function %s as a value", id.Name)
	}
	l.names["F_"+sym.Name] = true
	return session + ".F_" + sym.Name
}

// method lowers the callee of a method call on an operand whose type was compiled.
func (l *lowering) method(f *ast.SelectorExpr, sel *types.Selection) string {
	if !sel.Obj().Exported() {
		refuse("calls the unexported method %s", f.Sel.Name)
	}
	t := types.Unalias(sel.Recv())
	x := ""
	if _, ptr := types.Unalias(sel.Obj().(*types.Func).Signature().Recv().Type()).(*types.Pointer); ptr {
		x = l.inPlace(f.X)
	} else {
		x = l.expr(f.X)
	}
	if ix := sel.Index(); len(ix) > 1 {
		ix = ix[:len(ix)-1]
		x = l.path(x, t, ix)
		t = types.Unalias(embedded(t, ix))
	}
	inMemory := l.inMemory(f.X)
	base := t
	p, pointer := t.(*types.Pointer)
	if pointer {
		base = types.Unalias(p.Elem())
	}
	if n, ok := base.(*types.Named); ok {
		if n.TypeArgs().Len() > 0 {
			refuse("calls a method of a generic type")
		}
		if sym := l.c.Symbol(n.Obj()); sym != nil {
			l.typ(n) // refuses older versions
		}
	}
	_, ptrRecv := types.Unalias(sel.Obj().(*types.Func).Signature().Recv().Type()).(*types.Pointer)
	switch {
	case types.IsInterface(t):
		l.use(callInterface)
	case ptrRecv && !pointer:
		if len(sel.Index()) == 1 && !inMemory {
			if _, ok := ast.Unparen(f.X).(*ast.Ident); !ok {
				refuse("calls the method %s with an address", f.Sel.Name)
			}
		}
		if len(sel.Index()) > 1 && !inMemory && !l.behindPointer(sel) {
			refuse("calls the method %s with an address", f.Sel.Name)
		}
		l.use(callAddressed)
		if inMemory || len(sel.Index()) > 1 {
			return "(&(" + x + "))." + f.Sel.Name
		}
	case ptrRecv:
		l.use(callPointer)
	case pointer:
		l.use(callDereferenced)
	default:
		l.use(callMethod)
	}
	return "(" + x + ")." + f.Sel.Name
}

// embedded is the type of the embedded field that index leads to.
func embedded(t types.Type, index []int) types.Type {
	for _, i := range index {
		u := t.Underlying()
		if p, ok := u.(*types.Pointer); ok {
			u = p.Elem().Underlying()
		}
		t = u.(*types.Struct).Field(i).Type()
	}
	return t
}

// behindPointer reports whether the way to the embedded operand goes through a pointer.
func (l *lowering) behindPointer(sel *types.Selection) bool {
	_, ok := sel.Recv().Underlying().(*types.Pointer)
	return ok
}

// addressed reports whether the method selected takes the address of its operand.
func (l *lowering) addressed(f *ast.SelectorExpr) bool {
	sel := l.c.Info.Selections[f]
	if sel == nil || sel.Kind() != types.MethodVal {
		return false
	}
	fn := sel.Obj().(*types.Func)
	_, ptrRecv := types.Unalias(fn.Signature().Recv().Type()).(*types.Pointer)
	_, ptrOperand := types.Unalias(sel.Recv()).(*types.Pointer)
	return ptrRecv && !ptrOperand
}

func (l *lowering) args(e *ast.CallExpr, sig *types.Signature) string {
	if len(e.Args) == 1 {
		if t, ok := l.typeOf(e.Args[0]).(*types.Tuple); ok && t.Len() > 1 {
			l.use(callOfCall)
			return l.call(ast.Unparen(e.Args[0]).(*ast.CallExpr))
		}
	}
	var args []string
	for i, a := range e.Args {
		args = append(args, l.value(a, parameter(sig, i, e.Ellipsis.IsValid())))
	}
	s := strings.Join(args, ", ")
	switch {
	case e.Ellipsis.IsValid():
		l.use(spreadCall)
		s += "..."
	case sig.Variadic():
		l.use(variadicCall)
	}
	return s
}

// parameter is the type of the parameter that argument i goes to; spread says that the last one is followed by "...".
func parameter(sig *types.Signature, i int, spread bool) types.Type {
	n := sig.Params().Len()
	if !sig.Variadic() || i < n-1 {
		return sig.Params().At(i).Type()
	}
	last := sig.Params().At(n - 1).Type()
	if s, ok := last.(*types.Slice); ok && !spread {
		return s.Elem()
	}
	return last
}

// conversion lowers T(x) between numbers, and between strings and slices of bytes or runes.
func (l *lowering) conversion(to types.Type, x ast.Expr) string {
	from := l.typeOf(x)
	bt, ok := basic(to)
	bf, ok2 := basic(from)
	numeric := func(b *types.Basic) bool {
		return b.Info()&(types.IsInteger|types.IsFloat) != 0 && b.Kind() != types.UnsafePointer
	}
	switch {
	case l.c.Info.Types[x].IsNil():
		return l.value(x, to)
	case types.IsInterface(to):
		l.use(interfaceConversion)
		if !types.IsInterface(from) {
			return session + "." + l.helper("J", l.reflectable(to), "") + "(" + l.value(x, anyType) + ")"
		}
		return l.value(x, to)
	case ok && ok2 && numeric(bt) && numeric(bf):
		l.use(numberConversion)
	case ok && ok2 && bt.Info()&types.IsString != 0 && bf.Info()&types.IsString != 0:
		l.use(stringConversion)
	case ok && bt.Info()&types.IsString != 0 && text(from), ok2 && bf.Info()&types.IsString != 0 && text(to):
		l.use(textConversion)
	case ok && ok2 && bt.Info()&types.IsString != 0 && bf.Info()&types.IsInteger != 0:
		l.use(runeConversion)
		return l.typ(to) + "(" + session + ".Rune(int64(" + l.expr(x) + ")))"
	default:
		refuse("converts %s to %s", from, to)
	}
	return l.typ(to) + "(" + l.expr(x) + ")"
}

// variableSize reports whether sizes given to make may be out of range, of which yaegi's error says something else than Go's.
func (l *lowering) variableSize(sizes []ast.Expr) bool {
	for _, s := range sizes {
		if l.c.Info.Types[s].Value == nil {
			return true
		}
	}
	return false
}

// text reports whether t is []byte or []rune.
func text(t types.Type) bool {
	s, ok := t.(*types.Slice)
	if !ok {
		return false
	}
	b, ok := s.Elem().(*types.Basic)
	return ok && (b.Kind() == types.Byte || b.Kind() == types.Rune)
}

func (l *lowering) builtin(fun ast.Expr, e *ast.CallExpr) string {
	id, ok := fun.(*ast.Ident)
	if !ok {
		refuse("uses package unsafe")
	}
	switch id.Name {
	case "len", "cap", "append", "copy", "delete":
		l.use(map[string]construct{"len": lenCap, "cap": lenCap, "append": appendCall, "copy": copyCall, "delete": deleteCall}[id.Name])
		var args []string
		for i, a := range e.Args {
			switch t := l.typeOf(e.Args[0]).Underlying().(type) {
			case *types.Slice:
				if id.Name == "append" && i > 0 && !e.Ellipsis.IsValid() {
					args = append(args, l.value(a, t.Elem()))
					continue
				}
			case *types.Map:
				if i > 0 {
					args = append(args, l.value(a, t.Key()))
					continue
				}
			}
			args = append(args, l.expr(a))
		}
		s := id.Name + "(" + strings.Join(args, ", ")
		if e.Ellipsis.IsValid() {
			s += "..."
		}
		return s + ")"
	case "min", "max":
		b, ok := basic(l.typeOf(e))
		if !ok {
			refuse("uses %s of values of type %s", id.Name, l.typeOf(e))
		}
		l.use(minMax)
		t := types.Type(l.typeOf(e))
		if b.Info()&types.IsUntyped != 0 {
			refuse("uses %s of untyped constants", id.Name)
		}
		var args []string
		for _, a := range e.Args {
			args = append(args, l.typ(t)+"("+l.expr(a)+")")
		}
		return session + "." + l.helper("B", l.reflectable(t), id.Name) + "(" + strings.Join(args, ", ") + ")"
	case "clear":
		l.use(clearCall)
		return session + ".Clear(" + l.expr(e.Args[0]) + ")"
	case "make":
		t := l.typeOf(e.Args[0])
		if _, ch := t.Underlying().(*types.Chan); ch {
			refuse("makes a channel")
		}
		l.use(makeCall)
		if _, ok := t.Underlying().(*types.Slice); ok && l.variableSize(e.Args[1:]) {
			l.typ(t)
			size, capacity := l.asInt(e.Args[1], l.expr(e.Args[1])), "-1"
			name := "M"
			if len(e.Args) == 3 {
				name, capacity = "N", l.asInt(e.Args[2], l.expr(e.Args[2]))
			}
			return session + "." + l.helper(name, l.reflectable(t), "") + "(" + size + ", " + capacity + ")"
		}
		args := []string{l.typ(t)}
		for _, a := range e.Args[1:] {
			args = append(args, l.expr(a))
		}
		return "make(" + strings.Join(args, ", ") + ")"
	case "panic":
		l.use(panicCall)
		return session + ".Panic(" + l.value(e.Args[0], anyType) + ")"
	}
	refuse("uses %s", id.Name)
	return ""
}
