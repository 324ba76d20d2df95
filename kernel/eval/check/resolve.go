package check

import (
	"go/ast"
	"go/token"
	"go/types"
)

// cellEdit is a change to the cell's text: an identifier spelt so that it means what it means where it stands.
type cellEdit struct {
	edit
	ref ref // what it means; its span is in the cell
}

// resolve decides what every identifier means that its piece does not declare, and edits those whose name means
// something else in the file that is checked.
func (k *checker) resolve() {
	before := k.st.names.clone() // what names mean before the cell's declarations, but after its imports
	for name, path := range k.ns.imports {
		before.imports[name] = path
	}
	wanted := map[string][]use{} // names that may be packages nobody imported
	for _, p := range k.ps {
		k.resolveOwn(p)
		if d, ok := p.decl.(*ast.GenDecl); ok && d.Tok == token.IMPORT {
			continue
		}
		for _, id := range p.free {
			k.resolveFree(p, id, before, wanted)
		}
	}
	for _, name := range sortedKeys(wanted) {
		k.addImport(name, wanted[name])
	}
}

// use is a place where a name is used.
type use struct {
	p  *parsed
	id *ast.Ident
}

// resolveOwn spells the variables that the piece defines.
func (k *checker) resolveOwn(p *parsed) {
	spell := func(id *ast.Ident) {
		if o := k.own[id.Name]; o != nil && o.how != asDecl {
			k.respell(p, id, o.sym)
		}
	}
	if a := p.define(); a != nil {
		for _, l := range a.Lhs {
			spell(l.(*ast.Ident))
		}
	}
	if d, ok := p.decl.(*ast.GenDecl); ok && d.Tok == token.VAR {
		for _, s := range d.Specs {
			for _, id := range s.(*ast.ValueSpec).Names {
				spell(id)
			}
		}
	}
}

func (k *checker) respell(p *parsed, id *ast.Ident, s *Symbol) {
	if t := k.ns.spell(s); t != id.Name {
		k.edit(p, id, t, ref{sym: s})
	}
}

func (k *checker) edit(p *parsed, id *ast.Ident, text string, r ref) {
	r.span = span{p.off(id.Pos()), p.off(id.End())}
	k.edits[r.off] = cellEdit{edit{r.span, text}, r}
}

func (k *checker) resolveFree(p *parsed, id *ast.Ident, before names, wanted map[string][]use) {
	name := id.Name
	if o := k.own[name]; o != nil {
		if !k.early(p, id, o) {
			k.respell(p, id, o.sym)
			return
		}
		if old := before.syms[name]; old != nil && k.st.names.syms[name] == old {
			k.respell(p, id, old)
		} else if path := before.imports[name]; path != "" {
			k.imports[alias(path)] = path
			k.edit(p, id, alias(path), ref{pkg: path})
		} else if types.Universe.Lookup(name) == nil {
			if path := k.standard(name, []use{{p, id}}); path != "" && p.sels[id] != "" {
				k.imports[alias(path)] = path
				k.edit(p, id, alias(path), ref{pkg: path})
				k.noteAdded(path)
				return
			}
			k.problem(p.off(id.Pos()), p.off(id.End()), "undefined: "+name)
		}
		return
	}
	if s := k.ns.syms[name]; s != nil {
		k.respell(p, id, s)
		return
	}
	if path := k.ns.imports[name]; path != "" {
		k.imports[name] = path
		return
	}
	for _, path := range k.ns.dots {
		if pkg, err := k.importPackage(path); err == nil && token.IsExported(name) && pkg.Scope().Lookup(name) != nil {
			k.imports[alias(path)] = path
			k.edit(p, id, alias(path)+"."+name, ref{pkg: path, dot: true})
			return
		}
	}
	if types.Universe.Lookup(name) != nil {
		return
	}
	if _, ok := p.sels[id]; ok {
		wanted[name] = append(wanted[name], use{p, id})
	}
}

// early reports whether id, which p uses, means what its name meant before the cell defined it: statements see the
// variables that were defined above them, everything else sees them all.
func (k *checker) early(p *parsed, id *ast.Ident, o *ownName) bool {
	if o.how == asDecl {
		return false
	}
	if p.Kind == StmtPiece {
		return p.index <= o.piece
	}
	d, ok := p.decl.(*ast.GenDecl)
	if !ok || d.Tok != token.VAR {
		return false
	}
	if o.how == asShort {
		return p.index < o.piece
	}
	if p.index < o.piece && k.statementBetween(p.index, o.piece) {
		return true
	}
	if p.index != o.piece || k.st.names.syms[id.Name] == nil && k.st.names.imports[id.Name] == "" {
		return false
	}
	for _, s := range d.Specs { // var x = x + 1, where the session has an x
		for _, n := range s.(*ast.ValueSpec).Names {
			if n.Name == id.Name && s.Pos() <= id.Pos() && id.Pos() < s.End() {
				return true
			}
		}
	}
	return false
}

// statementBetween reports whether a statement stands between two pieces: the variable declarations on both sides of it
// then run in the order of the text.
func (k *checker) statementBetween(a, b int) bool {
	for i := a + 1; i < b; i++ {
		if k.c.Pieces[i].Kind == StmtPiece {
			return true
		}
	}
	return false
}

// addImport imports the standard package that the uses of name must mean, if there is one.
func (k *checker) addImport(name string, uses []use) {
	path := k.standard(name, uses)
	if path == "" {
		return
	}
	k.imports[name] = path
	k.ns.imports[name] = path
	k.noteAdded(path)
}

func (k *checker) noteAdded(path string) {
	if !containsPath(k.c.AddedImports, path) {
		k.c.AddedImports = append(k.c.AddedImports, Import{Path: path})
	}
}

// standard finds the standard package that the uses of name must mean: the preferred one of that name that has all the
// members, or else the preferred one.
func (k *checker) standard(name string, uses []use) string {
	first := ""
	for _, path := range k.s.pkgs.Standard(name) {
		pkg, err := k.importPackage(path)
		if err != nil {
			continue
		}
		if first == "" {
			first = path
		}
		all := true
		for _, u := range uses {
			all = all && pkg.Scope().Lookup(u.p.sels[u.id]) != nil
		}
		if all {
			return path
		}
	}
	return first
}
