package native

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"

	"github.com/gander-go/gander/kernel/eval/check"
)

// renderer writes parts of a checked text for a file. What needs no change is copied byte for byte, so that lines stay where
// they are; replaced parts keep their number of lines or are followed by a directive.
type renderer struct {
	f      *file
	c      *check.Checked
	src    check.Source
	used   map[*types.Var]bool // unused variables that still need a use
	lazy   map[*ast.LabeledStmt]bool
	own    bool                       // the text is the cell's own statements, not a declaration
	direct map[*ast.StructType]bool   // structs that a type declaration names: their identity is the type's
	jumps  map[types.Object]token.Pos // labels, with the last goto to each

	labels     map[ast.Stmt]bool     // statements that have a label
	redefines  bool                  // len or uint64 means something else
	sharedVars map[types.Object]bool // local variables whose address is taken or that function literals use
}

func newRenderer(f *file, c *check.Checked, src check.Source) *renderer {
	r := &renderer{f: f, c: c, src: src, used: map[*types.Var]bool{}, lazy: map[*ast.LabeledStmt]bool{},
		direct: map[*ast.StructType]bool{}}
	for _, v := range c.Unused {
		r.used[v] = true
	}
	for _, l := range c.UnusedLabels {
		r.lazy[l] = true
	}
	return r
}

type edit struct {
	lo, hi int
	text   string
}

type edits struct {
	r    *renderer
	list []edit
}

func (e *edits) replace(lo, hi token.Pos, text string) {
	a, b := e.r.off(lo), e.r.off(hi)
	if strings.Count(e.r.src.Text[a:b], "\n") != strings.Count(text, "\n") {
		q := e.r.c.Fset.Position(hi)
		text += fmt.Sprintf("/*line %s:%d:%d*/", e.r.f.u.e.tagOf(q.Filename), q.Line, q.Column)
	}
	e.list = append(e.list, edit{a, b, text})
}

func (e *edits) insert(at token.Pos, text string) {
	a := e.r.off(at)
	e.list = append(e.list, edit{a, a, text})
}

func (r *renderer) off(p token.Pos) int { return r.c.Fset.PositionFor(p, false).Offset }

// node is n's text for the file.
func (r *renderer) node(n ast.Node) string { return r.span(n.Pos(), n.End(), n) }

// span is the text from lo to hi, in which nodes are all that may need a change.
func (r *renderer) span(lo, hi token.Pos, nodes ...ast.Node) string {
	e := &edits{r: r}
	for _, n := range nodes {
		if n != nil {
			ast.Inspect(n, func(m ast.Node) bool { return m != nil && r.visit(m, e) })
		}
	}
	return r.splice(lo, hi, e)
}

// inner is span without a visit of n itself.
func (r *renderer) inner(n ast.Node) string {
	e := &edits{r: r}
	ast.Inspect(n, func(m ast.Node) bool { return m == n || m != nil && r.visit(m, e) })
	return r.splice(n.Pos(), n.End(), e)
}

func (r *renderer) splice(lo, hi token.Pos, e *edits) string {
	slices.SortStableFunc(e.list, func(a, b edit) int { return a.lo - b.lo })
	at, end := r.off(lo), r.off(hi)
	var b strings.Builder
	for _, x := range e.list {
		if x.lo < at || x.hi > end {
			continue
		}
		b.WriteString(r.src.Text[at:x.lo])
		b.WriteString(x.text)
		at = x.hi
	}
	b.WriteString(r.src.Text[at:end])
	return b.String()
}

