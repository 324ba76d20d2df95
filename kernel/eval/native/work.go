package native

import (
	"go/ast"
	"go/token"
	"go/types"

	"github.com/gander-go/gander/kernel/eval/check"
)

// work adds up what a part of the text does when it runs once: how long that can take at most, and what it assigns. It follows the text
// into functions of cells that are short themselves. What it does not know it takes for long.
type work struct {
	u *unit
	c *check.Checked // of the text

	steps int  // some nanoseconds each, when memory is near
	long  bool // nothing is known to bound it

	named   map[types.Object]bool // variables that are assigned by their names
	through []types.Type          // the types of what is assigned through pointers and slices
	calls   bool                  // functions of cells are called: they may assign what is not local to the function
	depth   int
}

// mostSteps is where a loop's body is so long that a look at the flag beside it does not count.
const mostSteps = 200

func (u *unit) workOf(c *check.Checked, body *ast.BlockStmt) *work {
	w := &work{u: u, c: c, named: map[types.Object]bool{}}
	w.stmt(body)
	w.long = w.long || w.steps > mostSteps
	return w
}

func (w *work) list(l []ast.Stmt) {
	for _, s := range l {
		w.stmt(s)
	}
}

func (w *work) stmt(s ast.Stmt) {
	switch s := s.(type) {
	case nil, *ast.EmptyStmt:
	case *ast.BlockStmt:
		w.list(s.List)
	case *ast.AssignStmt:
		w.assign(s)
	case *ast.IncDecStmt:
		w.steps++
		w.target(s.X)
	case *ast.ExprStmt:
		w.expr(s.X)
	case *ast.DeclStmt:
		g, ok := s.Decl.(*ast.GenDecl)
		if !ok || g.Tok != token.VAR {
			return
		}
		for _, sp := range g.Specs {
			v := sp.(*ast.ValueSpec)
			w.values(v.Values...)
			for _, id := range v.Names {
				w.copied(w.c.Info.TypeOf(id))
			}
		}
	case *ast.IfStmt:
		w.stmt(s.Init)
		w.expr(s.Cond)
		w.stmt(s.Body)
		w.stmt(s.Else)
	case *ast.SwitchStmt:
		w.stmt(s.Init)
		if s.Tag != nil {
			w.expr(s.Tag)
			w.long = w.long || !w.plain(s.Tag)
		}
		for _, c := range s.Body.List {
			c := c.(*ast.CaseClause)
			for _, x := range c.List {
				w.steps++
				w.expr(x)
				w.long = w.long || !w.plain(x)
			}
			w.list(c.Body)
		}
	case *ast.BranchStmt:
		w.long = w.long || s.Tok == token.GOTO
	case *ast.ReturnStmt:
		w.values(s.Results...)
	case *ast.ForStmt:
		w.stmt(s.Init)
		before := w.steps
		w.expr(s.Cond)
		w.stmt(s.Body)
		turns := w.constFor(s)
		w.stmt(s.Post)
		w.repeat(before, turns)
	case *ast.RangeStmt:
		if s.Tok == token.ASSIGN {
			w.long = true
			return
		}
		before := w.steps
		w.stmt(s.Body)
		w.repeat(before, w.constRange(s))
	default:
		w.long = true
	}
}

// repeat counts the steps since before turns times; turns is negative where the number is not known.
func (w *work) repeat(before int, turns int64) {
	if turns < 0 || turns > mostSteps {
		w.long = true
		return
	}
	w.steps = before + (w.steps-before+1)*int(turns)
}

func (w *work) assign(s *ast.AssignStmt) {
	w.steps++
	if s.Tok != token.ASSIGN && s.Tok != token.DEFINE && !w.plain(s.Lhs[0]) {
		w.long = true // s += t
	}
	if c := w.appends(s); c != nil {
		w.steps += 8
		w.values(c.Args[1:]...)
	} else {
		w.values(s.Rhs...)
	}
	for _, l := range s.Lhs {
		if id, ok := l.(*ast.Ident); ok && w.c.Info.Defs[id] != nil {
			continue
		}
		w.target(l)
	}
}

// appends is the call of s where s is x = append(x, y, z), which takes a constant time on the average.
func (w *work) appends(s *ast.AssignStmt) *ast.CallExpr {
	if s.Tok != token.ASSIGN || len(s.Lhs) != 1 || len(s.Rhs) != 1 {
		return nil
	}
	c, ok := ast.Unparen(s.Rhs[0]).(*ast.CallExpr)
	if !ok || c.Ellipsis.IsValid() || len(c.Args) == 0 || w.builtin(c) != "append" {
		return nil
	}
	to, ok1 := s.Lhs[0].(*ast.Ident)
	of, ok2 := c.Args[0].(*ast.Ident)
	if !ok1 || !ok2 || w.c.Info.Uses[to] == nil || w.c.Info.Uses[to] != w.c.Info.Uses[of] {
		return nil
	}
	return c
}

// target is the left side of an assignment.
func (w *work) target(x ast.Expr) {
	switch x := x.(type) {
	case *ast.Ident:
		if o := w.c.Info.Uses[x]; o != nil {
			w.named[o] = true
		}
	case *ast.ParenExpr:
		w.target(x.X)
	case *ast.SelectorExpr:
		sel := w.c.Info.Selections[x]
		if sel != nil && sel.Kind() == types.FieldVal && !sel.Indirect() {
			w.target(x.X)
			return
		}
		w.through = append(w.through, w.c.Info.TypeOf(x))
		w.expr(x)
	case *ast.IndexExpr:
		t := w.c.Info.TypeOf(x.X)
		if _, ok := t.Underlying().(*types.Array); ok {
			w.steps++
			w.expr(x.Index)
			w.target(x.X)
			return
		}
		w.through = append(w.through, w.c.Info.TypeOf(x))
		w.expr(x)
	case *ast.StarExpr:
		w.through = append(w.through, w.c.Info.TypeOf(x))
		w.expr(x)
	default:
		w.long = true
	}
}

// values are expressions whose values are copied.
func (w *work) values(l ...ast.Expr) {
	for _, x := range l {
		w.expr(x)
		w.copied(w.c.Info.TypeOf(x))
	}
}

func (w *work) copied(t types.Type) {
	if t == nil {
		return
	}
	n := words(t)
	w.steps += int(min(n, mostSteps) / 8)
	w.long = w.long || n > mostSteps
}

// words is the size of a t in words, about; type parameters count as one that is not large.
func words(t types.Type) int64 {
	switch u := t.Underlying().(type) {
	case *types.Array:
		return min(max(u.Len(), 0), 1<<20) * words(u.Elem())
	case *types.Struct:
		n := int64(0)
		for i := range u.NumFields() {
			n = min(n+words(u.Field(i).Type()), 1<<20)
		}
		return n
	case *types.Tuple:
		n := int64(0)
		for i := range u.Len() {
			n += words(u.At(i).Type())
		}
		return n
	}
	return 2
}
