package interp

import (
	"go/ast"
	"go/token"
	"go/types"
	"strings"

	"github.com/gander-go/gander/kernel/eval/check"
)

func (l *lowering) typeOf(e ast.Expr) types.Type {
	if t := l.c.Info.Types[e].Type; t != nil {
		return t
	}
	if id, ok := e.(*ast.Ident); ok {
		if obj := l.c.Info.ObjectOf(id); obj != nil {
			return obj.Type()
		}
	}
	refuse("has an expression whose type is not known")
	return nil
}

// expr lowers an expression with one value; it is the whitelist of expressions.
func (l *lowering) expr(e ast.Expr) string {
	tv := l.c.Info.Types[e]
	if tv.Value != nil {
		return l.constant(tv)
	}
	if tv.IsNil() {
		return "nil"
	}
	switch e := e.(type) {
	case *ast.ParenExpr:
		return "(" + l.expr(e.X) + ")"
	case *ast.Ident:
		return l.ident(e)
	case *ast.BinaryExpr:
		return l.binary(e)
	case *ast.UnaryExpr:
		return l.unary(e)
	case *ast.StarExpr:
		return "(*" + l.expr(e.X) + ")"
	case *ast.IndexExpr:
		return l.index(e)
	case *ast.SliceExpr:
		return l.slice(e)
	case *ast.SelectorExpr:
		return l.selector(e)
	case *ast.CallExpr:
		if t, ok := tv.Type.(*types.Tuple); ok && t.Len() != 1 {
			refuse("uses a call with %d values as one", t.Len())
		}
		return l.call(e)
	case *ast.CompositeLit:
		return l.composite(e)
	case *ast.TypeAssertExpr:
		return l.assertion(e)
	case *ast.FuncLit:
		refuse("has a function literal")
	}
	refuse("has an expression (%T) that is not trusted to the interpreter", e)
	return ""
}

func (l *lowering) ident(id *ast.Ident) string {
	switch obj := l.c.Info.ObjectOf(id).(type) {
	case *types.Var:
		if sym := l.c.Symbol(obj); sym != nil {
			return l.variable(sym, id.Name)
		}
		return id.Name
	case *types.Func:
		refuse("uses the function %s as a value", id.Name)
	}
	refuse("uses the name %s", id.Name)
	return ""
}

// place is an expression that can be assigned to.
func (l *lowering) place(e ast.Expr) string {
	switch x := ast.Unparen(e).(type) {
	case *ast.Ident:
		if x.Name == "_" {
			return "_"
		}
		return l.ident(x)
	case *ast.StarExpr, *ast.SelectorExpr:
		return l.expr(x)
	case *ast.IndexExpr:
		return l.index(x)
	}
	refuse("assigns to something that is not trusted to the interpreter")
	return ""
}

func basic(t types.Type) (*types.Basic, bool) {
	b, ok := t.Underlying().(*types.Basic)
	return b, ok
}

func (l *lowering) binary(e *ast.BinaryExpr) string {
	x, y := l.typeOf(e.X), l.typeOf(e.Y)
	switch e.Op {
	case token.EQL, token.NEQ:
		l.comparable(e, x, y)
	case token.SHL, token.SHR:
		if _, ok := l.constInt(e.Y); !ok {
			refuse("shifts by a number that is not constant")
		}
		if b, _ := basic(x); b == nil || b.Info()&types.IsUntyped != 0 {
			refuse("shifts an untyped constant")
		}
	default:
		bx, ok := basic(x)
		by, ok2 := basic(y)
		if !ok || !ok2 || bx.Info()&types.IsComplex != 0 || by.Info()&types.IsComplex != 0 {
			refuse("computes with values of type %s", x)
		}
	}
	return "(" + l.expr(e.X) + " " + e.Op.String() + " " + l.expr(e.Y) + ")"
}

// comparable refuses comparisons other than of basic values and of anything with nil.
func (l *lowering) comparable(e *ast.BinaryExpr, x, y types.Type) {
	isNil := func(e ast.Expr) bool { return l.c.Info.Types[e].IsNil() }
	if isNil(e.X) || isNil(e.Y) {
		return
	}
	_, ok := basic(x)
	_, ok2 := basic(y)
	if !ok || !ok2 {
		refuse("compares values of type %s", x)
	}
}

