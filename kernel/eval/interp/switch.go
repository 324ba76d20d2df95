package interp

import (
	"go/ast"
	"go/token"
	"go/types"
	"strings"
)

func (l *lowering) switchStmt(s *ast.SwitchStmt) {
	l.at(s.Pos())
	l.writef("{\n")
	if s.Init != nil {
		l.stmt(s.Init)
	}
	// Cases become a chain of ifs: yaegi's switch is wrong without an operand and with functions in cases.
	l.use(switchStatement)
	tag, simple := "", true
	if s.Tag != nil {
		t := types.Default(l.typeOf(s.Tag))
		_, simple = t.Underlying().(*types.Basic)
		tag = l.temp()
		l.ordered(true, s.Tag)
		l.writef("var %s %s = %s\n", tag, l.typ(t), l.expr(s.Tag))
	}
	var def *ast.CaseClause
	depth := 0
	for _, c := range s.Body.List {
		cc := c.(*ast.CaseClause)
		l.noBreak(cc.Body)
		if cc.List == nil {
			def = cc
			continue
		}
		var conds []string
		for _, e := range cc.List {
			_, basicCase := basic(l.typeOf(e))
			l.ordered(false, e)
			switch {
			case tag == "":
				conds = append(conds, "("+l.truth(e)+")")
			case l.c.Info.Types[e].IsNil():
				conds = append(conds, l.isNil(l.typeOf(s.Tag), tag))
			case simple && basicCase:
				conds = append(conds, session+".Truth("+tag+" == "+l.expr(e)+")")
			default:
				l.use(switchDeep)
				conds = append(conds, session+".Equal("+l.converted(tag, l.typeOf(s.Tag), anyType)+", "+l.value(e, anyType)+")")
			}
		}
		l.writef("if %s {\n", strings.Join(conds, " || "))
		l.block(cc.Body)
		l.writef("} else {\n")
		depth++
	}
	if def != nil {
		l.block(def.Body)
	}
	l.writef("%s}\n", strings.Repeat("}\n", depth))
}

// noBreak refuses a break that would leave the switch: as a chain of ifs there is nothing to leave.
func (l *lowering) noBreak(body []ast.Stmt) {
	for _, s := range body {
		ast.Inspect(s, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.ForStmt, *ast.RangeStmt, *ast.SwitchStmt, *ast.SelectStmt, *ast.TypeSwitchStmt:
				return false
			case *ast.BranchStmt:
				if n.Tok == token.BREAK {
					refuse("breaks out of a switch")
				}
			}
			return true
		})
	}
}
