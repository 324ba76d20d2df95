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
		l.writef("%s\n", l.call(call))
	case *ast.AssignStmt:
		l.at(s.Pos())
		l.assignment(s)
	case *ast.IncDecStmt:
		l.at(s.Pos())
		l.writef("%s%s\n", l.place(s.X), s.Tok)
	case *ast.DeclStmt:
		l.at(s.Pos())
		l.localDecl(s.Decl.(*ast.GenDecl))
	case *ast.BlockStmt:
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
		l.writef("%s\n", s.Tok)
	case *ast.GoStmt:
		refuse("starts a goroutine")
	case *ast.DeferStmt:
		refuse("defers a call")
	case *ast.SelectStmt, *ast.SendStmt:
		refuse("uses channels")
	case *ast.TypeSwitchStmt:
		refuse("switches on a type")
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
		l.writef("%s %s %s\n", l.place(s.Lhs[0]), s.Tok, l.expr(s.Rhs[0]))
		return
	}
	if len(s.Lhs) == 1 {
		l.writef("%s = %s\n", l.place(s.Lhs[0]), l.expr(s.Rhs[0]))
		return
	}
	places := make([]string, len(s.Lhs))
	for i, x := range s.Lhs {
		switch ast.Unparen(x).(type) {
		case *ast.Ident:
			places[i] = l.place(x)
		default: // its operands would have to be evaluated before the assignment
			refuse("assigns to several elements at once")
		}
	}
	l.assign(places, s.Rhs)
}

// localDefine lowers := of variables that live in the cell's function. One that is reused is assigned to.
func (l *lowering) localDefine(s *ast.AssignStmt) {
	names := make([]string, len(s.Lhs))
	for i, x := range s.Lhs {
		id := x.(*ast.Ident)
		names[i] = id.Name
		if id.Name != "_" && l.c.Info.Defs[id] == nil {
			refuse("defines some variables and assigns to others at once")
		}
		l.localName(id.Name)
	}
	lhs := strings.Join(names, ", ")
	switch {
	case len(s.Rhs) == 1 && len(s.Lhs) > 1:
		l.writef("%s := %s\n", lhs, l.several(s.Rhs[0]))
	case len(s.Lhs) == 1:
		l.writef("%s := %s\n", lhs, l.expr(s.Rhs[0]))
	default:
		temps := make([]string, len(names))
		for i, v := range s.Rhs {
			temps[i] = l.temp()
			l.writef("%s := %s\n", temps[i], l.expr(v))
		}
		for i, n := range names {
			if n != "_" {
				l.writef("%s := %s\n", n, temps[i])
			}
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
	case token.VAR:
		for _, sp := range d.Specs {
			v := sp.(*ast.ValueSpec)
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
					l.writef("var %s %s = %s\n", id.Name, l.typ(obj.Type()), l.expr(v.Values[i]))
				}
			}
		}
	default:
		refuse("declares a local type")
	}
}

func (l *lowering) ifStmt(s *ast.IfStmt) {
	l.at(s.Pos())
	l.writef("{\n")
	if s.Init != nil {
		l.stmt(s.Init)
	}
	l.writef("if %s {\n", l.expr(s.Cond))
	l.block(s.Body.List)
	if s.Else != nil {
		l.writef("} else {\n")
		l.stmt(s.Else)
	}
	l.writef("}\n}\n")
}

func (l *lowering) forStmt(s *ast.ForStmt) {
	l.at(s.Pos())
	l.writef("{\n")
	if s.Init != nil {
		l.stmt(s.Init)
	}
	cond := "true"
	if s.Cond != nil {
		cond = l.expr(s.Cond)
	}
	l.noAddress(s.Init, s.Body)
	post := ""
	if s.Post != nil {
		mark := l.out.String()
		l.out.Reset()
		line := l.line
		l.line = l.c.Fset.Position(s.Post.Pos()).Line
		loops := l.loops
		l.loops = 1
		l.stmt(s.Post)
		l.loops = loops
		post, l.line = strings.TrimSpace(l.out.String()), line
		l.out.Reset()
		l.out.WriteString(mark)
		if strings.Contains(post, "\n") {
			refuse("has a loop that is stepped by more than one statement")
		}
	}
	rounds := l.rounds(s)
	l.writef("for ; %s; %s {\n", cond, post)
	l.body(s.Body, rounds)
	l.writef("}\n}\n")
}

