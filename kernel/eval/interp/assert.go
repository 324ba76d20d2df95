package interp

import (
	"fmt"
	"go/ast"
	"go/types"
)

// assertion lowers x.(T). The session process asserts: yaegi does not know interfaces that were compiled, and its errors
// say something else than Go's.
func (l *lowering) assertion(e *ast.TypeAssertExpr) string {
	l.use(assertion)
	return session + "." + l.asserter("A", e.X, l.typeOf(e.Type)) + "(" + l.value(e.X, anyType) + ")"
}

// assertion2 is the form with two values.
func (l *lowering) assertion2(e *ast.TypeAssertExpr) string {
	l.use(commaOkAssertion)
	return session + "." + l.asserter("C", e.X, l.typeOf(e.Type)) + "(" + l.value(e.X, anyType) + ")"
}

// asserter is the name of a function of the session process that asserts values of x's type to be a t.
func (l *lowering) asserter(kind string, x ast.Expr, t types.Type) string {
	l.typ(t)
	static := types.Unalias(l.typeOf(x))
	note := types.TypeString(static, func(p *types.Package) string {
		if p == l.c.Pkg {
			return "main"
		}
		return p.Name()
	})
	if i, ok := static.(*types.Interface); ok && i.Empty() {
		note = "interface {}"
	}
	return l.helper(kind, l.reflectable(t), note)
}

// helper names a function that the session process makes for a type. note is what it may say in an error.
func (l *lowering) helper(kind, typ, note string) string {
	key := kind + "|" + typ + "|" + note
	name, ok := l.helpers[key]
	if !ok {
		name = fmt.Sprintf("%s_%d", kind, len(l.helpers))
		l.helpers[key] = name
		l.names[name+"|"+typ+"|"+note] = true
	}
	return name
}

// typeSwitch lowers a type switch as a chain of assertions.
func (l *lowering) typeSwitch(s *ast.TypeSwitchStmt) {
	l.use(typeSwitch)
	l.at(s.Pos())
	l.writef("{\n")
	if s.Init != nil {
		l.stmt(s.Init)
	}
	var assert *ast.TypeAssertExpr
	switch a := s.Assign.(type) {
	case *ast.ExprStmt:
		assert = ast.Unparen(a.X).(*ast.TypeAssertExpr)
	case *ast.AssignStmt:
		assert = ast.Unparen(a.Rhs[0]).(*ast.TypeAssertExpr)
		l.localName(a.Lhs[0].(*ast.Ident).Name)
	}
	x := l.temp()
	l.ordered(true, assert.X)
	l.writef("var %s interface{} = %s\n", x, l.value(assert.X, anyType))
	var def *ast.CaseClause
	depth := 0
	for _, c := range s.Body.List {
		cc := c.(*ast.CaseClause)
		l.noBreak(cc.Body)
		if cc.List == nil {
			def = cc
			continue
		}
		if depth > 0 {
			l.writef("} else {\n")
		}
		depth++
		l.typeCase(assert, cc, x)
	}
	if depth > 0 {
		l.writef("} else {\n")
	}
	if def != nil {
		l.caseBody(def, assert, x)
	}
	for range depth {
		l.writef("}\n}\n")
	}
	l.writef("}\n")
}

// typeCase opens one case: two blocks, of which the second is the if.
func (l *lowering) typeCase(assert *ast.TypeAssertExpr, cc *ast.CaseClause, x string) {
	v := l.temp()
	l.writef("{\n")
	if len(cc.List) == 1 && !l.c.Info.Types[cc.List[0]].IsNil() {
		t := l.typeOf(cc.List[0])
		ok := l.temp()
		obj := l.c.Info.Implicits[cc]
		if obj == nil {
			v = "_"
		}
		l.writef("%s, %s := %s.%s(%s)\nif %s {\n", v, ok, session, l.asserter("C", assert.X, t), x, ok)
		if obj != nil {
			l.writef("%s := %s\n_ = %s\n", obj.Name(), v, obj.Name())
		}
		l.block(cc.Body)
		return
	}
	cond := ""
	for i, e := range cc.List {
		if i > 0 {
			cond += " || "
		}
		if l.c.Info.Types[e].IsNil() {
			cond += session + ".NoValue(" + x + ")"
		} else {
			cond += session + "." + l.helper("I", l.reflectable(l.typeOf(e)), "") + "(" + x + ")"
		}
	}
	l.writef("if %s {\n", cond)
	l.caseBody(cc, assert, x)
}

// caseBody is the body of a case in which the variable has the type of the operand.
func (l *lowering) caseBody(cc *ast.CaseClause, assert *ast.TypeAssertExpr, x string) {
	if obj := l.c.Info.Implicits[cc]; obj != nil {
		t := l.typeOf(assert.X)
		if i, ok := t.Underlying().(*types.Interface); !ok || !i.Empty() {
			refuse("names a value of type %s in a type switch", t)
		}
		l.writef("%s := %s\n_ = %s\n", obj.Name(), x, obj.Name())
	}
	l.block(cc.Body)
}
