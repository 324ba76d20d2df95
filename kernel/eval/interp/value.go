package interp

import (
	"go/ast"
	"go/types"
)

var anyType = types.Universe.Lookup("any").Type()

// value lowers an expression that is assigned to something of type t, be it a variable, a parameter or an element.
func (l *lowering) value(e ast.Expr, t types.Type) string {
	tv := l.c.Info.Types[e]
	if tv.IsNil() {
		l.use(nilValue)
		return session + "." + l.helper("O", l.reflectable(t), "") + "()"
	}
	return l.converted(l.expr(e), tv.Type, t)
}

// converted converts x, of type from, to the type of what it is assigned to. From one interface to another the session
// process does it: yaegi loses that a compiled interface is nil.
func (l *lowering) converted(x string, from, to types.Type) string {
	if from == nil || !types.IsInterface(from) || !types.IsInterface(to) || types.Identical(from, to) {
		return x
	}
	if i := from.Underlying().(*types.Interface); !i.Empty() || !isAny(from) {
		l.typ(from)
		x = session + "." + l.helper("U", l.reflectable(from), "") + "(" + x + ")"
	}
	if isAny(to) {
		return x
	}
	l.typ(to)
	return session + "." + l.helper("J", l.reflectable(to), "") + "(" + x + ")"
}

// isAny reports whether t is the empty interface without a name of its own.
func isAny(t types.Type) bool {
	i, ok := types.Unalias(t).(*types.Interface)
	return ok && i.Empty()
}
