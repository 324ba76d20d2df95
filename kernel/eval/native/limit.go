package native

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"
)

// limit finds a condition under which a for statement with a counter is short.
type limit struct {
	r     *renderer
	w     *work // of body, condition and post statement, without the moves
	moves map[types.Object]move
}

// move is how a post statement moves a counter.
type move struct {
	by   int64      // a constant, or 0
	name *ast.Ident // a variable
	down bool       // the variable is subtracted
}

func (m move) up() bool { return m.by > 0 || m.name != nil && !m.down }

// moves are the counters that a post statement moves. What else it does is added to w.
func (r *renderer) moves(s ast.Stmt, w *work) map[types.Object]move {
	l := map[types.Object]move{}
	if id, by, ok := w.moved(s); ok {
		if by != 0 {
			l[r.c.Info.Uses[id]] = move{by: by}
			return l
		}
	}
	a, ok := s.(*ast.AssignStmt)
	if !ok {
		w.stmt(s)
		return l
	}
	if a.Tok == token.ADD_ASSIGN || a.Tok == token.SUB_ASSIGN {
		id, ok1 := a.Lhs[0].(*ast.Ident)
		by, ok2 := a.Rhs[0].(*ast.Ident)
		if ok1 && ok2 && r.c.Info.Uses[id] != r.c.Info.Uses[by] {
			l[r.c.Info.Uses[id]] = move{name: by, down: a.Tok == token.SUB_ASSIGN}
			return l
		}
	}
	if a.Tok != token.ASSIGN || len(a.Lhs) != len(a.Rhs) {
		w.stmt(s)
		return l
	}
	for i, x := range a.Lhs { // i, j = i+1, j-1
		id, ok1 := x.(*ast.Ident)
		sum, ok2 := a.Rhs[i].(*ast.BinaryExpr)
		if ok1 && ok2 && (sum.Op == token.ADD || sum.Op == token.SUB) {
			of, ok := sum.X.(*ast.Ident)
			by, isConst := w.constant(sum.Y)
			if sum.Op == token.SUB {
				by = -by
			}
			if v := r.c.Info.Uses[id]; ok && isConst && by != 0 && v != nil && v == r.c.Info.Uses[of] {
				l[v] = move{by: by}
				continue
			}
		}
		w.expr(a.Rhs[i])
		w.target(x)
	}
	return l
}

// short is the condition, "" when there is none, of a loop that starts with init and goes on at most as long as cond holds.
func (l *limit) short(init *ast.AssignStmt, cond ast.Expr, turns int64) string {
	c, ok := cond.(*ast.BinaryExpr)
	if !ok || l.w.long {
		return ""
	}
	if s := l.condition(init, c.X, c.Op, c.Y, turns); s != "" {
		return s
	}
	mirror := map[token.Token]token.Token{token.LSS: token.GTR, token.LEQ: token.GEQ, token.GTR: token.LSS, token.GEQ: token.LEQ, token.NEQ: token.NEQ}
	return l.condition(init, c.Y, mirror[c.Op], c.X, turns)
}

// large is what steps and, where the counter might pass its type's end, limits have to stay below: the sum of both fits all types of at
// least 32 bits.
const large = "1<<30"

// condition is that of a counter that is compared with a limit y. The distance of both is exact as an uint64 whenever the counter has not yet
// passed the limit: the difference is taken in their type and is negative, or huge, when it does not fit.
func (l *limit) condition(init *ast.AssignStmt, x ast.Expr, op token.Token, y ast.Expr, turns int64) string {
	id, ok := ast.Unparen(x).(*ast.Ident)
	if !ok {
		return ""
	}
	v := l.r.c.Info.Uses[id]
	m, ok := l.moves[v]
	if !ok || !l.counts(init, v) {
		return ""
	}
	to := "(" + l.r.node(y) + ")"
	one := m.by == 1 || m.by == -1
	if j, ok := ast.Unparen(y).(*ast.Ident); ok && l.moves[l.r.c.Info.Uses[j]] != (move{}) { // i < j; i, j = i+1, j-1
		other := l.r.c.Info.Uses[j]
		if n := l.moves[other]; !one || n.by != -m.by || !l.counts(init, other) || op != token.LSS && op != token.GTR {
			return ""
		}
	} else if !l.steady(y) {
		return ""
	}
	var conds []string
	if m.name != nil {
		if !l.steady(m.name) || !types.Identical(l.r.c.Info.TypeOf(m.name), v.Type()) {
			return ""
		}
		step := l.r.node(m.name)
		conds = append(conds, step+" > 0", step+" < "+large)
	}
	distance := to + "-" + id.Name
	switch {
	case m.up() && (op == token.LSS || op == token.NEQ) && one:
	case m.up() && (op == token.LSS || op == token.LEQ):
		conds = append(conds, to+" < "+large)
	case !m.up() && (op == token.GTR || op == token.NEQ) && one:
		distance = id.Name + "-" + to
	case !m.up() && (op == token.GTR || op == token.GEQ) && !isUnsigned(v.Type()):
		distance = id.Name + "-" + to
		conds = append(conds, to+" > -"+large)
	default:
		return ""
	}
	return strings.Join(append(conds, fmt.Sprintf("uint64(%s) < %d", distance, turns)), " && ")
}

