package interp

import (
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"strings"
)

func (l *lowering) block(list []ast.Stmt) {
	for _, s := range list {
		l.stmt(s)
	}
}

// stmt lowers one statement; it is the whitelist of statements.
func (l *lowering) stmt(s ast.Stmt) {
	switch s := s.(type) {
	case *ast.EmptyStmt:
	case *ast.ExprStmt:
		call, ok := ast.Unparen(s.X).(*ast.CallExpr)
		if !ok {
			refuse("receives from a channel")
		}
		l.at(s.Pos())
		l.ordered(true, call)
		l.writef("%s\n", l.call(call))
	case *ast.AssignStmt:
		l.at(s.Pos())
		l.assignment(s)
	case *ast.IncDecStmt:
		l.at(s.Pos())
		l.use(incDec)
		l.ordered(true, s.X)
		l.writef("%s%s\n", l.place(s.X), s.Tok)
	case *ast.DeclStmt:
		l.at(s.Pos())
		l.localDecl(s.Decl.(*ast.GenDecl))
	case *ast.BlockStmt:
		l.use(blockStatement)
		l.writef("{\n")
		l.block(s.List)
		l.writef("}\n")
	case *ast.IfStmt:
		l.ifStmt(s)
	case *ast.ForStmt:
		l.forStmt(s)
	case *ast.RangeStmt:
		l.rangeStmt(s)
	case *ast.SwitchStmt:
		l.switchStmt(s)
	case *ast.BranchStmt:
		if s.Label != nil || s.Tok == token.GOTO || s.Tok == token.FALLTHROUGH {
			refuse("uses %s", s.Tok)
		}
		l.use(breakContinue)
		l.writef("%s\n", s.Tok)
	case *ast.GoStmt:
		refuse("starts a goroutine")
	case *ast.DeferStmt:
		refuse("defers a call")
	case *ast.SelectStmt, *ast.SendStmt:
		refuse("uses channels")
	case *ast.TypeSwitchStmt:
		l.typeSwitch(s)
	case *ast.LabeledStmt:
		refuse("has a label")
	default:
		refuse("has a statement (%T) that is not trusted to the interpreter", s)
	}
}

func (l *lowering) assignment(s *ast.AssignStmt) {
	if s.Tok == token.DEFINE { // of local variables
		l.localDefine(s)
		return
	}
	if s.Tok != token.ASSIGN {
		l.use(opAssignment)
		op := token.Token(int(s.Tok) - int(token.ADD_ASSIGN) + int(token.ADD))
		l.ordered(true, s.Lhs[0], s.Rhs[0])
		place := l.place(s.Lhs[0])
		switch {
		case op != token.SHL && op != token.SHR:
			l.writef("%s %s %s\n", place, s.Tok, l.expr(s.Rhs[0]))
		case !l.pure(s.Lhs[0]):
			refuse("shifts something that is found by a call")
		default:
			l.use(shift)
			l.writef("%s = %s %s %s\n", place, place, op, l.count(s.Rhs[0]))
		}
		return
	}
	if len(s.Lhs) == 1 {
		l.use(assignment)
		l.storeExpr(s.Lhs[0], s.Rhs[0])
		return
	}
	l.use(parallelAssignment)
	values := l.ordered(true, s.Rhs...)
	for _, x := range s.Lhs {
		if o := (&order{l: l}); o.operands(x).any() && values.any() {
			refuse("assigns to several places that are found by operations which may fail")
		}
	}
	places, ts, memory := make([]string, len(s.Lhs)), make([]types.Type, len(s.Lhs)), make([]bool, len(s.Lhs))
	for i, x := range s.Lhs {
		places[i] = l.fixed(x)
		if places[i] != "_" {
			ts[i], memory[i] = l.typeOf(x), l.inMemory(x)
		}
	}
	l.assign(places, ts, memory, s.Rhs)
}

// fixed is a place whose operands have been evaluated already: an assignment of several values does so first.
func (l *lowering) fixed(e ast.Expr) string {
	switch x := ast.Unparen(e).(type) {
	case *ast.Ident:
		return l.place(x)
	case *ast.IndexExpr:
		t := l.typeOf(x.X).Underlying()
		if _, ok := t.(*types.Array); ok {
			refuse("assigns to several elements at once")
		}
		base, i := l.temp(), l.temp()
		l.writef("%s := %s\n%s := %s\n", base, l.expr(x.X), i, l.expr(x.Index))
		if _, ok := t.(*types.Slice); ok {
			return base + "[" + session + ".Index(int(" + i + "), len(" + base + "))]"
		}
		return base + "[" + i + "]"
	case *ast.StarExpr:
		p := l.temp()
		l.writef("%s := %s\n", p, l.expr(x.X))
		return "(*" + p + ")"
	case *ast.SelectorExpr:
		if id, ok := ast.Unparen(x.X).(*ast.Ident); ok {
			if _, ptr := l.typeOf(id).Underlying().(*types.Pointer); !ptr {
				return l.selector(x)
			}
		}
	}
	refuse("assigns to several places at once")
	return ""
}

