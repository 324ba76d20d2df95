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
		l.use(constants)
		return l.constant(tv)
	}
	if tv.IsNil() {
		l.use(nilValue)
		return "nil"
	}
	if l.early[e] {
		delete(l.early, e)
		x, t := l.expr(e), l.temp()
		l.writef("%s := %s\n", t, x)
		return t
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
		l.use(dereference)
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
			l.use(sessionVariable)
			return l.variable(sym, id.Name)
		}
		l.use(localVariable)
		return id.Name
	case *types.Func:
		l.use(functionValue)
		return l.function(id, obj)
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
	case *ast.StarExpr, *ast.SelectorExpr, *ast.IndexExpr:
		return l.inPlace(x)
	}
	refuse("assigns to something that is not trusted to the interpreter")
	return ""
}

// inPlace lowers an expression whose storage is meant, not its value.
func (l *lowering) inPlace(e ast.Expr) string {
	outer := l.placed
	l.placed = true
	s := l.expr(e)
	l.placed = outer
	return s
}

func basic(t types.Type) (*types.Basic, bool) {
	b, ok := t.Underlying().(*types.Basic)
	return b, ok
}

func (l *lowering) binary(e *ast.BinaryExpr) string {
	x, y := l.typeOf(e.X), l.typeOf(e.Y)
	switch e.Op {
	case token.EQL, token.NEQ:
		return l.equality(e, x, y)
	case token.SHL, token.SHR:
		return l.shift(e, x)
	}
	bx, ok := basic(x)
	by, ok2 := basic(y)
	if !ok || !ok2 || bx.Info()&types.IsComplex != 0 || by.Info()&types.IsComplex != 0 {
		refuse("computes with values of type %s", x)
	}
	switch e.Op {
	case token.LAND, token.LOR:
		l.use(logic)
	case token.LSS, token.LEQ, token.GTR, token.GEQ:
		l.use(ordering)
	default:
		l.useArithmetic(bx)
	}
	if e.Op == token.LAND || e.Op == token.LOR {
		return "(" + l.truth(e.X) + " " + e.Op.String() + " " + l.truth(e.Y) + ")"
	}
	s := "(" + l.expr(e.X) + " " + e.Op.String() + " " + l.expr(e.Y) + ")"
	if t := l.typeOf(e); e.Op.Precedence() > 3 && isTyped(t) {
		return l.typ(t) + s // in some places yaegi takes the type of ((*p) * 2) to be that of p, unless it is told
	}
	return s
}

// truth is an operand of && or ||. Where there is a literal in it, yaegi takes it for something else unless a call yields it.
func (l *lowering) truth(e ast.Expr) string {
	s := l.expr(e)
	literal := false
	ast.Inspect(e, func(n ast.Node) bool {
		_, lit := n.(*ast.CompositeLit)
		literal = literal || lit
		return !literal
	})
	if !literal {
		return s
	}
	return session + ".Truth(bool(" + s + "))"
}

func isTyped(t types.Type) bool {
	b, ok := t.(*types.Basic)
	return !ok || b.Info()&types.IsUntyped == 0
}

func (l *lowering) useArithmetic(b *types.Basic) {
	switch {
	case b.Info()&types.IsString != 0:
		l.use(concatenation)
	case b.Info()&types.IsFloat != 0:
		l.use(floatArithmetic)
	default:
		l.use(intArithmetic)
	}
}

func (l *lowering) unary(e *ast.UnaryExpr) string {
	switch e.Op {
	case token.ADD, token.SUB, token.NOT, token.XOR:
		if b, ok := basic(l.typeOf(e.X)); !ok || b.Info()&types.IsComplex != 0 {
			refuse("computes with a value of type %s", l.typeOf(e.X))
		}
		l.use(unaryOperator)
		if t := l.typeOf(e); e.Op != token.NOT && isTyped(t) {
			return l.typ(t) + "(" + e.Op.String() + l.expr(e.X) + ")"
		}
		return "(" + e.Op.String() + l.expr(e.X) + ")"
	case token.AND:
		return l.address(e.X)
	}
	refuse("receives from a channel")
	return ""
}

// address lowers &x: of struct literals, session variables, and elements and fields that are behind those or behind pointers.
func (l *lowering) address(e ast.Expr) string {
	switch x := ast.Unparen(e).(type) {
	case *ast.CompositeLit:
		if _, ok := l.typeOf(x).Underlying().(*types.Struct); ok {
			l.use(addressOfLiteral)
			return "(&" + l.composite(x) + ")"
		}
	case *ast.Ident:
		if sym := l.c.Symbol(l.c.Info.ObjectOf(x)); sym != nil && sym.Kind == check.VarSymbol {
			l.use(addressOfVariable)
			l.variable(sym, x.Name)
			return "v__" + sym.Name
		}
	case *ast.IndexExpr, *ast.SelectorExpr:
		if l.inMemory(x) {
			l.use(addressInside)
			return "(&" + l.inPlace(x) + ")"
		}
	}
	refuse("takes an address")
	return ""
}