// body lowers the body of a loop.
func (l *lowering) body(b *ast.BlockStmt, rounds int) {
	outer := l.loops
	if rounds <= 0 || outer*rounds > smallLoop {
		if !l.opts.HotLoops {
			refuse("has a loop of more than %d rounds, or of an unknown number of them", smallLoop)
		}
		rounds = 2
	}
	l.loops = outer * max(rounds, 2)
	if l.opts.HotLoops {
		l.loops = 2
	}
	l.writef("%s.Check()\n", session)
	l.block(b.List)
	l.loops = outer
	l.line = 0
}

// rounds bounds how often a loop `for i := a; i < b; i++` with constant bounds runs; -1 when it cannot tell.
func (l *lowering) rounds(s *ast.ForStmt) int {
	init, ok := s.Init.(*ast.AssignStmt)
	cond, ok2 := s.Cond.(*ast.BinaryExpr)
	step, ok3 := s.Post.(*ast.IncDecStmt)
	if !ok || !ok2 || !ok3 || len(init.Rhs) != 1 {
		return -1
	}
	id, ok := init.Lhs[0].(*ast.Ident)
	x, ok2 := cond.X.(*ast.Ident)
	y, ok3 := step.X.(*ast.Ident)
	if !ok || !ok2 || !ok3 || id.Name != x.Name || id.Name != y.Name || assigns(s.Body, id.Name) {
		return -1
	}
	from, ok := l.constInt(init.Rhs[0])
	to, ok2 := l.constInt(cond.Y)
	if !ok || !ok2 {
		return -1
	}
	switch {
	case step.Tok == token.INC && (cond.Op == token.LSS || cond.Op == token.LEQ):
		return int(min(max(to-from+1, 1), smallLoop+1))
	case step.Tok == token.DEC && (cond.Op == token.GTR || cond.Op == token.GEQ):
		return int(min(max(from-to+1, 1), smallLoop+1))
	}
	return -1
}

// assigns reports whether the body may change the variable name.
func assigns(b *ast.BlockStmt, name string) bool {
	found := false
	is := func(e ast.Expr) bool {
		id, ok := ast.Unparen(e).(*ast.Ident)
		return ok && id.Name == name
	}
	ast.Inspect(b, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt:
			for _, x := range n.Lhs {
				found = found || is(x)
			}
		case *ast.IncDecStmt:
			found = found || is(n.X)
		case *ast.UnaryExpr:
			found = found || n.Op == token.AND && is(n.X)
		}
		return !found
	})
	return found
}

// noAddress refuses loops that take the address of a loop variable: yaegi has one variable for all rounds.
func (l *lowering) noAddress(init ast.Stmt, body *ast.BlockStmt) {
	a, ok := init.(*ast.AssignStmt)
	if !ok || a.Tok != token.DEFINE {
		return
	}
	for _, x := range a.Lhs {
		l.noAddressOf(x, body)
	}
}

func (l *lowering) noAddressOf(x ast.Expr, body *ast.BlockStmt) {
	id, ok := x.(*ast.Ident)
	if !ok {
		return
	}
	obj := l.c.Info.Defs[id]
	ast.Inspect(body, func(n ast.Node) bool {
		if u, ok := n.(*ast.UnaryExpr); ok && u.Op == token.AND && l.rootIs(u.X, obj) {
			refuse("takes the address of a loop variable")
		}
		if call, ok := n.(*ast.CallExpr); ok {
			if sel, ok := call.Fun.(*ast.SelectorExpr); ok && l.rootIs(sel.X, obj) && l.addressed(sel) {
				refuse("calls a method with the address of a loop variable")
			}
		}
		if s, ok := n.(*ast.SliceExpr); ok && l.rootIs(s.X, obj) {
			if _, array := l.typeOf(s.X).Underlying().(*types.Array); array {
				refuse("slices a loop variable")
			}
		}
		return true
	})
}

