package sessions

import (
	"slices"
)

// attempt is a try to make sense of a cell.
type attempt struct {
	m        *model
	cell     []part
	n        int
	ns       names
	w        *world
	own      map[string]int // variables that the cell defines, and the part that does
	declared map[string]bool
	replaced map[*symbol]*symbol
	fresh    map[*impl]*impl // declarations of earlier cells that are bound again, and as what
	vars     map[int]*symbol // by part
}

// enter notes what the cell declares and gives it symbols.
func (a *attempt) enter() bool {
	for _, p := range a.cell {
		if p.imp != "" {
			a.ns[p.imp] = a.m.pkg
		}
	}
	var decls []decl
	for i, p := range a.cell {
		switch {
		case p.define != nil:
			if _, twice := a.own[p.define.name]; twice || a.declared[p.define.name] {
				return false
			}
			a.own[p.define.name] = i
		case p.decl != nil:
			if n := p.decl.declares(); n != "" {
				if _, twice := a.own[n]; twice || a.declared[n] {
					return false
				}
				a.declared[n] = true
			}
			decls = append(decls, p.decl)
		}
	}
	a.enterTypes(decls)
	for _, d := range decls {
		if c, ok := d.(*constDecl); ok && !a.enterConst(c) {
			return false
		}
	}
	for i, p := range a.cell {
		if d := p.define; d != nil {
			t, ok := resolve(d.typ, a.lookup)
			if !ok {
				return false
			}
			s := a.m.ns[d.name]
			if s == nil || s.role != isVar || s.typ != t {
				var zero value
				s = &symbol{d.name, isVar, t, &zero}
				a.replace(d.name, s)
			}
			a.vars[i] = s
		}
	}
	for _, d := range decls {
		if f, ok := d.(*funcDecl); ok && f.declares() == "" {
			continue
		}
		switch d.(type) {
		case *funcDecl, *genericDecl:
			a.enterFunc(d)
		}
	}
	// What they refer to is known now.
	for _, d := range decls {
		im := &impl{decl: d, refs: a.refs(d), cell: a.n}
		if f, ok := d.(*funcDecl); ok && f.recv != "" {
			t := a.lookup(f.recv)
			if t == nil || t.role != isType {
				return false
			}
			if a.w.methods[t] == nil {
				a.w.methods[t] = map[string]*impl{}
			}
			if old := a.w.methods[t][f.name]; old != nil && old.decl.text() == f.text() {
				im.cell = old.cell // it repeats that
			}
			a.w.methods[t][f.name] = im
		} else if n := d.declares(); n != "" {
			s := a.ns[n]
			if old := a.w.impls[s]; old != nil && s.role == isType {
				continue // repeated
			}
			a.w.impls[s] = im
		}
	}
	return true
}

func (a *attempt) lookup(name string) *symbol { return a.ns[name] }

func (a *attempt) refs(d decl) map[string]*symbol {
	m := map[string]*symbol{}
	d.names(func(n string) { m[n] = a.ns[n] })
	return m
}

// replace gives a name a new meaning.
func (a *attempt) replace(name string, s *symbol) {
	if old := a.m.ns[name]; old != nil && old.role != isPkg {
		a.replaced[old] = s
	}
	a.ns[name] = s
}

// enterTypes finds the types that repeat what the session has, word for word and with the same meaning; others are new.
func (a *attempt) enterTypes(decls []decl) {
	changed := map[string]bool{}
	for again := true; again; {
		again = false
		for _, d := range decls {
			name := d.declares()
			switch d.(type) {
			case *typeDecl, *pairDecl:
			default:
				continue
			}
			same := false
			if old := a.m.ns[name]; old != nil && old.role == isType {
				im := a.m.w.impls[old]
				same = im.decl.text() == d.text()
				d.names(func(n string) { same = same && !changed[n] && im.refs[n] == a.m.ns[n] })
			}
			if !same && !changed[name] {
				changed[name], again = true, true
			}
		}
	}
	for name := range changed {
		a.replace(name, &symbol{name: name, role: isType})
	}
}

