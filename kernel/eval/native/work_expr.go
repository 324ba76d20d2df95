package native

import (
	"go/ast"
	"go/token"
	"go/types"
)

func (w *work) expr(x ast.Expr) {
	if x == nil || w.long || w.c.Info.Types[x].Value != nil {
		return
	}
	switch x := x.(type) {
	case *ast.Ident, *ast.BasicLit:
	case *ast.ParenExpr:
		w.expr(x.X)
	case *ast.SelectorExpr:
		w.steps++
		sel := w.c.Info.Selections[x]
		switch {
		case sel == nil: // of a package
		case sel.Kind() == types.FieldVal:
			w.expr(x.X)
		default:
			w.long = true
		}
	case *ast.IndexExpr:
		w.steps++
		w.long = w.long || !isIndexable(w.c.Info.TypeOf(x.X))
		w.expr(x.X)
		w.expr(x.Index)
	case *ast.SliceExpr:
		w.steps += 2
		w.long = w.long || !isIndexable(w.c.Info.TypeOf(x.X))
		w.expr(x.X)
		w.expr(x.Low)
		w.expr(x.High)
		w.expr(x.Max)
	case *ast.StarExpr:
		w.steps++
		w.expr(x.X)
	case *ast.UnaryExpr:
		w.steps++
		w.long = w.long || x.Op == token.AND || x.Op == token.ARROW
		w.expr(x.X)
	case *ast.BinaryExpr:
		w.binary(x)
	case *ast.CompositeLit:
		w.literal(x)
	case *ast.CallExpr:
		w.call(x)
	default:
		w.long = true
	}
}

// isIndexable reports whether x[i] of an x of type t is a look into memory.
func isIndexable(t types.Type) bool {
	switch u := t.Underlying().(type) {
	case *types.Slice, *types.Array:
		return true
	case *types.Basic:
		return u.Info()&types.IsString != 0
	case *types.Pointer:
		_, ok := u.Elem().Underlying().(*types.Array)
		return ok
	}
	return false
}

func (w *work) binary(x *ast.BinaryExpr) {
	w.steps++
	w.expr(x.X)
	w.expr(x.Y)
	switch x.Op {
	case token.QUO, token.REM:
		w.steps += 4
	case token.EQL, token.NEQ:
		if w.c.Info.Types[x.X].IsNil() || w.c.Info.Types[x.Y].IsNil() {
			return
		}
	}
	for _, y := range []ast.Expr{x.X, x.Y} {
		if !w.plain(y) {
			w.long = true
		}
	}
}

// plain reports whether operators take values of x's type in one step.
func (w *work) plain(x ast.Expr) bool {
	t := w.c.Info.TypeOf(x)
	return t != nil && isPlain(t)
}

func isPlain(t types.Type) bool {
	if p, ok := types.Unalias(t).(*types.TypeParam); ok {
		return onlyPlain(p.Constraint().Underlying())
	}
	switch u := t.Underlying().(type) {
	case *types.Basic:
		return u.Info()&types.IsString == 0
	case *types.Pointer:
		return true
	}
	return false
}

// onlyPlain reports whether a constraint is a union of numbers.
func onlyPlain(t types.Type) bool {
	i, ok := t.(*types.Interface)
	if !ok {
		return isPlain(t)
	}
	for n := range i.NumEmbeddeds() {
		switch e := i.EmbeddedType(n).(type) {
		case *types.Union:
			all := true
			for k := range e.Len() {
				all = all && onlyPlain(e.Term(k).Type().Underlying())
			}
			if all {
				return true
			}
		default:
			if onlyPlain(e.Underlying()) {
				return true
			}
		}
	}
	return false
}

func (w *work) literal(x *ast.CompositeLit) {
	t := w.c.Info.TypeOf(x)
	switch t.Underlying().(type) {
	case *types.Struct, *types.Array:
		w.copied(t)
	default:
		w.long = true
	}
	for _, e := range x.Elts {
		if kv, ok := e.(*ast.KeyValueExpr); ok {
			e = kv.Value
		}
		w.steps++
		w.values(e)
	}
}

