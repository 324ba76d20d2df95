package interp

import (
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"strings"
)

func (l *lowering) forStmt(s *ast.ForStmt) {
	l.at(s.Pos())
	l.writef("{\n")
	if s.Init != nil {
		l.stmt(s.Init)
	}
	l.use(forStatement)
	cond := "true"
	if s.Cond != nil {
		l.ordered(false, s.Cond)
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
	}
	rounds := l.rounds(s)
	if strings.Contains(post, "\n") { // yaegi's for takes one simple statement
		first := l.temp()
		l.writef("%s := true\nfor {\nif %s {\n%s = false\n} else {\n%s\n}\nif !(%s) {\nbreak\n}\n", first, first, first, post, cond)
		l.body(s.Body, rounds)
		l.writef("}\n}\n")
		return
	}
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
			l.use(rangeInteger)
			l.rangeInt(s, t)
			return
		}
		if u.Info()&types.IsString == 0 {
			refuse("ranges over %s", t)
		}
		l.use(rangeString)
	case *types.Slice:
		l.use(rangeSlice)
	case *types.Map:
		l.use(rangeMap)
	case *types.Array:
		l.use(rangeArray)
	default:
		refuse("ranges over %s", t)
	}
	l.ordered(true, s.X)
	rounds := -1
	if lit, ok := ast.Unparen(s.X).(*ast.CompositeLit); ok {
		rounds = len(lit.Elts) + 1
	}
	if a, ok := t.Underlying().(*types.Array); ok {
		rounds = int(min(max(a.Len(), 1), smallLoop+1))
	}
	if v := l.c.Info.Types[s.X].Value; v != nil && v.Kind() == constant.String {
		rounds = len(constant.StringVal(v)) + 1
	}
	if b, ok := basic(t); ok && b.Info()&types.IsString != 0 {
		l.rangeString(s, rounds)
		return
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
	l.body(s.Body, rounds)
	l.writef("}\n")
}

// rangeString ranges over the characters of a string as the session process finds them: yaegi is wrong about where they are when
// some are not UTF-8.
func (l *lowering) rangeString(s *ast.RangeStmt, rounds int) {
	over, offsets, chars, n := l.temp(), l.temp(), l.temp(), l.temp()
	l.writef("%s := string(%s)\n%s, %s := %s.Chars(%s)\nfor %s := range %s {\n", over, l.expr(s.X), offsets, chars, session, over, n, offsets)
	for i, x := range []ast.Expr{s.Key, s.Value} {
		if id, ok := x.(*ast.Ident); ok && id.Name != "_" {
			l.writef("%s := %s[%s]\n", id.Name, []string{offsets, chars}[i], n)
		}
	}
	l.writef("_ = %s\n", chars)
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
	l.ordered(true, s.X)
	l.writef("%s := %s(%s)\nfor %s := %s(0); %s < %s; %s++ {\n", n, typ, l.expr(s.X), i, typ, i, n, i)
	if id, ok := s.Key.(*ast.Ident); ok && id.Name != "_" {
		l.writef("%s := %s\n", id.Name, i)
	}
	l.body(s.Body, rounds)
	l.writef("}\n")
}
