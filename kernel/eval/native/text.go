package native

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"hash/fnv"
	"regexp"
	"slices"
	"sort"
	"strings"

	"github.com/gander-go/gander/kernel/eval/check"
)

// tag names a cell's text in positions.
func tag(code string) string {
	h := fnv.New32a()
	h.Write([]byte(code))
	return fmt.Sprintf("In[#%08x]", h.Sum32())
}

var inCell = regexp.MustCompile(`In\[(\d+)\]`)

// line is a line directive for what starts at p.
func (u *unit) line(c *check.Checked, p token.Pos) string {
	q := c.Fset.Position(p)
	return fmt.Sprintf("\n//line %s:%d\n", u.e.tagOf(q.Filename), q.Line)
}

// text writes the module of declarations; "" when there is nothing to declare.
func (u *unit) declText() string {
	f := u.decls
	var body strings.Builder
	done := map[ast.Node]bool{}
	for _, d := range u.emitted {
		u.declaration(d, &body, done)
	}
	u.probeText(&body)
	u.retype()
	if body.Len() == 0 && f.extra.Len() == 0 && len(f.binds) == 0 {
		return ""
	}
	var b strings.Builder
	for _, s := range f.binds {
		b.WriteString("var " + s + "\n")
	}
	if up := u.upgrades(); up != "" {
		b.WriteString("func init() { " + f.rt("Upgrade") + "(" + up + ") }\n")
	}
	b.WriteString(f.extra.String())
	b.WriteString(body.String())
	return u.retag(b.String())
}

// upgrades pairs the old and the new version of every type that the module declares again with the same layout.
func (u *unit) upgrades() string {
	f := u.decls
	var l []string
	for _, d := range u.emitted {
		s := d.decl.Sym
		ts, ok := d.decl.Spec.(*ast.TypeSpec)
		if !ok || ts.TypeParams != nil || ts.Assign.IsValid() {
			continue
		}
		old, was := u.e.places[s] // emitted again as it is
		if !was && s.Origin != nil && u.grown(s) {
			old, was = u.e.places[u.e.resolve(s.Origin)]
		}
		if was && old.in != u.mod {
			reflect := f.importName("reflect", "reflect")
			l = append(l, fmt.Sprintf("%s.TypeFor[%s.%s](), %s.TypeFor[%s]()", reflect, f.in(old.in), old.name, reflect, u.places[s].local))
		}
	}
	return strings.Join(l, ", ")
}

// grown reports whether s is a type that the checker bound again only because it, or types that it is built from, got methods: its layout is
// that of its origin.
func (u *unit) grown(s *check.Symbol) bool {
	if s.Kind != check.TypeSymbol || s.Origin == nil {
		return false
	}
	if g, ok := u.growth[s]; ok {
		return g
	}
	u.growth[s] = true // for types that are built from themselves
	if slices.Contains(u.c.Extended, s) {
		return true
	}
	for _, d := range u.emitted {
		if d.decl.Sym != s {
			continue
		}
		for _, use := range d.decl.Uses {
			if _, here := u.places[use]; !here || use == s {
				continue
			}
			if !u.moved[use] && !u.grown(use) {
				u.growth[s] = false
				return false
			}
		}
	}
	return true
}

func (u *unit) declaration(d *declared, b *strings.Builder, done map[ast.Node]bool) {
	f := u.decls
	r := newRenderer(f, d.c, d.decl.Source)
	switch n := d.decl.Node.(type) {
	case *ast.FuncDecl:
		b.WriteString(d.pragma + u.line(d.c, n.Pos()) + r.node(n) + "\n")
	case *ast.GenDecl:
		if n.Tok != token.TYPE {
			if !done[n] {
				done[n] = true
				b.WriteString(u.line(d.c, n.Pos()) + r.node(n) + "\n")
			}
			return
		}
		u.typeDecl(d, r, b)
	}
}

func (u *unit) typeDecl(d *declared, r *renderer, b *strings.Builder) {
	f := u.decls
	ts := d.decl.Spec.(*ast.TypeSpec)
	st, _ := ast.Unparen(ts.Type).(*ast.StructType)
	b.WriteString(u.line(d.c, ts.Pos()) + "type " + r.node(ts) + "\n")
	p := u.places[d.decl.Sym]
	params, args := "", ""
	if ts.TypeParams != nil {
		if n, ok := d.c.Info.Defs[ts.Name].Type().(interface{ TypeParams() *types.TypeParamList }); ok {
			params, args = f.typeParams(d.c, n.TypeParams())
		}
	}
	if p.name != p.local {
		fmt.Fprintf(&f.extra, "type %s%s = %s%s\n", p.name, params, p.local, args)
	}
	if st != nil && !ts.Assign.IsValid() {
		if s, ok := isStruct(d.c.Info.Defs[ts.Name].Type()); ok {
			u.accessors(d.c, p.local, params, args, s)
		}
	}
}

