package native

import (
	"go/ast"
	"go/token"
	"go/types"
)

// Interrupts are cooperative: code that may run for long looks at a flag of package rt. Looked at are
//
//   - every turn of a loop, except where the loop soon ends by itself (see pace),
//   - labels that a goto jumps to,
//   - functions that can come back to themselves: once, before they call anything.
//
// Loops reach the flag through rt.StopFlag, which they keep in a local variable. Other functions stay as they are, so that the compiler
// still inlines them.

func (r *renderer) look() string {
	return " if *stop__ != 0 { " + r.f.rt("Halt") + "() };"
}

func (r *renderer) hoist() string { return " stop__ := " + r.f.rt("StopFlag") + ";" }

// enter puts what a function needs into its body. fn is its *ast.FuncDecl or nil for a literal.
func (r *renderer) enter(body *ast.BlockStmt, fn *ast.FuncDecl, e *edits) {
	if r.looksInside(body) {
		e.insert(body.Lbrace+1, r.hoist())
	}
	if r.comesBack(body, fn) {
		r.lookBeforeCalls(body.List, body.Lbrace+1, e)
	}
}

// looksInside reports whether n has a place, outside function literals, that looks at the flag and needs its address.
func (r *renderer) looksInside(n ast.Node) bool {
	found := false
	ast.Inspect(n, func(m ast.Node) bool {
		switch m := m.(type) {
		case *ast.FuncLit:
			return false
		case *ast.ForStmt:
			p := r.forPace(m)
			found = found || !p.never && p.short == ""
		case *ast.RangeStmt:
			p := r.rangePace(m)
			found = found || !p.never && p.short == ""
		case *ast.LabeledStmt:
			found = found || r.backJump(m)
		}
		return !found
	})
	return found
}

// forStmt reports whether m's parts are still to be visited.
func (r *renderer) forStmt(m *ast.ForStmt, e *edits) bool {
	return r.loop(m, r.forPace(m), m.Body, r.uses(m.Init), e)
}

func (r *renderer) rangeStmt(m *ast.RangeStmt, e *edits) bool {
	return r.loop(m, r.rangePace(m), m.Body, r.uses(m), e)
}

func (r *renderer) loop(m ast.Stmt, p pace, body *ast.BlockStmt, uses string, e *edits) bool {
	if p.short != "" {
		e.replace(m.Pos(), m.End(), r.twin(m, p, body, uses))
		return false
	}
	if !p.never {
		uses = r.look() + uses
	}
	if uses != "" {
		e.insert(body.Lbrace+1, uses)
	}
	return true
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
