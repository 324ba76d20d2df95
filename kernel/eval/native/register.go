package native

import (
	"fmt"
	"go/types"
	"strings"

	"github.com/gander-go/gander/kernel/eval/check"
)

// registrations is what makes the session's functions and types known to interpreted cells by name. It stands at the
// head of the cell's code rather than in an init function, because a cell that is run again is not loaded again, and what
// it declares may have been declared otherwise since.
func (u *unit) registrations() string {
	f, c := u.cell, u.c
	u.asMade = true
	defer func() { u.asMade = false }()
	var b strings.Builder
	seen := map[*check.Symbol]bool{}
	add := func(d *check.Decl) {
		for _, s := range d.Syms {
			obj := c.Pkg.Scope().Lookup(s.Name)
			if seen[s] || obj == nil || c.Symbol(obj) != s {
				continue // a method, or a version that the name no longer means
			}
			seen[s] = true
			switch o := obj.(type) {
			case *types.Func:
				if o.Signature().TypeParams().Len() == 0 {
					fmt.Fprintf(&b, "%s(%q, %s)\n", f.rt("DeclareFunc"), s.Name, f.symbol(s))
				}
			case *types.TypeName:
				if registrable(o) {
					fmt.Fprintf(&b, "%s(%q, %s.TypeFor[%s]())\n", f.rt("DeclareType"), s.Name, f.importName("reflect", "reflect"), f.symbol(s))
				}
			}
		}
	}
	for _, d := range u.emitted {
		add(d.decl)
	}
	for _, d := range c.Decls {
		add(d)
	}
	return b.String()
}

// registrable reports whether a type has a reflect.Type: generic types, constraints and types that only C allocates have none.
func registrable(o *types.TypeName) bool {
	if isUnallocatable(o.Type()) {
		return false
	}
	switch t := o.Type().(type) {
	case *types.Named:
		if t.TypeParams().Len() > 0 {
			return false
		}
	case *types.Alias:
		if t.TypeParams().Len() > 0 {
			return false
		}
	}
	i, isInterface := o.Type().Underlying().(*types.Interface)
	return !isInterface || i.IsMethodSet()
}

// isUnallocatable reports whether values of t cannot be on the heap: they hold a runtime/cgo.Incomplete. The compiler allows no such type
// as a type argument.
func isUnallocatable(t types.Type) bool {
	if n, ok := types.Unalias(t).(*types.Named); ok && n.Obj().Pkg() != nil && n.Obj().Pkg().Path() == "runtime/cgo" && n.Obj().Name() == "Incomplete" {
		return true
	}
	switch u := t.Underlying().(type) {
	case *types.Array:
		return isUnallocatable(u.Elem())
	case *types.Struct:
		for i := range u.NumFields() {
			if isUnallocatable(u.Field(i).Type()) {
				return true
			}
		}
	}
	return false
}