// visit adds the edits that m needs and reports whether its children are still to be visited.
func (r *renderer) visit(m ast.Node, e *edits) bool {
	switch m := m.(type) {
	case *ast.ImportSpec:
		return false
	case *ast.Ident:
		r.ident(m, e)
	case *ast.SelectorExpr:
		return r.selector(m, e)
	case *ast.CompositeLit:
		return r.literal(m, e)
	case *ast.UnaryExpr:
		if lit, ok := ast.Unparen(m.X).(*ast.CompositeLit); ok && m.Op == token.AND {
			if s, ok := r.hiddenLiteral(lit); ok {
				e.replace(m.Pos(), m.End(), r.f.rt("Ptr")+"("+s+")")
				return false
			}
		}
	case *ast.TypeSpec:
		if st, ok := ast.Unparen(m.Type).(*ast.StructType); ok && !m.Assign.IsValid() {
			r.direct[st] = true
		}
	case *ast.StructType:
		return r.structType(m, e)
	case *ast.CallExpr:
		return r.call(m, e)
	case *ast.GoStmt:
		e.replace(m.Pos(), m.End(), r.goStmt(m))
		return false
	case *ast.DeferStmt:
		return r.deferStmt(m, e)
	case *ast.FuncDecl:
		if m.Body != nil {
			r.enter(m.Body, m, e)
		}
	case *ast.FuncLit:
		r.enter(m.Body, nil, e)
	case *ast.ForStmt:
		return r.forStmt(m, e)
	case *ast.RangeStmt:
		return r.rangeStmt(m, e)
	case *ast.IfStmt:
		e.insert(m.Body.Lbrace+1, r.uses(m.Init))
	case *ast.SwitchStmt:
		r.useInCases(m.Init, m.Body, e)
	case *ast.TypeSwitchStmt:
		r.useInCases(m.Init, m.Body, e)
		if a, ok := m.Assign.(*ast.AssignStmt); ok && r.unusedGuard(a, m.Body) {
			e.replace(a.Lhs[0].Pos(), a.Rhs[0].Pos(), "")
		}
	case *ast.BlockStmt:
		r.useInList(m.List, e)
	case *ast.CaseClause:
		r.useInList(m.Body, e)
	case *ast.CommClause:
		if m.Comm != nil {
			e.insert(m.Colon+1, r.uses(m.Comm))
		}
		r.useInList(m.Body, e)
	case *ast.LabeledStmt:
		if r.lazy[m] {
			e.replace(m.Label.Pos(), m.Colon+1, "")
			ast.Inspect(m.Stmt, func(n ast.Node) bool { return n != nil && r.visit(n, e) })
			return false
		}
		if r.backJump(m) {
			e.insert(m.Colon+1, r.look())
		}
	}
	return true
}

// ident spells a name of the session or of a package.
func (r *renderer) ident(m *ast.Ident, e *edits) {
	o := r.c.Info.Uses[m]
	if o == nil {
		if o = r.c.Info.Defs[m]; o == nil {
			return
		}
	}
	if p, ok := o.(*types.PkgName); ok {
		e.replace(m.Pos(), m.End(), r.f.pkg(p.Imported()))
		return
	}
	if o.Pkg() != r.c.Pkg {
		if o.Pkg() != nil && o.Parent() == o.Pkg().Scope() && !r.isSelected(m) { // from a dot import
			e.replace(m.Pos(), m.End(), r.f.pkg(o.Pkg())+"."+m.Name)
		}
		return
	}
	s := r.c.Symbol(o)
	switch o := o.(type) {
	case *types.Func:
		if o.Signature().Recv() != nil {
			if n := exported(o.Name()); n != m.Name {
				e.replace(m.Pos(), m.End(), n)
			}
			return
		}
		if s != nil {
			r.spell(m, r.f.symbol(s), e)
		}
	case *types.Var:
		if o.Embedded() && r.c.Info.Defs[m] == nil {
			r.spell(m, fieldName(r.c, o), e)
		}
		if s != nil {
			e.replace(m.Pos(), m.End(), r.f.variable(r.c, s))
		}
	case *types.TypeName:
		if s != nil && s.Kind == check.TypeSymbol {
			r.spell(m, r.f.symbol(s), e)
		}
	case *types.Const:
		if s != nil {
			r.spell(m, r.f.symbol(s), e)
		}
	}
}

func (r *renderer) spell(m *ast.Ident, name string, e *edits) {
	if name != m.Name {
		e.replace(m.Pos(), m.End(), name)
	}
}

// isSelected is true for the right side of a selector, which is visited only on the ways that do not rewrite it.
func (r *renderer) isSelected(m *ast.Ident) bool {
	at := r.off(m.Pos())
	s := strings.TrimRight(r.src.Text[:at], " \t\n")
	return strings.HasSuffix(s, ".")
}