// localDefine lowers := of variables that live in the cell's function. One that is reused is assigned to.
func (l *lowering) localDefine(s *ast.AssignStmt) {
	l.use(localDefinition)
	l.ordered(true, s.Rhs...)
	names := make([]string, len(s.Lhs))
	fresh := make([]bool, len(s.Lhs))
	mixed := false
	for i, x := range s.Lhs {
		id := x.(*ast.Ident)
		names[i], fresh[i] = id.Name, l.c.Info.Defs[id] != nil
		if !fresh[i] {
			mixed = mixed || id.Name != "_"
			names[i] = l.place(id)
			continue
		}
		l.localName(id.Name)
	}
	if len(s.Lhs) == 1 {
		l.writef("%s := %s\n", names[0], l.expr(s.Rhs[0]))
		return
	}
	if len(s.Rhs) == 1 && !mixed {
		l.writef("%s := %s\n", strings.Join(names, ", "), l.several(s.Rhs[0]))
		return
	}
	temps := make([]string, len(names))
	for i := range names {
		temps[i] = l.temp()
	}
	if len(s.Rhs) == 1 {
		for i, n := range names {
			if n == "_" {
				temps[i] = "_"
			}
		}
		l.writef("%s := %s\n", strings.Join(temps, ", "), l.several(s.Rhs[0]))
		for i, from := range l.severalTypes(s.Rhs[0]) {
			if temps[i] != "_" && !fresh[i] {
				temps[i] = l.converted(temps[i], from, l.typeOf(s.Lhs[i]))
			}
		}
	} else {
		var lines []string // what has to come before them is written first
		for i, v := range s.Rhs {
			to := l.typeOf(v)
			if names[i] != "_" {
				to = l.typeOf(s.Lhs[i])
			}
			lines = append(lines, temps[i]+" := "+l.value(v, to))
		}
		l.writef("%s\n", strings.Join(lines, "\n"))
	}
	for i, n := range names {
		switch {
		case n == "_":
		case fresh[i]:
			l.writef("%s := %s\n", n, temps[i])
		default:
			l.store(n, l.typeOf(s.Lhs[i]), l.inMemory(s.Lhs[i]), temps[i])
		}
	}
}

// localName refuses names that lowered code uses itself.
func (l *lowering) localName(name string) {
	if strings.Contains(name, "__") {
		refuse("has a variable named %s", name)
	}
	if types.Universe.Lookup(name) != nil {
		refuse("has a variable named %s, as something predeclared", name)
	}
}

func (l *lowering) localDecl(d *ast.GenDecl) {
	switch d.Tok {
	case token.CONST: // uses are folded
		l.use(constants)
	case token.VAR:
		l.use(localVar)
		for _, sp := range d.Specs {
			v := sp.(*ast.ValueSpec)
			if l.ordered(true, v.Values...); len(v.Values) > 1 && len(l.early) > 0 {
				refuse("declares several variables by calls and operations that may fail")
			}
			for i, id := range v.Names {
				l.localName(id.Name)
				obj := l.c.Info.Defs[id]
				switch {
				case id.Name == "_" || obj == nil:
					refuse("declares a blank variable")
				case len(v.Values) == 0:
					l.writef("var %s %s\n", id.Name, l.typ(obj.Type()))
				case len(v.Values) != len(v.Names):
					refuse("declares several local variables by one value")
				default:
					l.writef("var %s %s = %s\n", id.Name, l.typ(obj.Type()), l.value(v.Values[i], obj.Type()))
				}
			}
		}
	default:
		refuse("declares a local type")
	}
}

func (l *lowering) ifStmt(s *ast.IfStmt) {
	l.at(s.Pos())
	l.use(ifStatement)
	l.writef("{\n")
	if s.Init != nil {
		l.stmt(s.Init)
	}
	l.ordered(true, s.Cond)
	cond := l.expr(s.Cond)
	if l.c.Info.Types[s.Cond].Value != nil { // yaegi leaves a branch out, and with it a break that it needs
		cond = session + ".Truth(" + cond + ")"
	}
	l.writef("if %s {\n", cond)
	l.block(s.Body.List)
	if s.Else != nil {
		l.writef("} else {\n")
		l.stmt(s.Else)
	}
	l.writef("}\n}\n")
}

func (l *lowering) constInt(e ast.Expr) (int64, bool) {
	tv := l.c.Info.Types[e]
	if tv.Value == nil {
		return 0, false
	}
	return constant.Int64Val(constant.ToInt(tv.Value))
}
