package native

import (
	"fmt"
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"strings"
)

// A loop need not look at the flag when it soon ends: its body is short, and its turns are few. Where only the running program knows how
// many they are, the loop is written twice,
//
//	{ i := 0; if uint64((n)-i) < 65536 { for i := i; i < n; i++ { … } } else { stop__ := rt.StopFlag; for i := i; i < n; i++ { look … } } }
//
// so that the compiler makes of the first what it makes of the user's own. Nothing but the looks changes what either does. That the
// condition is right rests on: the counter is local to the loop and moves in its post statement only; the body does not change what the limit
// is computed from; the counter cannot pass its type's end before it passes the limit.

// pace is how a loop looks at the flag.
type pace struct {
	never bool   // not at all: it is short
	short string // the condition under which it is short, "" when there is none
	// lead comes before the condition: it evaluates what the loop would evaluate first. The loop then has instead in its place.
	lead, instead string
	lo, hi        token.Pos // of what instead replaces
}

// twin is the loop m written twice.
func (r *renderer) twin(m ast.Stmt, p pace, body *ast.BlockStmt, uses string) string {
	write := func(look string) string {
		e := &edits{r: r}
		e.insert(body.Lbrace+1, look+uses)
		if p.lo.IsValid() {
			e.replace(p.lo, p.hi, p.instead)
		}
		ast.Inspect(m, func(n ast.Node) bool {
			if n == m || n == nil {
				return n != nil
			}
			if p.lo.IsValid() && n.Pos() == p.lo && n.End() == p.hi {
				return false
			}
			return r.visit(n, e)
		})
		return r.splice(m.Pos(), m.End(), e)
	}
	q := r.c.Fset.Position(m.Pos())
	line := fmt.Sprintf("/*line %s:%d:%d*/", r.f.u.e.tagOf(q.Filename), q.Line, q.Column)
	return "{ " + p.lead + line + "if " + p.short + " { " + line + write("") + " } else {" + r.hoist() + line + write(r.look()) + " } }"
}

// turnsWithin is how many turns of a body of so many steps are still short.
func turnsWithin(steps int) int64 { return 1 << 24 / int64(max(steps, 4)) }

// forPace is the pace of a for statement.
func (r *renderer) forPace(m *ast.ForStmt) pace {
	w := r.f.u.workOf(r.c, m.Body)
	w.expr(m.Cond)
	if w.long || m.Cond == nil {
		return pace{}
	}
	if n := w.constFor(m); n >= 0 {
		return pace{never: n <= turnsWithin(w.steps)}
	}
	init, ok := m.Init.(*ast.AssignStmt)
	if !ok || init.Tok != token.DEFINE || r.single(m) {
		return pace{}
	}
	l := &limit{r: r, w: w, moves: r.moves(m.Post, w)}
	cond := l.short(init, leftmost(m.Cond), turnsWithin(w.steps))
	if cond == "" {
		return pace{}
	}
	var names []string
	for _, x := range init.Lhs {
		names = append(names, x.(*ast.Ident).Name)
	}
	list := strings.Join(names, ", ")
	values := make([]string, len(names))
	for i, n := range names {
		if values[i] = n; n == "_" {
			values[i] = "0"
		}
	}
	return pace{short: cond, lead: r.node(init) + "; ", instead: list + " := " + strings.Join(values, ", "), lo: init.Pos(), hi: init.End()}
}

// leftmost is the condition that is evaluated first, and without which the whole does not hold.
func leftmost(x ast.Expr) ast.Expr {
	for {
		switch y := x.(type) {
		case *ast.ParenExpr:
			x = y.X
		case *ast.BinaryExpr:
			if y.Op != token.LAND {
				return x
			}
			x = y.X
		default:
			return x
		}
	}
}

// rangePace is the pace of a range statement.
func (r *renderer) rangePace(m *ast.RangeStmt) pace {
	t := r.c.Info.TypeOf(m.X)
	if t == nil || isTypeParam(t) {
		return pace{}
	}
	w := r.f.u.workOf(r.c, m.Body)
	if m.Value != nil {
		w.copied(r.c.Info.TypeOf(m.Value))
	}
	if w.long {
		return pace{}
	}
	if n := w.constRange(m); n >= 0 {
		return pace{never: n <= turnsWithin(w.steps)}
	}
	if r.c.Info.Types[m.X].Value != nil || r.single(m) {
		return pace{}
	}
	what := "len(%s)"
	switch u := t.Underlying().(type) {
	case *types.Slice:
	case *types.Basic:
		switch {
		case u.Info()&types.IsString != 0:
		case u.Info()&types.IsInteger == 0:
			return pace{}
		case bits(u) < 32:
			return pace{never: true}
		default:
			what = "%s"
		}
	default:
		return pace{}
	}
	x := ast.Unparen(m.X)
	cond := fmt.Sprintf(what+" < %d", "x__", turnsWithin(w.steps))
	if id, ok := x.(*ast.Ident); ok && r.c.Info.Uses[id] != nil {
		return pace{short: strings.Replace(cond, "x__", r.node(id), 1)}
	}
	if c, ok := x.(*ast.CallExpr); ok && r.c.Info.Types[c.Fun].IsType() {
		return pace{} // the compiler makes no copy for range []byte(s)
	}
	return pace{short: cond, lead: "x__ := " + r.node(m.X) + "; ", instead: "x__", lo: m.X.Pos(), hi: m.X.End()}
}