func (l *lowering) rootIs(e ast.Expr, obj types.Object) bool {
	for {
		switch x := ast.Unparen(e).(type) {
		case *ast.Ident:
			return obj != nil && l.c.Info.Uses[x] == obj
		case *ast.SelectorExpr:
			e = x.X
		case *ast.IndexExpr:
			e = x.X
		default:
			return false
		}
	}
}

func (l *lowering) constInt(e ast.Expr) (int64, bool) {
	tv := l.c.Info.Types[e]
	if tv.Value == nil {
		return 0, false
	}
	return constant.Int64Val(constant.ToInt(tv.Value))
}

// rangeStmt lowers range over integers, slices, arrays, strings and maps.
func (l *lowering) rangeStmt(s *ast.RangeStmt) {
	l.at(s.Pos())
	if s.Tok == token.ASSIGN {
		refuse("ranges into variables that exist already")
	}
	for _, x := range []ast.Expr{s.Key, s.Value} {
		if x != nil {
			l.noAddressOf(x, s.Body)
			if id := x.(*ast.Ident); id.Name != "_" {
				l.localName(id.Name)
			}
		}
	}
	t := l.typeOf(s.X)
	switch u := t.Underlying().(type) {
	case *types.Basic:
		if u.Info()&types.IsInteger != 0 {
			l.rangeInt(s, t)
			return
		}
		if u.Info()&types.IsString == 0 {
			refuse("ranges over %s", t)
		}
	case *types.Slice, *types.Map:
	case *types.Array:
		refuse("ranges over an array")
	default:
		refuse("ranges over %s", t)
	}
	over := l.temp() // taken once, whatever the body does to the variable
	l.writef("%s := %s\nfor ", over, l.expr(s.X))
	switch {
	case s.Value != nil:
		l.writef("%s, %s := ", s.Key.(*ast.Ident).Name, s.Value.(*ast.Ident).Name)
	case s.Key != nil:
		l.writef("%s := ", s.Key.(*ast.Ident).Name)
	}
	l.writef("range %s {\n", over)
	rounds := -1
	if lit, ok := ast.Unparen(s.X).(*ast.CompositeLit); ok {
		rounds = len(lit.Elts) + 1
	}
	if v := l.c.Info.Types[s.X].Value; v != nil && v.Kind() == constant.String {
		rounds = len(constant.StringVal(v)) + 1
	}
	l.body(s.Body, rounds)
	l.writef("}\n")
}

// rangeInt writes range over an integer as a counting loop, whose variable is a copy in each round.
func (l *lowering) rangeInt(s *ast.RangeStmt, t types.Type) {
	i, n := l.temp(), l.temp()
	typ := l.typ(types.Default(t))
	rounds := -1
	if v, ok := l.constInt(s.X); ok {
		rounds = int(min(max(v, 1), smallLoop+1))
	}
	l.writef("%s := %s(%s)\nfor %s := %s(0); %s < %s; %s++ {\n", n, typ, l.expr(s.X), i, typ, i, n, i)
	if id, ok := s.Key.(*ast.Ident); ok && id.Name != "_" {
		l.writef("%s := %s\n", id.Name, i)
	}
	l.body(s.Body, rounds)
	l.writef("}\n")
}

func (l *lowering) switchStmt(s *ast.SwitchStmt) {
	l.at(s.Pos())
	l.writef("{\n")
	if s.Init != nil {
		l.stmt(s.Init)
	}
	// Cases become a chain of ifs: yaegi's switch is wrong without an operand and with functions in cases.
	tag := ""
	if s.Tag != nil {
		t := types.Default(l.typeOf(s.Tag))
		if _, basic := t.Underlying().(*types.Basic); !basic {
			refuse("switches on a value of type %s", t)
		}
		tag = l.temp()
		l.writef("%s := %s\n", tag, l.expr(s.Tag))
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
			if tag == "" {
				conds = append(conds, "("+l.expr(e)+")")
			} else {
				conds = append(conds, "("+tag+" == "+l.expr(e)+")")
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