func (l *lowering) unary(e *ast.UnaryExpr) string {
	switch e.Op {
	case token.ADD, token.SUB, token.NOT, token.XOR:
		if b, ok := basic(l.typeOf(e.X)); !ok || b.Info()&types.IsComplex != 0 {
			refuse("computes with a value of type %s", l.typeOf(e.X))
		}
		return "(" + e.Op.String() + l.expr(e.X) + ")"
	case token.AND:
		switch x := ast.Unparen(e.X).(type) {
		case *ast.CompositeLit:
			if _, ok := l.typeOf(x).Underlying().(*types.Struct); ok {
				return "(&" + l.composite(x) + ")"
			}
		case *ast.Ident:
			if sym := l.c.Symbol(l.c.Info.ObjectOf(x)); sym != nil && sym.Kind == check.VarSymbol {
				l.variable(sym, x.Name)
				return "v__" + sym.Name
			}
		}
		refuse("takes an address")
	}
	refuse("receives from a channel")
	return ""
}

func (l *lowering) index(e *ast.IndexExpr) string {
	if tv := l.c.Info.Types[e.Index]; tv.IsType() {
		refuse("instantiates a generic function or type")
	}
	t := l.typeOf(e.X)
	switch u := t.Underlying().(type) {
	case *types.Slice, *types.Array, *types.Map:
	case *types.Basic:
		if u.Info()&types.IsString == 0 {
			refuse("indexes a value of type %s", t)
		}
	default:
		refuse("indexes a value of type %s", t)
	}
	return "(" + l.expr(e.X) + ")[" + l.expr(e.Index) + "]"
}

func (l *lowering) slice(e *ast.SliceExpr) string {
	switch u := l.typeOf(e.X).Underlying().(type) {
	case *types.Slice:
	case *types.Basic:
		if u.Info()&types.IsString == 0 {
			refuse("slices a value of type %s", u)
		}
	default:
		refuse("slices a value of type %s", l.typeOf(e.X))
	}
	var b strings.Builder
	b.WriteString("(" + l.expr(e.X) + ")[")
	for i, x := range []ast.Expr{e.Low, e.High, e.Max} {
		if i > 0 && (i == 1 || e.Slice3) {
			b.WriteString(":")
		}
		if x != nil {
			b.WriteString(l.expr(x))
		}
	}
	return b.String() + "]"
}

// selector lowers a field of a value, or a variable of a package.
func (l *lowering) selector(e *ast.SelectorExpr) string {
	if id, ok := e.X.(*ast.Ident); ok {
		if pn, ok := l.c.Info.Uses[id].(*types.PkgName); ok {
			if _, ok := l.c.Info.Uses[e.Sel].(*types.Var); !ok {
				refuse("uses %s.%s as a value", id.Name, e.Sel.Name)
			}
			return l.pkg(pn.Imported()) + "." + e.Sel.Name
		}
	}
	sel := l.c.Info.Selections[e]
	if sel == nil || sel.Kind() != types.FieldVal {
		refuse("uses the method %s as a value", e.Sel.Name)
	}
	if !sel.Obj().Exported() {
		refuse("uses the unexported field %s", e.Sel.Name)
	}
	if len(sel.Index()) != 1 {
		refuse("uses the field %s of an embedded struct", e.Sel.Name)
	}
	return "(" + l.expr(e.X) + ")." + e.Sel.Name
}

func (l *lowering) assertion(e *ast.TypeAssertExpr) string {
	t := l.typeOf(e.Type)
	if types.IsInterface(t) {
		refuse("asserts an interface type")
	}
	return "(" + l.expr(e.X) + ").(" + l.typ(t) + ")"
}

func (l *lowering) composite(e *ast.CompositeLit) string {
	t := l.typeOf(e)
	ptr := ""
	if p, ok := t.Underlying().(*types.Pointer); ok { // an elided &T in a list of pointers
		t, ptr = p.Elem(), "&"
	}
	st, _ := t.Underlying().(*types.Struct)
	var elts []string
	for i, x := range e.Elts {
		kv, keyed := x.(*ast.KeyValueExpr)
		switch {
		case st != nil && keyed:
			field := kv.Key.(*ast.Ident).Name
			l.exportedField(field)
			elts = append(elts, field+": "+l.expr(kv.Value))
		case st != nil:
			l.exportedField(st.Field(i).Name())
			elts = append(elts, st.Field(i).Name()+": "+l.expr(x))
		case keyed:
			if _, ok := t.Underlying().(*types.Map); !ok {
				refuse("lists elements by index")
			}
			elts = append(elts, l.expr(kv.Key)+": "+l.expr(kv.Value))
		default:
			elts = append(elts, l.expr(x))
		}
	}
	return ptr + l.typ(t) + "{" + strings.Join(elts, ", ") + "}"
}

func (l *lowering) exportedField(name string) {
	if !token.IsExported(name) {
		refuse("sets the unexported field %s", name)
	}
}