// cellText writes the statements.
func (u *unit) cellText() string {
	f, c := u.cell, u.c
	r := newRenderer(f, c, c.Cell)
	r.own = true
	var body strings.Builder
	looks := false
	for _, s := range c.Steps {
		looks = looks || s.Stmt != nil && r.looksInside(s.Stmt)
	}
	for _, s := range c.Steps {
		u.step(r, s, &body)
	}
	var b strings.Builder
	b.WriteString("func Cell() {\n" + u.registrations())
	for _, s := range f.binds {
		name, value, _ := strings.Cut(s, " = ")
		fmt.Fprintf(&b, "%s := %s; _ = %s\n", name, value, name)
	}
	if looks {
		b.WriteString(r.hoist() + "\n")
	}
	b.WriteString(body.String() + "\n}\n" + f.extra.String())
	return u.retag(b.String())
}

func (u *unit) step(r *renderer, s check.Step, b *strings.Builder) {
	f := u.cell
	switch s.Kind {
	case check.StmtStep:
		b.WriteString(u.line(u.c, s.Stmt.Pos()))
		if x, ok := s.Stmt.(*ast.ExprStmt); ok && s.Show {
			how := "Show"
			if u.o.Quiet {
				how = "Discard"
			}
			b.WriteString(f.rt(how) + "(" + r.node(x.X) + ")\n")
			return
		}
		b.WriteString(r.node(s.Stmt) + "\n")
		if use := r.uses(s.Stmt); use != "" {
			if _, ok := s.Stmt.(*ast.RangeStmt); !ok {
				b.WriteString(use + "\n")
			}
		}
	case check.DefineStep:
		u.define(r, s, b)
	case check.InitStep:
		b.WriteString(u.line(u.c, s.Func.Pos()) + "func() " + r.initBody(s.Func) + "()\n")
	case check.MainStep:
		if s := u.c.Symbol(u.c.Pkg.Scope().Lookup("main")); s != nil {
			b.WriteString(f.symbol(s) + "()\n")
		}
	}
}

func (u *unit) define(r *renderer, s check.Step, b *strings.Builder) {
	f := u.cell
	var left []string
	for _, t := range s.Targets {
		if t.Sym == nil {
			left = append(left, "_")
		} else {
			left = append(left, f.variable(u.c, t.Sym))
		}
	}
	if len(s.Values) == 0 {
		for i, l := range left {
			if l != "_" {
				v := u.c.Object(s.Targets[i].Sym)
				b.WriteString(u.line(u.c, s.Pos) + l + " = *new(" + f.typeString(u.c, v.Type()) + ")\n")
			}
		}
		return
	}
	first := s.Values[0]
	right := r.node(first)
	for _, v := range s.Values[1:] { // the checker may have put them anywhere
		q := u.c.Fset.Position(v.Pos())
		right += fmt.Sprintf(", /*line %s:%d:%d*/%s", u.e.tagOf(q.Filename), q.Line, q.Column, r.node(v))
	}
	if s.Type != nil && allBlank(left) && len(s.Values) == len(left) { // var _ T = x checks that x is a T
		t := u.c.Info.TypeOf(s.Type)
		for _, v := range s.Values {
			b.WriteString(u.line(u.c, v.Pos()) + "var _ " + f.typeString(u.c, t) + " = " + r.node(v) + "\n")
		}
		return
	}
	b.WriteString(u.line(u.c, first.Pos()) + strings.Join(left, ", ") + " = " + right + "\n")
}

func allBlank(l []string) bool {
	for _, s := range l {
		if s != "_" {
			return false
		}
	}
	return true
}

// initBody is the body of an init function as that of a function literal.
func (r *renderer) initBody(fn *ast.FuncDecl) string {
	e := &edits{r: r}
	r.enter(fn.Body, nil, e)
	ast.Inspect(fn.Body, func(n ast.Node) bool { return n != nil && r.visit(n, e) })
	return r.splice(fn.Body.Pos(), fn.Body.End(), e)
}

// retag replaces numbers of cells in line directives by their tags.
func (u *unit) retag(s string) string {
	if !strings.Contains(s, "*line In[") {
		return s
	}
	return lineComment.ReplaceAllStringFunc(s, func(m string) string {
		return inCell.ReplaceAllStringFunc(m, u.e.tagOf)
	})
}

var lineComment = regexp.MustCompile(`/\*line In\[\d+\]:[\d:]+\*/`)

// assemble puts a package together out of its body and what the body turned out to import.
func (f *file) assemble(body string, blank []string) string {
	var b strings.Builder
	b.WriteString("package main\n")
	imports := append([]string(nil), f.order...)
	sort.Strings(imports)
	for _, p := range imports {
		if strings.Contains(body, f.imports[p]+".") {
			fmt.Fprintf(&b, "import %s %q\n", f.imports[p], p)
		}
	}
	for _, m := range f.modlist {
		if strings.Contains(body, f.modules[m]+".") {
			fmt.Fprintf(&b, "import %s %q\n", f.modules[m], m.path)
		}
	}
	for _, p := range blank {
		fmt.Fprintf(&b, "import _ %q\n", p)
	}
	b.WriteString(body)
	return b.String()
}
