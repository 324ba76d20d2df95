package check

import (
	"go/constant"
	"go/token"
	"go/types"
	"slices"
)

// extend finds the types of earlier cells that get a method, or one of another signature, and takes a repeated
// declaration of such a type for what it is: the same type with more methods.
func (k *checker) extend() {
	for key, o := range k.own {
		if o.sym.Kind != MethodSymbol {
			continue
		}
		t := k.st.names.syms[o.sym.Recv]
		if t == nil || t.Kind != TypeSymbol {
			continue
		}
		if own := k.own[t.Name]; own != nil && !k.repeats(t) {
			continue // a new type
		}
		old := k.st.names.syms[key]
		if old == nil || signature(k.st.of[old]) != signature(k.ownItem(o.sym)) {
			k.extended[t] = true
		}
	}
}

// signature is the text of a function's declaration up to its body.
func signature(it *item) string {
	if it == nil {
		return ""
	}
	if it.body == 0 {
		return it.norm
	}
	return normal(it.src[:it.body])
}

func (k *checker) ownItem(s *Symbol) *item {
	for _, d := range k.decls {
		if slices.Contains(d.it.syms, s) {
			return d.it
		}
	}
	return nil
}

// repeats reports whether the cell declares t again in the same words.
func (k *checker) repeats(t *Symbol) bool {
	for _, d := range k.decls {
		if d.it.kind == TypeSymbol && d.it.syms[0] != nil && d.it.syms[0].Name == t.Name {
			return k.repeated(d) != nil
		}
	}
	return false
}

// spread works out which items of the session get a new version because something they use has a new meaning, and
// which items are checked along with the cell.
func (k *checker) spread() {
	for old, fresh := range k.fresh {
		switch {
		case k.extended[old]:
		case old.Kind != fresh.Kind, old.Kind == TypeSymbol, k.changed[old]:
			k.dirty[old] = true
		}
	}
	for it := range k.st.stale {
		if _, stays := k.stay[it]; !stays && !k.superseded(it) {
			k.bind(it, k.usesChanged(it), false)
		}
	}
	k.reach(false)
	for t := range k.extended {
		if k.fresh[t] == nil {
			k.fresh[t] = k.s.newVersion(t, k.c.N)
			k.bind(k.st.of[t], true, true)
		}
		k.dirty[t], k.grown[t] = true, true
	}
	k.reach(true)
	for it := range k.wasBound {
		n := it.rebind(k.freshFor(it))
		k.wasBound[it] = n
		for i, s := range it.syms {
			if k.ns.syms[s.Key()] == s {
				k.ns.syms[s.Key()] = n.syms[i]
			}
		}
	}
	for _, it := range k.st.items {
		if k.wanted(it) {
			k.kept = append(k.kept, it)
		}
	}
	for _, it := range k.st.items {
		if n := k.wasBound[it]; n != nil {
			k.rebound = append(k.rebound, n)
			k.kept = append(k.kept, n)
		}
	}
}

// reach binds again every item that uses a dirty symbol, and what uses that in turn. Variables follow only types that
// have grown.
func (k *checker) reach(growing bool) {
	for again := true; again; {
		again = false
		for _, it := range k.st.items {
			if k.superseded(it) {
				continue
			}
			if _, done := k.wasBound[it]; done {
				continue
			}
			reason := k.dirty
			if _, stays := k.stay[it]; stays { // it can still follow a type that only gets methods
				if !growing || k.stuck[it] {
					continue
				}
				reason = k.grown
			}
			any, inType := it.uses(reason)
			if !any {
				continue
			}
			if it.kind == VarSymbol && (!growing || k.usesShrunk(it)) {
				continue
			}
			k.bind(it, inType, growing)
			again = true
		}
	}
}

// usesChanged reports whether the type of a stale item is written with a package.
func (k *checker) usesChanged(it *item) bool {
	return slices.ContainsFunc(it.refs, func(r ref) bool { return r.pkg != "" && (it.body == 0 || r.off < it.body) })
}

// usesShrunk reports whether it uses a symbol whose new version has another layout.
func (k *checker) usesShrunk(it *item) bool {
	for _, r := range it.refs {
		if r.sym != nil && k.dirty[r.sym] && !k.grown[r.sym] {
			return true
		}
	}
	return false
}

func (k *checker) bind(it *item, inType, growing bool) {
	k.wasBound[it] = nil
	for _, s := range it.syms {
		if k.fresh[s] == nil {
			k.fresh[s] = k.s.newVersion(s, k.c.N)
		}
		if inType {
			k.dirty[s] = true
			if growing {
				k.grown[s] = true
			}
		}
	}
}

