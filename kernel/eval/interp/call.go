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
	if sig.TypeParams().Len() > 0 || sig.RecvTypeParams().Len() > 0 {
		refuse("calls a generic function")
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
			sym := l.c.Symbol(obj)
			if sym == nil || sym.Name != f.Name || sym.Kind != check.FuncSymbol {
				refuse("calls an older version of %s", f.Name)
			}
			l.names["F_"+sym.Name] = true
			return session + ".F_" + sym.Name
		case *types.Var:
			return l.ident(f)
		}
	case *ast.SelectorExpr:
		if _, generic := l.c.Info.Instances[f.Sel]; generic {
			refuse("calls the generic function %s", f.Sel.Name)
		}
		if id, ok := f.X.(*ast.Ident); ok {
			if pn, ok := l.c.Info.Uses[id].(*types.PkgName); ok {
				return l.pkg(pn.Imported()) + "." + f.Sel.Name
			}
		}
		sel := l.c.Info.Selections[f]
		if sel != nil && sel.Kind() == types.MethodVal {
			return l.method(f, sel)
		}
		return l.selector(f)
	case *ast.IndexExpr, *ast.CallExpr:
		return l.expr(fun)
	}
	refuse("calls something that is not trusted to the interpreter")
	return ""
}

// method lowers the callee of a method call on an operand whose type was compiled.
func (l *lowering) method(f *ast.SelectorExpr, sel *types.Selection) string {
	if !sel.Obj().Exported() {
		refuse("calls the unexported method %s", f.Sel.Name)
	}
	if len(sel.Index()) != 1 {
		refuse("calls the method %s of an embedded type", f.Sel.Name)
	}
	t := types.Unalias(sel.Recv())
	if p, ok := t.(*types.Pointer); ok {
		t = types.Unalias(p.Elem())
	}
	if n, ok := t.(*types.Named); ok {
		if n.TypeArgs().Len() > 0 {
			refuse("calls a method of a generic type")
		}
		if sym := l.c.Symbol(n.Obj()); sym != nil {
			l.typ(n) // refuses older versions
		}
	}
	if l.addressed(f) {
		// (&x).M() in Go; yaegi takes the address of a variable itself, but not of elements and fields.
		if _, ok := ast.Unparen(f.X).(*ast.Ident); !ok {
			refuse("calls the method %s with an address", f.Sel.Name)
		}
	}
	return "(" + l.expr(f.X) + ")." + f.Sel.Name
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
			return l.call(ast.Unparen(e.Args[0]).(*ast.CallExpr))
		}
	}
	var args []string
	for _, a := range e.Args {
		args = append(args, l.expr(a))
	}
	s := strings.Join(args, ", ")
	if e.Ellipsis.IsValid() {
		s += "..."
	}
	return s
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
	case ok && ok2 && numeric(bt) && numeric(bf):
	case ok && ok2 && bt.Info()&types.IsString != 0 && bf.Info()&types.IsString != 0:
	case ok && bt.Info()&types.IsString != 0 && text(from), ok2 && bf.Info()&types.IsString != 0 && text(to):
	default:
		refuse("converts %s to %s", from, to)
	}
	return l.typ(to) + "(" + l.expr(x) + ")"
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
		var args []string
		for _, a := range e.Args {
			args = append(args, l.expr(a))
		}
		s := id.Name + "(" + strings.Join(args, ", ")
		if e.Ellipsis.IsValid() {
			s += "..."
		}
		return s + ")"
	case "make":
		t := l.typeOf(e.Args[0])
		if _, ch := t.Underlying().(*types.Chan); ch {
			refuse("makes a channel")
		}
		args := []string{l.typ(t)}
		for _, a := range e.Args[1:] {
			args = append(args, l.expr(a))
		}
		return "make(" + strings.Join(args, ", ") + ")"
	case "panic":
		return session + ".Panic(" + l.expr(e.Args[0]) + ")"
	}
	refuse("uses %s", id.Name)
	return ""
}