// constFor is the number of turns of a for statement whose counter runs from a constant to another; negative for others. The body is part of w.
func (w *work) constFor(m *ast.ForStmt) int64 {
	init, ok := m.Init.(*ast.AssignStmt)
	cond, ok2 := m.Cond.(*ast.BinaryExpr)
	if !ok || !ok2 || init.Tok != token.DEFINE || len(init.Lhs) != 1 || len(init.Rhs) != 1 {
		return -1
	}
	id, ok := cond.X.(*ast.Ident)
	if !ok {
		return -1
	}
	v := w.c.Info.Uses[id]
	if v == nil || v != w.c.Info.Defs[init.Lhs[0].(*ast.Ident)] || w.named[v] || !isInteger(v.Type()) {
		return -1
	}
	from, ok1 := w.constant(init.Rhs[0])
	to, ok2 := w.constant(cond.Y)
	id2, step, ok3 := w.moved(m.Post)
	if !ok1 || !ok2 || !ok3 || w.c.Info.Uses[id2] != v || step == 0 {
		return -1
	}
	n := int64(-1)
	switch {
	case cond.Op == token.LSS && step > 0:
		n = (to - from + step - 1) / step
	case cond.Op == token.LEQ && step > 0:
		n = (to - from + step) / step
	case cond.Op == token.GTR && step < 0:
		n = (from - to - step - 1) / -step
	case cond.Op == token.GEQ && step < 0:
		n = (from - to - step) / -step
	default:
		return -1
	}
	n = max(n, 0)
	if last := from + n*step; !representable(last, v.Type()) {
		return -1
	}
	return n
}

// constRange is the number of turns of a range statement, where it is a constant; negative for others.
func (w *work) constRange(m *ast.RangeStmt) int64 {
	tv := w.c.Info.Types[m.X]
	if tv.Value != nil && tv.Value.Kind() == constant.String {
		return int64(len(constant.StringVal(tv.Value)))
	}
	if n, ok := w.constant(m.X); ok {
		return max(n, 0)
	}
	t := tv.Type
	if t == nil {
		return -1
	}
	if p, ok := t.Underlying().(*types.Pointer); ok {
		t = p.Elem()
	}
	if a, ok := t.Underlying().(*types.Array); ok {
		w.expr(m.X)
		if m.Value != nil {
			w.copied(t)
		}
		return a.Len()
	}
	return -1
}

// constant is x's value, where it is a constant that is not large.
func (w *work) constant(x ast.Expr) (int64, bool) {
	v := w.c.Info.Types[x].Value
	if v == nil {
		return 0, false
	}
	if v = constant.ToInt(v); v.Kind() != constant.Int {
		return 0, false
	}
	n, exact := constant.Int64Val(v)
	return n, exact && -1<<30 < n && n < 1<<30
}

// moved is the variable that s adds a constant to.
func (w *work) moved(s ast.Stmt) (id *ast.Ident, by int64, ok bool) {
	switch s := s.(type) {
	case *ast.IncDecStmt:
		id, ok = s.X.(*ast.Ident)
		by = 1
		if s.Tok == token.DEC {
			by = -1
		}
	case *ast.AssignStmt:
		if len(s.Lhs) != 1 || s.Tok != token.ADD_ASSIGN && s.Tok != token.SUB_ASSIGN {
			return nil, 0, false
		}
		if id, ok = s.Lhs[0].(*ast.Ident); ok {
			by, ok = w.constant(s.Rhs[0])
		}
		if s.Tok == token.SUB_ASSIGN {
			by = -by
		}
	}
	return id, by, ok
}

func isInteger(t types.Type) bool {
	b, ok := t.Underlying().(*types.Basic)
	return ok && b.Info()&types.IsInteger != 0 && !isTypeParam(t)
}

func isUnsigned(t types.Type) bool {
	b, ok := t.Underlying().(*types.Basic)
	return ok && b.Info()&types.IsUnsigned != 0
}

// bits is the least size of an integer type.
func bits(b *types.Basic) int {
	switch b.Kind() {
	case types.Int8, types.Uint8:
		return 8
	case types.Int16, types.Uint16:
		return 16
	case types.Int64, types.Uint64:
		return 64
	}
	return 32
}

// representable reports whether an integer type surely has the value n.
func representable(n int64, t types.Type) bool {
	b, ok := t.Underlying().(*types.Basic)
	if !ok {
		return false
	}
	size := min(bits(b), 62)
	if isUnsigned(t) {
		return n >= 0 && n < 1<<size
	}
	return n >= -1<<(size-1) && n < 1<<(size-1)
}
