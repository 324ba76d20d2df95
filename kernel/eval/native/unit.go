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
	"strconv"
	"strings"

	"github.com/gander-go/gander/kernel/eval/check"
)

// declared is a declaration and the check whose objects its syntax tree refers to.
type declared struct {
	decl *check.Decl
	c    *check.Checked
}

// unit is a cell on its way to Go text.
type unit struct {
	e *Engine
	c *check.Checked
	o check.BuildOptions

	mod     *module     // of the declarations
	decls   *file       // its text
	cell    *file       // the statements
	emitted []*declared // what mod declares, constants once per group

	places     map[*check.Symbol]place
	anon       map[string]place // anonymous structs, by their form
	moved      map[*check.Symbol]bool
	replaced   map[*check.Symbol]*check.Symbol
	cycles     map[*check.Symbol]bool
	fresh      map[*check.Symbol]bool // variables that the cell defines anew
	anonymousN int
	latest     map[string]int64 // the newest symbol of each name
	growth     map[*check.Symbol]bool
}

func newUnit(e *Engine, c *check.Checked, o check.BuildOptions) *unit {
	u := &unit{e: e, c: c, o: o, mod: &module{}, places: map[*check.Symbol]place{}, anon: map[string]place{}, moved: map[*check.Symbol]bool{},
		replaced: map[*check.Symbol]*check.Symbol{}, fresh: map[*check.Symbol]bool{}, growth: map[*check.Symbol]bool{}}
	u.decls = newFile(u, u.mod)
	u.cell = newFile(u, nil)
	return u
}

// resolve follows a symbol to what has taken its place.
func (u *unit) resolve(s *check.Symbol) *check.Symbol {
	for range 1000 {
		n := u.replaced[s]
		if n == nil {
			n = u.e.replaced[s]
		}
		if n == nil || n == s {
			break
		}
		s = n
	}
	return s
}

func (u *unit) place(s *check.Symbol) (place, bool) {
	s = u.resolve(s)
	if p, ok := u.places[s]; ok {
		return p, true
	}
	p, ok := u.e.places[s]
	return p, ok
}

// plan works out what the unit's module declares: what the cell declares, what the checker bound again, and what uses a function
// or method that has a new text under the same signature.
func (u *unit) plan() {
	gone := map[*check.Symbol]bool{}
	start := map[*check.Symbol]bool{} // symbols with a new text
	for _, rd := range u.c.Redefined {
		gone[rd.Old] = true
		if rd.New != nil && rd.SameType && rd.New.Kind == rd.Old.Kind {
			u.replaced[rd.Old] = rd.New
			start[rd.Old] = true
		}
	}
	for _, v := range u.c.Vars {
		if !v.Reused {
			u.fresh[v.Sym] = true
		} else if old := u.e.vars[v.Sym.Name]; old != nil && old != v.Sym {
			u.replaced[old] = v.Sym
		}
	}
	var list []*declared
	for _, d := range u.c.Rebound {
		if d.Sym.Kind == check.VarSymbol {
			continue
		}
		list = append(list, &declared{d, u.c})
		for _, s := range d.Syms {
			if s.Origin != nil {
				gone[s.Origin] = true
				if u.c.Object(s.Origin) == nil || s.Kind == check.MethodSymbol {
					u.replaced[s.Origin] = s
					start[s.Origin] = true
				}
			}
		}
	}
	for _, d := range u.c.Decls {
		if d.Unchanged {
			if u.e.live[d.Sym] != nil {
				continue
			}
		}
		list = append(list, &declared{d, u.c})
	}
	taken := map[*check.Symbol]bool{}
	for _, d := range list {
		for _, s := range d.decl.Syms {
			taken[s] = true
		}
	}
	// A method is emitted with its type, a type with all its methods, and both with all that mentions them.
	for again := true; again; {
		again = false
		need := func(d *declared) {
			if d == nil || taken[d.decl.Sym] {
				return
			}
			for _, s := range d.decl.Syms {
				taken[s], u.moved[s], start[s] = true, true, true
			}
			list = append(list, d)
			again = true
		}
		for _, d := range list {
			if d.decl.Sym.Kind == check.MethodSymbol {
				need(u.e.live[u.receiver(d)])
			}
		}
		for _, d := range u.e.sorted() {
			if gone[d.decl.Sym] || taken[d.decl.Sym] {
				continue
			}
			if d.decl.Sym.Kind == check.MethodSymbol {
				if t := u.receiver(d); u.moved[t] {
					need(d)
					continue
				}
			}
			for _, s := range d.decl.Uses {
				if start[s] || start[u.e.resolve(s)] || u.moved[u.resolve(s)] {
					need(d)
					break
				}
			}
		}
	}
	u.emitted = list
	u.assign()
}