// inMemory reports whether e is storage that compiled code has laid out: a session variable, what a pointer leads to, an
// element of a slice, or a part of those.
func (l *lowering) inMemory(e ast.Expr) bool {
	switch x := ast.Unparen(e).(type) {
	case *ast.Ident:
		sym := l.c.Symbol(l.c.Info.ObjectOf(x))
		return sym != nil && sym.Kind == check.VarSymbol
	case *ast.StarExpr:
		return true
	case *ast.SelectorExpr:
		sel := l.c.Info.Selections[x]
		if sel == nil || sel.Kind() != types.FieldVal {
			return false
		}
		_, ptr := l.typeOf(x.X).Underlying().(*types.Pointer)
		return ptr || l.inMemory(x.X)
	case *ast.IndexExpr:
		switch l.typeOf(x.X).Underlying().(type) {
		case *types.Slice:
			return true
		case *types.Array:
			return l.inMemory(x.X)
		}
	}
	return false
}

// selector lowers a field of a value, or a variable of a package.
func (l *lowering) selector(e *ast.SelectorExpr) string {
	if id, ok := e.X.(*ast.Ident); ok {
		if pn, ok := l.c.Info.Uses[id].(*types.PkgName); ok {
			switch obj := l.c.Info.Uses[e.Sel].(type) {
			case *types.Var:
				l.use(packageVariable)
			case *types.Func:
				if obj.Signature().TypeParams().Len() > 0 {
					refuse("uses the generic function %s.%s as a value", id.Name, e.Sel.Name)
				}
				l.use(functionValue)
			default:
				refuse("uses %s.%s as a value", id.Name, e.Sel.Name)
			}
			return l.pkg(pn.Imported()) + "." + e.Sel.Name
		}
	}
	sel := l.c.Info.Selections[e]
	if sel == nil || sel.Kind() != types.FieldVal {
		refuse("uses the method %s as a value", e.Sel.Name)
	}
	l.use(field)
	return l.path(l.expr(e.X), l.typeOf(e.X), sel.Index())
}

// path spells the selection of a field through the structs that are embedded on the way.
func (l *lowering) path(x string, t types.Type, index []int) string {
	if len(index) > 1 {
		l.use(promotion)
	}
	for _, i := range index {
		u := t.Underlying()
		if p, ok := u.(*types.Pointer); ok {
			u = p.Elem().Underlying()
		}
		st, ok := u.(*types.Struct)
		if !ok {
			refuse("selects from a value of type %s", t)
		}
		f := st.Field(i)
		if !f.Exported() {
			refuse("uses the unexported field %s", f.Name())
		}
		x, t = "("+x+")."+f.Name(), f.Type()
	}
	return x
}

func (l *lowering) composite(e *ast.CompositeLit) string {
	t := l.typeOf(e)
	ptr := ""
	if p, ok := t.Underlying().(*types.Pointer); ok { // an elided &T in a list of pointers
		t, ptr = p.Elem(), "&"
	}
	st, _ := t.Underlying().(*types.Struct)
	switch t.Underlying().(type) {
	case *types.Struct:
		l.use(structLiteral)
	case *types.Map:
		l.use(mapLiteral)
	case *types.Array:
		l.use(arrayLiteral)
	default:
		l.use(sliceLiteral)
	}
	var elts []string
	for i, x := range e.Elts {
		kv, keyed := x.(*ast.KeyValueExpr)
		if keyed && st == nil {
			m, ok := t.Underlying().(*types.Map)
			if !ok {
				refuse("lists elements by index")
			}
			elts = append(elts, l.value(kv.Key, m.Key())+": "+l.value(kv.Value, m.Elem()))
			continue
		}
		switch u := t.Underlying().(type) {
		case *types.Struct:
			f, v := u.Field(i), x
			if keyed {
				f, v = fieldNamed(u, kv.Key.(*ast.Ident).Name), kv.Value
			}
			l.exportedField(f.Name())
			elts = append(elts, f.Name()+": "+l.value(v, f.Type()))
		case interface{ Elem() types.Type }:
			elts = append(elts, l.value(x, u.Elem()))
		}
	}
	return ptr + l.typ(t) + "{" + strings.Join(elts, ", ") + "}"
}

func fieldNamed(st *types.Struct, name string) *types.Var {
	for f := range st.Fields() {
		if f.Name() == name {
			return f
		}
	}
	refuse("sets the field %s of an embedded struct", name)
	return nil
}

func (l *lowering) exportedField(name string) {
	if !token.IsExported(name) {
		refuse("sets the unexported field %s", name)
	}
}
