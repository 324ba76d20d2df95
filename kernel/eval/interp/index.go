package interp

import (
	"go/ast"
	"go/types"
)

// index lowers x[i]. Where x can be written twice, i is checked by the session process: yaegi's own error does not tell the
// index and the length.
func (l *lowering) index(e *ast.IndexExpr) string {
	if tv := l.c.Info.Types[e.Index]; tv.IsType() {
		refuse("instantiates a generic function or type")
	}
	t := l.typeOf(e.X)
	checked := true
	switch u := t.Underlying().(type) {
	case *types.Slice:
		l.use(indexSlice)
	case *types.Array:
		l.use(indexArray)
	case *types.Map:
		l.use(indexMap)
		checked = false
	case *types.Basic:
		if u.Info()&types.IsString == 0 {
			refuse("indexes a value of type %s", t)
		}
		l.use(indexString)
	default:
		refuse("indexes a value of type %s", t)
	}
	i, x := "", l.expr(e.X)
	if m, ok := t.Underlying().(*types.Map); ok {
		i = l.value(e.Index, m.Key())
	} else {
		i = l.expr(e.Index)
	}
	if checked && !l.pure(e.X) && !l.placed {
		if _, array := t.Underlying().(*types.Array); !array {
			return session + "." + l.helper("X", l.reflectable(t), "") + "(" + x + ", " + l.asInt(e.Index, i) + ")"
		}
	}
	if checked && l.pure(e.X) {
		if _, array := t.Underlying().(*types.Array); !array || l.c.Info.Types[e.Index].Value == nil {
			i = session + ".Index(" + l.asInt(e.Index, i) + ", len(" + x + "))"
		}
	}
	return "(" + x + ")[" + i + "]"
}

// asInt is an index as an int. An untyped constant is one already.
func (l *lowering) asInt(e ast.Expr, spelled string) string {
	if b, ok := basic(l.typeOf(e)); ok && (b.Kind() == types.Int || b.Kind() == types.UntypedInt) {
		return spelled
	}
	return "int(" + spelled + ")"
}

// pure reports whether e can be evaluated twice: it reads variables and fields, and calls nothing.
func (l *lowering) pure(e ast.Expr) bool {
	if e == nil || l.c.Info.Types[e].Value != nil {
		return true
	}
	switch x := ast.Unparen(e).(type) {
	case *ast.Ident:
		return true
	case *ast.StarExpr:
		return l.pure(x.X)
	case *ast.SelectorExpr:
		return l.pure(x.X)
	case *ast.IndexExpr:
		return l.pure(x.X) && l.pure(x.Index)
	case *ast.BinaryExpr:
		return l.pure(x.X) && l.pure(x.Y)
	case *ast.UnaryExpr:
		return l.pure(x.X)
	case *ast.CallExpr:
		id, ok := x.Fun.(*ast.Ident)
		return ok && l.c.Info.Types[x.Fun].IsBuiltin() && (id.Name == "len" || id.Name == "cap") && l.pure(x.Args[0])
	}
	return false
}

// slice lowers x[i:j:k].
func (l *lowering) slice(e *ast.SliceExpr) string {
	size, check := "cap", "BoundsCap"
	switch u := l.typeOf(e.X).Underlying().(type) {
	case *types.Slice:
		l.use(sliceSlice)
	case *types.Basic:
		if u.Info()&types.IsString == 0 {
			refuse("slices a value of type %s", u)
		}
		l.use(sliceString)
		size, check = "len", "BoundsLen"
	case *types.Array:
		if !l.inMemory(e.X) {
			refuse("slices a local array")
		}
		l.use(sliceArray)
	default:
		refuse("slices a value of type %s", l.typeOf(e.X))
	}
	x := l.expr(e.X)
	bounds := [3]string{}
	for i, b := range []ast.Expr{e.Low, e.High, e.Max} {
		if b != nil {
			bounds[i] = l.asInt(b, l.expr(b))
		}
	}
	_, array := l.typeOf(e.X).Underlying().(*types.Array)
	if !e.Slice3 && !array && (!l.pure(e.X) || l.c.Info.Types[e.X].Value != nil) {
		name := l.helper("Y", l.reflectable(types.Default(l.typeOf(e.X))), "")
		for i, none := range []string{"0", "-1"} {
			if bounds[i] == "" {
				bounds[i] = none
			}
		}
		if e.High != nil {
			bounds[1] = session + ".Upper(" + bounds[1] + ")"
		}
		return session + "." + name + "(" + x + ", " + bounds[0] + ", " + bounds[1] + ")"
	}
	if !e.Slice3 && l.pure(e.X) && l.pure(e.High) {
		low, high := bounds[0], bounds[1]
		if low == "" {
			low = "0"
		}
		if high == "" {
			high = "len(" + x + ")"
		}
		bounds[0] = session + "." + check + "(" + low + ", " + high + ", " + size + "(" + x + "))"
	}
	s := "(" + x + ")[" + bounds[0] + ":" + bounds[1]
	if e.Slice3 {
		s += ":" + bounds[2]
	}
	return s + "]"
}