// receiver is the type that a method belongs to.
func (u *unit) receiver(d *declared) *check.Symbol {
	fn, ok := d.decl.Node.(*ast.FuncDecl)
	if !ok || fn.Recv == nil {
		return nil
	}
	o, _ := d.c.Info.Defs[fn.Name].(*types.Func)
	if o == nil || o.Signature().Recv() == nil {
		return nil
	}
	t, _ := stripPointer(o.Signature().Recv().Type())
	if n, ok := t.(*types.Named); ok {
		if s := d.c.Symbol(n.Obj()); s != nil {
			return u.resolve(s)
		}
	}
	return nil
}

// assign gives every emitted symbol its place.
func (u *unit) assign() {
	for _, d := range u.emitted {
		for _, s := range d.decl.Syms {
			switch s.Kind {
			case check.TypeSymbol:
				n := unique(u.decls.taken, s.Name)
				u.places[s] = place{in: u.mod, local: n, name: exported(n), home: u.home(d)}
			case check.FuncSymbol, check.ConstSymbol:
				n := unique(u.decls.taken, exported(s.Name))
				u.places[s] = place{in: u.mod, local: n, name: n}
			}
		}
	}
}

// home is the type whose text writes the fields of the type that d declares; nil for a type that is no struct.
func (u *unit) home(d *declared) *check.Symbol {
	ts, ok := d.decl.Spec.(*ast.TypeSpec)
	if !ok {
		return nil
	}
	x := ast.Unparen(ts.Type)
	if _, ok := x.(*ast.StructType); ok {
		return d.decl.Sym
	}
	if n, ok := types.Unalias(d.c.Info.TypeOf(x)).(*types.Named); ok {
		if s := d.c.Symbol(n.Obj()); s != nil {
			for _, o := range u.emitted {
				if o.decl.Sym == u.resolve(s) {
					return u.home(o)
				}
			}
			if p, ok := u.place(s); ok {
				return p.home
			}
		}
	}
	return nil
}

// isPast reports whether a variable's name has another meaning by now: a later symbol has it.
func (u *unit) isPast(s *check.Symbol) bool {
	if u.latest == nil {
		u.latest = map[string]int64{}
		scope := u.c.Pkg.Scope()
		for _, name := range scope.Names() {
			if t := u.c.Symbol(scope.Lookup(name)); t != nil {
				u.latest[t.Name] = max(u.latest[t.Name], t.ID)
			}
		}
	}
	return s.ID < u.latest[s.Name]
}

// mentionsAgain reports whether t is written with a type that the unit emits a new version of.
func (u *unit) mentionsAgain(t types.Type) bool {
	found := false
	walkTypes(t, func(t types.Type) bool {
		if n, ok := t.(*types.Named); ok && n.Obj().Pkg() == u.c.Pkg {
			if s := u.c.Symbol(n.Obj()); s != nil {
				if _, here := u.places[u.resolve(s)]; here && (u.moved[u.resolve(s)] || u.grown(u.resolve(s))) {
					found = true
				}
			}
		}
		return !found
	})
	return found
}