// counts reports whether v is an integer of the loop's own that nothing but the post statement changes. Its address is not taken: work takes
// that for long.
func (l *limit) counts(init *ast.AssignStmt, v types.Object) bool {
	own := false
	for _, x := range init.Lhs {
		own = own || l.r.c.Info.Defs[x.(*ast.Ident)] == v
	}
	if v == nil || !own || l.w.named[v] || !isInteger(v.Type()) {
		return false
	}
	return bits(v.Type().Underlying().(*types.Basic)) >= 32
}

// steady reports whether x has the same value before all turns of the loop, and evaluating it once more does nothing.
func (l *limit) steady(x ast.Expr) bool {
	info := l.r.c.Info
	if info.Types[x].Value != nil {
		return true
	}
	switch x := x.(type) {
	case *ast.ParenExpr:
		return l.steady(x.X)
	case *ast.Ident:
		v, ok := info.Uses[x].(*types.Var)
		if !ok || l.w.named[v] || l.moves[v] != (move{}) {
			return false
		}
		return !l.r.isShared(v) || l.untouched(v.Type())
	case *ast.BinaryExpr:
		switch x.Op {
		case token.ADD, token.SUB, token.MUL, token.AND, token.OR, token.XOR:
			return l.steady(x.X) && l.steady(x.Y)
		case token.QUO, token.SHR:
			return info.Types[x.Y].Value != nil && l.steady(x.X)
		}
	case *ast.CallExpr:
		if len(x.Args) != 1 {
			return false
		}
		if tv := info.Types[x.Fun]; tv.IsType() {
			return isInteger(tv.Type) && isInteger(info.TypeOf(x.Args[0])) && l.steady(x.Args[0])
		}
		if b := l.w.builtin(x); b != "len" && b != "cap" {
			return false
		}
		return isIndexable(info.TypeOf(x.Args[0])) && l.steady(x.Args[0])
	case *ast.SelectorExpr:
		sel := info.Selections[x]
		if sel == nil || sel.Kind() != types.FieldVal || !l.steady(x.X) {
			return false
		}
		return !sel.Indirect() || l.untouched(sel.Type())
	case *ast.IndexExpr:
		t := info.TypeOf(x.X)
		return isIndexable(t) && l.steady(x.X) && l.steady(x.Index) && l.untouched(info.TypeOf(x))
	case *ast.StarExpr:
		return l.steady(x.X) && l.untouched(info.TypeOf(x))
	}
	return false
}

// untouched reports whether the loop assigns no t that it reaches through pointers, slices or functions.
func (l *limit) untouched(t types.Type) bool {
	if l.w.calls {
		return false
	}
	return !slices.ContainsFunc(l.w.through, func(s types.Type) bool {
		return hasParts(s) || hasParts(t) || types.Identical(s.Underlying(), t.Underlying())
	})
}

// hasParts reports whether other variables can be parts of a t.
func hasParts(t types.Type) bool {
	switch t.Underlying().(type) {
	case *types.Struct, *types.Array:
		return true
	}
	return isTypeParam(t)
}

// isShared reports whether something else than the text that names v may change it.
func (r *renderer) isShared(v *types.Var) bool {
	if v.Parent() == nil || v.Parent() == r.c.Pkg.Scope() || v.Pkg() != r.c.Pkg {
		return true
	}
	if r.sharedVars == nil {
		r.sharedVars = map[types.Object]bool{}
		ast.Inspect(r.src.File, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.UnaryExpr:
				if n.Op == token.AND {
					r.share(n.X)
				}
			case *ast.SliceExpr:
				r.share(n.X)
			case *ast.SelectorExpr: // a method may take the address of what it is called for
				if s := r.c.Info.Selections[n]; s != nil && s.Kind() == types.MethodVal {
					r.share(n.X)
				}
			case *ast.FuncLit:
				ast.Inspect(n.Body, func(m ast.Node) bool {
					if id, ok := m.(*ast.Ident); ok {
						if v, ok := r.c.Info.Uses[id].(*types.Var); ok && (v.Pos() < n.Pos() || v.Pos() > n.End()) {
							r.sharedVars[v] = true
						}
					}
					return true
				})
			}
			return true
		})
	}
	return r.sharedVars[v]
}

// share notes the variable that x is, or is a part of.
func (r *renderer) share(x ast.Expr) {
	for {
		switch y := x.(type) {
		case *ast.ParenExpr:
			x = y.X
		case *ast.SelectorExpr:
			x = y.X
		case *ast.IndexExpr:
			x = y.X
		case *ast.Ident:
			if v := r.c.Info.Uses[y]; v != nil {
				r.sharedVars[v] = true
			}
			return
		default:
			return
		}
	}
}

// single reports whether the loop m cannot be written twice: branches may name it, and labels are unique in a function; or what the condition
// needs of the language has another meaning there.
func (r *renderer) single(m ast.Stmt) bool {
	if r.labels == nil {
		r.labels = map[ast.Stmt]bool{}
		r.redefines = r.c.Pkg.Scope().Lookup("len") != nil || r.c.Pkg.Scope().Lookup("uint64") != nil
		ast.Inspect(r.src.File, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.LabeledStmt:
				if !r.lazy[n] {
					r.labels[n.Stmt] = true
				}
			case *ast.Ident:
				if (n.Name == "len" || n.Name == "uint64") && r.c.Info.Defs[n] != nil {
					r.redefines = true
				}
			}
			return true
		})
	}
	return r.redefines || r.labels[m]
}