// enterConst enters a constant: one of another value has another meaning.
func (a *attempt) enterConst(d *constDecl) bool {
	old := a.m.ns[d.name]
	s := &symbol{name: d.name, role: isConst}
	if old != nil && old.role == isConst {
		im := &impl{decl: d, refs: a.refs(d)}
		if !d.check(a.w, im) {
			return false
		}
		a.w.impls[s] = im
		if constEqual(a.w, s, a.m.w, old) {
			a.ns[d.name] = old
			return true
		}
	}
	a.replace(d.name, s)
	return true
}

func constEqual(w *world, a *symbol, v *world, b *symbol) bool { return w.constant(a) == v.constant(b) }

// enterFunc enters a function: one of the same type takes the place of the old.
func (a *attempt) enterFunc(d decl) {
	old := a.m.ns[d.declares()]
	if old != nil && old.role == isFunc {
		was := a.m.w.impls[old]
		_, wasGeneric := was.decl.(*genericDecl)
		_, generic := d.(*genericDecl)
		if generic && wasGeneric {
			a.ns[d.declares()] = old
			return
		}
		if !generic && !wasGeneric {
			p, r, ok := was.signature()
			q, s, ok2 := (&impl{decl: d, refs: a.refs(d)}).signature()
			if ok && ok2 && slices.Equal(p, q) && r == s {
				a.ns[d.declares()] = old
				return
			}
		}
	}
	a.replace(d.declares(), &symbol{name: d.declares(), role: isFunc})
}

// spread binds again what uses names with a new meaning, but for what stays as it is.
func (a *attempt) spread(stay map[*impl]bool) {
	touches := func(im *impl, names func(func(string))) bool {
		hit := false
		names(func(n string) { hit = hit || a.replaced[im.refs[n]] != nil })
		return hit
	}
	// Types, functions and constants whose own type is written with something new are new themselves.
	for again := true; again; {
		again = false
		for name, s := range a.m.ns {
			im := a.m.w.impls[s]
			if im == nil || a.replaced[s] != nil || stay[im] || a.isOwn(name) || a.ns[name] != s {
				continue
			}
			if touches(im, im.decl.typeNames) {
				n := &symbol{name: name, role: s.role}
				a.replaced[s] = n
				a.ns[name] = n
				again = true
			}
		}
	}
	bind := func(im *impl) *impl {
		n := &impl{decl: im.decl, cell: im.cell, refs: map[string]*symbol{}}
		for name, s := range im.refs {
			n.refs[name] = s
			if r := a.replaced[s]; r != nil {
				n.refs[name] = r
			}
		}
		a.fresh[im] = n
		return n
	}
	for name, s := range a.m.ns {
		im := a.m.w.impls[s]
		if im == nil || stay[im] || a.isOwn(name) {
			continue
		}
		if now := a.ns[name]; now != s && a.replaced[s] == now || touches(im, im.decl.names) && now == s {
			a.w.impls[a.ns[name]] = bind(im)
		}
	}
	for name, t := range a.m.ns {
		if t.role != isType {
			continue
		}
		now := a.ns[name]
		if now != t && a.replaced[t] != now || now.role != isType {
			continue
		}
		for mname, im := range a.m.w.methods[t] {
			if stay[im] || a.ownMethod(name, mname) {
				continue
			}
			if now != t && a.isOwn(name) && im.cell == a.m.w.impls[t].cell {
				continue // it came with the old type
			}
			if !touches(im, im.decl.names) {
				continue
			}
			if a.w.methods[now] == nil {
				a.w.methods[now] = map[string]*impl{}
			}
			a.w.methods[now][mname] = bind(im)
		}
	}
}

func (a *attempt) isOwn(name string) bool {
	_, ok := a.own[name]
	return ok || a.declared[name]
}

func (a *attempt) ownMethod(t, m string) bool {
	for _, p := range a.cell {
		if d, ok := p.decl.(*funcDecl); ok && d.recv == t && d.name == m {
			return true
		}
	}
	return false
}
