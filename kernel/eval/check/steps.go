package check

import (
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"sort"
	"strings"
)

// finish fills the Checked of a cell that type-checks.
func (k *checker) finish() {
	c := k.c
	if len(c.Errors) > 0 {
		return
	}
	c.k = k
	c.same = map[*Symbol]*Symbol{}
	k.redefinitions()
	k.methodTable()
	k.layOut()
	k.fillVars()
	k.fillDecls()
	k.fillWitnesses()
	for name, path := range k.imports {
		if strings.HasPrefix(name, mark) || containsPath(c.Imports, path) {
			continue
		}
		c.Imports = append(c.Imports, Import{Name: importName(name, path), Path: path})
	}
	sort.Slice(c.Imports, func(i, j int) bool { return c.Imports[i].Path < c.Imports[j].Path })
}

func containsPath(l []Import, path string) bool {
	for _, i := range l {
		if i.Path == path {
			return true
		}
	}
	return false
}

// importName is what has to stand before path to import it as name.
func importName(name, path string) string {
	if path == name || strings.HasSuffix(path, "/"+name) {
		return ""
	}
	return name
}

func (k *checker) redefinitions() {
	c := k.c
	var olds []*Symbol
	for old := range k.fresh {
		olds = append(olds, old)
	}
	sort.Slice(olds, func(i, j int) bool { return olds[i].ID < olds[j].ID })
	for _, old := range olds {
		fresh := k.fresh[old]
		own := k.own[old.Key()]
		if k.extended[old] {
			fresh.Origin = old
			c.Extended = append(c.Extended, fresh)
			continue
		}
		if own == nil || own.sym != fresh {
			continue
		}
		same := old.Kind == fresh.Kind && old.Kind != TypeSymbol
		switch {
		case old.Kind == MethodSymbol:
			same = signature(k.st.of[old]) == signature(k.ownItem(fresh))
		case same:
			same = k.sameMeaning(old, fresh)
		}
		if same && old.Kind == VarSymbol {
			c.same[fresh] = old
			continue
		}
		c.Redefined = append(c.Redefined, Redefinition{Old: old, New: fresh, SameType: same})
	}
	for key, old := range k.st.names.syms {
		if old.Kind == MethodSymbol && k.ns.syms[key] == nil {
			c.Redefined = append(c.Redefined, Redefinition{Old: old})
		}
	}
}

func (k *checker) methodTable() {
	c := k.c
	c.methods = map[*Symbol]map[string]*Symbol{}
	add := func(recv, m *Symbol) {
		if c.methods[recv] == nil {
			c.methods[recv] = map[string]*Symbol{}
		}
		c.methods[recv][m.Name] = m
	}
	for _, it := range k.kept {
		if it.kind == MethodSymbol {
			add(it.recv, it.syms[0])
		}
	}
	for _, d := range k.decls {
		if d.it.kind == MethodSymbol {
			add(k.ns.syms[d.it.syms[0].Recv], d.it.syms[0])
		}
	}
}

// layOut makes the steps.
func (k *checker) layOut() {
	c := k.c
	order := map[ast.Expr]int{}
	for i, in := range c.Info.InitOrder {
		order[in.Rhs] = i + 1
	}
	nodes := c.Cell.File.Decls
	for len(nodes) > 0 {
		if d, ok := nodes[0].(*ast.GenDecl); !ok || d.Tok != token.IMPORT {
			break
		}
		nodes = nodes[1:]
	}
	var short *Step // the one that the declarations read so far belong to
	var last *parsed
	for i, g := range k.gen.decls {
		if g.targets == nil {
			k.declSteps(g, nodes[i])
			continue
		}
		if last != g.p || short == nil {
			c.Steps = append(c.Steps, Step{Kind: DefineStep, Piece: g.p.index})
			short, last = &c.Steps[len(c.Steps)-1], g.p
		}
		k.shortStep(short, g, nodes[i])
	}
	body := nodes[len(k.gen.decls)].(*ast.FuncDecl).Body.List
	for i, p := range k.gen.body {
		st := Step{Kind: StmtStep, Piece: p.index, Stmt: body[i], Pos: body[i].Pos()}
		if e, ok := body[i].(*ast.ExprStmt); ok && p.index == len(c.Pieces)-1 && !p.Semi && k.shows(e.X) {
			st.Show, c.Show = true, e.X
		}
		c.Steps = append(c.Steps, st)
	}
	sort.SliceStable(c.Steps, func(i, j int) bool { return c.Steps[i].Piece < c.Steps[j].Piece })
	k.orderVars(order)
	if len(c.Pieces) > 0 && c.Pieces[0].Kind == PackagePiece {
		if o := k.own["main"]; o != nil && o.sym.Kind == FuncSymbol {
			c.Steps = append(c.Steps, Step{Kind: MainStep, Piece: -1})
		}
	}
}