func (s *Session) newVersion(old *Symbol, n int) *Symbol {
	v := *old
	v.ID = s.ids.Add(1)
	v.Origin = old
	return &v
}

// freshFor is fresh without the names that the cell declares itself: a group of constants may hold some of those.
// For an item that stays it holds only types that have got methods.
func (k *checker) freshFor(it *item) map[*Symbol]*Symbol {
	m := k.fresh
	if _, stays := k.stay[it]; stays {
		m = map[*Symbol]*Symbol{}
		for old, fresh := range k.fresh {
			if k.grown[old] || slices.Contains(it.syms, old) {
				m[old] = fresh
			}
		}
	}
	for _, s := range it.syms {
		if o := k.own[s.Key()]; o != nil && it.kind != MethodSymbol {
			c := map[*Symbol]*Symbol{}
			for a, b := range m {
				c[a] = b
			}
			c[s] = k.s.newVersion(s, k.c.N)
			m = c
		}
	}
	return m
}

// superseded reports whether nothing of it is left in the namespace, or the cell repeats it.
func (k *checker) superseded(it *item) bool {
	for _, s := range it.syms {
		if k.ns.syms[s.Key()] == s && k.own[s.Key()] == nil {
			return false
		}
	}
	return true
}

// wanted reports whether the item is checked along with the cell.
func (k *checker) wanted(it *item) bool {
	for _, d := range k.decls {
		if d.unchanged == it {
			return false
		}
	}
	if it.kind != MethodSymbol {
		return true
	}
	s := it.syms[0]
	if k.ns.syms[it.recv.Name] != it.recv {
		return true // of an older type
	}
	n := k.wasBound[it]
	return k.own[s.Key()] == nil && (n == nil || n.recv != it.recv)
}

// grow compares what was assumed with what the type check found, and reports whether the plan has changed.
func (k *checker) grow() bool {
	grew := false
	for old, fresh := range k.fresh {
		if o := k.own[old.Key()]; o == nil || o.sym != fresh || k.changed[old] || old.Kind != fresh.Kind {
			continue
		}
		if old.Kind != TypeSymbol && old.Kind != MethodSymbol && !k.sameMeaning(old, fresh) && k.isUsed(old) {
			k.changed[old] = true
			grew = true
		}
	}
	files := map[int]*item{} // by base of their file
	for it, n := range k.wasBound {
		if f := k.v.files[n]; f != nil {
			files[k.v.fset.File(f.full.Package).Base()] = it
		}
	}
	reported := map[*item]bool{}
	for _, e := range k.errs {
		f := k.v.fset.File(e.Pos)
		if f == nil {
			continue
		}
		if it := files[f.Base()]; it != nil {
			if _, ok := k.stay[it]; !ok {
				k.stay[it] = e.Msg
				grew = true
			} else if !k.stuck[it] && !reported[it] {
				k.stuck[it] = true
				grew = true
			}
			reported[it] = true
		}
	}
	return grew
}

// sameMeaning reports whether both versions of a variable, function or constant have the same type, and constants the
// same value. What does not check counts as the same: the cell fails anyway.
func (k *checker) sameMeaning(a, b *Symbol) bool {
	x, y := k.object(a), k.object(b)
	if x == nil || y == nil || invalid(x.Type()) || invalid(y.Type()) {
		return true
	}
	if c, ok := x.(*types.Const); ok {
		d, ok := y.(*types.Const)
		if !ok || c.Val().Kind() != d.Val().Kind() || c.Val().ExactString() != d.Val().ExactString() && !constant.Compare(c.Val(), token.EQL, d.Val()) {
			return false
		}
	}
	return types.Identical(x.Type(), y.Type())
}

func invalid(t types.Type) bool {
	b, ok := t.(*types.Basic)
	return ok && b.Kind() == types.Invalid
}

// isUsed reports whether a change of s could matter to any declaration.
func (k *checker) isUsed(s *Symbol) bool {
	set := map[*Symbol]bool{s: true}
	for _, it := range k.st.items {
		if it.kind == VarSymbol {
			continue
		}
		if any, _ := it.uses(set); any {
			return true
		}
	}
	return false
}

func (k *checker) object(s *Symbol) types.Object {
	if k.c.Pkg == nil {
		return nil
	}
	return k.c.Pkg.Scope().Lookup(k.ns.spell(s))
}
