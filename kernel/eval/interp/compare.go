package interp

import (
	"go/ast"
	"go/token"
	"go/types"
)

// equality lowers == and !=. Basic values are compared by yaegi; of slices, maps and functions there is only the comparison with nil;
// everything else is compared by the session process, as values of type any, which is what Go does with interfaces.
func (l *lowering) equality(e *ast.BinaryExpr, x, y types.Type) string {
	isNil := func(e ast.Expr) bool { return l.c.Info.Types[e].IsNil() }
	operand := e.X
	if isNil(e.X) {
		operand = e.Y
	}
	if isNil(e.X) || isNil(e.Y) {
		l.use(nilComparison)
		return l.negated(e.Op) + l.isNil(l.typeOf(operand), l.expr(operand))
	}
	_, ok := basic(x)
	_, ok2 := basic(y)
	if ok && ok2 {
		l.use(equality)
		return "(" + l.expr(e.X) + " " + e.Op.String() + " " + l.expr(e.Y) + ")"
	}
	for _, t := range []types.Type{x, y} {
		l.typ(t) // one that the interpreter can handle
	}
	l.use(deepEquality)
	return l.negated(e.Op) + session + ".Equal(" + l.value(e.X, anyType) + ", " + l.value(e.Y, anyType) + ")"
}

// isNil compares x, of type t, with nil: an interface that holds a nil pointer is not nil.
func (l *lowering) isNil(t types.Type, x string) string {
	if types.IsInterface(t) {
		return session + ".NoValue(" + l.converted(x, t, anyType) + ")"
	}
	return session + ".IsNil(" + x + ")"
}

func (l *lowering) negated(op token.Token) string {
	if op == token.NEQ {
		return "!"
	}
	return ""
}

// shift lowers << and >>. A count that may be negative goes through a check: yaegi would take it as a large one.
func (l *lowering) shift(e *ast.BinaryExpr, x types.Type) string {
	if b, _ := basic(x); b == nil || b.Info()&types.IsUntyped != 0 {
		refuse("shifts an untyped constant")
	}
	l.use(shift)
	return l.typ(l.typeOf(e)) + "(" + l.expr(e.X) + " " + e.Op.String() + " " + l.count(e.Y) + ")"
}

// count is the right operand of a shift.
func (l *lowering) count(e ast.Expr) string {
	if _, ok := l.constInt(e); ok {
		return l.expr(e)
	}
	b, ok := basic(l.typeOf(e))
	if !ok {
		refuse("shifts by a value of type %s", l.typeOf(e))
	}
	l.use(shiftByVariable)
	if b.Info()&types.IsUnsigned != 0 {
		return session + ".Count(uint64(" + l.expr(e) + "))"
	}
	return session + ".SignedCount(int64(" + l.expr(e) + "))"
}
