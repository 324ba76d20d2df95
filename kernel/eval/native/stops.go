package native

import (
	"go/ast"
	"go/token"
	"go/types"

	"github.com/gander-go/gander/kernel/eval/check"
)

// Interrupts are cooperative: code that may run for long looks at rt.StopFlag, whose address each function that needs it keeps in
// a local variable. Looked at are
//
//   - every turn of a loop, except of a range over a slice, array, string or map whose body only computes: its length bounds it,
//   - labels that a goto jumps to,
//   - the entry of functions that can come back to themselves.
//
// Other functions stay as they are, so that the compiler still inlines them.

func (r *renderer) look() string {
	return " if *stop__ != 0 { " + r.f.rt("Halt") + "() };"
}

func (r *renderer) hoist() string { return " stop__ := " + r.f.rt("StopFlag") + ";" }

// enter puts what a function needs at the start of its body. fn is its *ast.FuncDecl or nil for a literal.
func (r *renderer) enter(body *ast.BlockStmt, fn *ast.FuncDecl, e *edits) {
	entry := r.comesBack(body, fn)
	if entry || r.looksInside(body) {
		s := r.hoist()
		if entry {
			s += r.look()
		}
		e.insert(body.Lbrace+1, s)
	}
}

// looksInside reports whether n has a place, outside function literals, that looks at the flag.
func (r *renderer) looksInside(n ast.Node) bool {
	found := false
	ast.Inspect(n, func(m ast.Node) bool {
		switch m := m.(type) {
		case *ast.FuncLit:
			return false
		case *ast.ForStmt:
			found = true
		case *ast.RangeStmt:
			found = found || r.longRange(m)
		case *ast.LabeledStmt:
			found = found || r.backJump(m)
		}
		return !found
	})
	return found
}

func (r *renderer) forStmt(m *ast.ForStmt, e *edits) {
	e.insert(m.Body.Lbrace+1, r.look()+r.uses(m.Init))
}

func (r *renderer) rangeStmt(m *ast.RangeStmt, e *edits) {
	s := r.uses(m)
	if r.longRange(m) {
		s = r.look() + s
	}
	if s != "" {
		e.insert(m.Body.Lbrace+1, s)
	}
}

// backJump reports whether a goto jumps to m from below, and m is no loop, which looks by itself.
func (r *renderer) backJump(m *ast.LabeledStmt) bool {
	switch m.Stmt.(type) {
	case *ast.ForStmt, *ast.RangeStmt, *ast.SwitchStmt, *ast.TypeSwitchStmt, *ast.SelectStmt:
		return false
	}
	if r.jumps == nil {
		r.jumps = map[types.Object]token.Pos{}
		ast.Inspect(r.src.File, func(n ast.Node) bool {
			if b, ok := n.(*ast.BranchStmt); ok && b.Tok == token.GOTO && b.Label != nil {
				if l := r.c.Info.Uses[b.Label]; l != nil {
					r.jumps[l] = max(r.jumps[l], b.Pos())
				}
			}
			return true
		})
	}
	return r.jumps[r.c.Info.Defs[m.Label]] > m.Pos()
}

// longRange reports whether the turns of m look at the flag.
func (r *renderer) longRange(m *ast.RangeStmt) bool {
	t := r.c.Info.TypeOf(m.X)
	if t == nil {
		return true
	}
	if p, ok := t.Underlying().(*types.Pointer); ok {
		t = p.Elem()
	}
	switch u := t.Underlying().(type) {
	case *types.Slice, *types.Array, *types.Map:
	case *types.Basic:
		if u.Info()&types.IsString == 0 {
			return true
		}
	default:
		return true
	}
	long := false
	ast.Inspect(m.Body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.ForStmt, *ast.RangeStmt, *ast.SendStmt, *ast.SelectStmt, *ast.GoStmt, *ast.DeferStmt:
			long = true
		case *ast.UnaryExpr:
			long = long || n.Op == token.ARROW
		case *ast.CallExpr:
			if tv := r.c.Info.Types[n.Fun]; !tv.IsType() && !tv.IsBuiltin() {
				long = true
			}
		case *ast.FuncLit:
			return false
		}
		return !long
	})
	return long
}

// comesBack reports whether a function may call itself, directly or by others.
func (r *renderer) comesBack(body *ast.BlockStmt, fn *ast.FuncDecl) bool {
	if fn != nil {
		if s := r.c.Symbol(r.c.Info.Defs[fn.Name]); s != nil && r.f.u.recursive()[s] {
			return true
		}
	}
	back := false
	ast.Inspect(body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			return false
		case *ast.CallExpr:
			switch f := ast.Unparen(n.Fun).(type) {
			case *ast.Ident: // a literal that calls a function variable: var f func(); f = func() { f() }
				if v, ok := r.c.Info.Uses[f].(*types.Var); ok && fn == nil && !(body.Pos() <= v.Pos() && v.Pos() < body.End()) {
					back = true
				}
			case *ast.SelectorExpr:
				if sel := r.c.Info.Selections[f]; sel != nil && sel.Kind() == types.MethodVal {
					if m, ok := sel.Obj().(*types.Func); ok && m.Pkg() == r.c.Pkg && types.IsInterface(sel.Recv()) {
						back = true
					}
				}
			}
		}
		return !back
	})
	return back
}

// recursive is the set of functions and methods that can reach themselves by the calls in their texts.
func (u *unit) recursive() map[*check.Symbol]bool {
	if u.cycles != nil {
		return u.cycles
	}
	u.cycles = map[*check.Symbol]bool{}
	next := map[*check.Symbol][]*check.Symbol{}
	for _, d := range u.emitted {
		if d.decl.Sym != nil {
			next[d.decl.Sym] = u.callees(d)
		}
	}
	// Tarjan's strongly connected components.
	index, low, on := map[*check.Symbol]int{}, map[*check.Symbol]int{}, map[*check.Symbol]bool{}
	var stack []*check.Symbol
	n := 0
	var visit func(s *check.Symbol)
	visit = func(s *check.Symbol) {
		n++
		index[s], low[s] = n, n
		stack = append(stack, s)
		on[s] = true
		for _, t := range next[s] {
			if t == s {
				u.cycles[s] = true
			}
			if index[t] == 0 {
				visit(t)
				low[s] = min(low[s], low[t])
			} else if on[t] {
				low[s] = min(low[s], index[t])
			}
		}
		if low[s] != index[s] {
			return
		}
		for i := len(stack) - 1; ; i-- {
			t := stack[i]
			on[t] = false
			if t != s || i < len(stack)-1 {
				u.cycles[t] = true
			}
			if t == s {
				stack = stack[:i]
				return
			}
		}
	}
	for _, d := range u.emitted {
		if s := d.decl.Sym; s != nil && index[s] == 0 {
			visit(s)
		}
	}
	return u.cycles
}

// callees are the functions and methods that a declaration's text names.
func (u *unit) callees(d *declared) []*check.Symbol {
	fn, ok := d.decl.Node.(*ast.FuncDecl)
	if !ok || fn.Body == nil {
		return nil
	}
	var r []*check.Symbol
	ast.Inspect(fn.Body, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok {
			if f, ok := d.c.Info.Uses[id].(*types.Func); ok {
				if s := d.c.Symbol(f); s != nil {
					r = append(r, s)
				}
			}
		}
		return true
	})
	return r
}