// builtin is the name of the predeclared function that m calls, "" for others.
func (w *work) builtin(m *ast.CallExpr) string {
	if id, ok := ast.Unparen(m.Fun).(*ast.Ident); ok {
		if b, ok := w.c.Info.Uses[id].(*types.Builtin); ok {
			return b.Name()
		}
	}
	return ""
}

func (w *work) call(m *ast.CallExpr) {
	w.steps++
	tv := w.c.Info.Types[m.Fun]
	if tv.IsType() {
		w.long = w.long || len(m.Args) != 1 || !isPlain(tv.Type) || !w.plain(m.Args[0])
		w.values(m.Args...)
		return
	}
	switch w.builtin(m) {
	case "len", "cap", "real", "imag", "complex":
		for _, a := range m.Args {
			w.expr(a)
		}
		return
	case "min", "max":
		for _, a := range m.Args {
			w.expr(a)
			w.long = w.long || !w.plain(a)
		}
		return
	case "panic":
		w.values(m.Args...)
		return
	}
	w.function(m)
}

// function is a call of a function that is known to be short.
func (w *work) function(m *ast.CallExpr) {
	if w.u.o.Instrument || m.Ellipsis.IsValid() {
		w.long = true
		return
	}
	var fn *types.Func
	switch f := ast.Unparen(m.Fun).(type) {
	case *ast.Ident:
		fn, _ = w.c.Info.Uses[f].(*types.Func)
	case *ast.SelectorExpr:
		fn, _ = w.c.Info.Uses[f.Sel].(*types.Func)
		if sel := w.c.Info.Selections[f]; sel != nil {
			if sel.Kind() != types.MethodVal {
				fn = nil
			}
			w.expr(f.X)
			w.copied(w.c.Info.TypeOf(f.X))
			if fn != nil && takesAddress(fn, sel) {
				w.target(f.X)
			}
		}
	}
	if fn == nil || fn.Pkg() == nil {
		w.long = true
		return
	}
	w.values(m.Args...)
	if fn.Pkg() != w.c.Pkg {
		w.steps += w.std(fn, m)
		return
	}
	w.calls = true
	d := w.u.declaredAs(w.c.Symbol(fn))
	if w.long || d == nil || w.depth > 2 {
		w.long = true
		return
	}
	decl, ok := d.decl.Node.(*ast.FuncDecl)
	if !ok || decl.Body == nil {
		w.long = true
		return
	}
	in := &work{u: w.u, c: d.c, named: map[types.Object]bool{}, depth: w.depth + 1, steps: w.steps}
	in.stmt(decl.Body)
	w.steps, w.long = in.steps, in.long || in.steps > mostSteps
}

// shortFuncs are functions and methods of the standard library that end at once, whatever they are given. "*" stands for all of a package.
var shortFuncs = map[string][]string{
	"math":      {"*"},
	"math/bits": {"*"},
	"unicode":   {"IsControl", "IsDigit", "IsLetter", "IsLower", "IsNumber", "IsPunct", "IsSpace", "IsUpper", "ToLower", "ToUpper"},
	"unicode/utf8": {"DecodeLastRune", "DecodeLastRuneInString", "DecodeRune", "DecodeRuneInString", "EncodeRune", "RuneLen", "RuneStart",
		"ValidRune"},
	"strings": {"(*strings.Builder).WriteByte", "(*strings.Builder).WriteRune", "(*strings.Builder).Len", "(*strings.Builder).WriteString"},
	"bytes":   {"(*bytes.Buffer).WriteByte", "(*bytes.Buffer).WriteRune", "(*bytes.Buffer).Len", "(*bytes.Buffer).WriteString"},
}

// std is the steps of a call of the standard library.
func (w *work) std(fn *types.Func, m *ast.CallExpr) int {
	if fn.Name() == "WriteString" && w.c.Info.Types[m.Args[0]].Value == nil {
		w.long = true
		return 0
	}
	for _, name := range shortFuncs[fn.Pkg().Path()] {
		if name == "*" || name == fn.Name() && fn.Signature().Recv() == nil || name == fn.FullName() {
			return 20
		}
	}
	w.long = true
	return 0
}

// takesAddress reports whether a method is called with the address of a value that the call names.
func takesAddress(fn *types.Func, sel *types.Selection) bool {
	_, takes := stripPointer(fn.Signature().Recv().Type())
	_, has := stripPointer(sel.Recv())
	return takes && !has
}
