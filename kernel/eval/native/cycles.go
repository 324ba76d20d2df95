package native

import (
	"go/ast"
	"go/token"
	"go/types"

	"github.com/gander-go/gander/kernel/eval/check"
)

// lookBeforeCalls puts a look where every way through l that calls a function comes past: what returns before, as the end of a recursion
// does, does not look. at is where l begins.
func (r *renderer) lookBeforeCalls(l []ast.Stmt, at token.Pos, e *edits) {
	for i, s := range l {
		if !r.calls(s) {
			continue
		}
		if branch, ok := s.(*ast.IfStmt); ok && r.onlyBranchesCall(branch) && !r.calls(asNodes(l[i+1:])...) {
			r.lookInBranches(branch, e)
			return
		}
		if i > 0 {
			at = s.Pos()
		}
		e.insert(at, " if "+r.f.rt("Stopping")+" != 0 { "+r.f.rt("Halt")+"() };")
		return
	}
}

func (r *renderer) lookInBranches(s *ast.IfStmt, e *edits) {
	r.lookBeforeCalls(s.Body.List, s.Body.Lbrace+1, e)
	switch x := s.Else.(type) {
	case *ast.BlockStmt:
		r.lookBeforeCalls(x.List, x.Lbrace+1, e)
	case *ast.IfStmt:
		r.lookInBranches(x, e)
	}
}

func (r *renderer) onlyBranchesCall(s *ast.IfStmt) bool {
	if r.calls(s.Init, s.Cond) {
		return false
	}
	if x, ok := s.Else.(*ast.IfStmt); ok {
		return r.onlyBranchesCall(x)
	}
	return true
}

func asNodes(l []ast.Stmt) []ast.Node {
	var n []ast.Node
	for _, s := range l {
		n = append(n, s)
	}
	return n
}

// calls reports whether running one of the nodes may call a function of a cell, or wait.
func (r *renderer) calls(l ...ast.Node) bool {
	found := false
	for _, n := range l {
		if n == nil {
			continue
		}
		ast.Inspect(n, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.FuncLit:
				return false
			case *ast.CallExpr:
				tv := r.c.Info.Types[n.Fun]
				found = found || !tv.IsType() && !tv.IsBuiltin()
			case *ast.RangeStmt:
				switch r.c.Info.TypeOf(n.X).Underlying().(type) {
				case *types.Slice, *types.Array, *types.Basic, *types.Map, *types.Pointer:
				default:
					found = true
				}
			case *ast.SendStmt, *ast.SelectStmt, *ast.LabeledStmt:
				found = true
			case *ast.UnaryExpr:
				found = found || n.Op == token.ARROW
			}
			return !found
		})
	}
	return found
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

// declaredAs is the declaration that a symbol stands for in this unit or an earlier one, nil when there is none.
func (u *unit) declaredAs(s *check.Symbol) *declared {
	if s == nil {
		return nil
	}
	s = u.resolve(s)
	for _, d := range u.emitted {
		if u.resolve(d.decl.Sym) == s {
			return d
		}
	}
	return u.e.live[s]
}
