package native

import (
	"go/ast"
	"go/types"
	"strings"

	"github.com/gander-go/gander/kernel/eval/check"
)

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
		list = append(list, u.declared(d))
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
		list = append(list, u.declared(d))
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
			if !taken[d.decl.Sym] && u.callsAny(d, start) {
				need(d)
			}
		}
	}
	u.emitted = list
	u.assign()
	u.findProbes()
}

// callsAny reports whether a declaration mentions one of the methods in start. What it uses by name does not tell: of v.M() it is v.
func (u *unit) callsAny(d *declared, start map[*check.Symbol]bool) bool {
	if !hasMethod(start) {
		return false
	}
	found := false
	ast.Inspect(d.decl.Node, func(n ast.Node) bool {
		sel, ok := n.(*ast.SelectorExpr)
		if !ok || found {
			return !found
		}
		if fn, ok := d.c.Info.Uses[sel.Sel].(*types.Func); ok && fn.Signature().Recv() != nil {
			s := d.c.Symbol(fn)
			found = s != nil && (start[s] || start[u.e.resolve(s)])
		}
		return !found
	})
	return found
}

func hasMethod(set map[*check.Symbol]bool) bool {
	for s := range set {
		if s.Kind == check.MethodSymbol {
			return true
		}
	}
	return false
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

// declared is d with the compiler directives of its function, which a version of it that is bound again inherits.
func (u *unit) declared(d *check.Decl) *declared {
	n := &declared{decl: d, c: u.c}
	fn, ok := d.Node.(*ast.FuncDecl)
	if !ok {
		return n
	}
	at := u.c.Fset.Position(fn.Pos())
	lines := strings.Split(u.e.codeOf(at.Filename), "\n")
	for i := min(at.Line-1, len(lines)) - 1; i >= 0 && strings.HasPrefix(lines[i], "//"); i-- {
		switch l := strings.TrimSpace(lines[i]); l {
		case "//go:noinline", "//go:nosplit", "//go:nocheckptr", "//go:uintptrescapes":
			n.pragma = l + "\n" + n.pragma
		}
	}
	if old := u.e.live[d.Sym.Origin]; old != nil && n.pragma == "" {
		n.pragma = old.pragma
	}
	if n.pragma != "" {
		n.pragma = "\n" + n.pragma
	}
	return n
}
