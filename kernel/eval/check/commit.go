package check

import (
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"slices"
	"strings"
)

// Commit makes what c declares part of the session. It is called after the cell ran, also when it failed: steps is the
// number of steps that are known to have been done, or -1 for all. All declarations are committed; of the variables
// those that a done step defined, and those that a committed declaration uses (they hold their zero value). It returns the names
// of the variables that are not committed.
func (s *Session) Commit(c *Checked, steps int) (left []string) {
	if c.k == nil {
		return nil
	}
	k := c.k
	s.cells.mu.Lock()
	next := &state{names: k.ns.clone(), of: map[*Symbol]*item{}}
	late := map[*Symbol]*Symbol{} // old functions that their callers forget for the new ones
	for old, fresh := range k.fresh {
		if !k.dirty[old] && c.same[fresh] == nil {
			late[old] = fresh
		}
	}
	var items []*item
	for _, it := range k.kept {
		if slices.Contains(k.rebound, it) {
			continue
		}
		if it.kind == MethodSymbol && late[it.syms[0]] != nil && k.ns.syms[it.recv.Name] == it.recv {
			continue
		}
		items = append(items, it.relink(late))
	}
	for _, d := range k.decls {
		if d.unchanged != nil {
			items = append(items, d.unchanged.relink(late))
		}
	}
	for _, it := range k.rebound {
		items = append(items, it.relink(late))
	}
	for _, d := range k.decls {
		if d.unchanged == nil {
			items = append(items, d.it)
		}
	}
	for fresh, old := range c.same {
		next.names.syms[fresh.Key()] = old
	}
	lost := k.lost(c, items, steps)
	for _, v := range c.Vars {
		if v.Reused {
			continue
		}
		if lost[v.Sym] {
			k.restore(&next.names, v.Sym)
			left = append(left, v.Sym.Name)
			continue
		}
		items = append(items, c.varItem(v))
	}
	next.items = reachable(items, next.names)
	for _, it := range next.items {
		for _, sym := range it.syms {
			next.of[sym] = it
		}
	}
	next.tidy()
	c.k = nil
	s.cells.mu.Unlock()

	s.mu.Lock()
	s.st = next
	s.mu.Unlock()
	s.cells.forget(next.items)
	s.query.forget(next.items)
	return left
}

// tidy makes the namespace fit the items: methods are known by their live types, and a name without a declaration is none.
func (st *state) tidy() {
	for key, s := range st.names.syms {
		if s.Kind == MethodSymbol || st.of[s] == nil {
			delete(st.names.syms, key)
		}
	}
	for _, it := range st.items {
		if it.kind == MethodSymbol && st.names.syms[it.recv.Name] == it.recv {
			st.names.syms[it.syms[0].Key()] = it.syms[0]
		}
	}
}

// relink replaces references; it returns the item itself when there are none to replace.
func (it *item) relink(m map[*Symbol]*Symbol) *item {
	for _, r := range it.refs {
		if r.sym != nil && m[r.sym] != nil {
			n := it.rebind(m)
			n.syms, n.recv = it.syms, it.recv
			return n
		}
	}
	return it
}

// lost finds the variables that no done step has defined and no declaration needs.
func (k *checker) lost(c *Checked, items []*item, steps int) map[*Symbol]bool {
	lost := map[*Symbol]bool{}
	if steps < 0 {
		return lost
	}
	for _, v := range c.Vars {
		if v.Step >= steps && !v.Reused {
			lost[v.Sym] = true
		}
	}
	for _, it := range items {
		for _, r := range it.refs {
			delete(lost, r.sym)
		}
	}
	return lost
}

// restore gives a name back the meaning that it had before the cell.
func (k *checker) restore(n *names, s *Symbol) {
	delete(n.syms, s.Key())
	if old := k.st.names.syms[s.Key()]; old != nil {
		n.syms[s.Key()] = old
	} else if path := k.st.names.imports[s.Name]; path != "" {
		n.imports[s.Name] = path
	}
}

// reachable leaves out the items that no name means and nothing uses any more.
func reachable(items []*item, ns names) []*item {
	of := map[*Symbol]*item{}
	methods := map[*Symbol][]*item{}
	for _, it := range items {
		for _, s := range it.syms {
			of[s] = it
		}
		if it.kind == MethodSymbol {
			methods[it.recv] = append(methods[it.recv], it)
		}
	}
	keep := map[*item]bool{}
	var visit func(it *item)
	visit = func(it *item) {
		if it == nil || keep[it] {
			return
		}
		keep[it] = true
		for _, r := range it.refs {
			visit(of[r.sym])
		}
		for _, s := range it.syms {
			for _, m := range methods[s] {
				visit(m)
			}
		}
	}
	for _, it := range items {
		for _, s := range it.syms {
			if s.Kind != MethodSymbol && ns.syms[s.Key()] == s {
				visit(it)
			}
		}
	}
	var out []*item
	for _, it := range items {
		if keep[it] {
			out = append(out, it)
		}
	}
	return out
}

// varItem makes the item of a variable that the cell defines.
func (c *Checked) varItem(v *Var) *item {
	head := "var " + v.Sym.Name + " "
	it := &item{kind: VarSymbol, syms: []*Symbol{v.Sym}, defs: []span{{4, 4 + len(v.Sym.Name)}}, cell: c.N, line: 1, col: 1}
	if st := c.Steps[v.Step]; st.Piece >= 0 {
		p := c.Pieces[st.Piece]
		it.line, it.col = lineCol(lineStarts(c.Code), p.Start)
		it.doc = docText(c.Code[p.Doc:p.Start])
	}
	if unnamed(v.Type, c.Pkg) != nil && c.k.witnessItem(v, it) {
		it.typ = types.TypeString(v.Type, c.short)
		return it
	}
	s := types.TypeString(v.Type, func(p *types.Package) string {
		if p == c.Pkg {
			return ""
		}
		return alias(p.Path())
	})
	it.src = head + s
	it.refs = c.typeRefs(v.Type, s, len(head))
	return it
}

// short is how types of packages are shown: by the package's name.
func (c *Checked) short(p *types.Package) string {
	if p == c.Pkg {
		return ""
	}
	return p.Name()
}

// typeRefs finds the symbols and packages that the text of a type refers to.
func (c *Checked) typeRefs(t types.Type, text string, at int) (out []ref) {
	fset := token.NewFileSet()
	x, err := parser.ParseExprFrom(fset, "", text, parser.SkipObjectResolution)
	if err != nil {
		return nil
	}
	paths := map[string]string{}
	eachPackage(t, func(p *types.Package) { paths[alias(p.Path())] = p.Path() }, map[types.Type]bool{})
	add := func(id *ast.Ident, r ref) {
		off := fset.Position(id.Pos()).Offset + at
		r.span = span{off, off + len(id.Name)}
		out = append(out, r)
	}
	var walk func(n ast.Node) bool
	walk = func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.SelectorExpr:
			if id, ok := n.X.(*ast.Ident); ok && paths[id.Name] != "" {
				add(id, ref{pkg: paths[id.Name]})
			}
			return false
		case *ast.Field: // its names are no references
			ast.Inspect(n.Type, walk)
			return false
		case *ast.Ident:
			if obj := c.Pkg.Scope().Lookup(n.Name); obj != nil && !strings.HasPrefix(n.Name, mark) {
				if s := c.Symbol(obj); s != nil && s.Kind == TypeSymbol {
					add(n, ref{sym: s})
				}
			}
		}
		return true
	}
	ast.Inspect(x, walk)
	return out
}