// declSteps appends the steps of a declaration: one for each variable that is initialised by itself.
func (k *checker) declSteps(g genDecl, node ast.Decl) {
	switch d := node.(type) {
	case *ast.FuncDecl:
		if d.Recv == nil && d.Name.Name == "init" {
			k.c.Steps = append(k.c.Steps, Step{Kind: InitStep, Piece: g.p.index, Pos: d.Pos(), Func: d})
		}
	case *ast.GenDecl:
		if d.Tok != token.VAR {
			return
		}
		for _, s := range d.Specs {
			v := s.(*ast.ValueSpec)
			st := Step{Kind: DefineStep, Piece: g.p.index, Pos: v.Pos(), Type: v.Type, Values: v.Values}
			if len(v.Values) == len(v.Names) {
				for i, id := range v.Names {
					st.Targets, st.Values = []Target{k.target(id)}, v.Values[i:i+1]
					k.c.Steps = append(k.c.Steps, st)
				}
				continue
			}
			for _, id := range v.Names {
				st.Targets = append(st.Targets, k.target(id))
			}
			k.c.Steps = append(k.c.Steps, st)
		}
	}
}

func (k *checker) target(id *ast.Ident) Target {
	t := Target{Name: id}
	if obj := k.c.Pkg.Scope().Lookup(id.Name); obj != nil && id.Name != "_" {
		t.Sym = k.c.Symbol(obj)
	}
	return t
}

// shortStep adds a declaration to the step of the short variable declaration that it is part of.
func (k *checker) shortStep(st *Step, g genDecl, node ast.Decl) {
	switch d := node.(type) {
	case *ast.FuncDecl: // func _() { x = value }
		a := d.Body.List[0].(*ast.AssignStmt)
		st.Targets = append(st.Targets, k.target(a.Lhs[0].(*ast.Ident)))
		st.Values = append(st.Values, a.Rhs[0])
	case *ast.GenDecl:
		v := d.Specs[0].(*ast.ValueSpec)
		st.Values = append(st.Values, v.Values...)
		lhs := g.p.define().Lhs
		for i, id := range v.Names {
			t := k.target(id)
			if name := lhs[g.targets[i]].(*ast.Ident); id.Name == "_" && name.Name != "_" {
				t = Target{}
				if o := k.own[name.Name]; o != nil {
					t.Sym = k.c.Symbol(k.object(o.sym))
				}
			}
			st.Targets = append(st.Targets, t)
		}
	}
	if st.Pos == token.NoPos {
		st.Pos = st.Values[0].Pos()
		if st.Targets[0].Name != nil {
			st.Pos = st.Targets[0].Name.Pos()
		}
	}
}

// orderVars puts declared variables in the order that package initialisation has, and init functions behind them,
// wherever nothing but declarations stands between them.
func (k *checker) orderVars(order map[ast.Expr]int) {
	c := k.c
	isDecl := func(s Step) bool { return s.Piece >= 0 && c.Pieces[s.Piece].Kind == DeclPiece }
	rank := func(s Step) int {
		switch {
		case s.Kind == InitStep:
			return len(order) + 1
		case len(s.Values) > 0:
			return order[s.Values[0]]
		}
		return 0
	}
	for i := 0; i < len(c.Steps); {
		j := i
		for j < len(c.Steps) && isDecl(c.Steps[j]) && (j == i || !k.statementBetween(c.Steps[j-1].Piece, c.Steps[j].Piece)) {
			j++
		}
		run := c.Steps[i:j]
		sort.SliceStable(run, func(a, b int) bool { return rank(run[a]) < rank(run[b]) })
		i = max(j, i+1)
	}
}

// shows reports whether a trailing expression has a value that the user wants to see.
func (k *checker) shows(x ast.Expr) bool {
	tv, ok := k.c.Info.Types[x]
	if !ok || tv.IsVoid() || tv.IsType() || tv.IsBuiltin() {
		return false
	}
	call, ok := ast.Unparen(x).(*ast.CallExpr)
	if !ok {
		return true
	}
	sel, ok := call.Fun.(*ast.SelectorExpr)
	if !ok {
		return true
	}
	f, ok := k.c.Info.Uses[sel.Sel].(*types.Func)
	return !ok || f.Pkg() == nil || f.Pkg().Path() != "fmt" ||
		!strings.HasPrefix(f.Name(), "Print") && !strings.HasPrefix(f.Name(), "Fprint")
}