// structType keeps the identity of anonymous structs with unexported fields, which belong to the package that writes them.
func (r *renderer) structType(m *ast.StructType, e *edits) bool {
	st, ok := r.c.Info.TypeOf(m).(*types.Struct)
	if ok && !r.direct[m] && isHidden(st) {
		if s := r.f.anonymous(r.c, st); s != "" && strings.Contains(s, ".") {
			e.replace(m.Pos(), m.End(), s)
			return false
		}
	}
	for _, fl := range m.Fields.List { // embedded types keep their names
		if len(fl.Names) == 0 {
			r.embedded(fl.Type, e)
			if fl.Tag != nil {
				continue
			}
			continue
		}
		ast.Inspect(fl.Type, func(n ast.Node) bool { return n != nil && r.visit(n, e) })
	}
	return false
}

func (r *renderer) embedded(x ast.Expr, e *edits) {
	switch x := x.(type) {
	case *ast.StarExpr:
		r.embedded(x.X, e)
		return
	case *ast.ParenExpr:
		r.embedded(x.X, e)
		return
	case *ast.IndexExpr:
		r.embedded(x.X, e)
		ast.Inspect(x.Index, func(n ast.Node) bool { return n != nil && r.visit(n, e) })
		return
	case *ast.IndexListExpr:
		r.embedded(x.X, e)
		for _, i := range x.Indices {
			ast.Inspect(i, func(n ast.Node) bool { return n != nil && r.visit(n, e) })
		}
		return
	case *ast.Ident:
		if s := r.c.Symbol(r.c.Info.Uses[x]); s != nil && s.Kind == check.TypeSymbol {
			r.spell(x, r.f.embeddable(r.c, s), e)
			return
		}
	}
	ast.Inspect(x, func(n ast.Node) bool { return n != nil && r.visit(n, e) })
}

// uses is the text that uses the unused variables that s declares.
func (r *renderer) uses(s ast.Stmt) string {
	if s == nil || len(r.used) == 0 {
		return ""
	}
	var b strings.Builder
	use := func(x ast.Expr) {
		id, ok := x.(*ast.Ident)
		if !ok {
			return
		}
		if v, ok := r.c.Info.Defs[id].(*types.Var); ok && r.used[v] {
			fmt.Fprintf(&b, " _ = %s;", id.Name)
		}
	}
	switch s := s.(type) {
	case *ast.AssignStmt:
		for _, l := range s.Lhs {
			use(l)
		}
	case *ast.DeclStmt:
		if g, ok := s.Decl.(*ast.GenDecl); ok && g.Tok == token.VAR {
			for _, sp := range g.Specs {
				for _, id := range sp.(*ast.ValueSpec).Names {
					use(id)
				}
			}
		}
	case *ast.RangeStmt:
		if s.Tok == token.DEFINE {
			use(s.Key)
			if s.Value != nil {
				use(s.Value)
			}
		}
	case *ast.LabeledStmt:
		return r.uses(s.Stmt)
	}
	return b.String()
}

// useInList puts uses after the statements of l that declare unused variables.
func (r *renderer) useInList(l []ast.Stmt, e *edits) {
	if len(r.used) == 0 {
		return
	}
	for _, s := range l {
		if _, ok := s.(*ast.RangeStmt); ok {
			continue
		}
		if u := r.uses(s); u != "" {
			e.insert(s.End(), ";"+u)
		}
	}
}

func (r *renderer) useInCases(init ast.Stmt, body *ast.BlockStmt, e *edits) {
	u := r.uses(init)
	if u == "" {
		return
	}
	if len(body.List) == 0 {
		e.insert(body.Lbrace+1, "default:"+u)
	}
	for _, c := range body.List {
		e.insert(c.(*ast.CaseClause).Colon+1, u)
	}
}

// unusedGuard reports whether the variable of a type switch is used in no clause.
func (r *renderer) unusedGuard(a *ast.AssignStmt, body *ast.BlockStmt) bool {
	if a.Tok != token.DEFINE {
		return false
	}
	vars := map[types.Object]bool{}
	for _, c := range body.List {
		vars[r.c.Info.Implicits[c]] = true
	}
	used := false
	ast.Inspect(body, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok {
			if o := r.c.Info.Uses[id]; o != nil && vars[o] {
				used = true
			}
		}
		return !used
	})
	return !used
}