// retype gives the session's variables the new versions of their types.
func (u *unit) retype() {
	scope := u.c.Pkg.Scope()
	for _, name := range scope.Names() {
		v, ok := scope.Lookup(name).(*types.Var)
		if !ok {
			continue
		}
		if s := u.c.Symbol(v); s != nil && !u.isPast(s) && !u.fresh[s] && u.mentionsAgain(v.Type()) {
			u.decls.pointer(u.c, s)
		}
	}
}

// declare adds text to what f declares.
func (u *unit) declare(f *file, text string) { f.extra.WriteString(text) }

// anonymous is how the file spells an anonymous struct that has unexported fields; "" to write it out. Its fields belong to the module
// that writes it first.
func (f *file) anonymous(c *check.Checked, st *types.Struct) string {
	if !isHidden(st) {
		return ""
	}
	p, ok := f.u.anonymousPlace(c, st)
	if !ok {
		return ""
	}
	if p.in == f.self {
		return p.name
	}
	return f.in(p.in) + "." + p.name
}

func (u *unit) anonymousPlace(c *check.Checked, st *types.Struct) (place, bool) {
	bound := false
	walkTypes(st, func(t types.Type) bool {
		switch t := t.(type) {
		case *types.TypeParam:
			bound = true
		case *types.Named:
			if t.Obj().Pkg() == c.Pkg && c.Symbol(t.Obj()) == nil {
				bound = true
			}
		}
		return !bound
	})
	if bound {
		return place{}, false
	}
	stale := false
	key := typePrinter{c: c, pkg: func(p *types.Package) string { return strconv.Quote(p.Path()) },
		named: func(s *check.Symbol, _ bool) string {
			s = u.resolve(s)
			stale = stale || u.moved[s]
			return fmt.Sprintf("#%d;", s.ID)
		},
		anonymous: func(*types.Struct) string { return "" }}
	key.structure(st)
	k := key.b.String()
	if p, ok := u.anon[k]; ok {
		return p, true
	}
	if p, ok := u.e.anon[k]; ok && !stale {
		return p, true
	}
	u.anonymousN++
	name := fmt.Sprintf("GA_%d", u.anonymousN)
	p := place{in: u.mod, name: name, local: name}
	u.anon[k] = p
	f := u.decls
	tp := typePrinter{c: c, pkg: f.pkg, named: func(s *check.Symbol, embedded bool) string {
		if embedded {
			return f.embeddable(c, s)
		}
		return f.symbol(s)
	}, anonymous: func(st *types.Struct) string { return f.anonymous(c, st) }}
	tp.structure(st)
	f.extra.WriteString("type " + name + " = " + tp.b.String() + "\n")
	u.accessors(c, name, "", "", st)
	return p, true
}

// accessors declares the functions that give other packages the unexported fields of a struct of the module.
func (u *unit) accessors(c *check.Checked, name, params, args string, st *types.Struct) {
	f := u.decls
	for i := range st.NumFields() {
		fl := st.Field(i)
		if fl.Exported() || fl.Name() == "_" || fl.Pkg() != c.Pkg {
			continue
		}
		fmt.Fprintf(&f.extra, "func %s%s(p *%s%s) *%s { return &p.%s }\n", accessor(name, fl.Name()), params, name, args, f.typeString(c, fl.Type()), fl.Name())
	}
}

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
		b.WriteString(u.line(d.c, n.Pos()) + r.node(n) + "\n")
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
			var ps, as []string
			for i := range n.TypeParams().Len() {
				t := n.TypeParams().At(i)
				ps = append(ps, t.Obj().Name()+" "+f.typeString(d.c, t.Constraint()))
				as = append(as, t.Obj().Name())
			}
			params, args = "["+strings.Join(ps, ", ")+"]", "["+strings.Join(as, ", ")+"]"
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
	b.WriteString("func Cell() {\n")
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
