package native

import (
	"fmt"
	"go/types"
	"strconv"

	"github.com/gander-go/gander/kernel/eval/check"
)

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
		fmt.Fprintf(&f.extra, "func %s%s(p *%s%s) *%s { return &p.%s }\n", accessor(name, fieldName(c, fl)), params, name, args, f.typeString(c, fl.Type()), fieldName(c, fl))
	}
}