// constantFits reports whether an untyped constant can be shown as a value of its default type.
func constantFits(tv types.TypeAndValue) bool {
	b, ok := tv.Type.(*types.Basic)
	if !ok || tv.Value == nil || b.Kind() != types.UntypedInt && b.Kind() != types.UntypedRune {
		return true
	}
	_, exact := constant.Int64Val(constant.ToInt(tv.Value))
	return exact
}

func (k *checker) fillVars() {
	c := k.c
	seen := map[*Symbol]bool{}
	for i, st := range c.Steps {
		for _, t := range st.Targets {
			if t.Sym == nil || seen[t.Sym] {
				continue
			}
			seen[t.Sym] = true
			obj := c.Object(t.Sym)
			if obj == nil {
				continue
			}
			c.Vars = append(c.Vars, &Var{Sym: t.Sym, Type: obj.Type(), Reused: k.st.of[t.Sym] != nil, Step: i})
		}
	}
	for _, it := range k.rebound {
		if it.kind == VarSymbol {
			c.Migrated = append(c.Migrated, Migration{Old: it.syms[0].Origin, New: it.syms[0], Type: k.object(it.syms[0]).Type()})
		}
	}
}

func (k *checker) fillDecls() {
	c := k.c
	nodes := map[*parsed]ast.Decl{}
	skip := len(c.Cell.File.Decls) - len(k.gen.decls) - 1
	for i, g := range k.gen.decls {
		nodes[g.p] = c.Cell.File.Decls[skip+i]
	}
	for _, d := range k.decls {
		out := &Decl{Sym: d.it.syms[0], Syms: d.it.syms, Node: nodes[d.p], Source: c.Cell, Unchanged: d.unchanged != nil}
		if d.spec >= 0 {
			out.Spec = out.Node.(*ast.GenDecl).Specs[d.spec]
		} else if g, ok := out.Node.(*ast.GenDecl); ok && g.Tok == token.TYPE {
			out.Spec = g.Specs[0]
		}
		if d.it.kind == MethodSymbol {
			d.it.recv = k.ns.syms[d.it.syms[0].Recv]
		}
		d.it.refs = k.refs(out)
		if d.unchanged == nil {
			out.Uses = usesOf(d.it)
		} else {
			out.Uses = usesOf(d.unchanged)
		}
		c.Decls = append(c.Decls, out)
	}
	for _, it := range k.rebound {
		f := k.v.files[it]
		if it.kind == VarSymbol || f == nil {
			continue
		}
		out := &Decl{Sym: it.syms[0], Syms: it.syms, Source: Source{f.source, f.full}, Uses: usesOf(it)}
		out.Node = f.full.Decls[len(f.full.Decls)-1]
		if g, ok := out.Node.(*ast.GenDecl); ok && g.Tok == token.TYPE {
			out.Spec = g.Specs[0]
		}
		c.Rebound = append(c.Rebound, out)
	}
}

func usesOf(it *item) (out []*Symbol) {
	seen := map[*Symbol]bool{}
	for _, r := range it.refs {
		if r.sym != nil && !seen[r.sym] {
			seen[r.sym] = true
			out = append(out, r.sym)
		}
	}
	return out
}

// refs finds what the declaration refers to, at its places in the cell's text.
func (k *checker) refs(d *Decl) []ref {
	var root ast.Node = d.Node
	if d.Spec != nil {
		root = d.Spec
	}
	var start int
	for _, o := range k.decls {
		if o.it.syms[0] == d.Sym {
			start = o.start - o.it.prefix
		}
	}
	return k.refsIn(root, start)
}

// refsIn finds what n refers to; offsets are counted from start in the cell.
func (k *checker) refsIn(n ast.Node, start int) (out []ref) {
	ast.Inspect(n, func(n ast.Node) bool {
		id, ok := n.(*ast.Ident)
		if !ok {
			return true
		}
		obj := k.c.Info.Uses[id]
		if obj == nil {
			return true
		}
		in, ok := origin(k.gen.segs, offset(k.v.fset, id.Pos()))
		if !ok {
			return true
		}
		var r ref
		if e, ok := k.edits[in]; ok {
			if _, isPkg := obj.(*types.PkgName); e.ref.pkg != "" && !isPkg {
				return true // the member in alias.Member of a dot import
			}
			r = e.ref
			if r.sym != nil {
				r.sym = k.c.Symbol(obj)
			}
		} else if pn, ok := obj.(*types.PkgName); ok {
			r = ref{span: span{in, in + len(id.Name)}, pkg: pn.Imported().Path()}
		} else if f, isF := obj.(*types.Func); isF && f.Signature().Recv() != nil {
			return true
		} else if s := k.c.Symbol(obj); s != nil {
			r = ref{span: span{in, in + len(id.Name)}, sym: s}
		} else {
			return true
		}
		r.off, r.end = r.off-start, r.end-start
		out = append(out, r)
		return true
	})
	return out
}
