package native

import (
	"fmt"
	"go/types"
	"strings"

	"github.com/gander-go/gander/kernel/eval/check"
)

const (
	ganderPath = "github.com/gander-go/gander/"
	rtPath     = ganderPath + "kernel/session/rt"
)

// file is one package in the making: what its text needs of others.
type file struct {
	u    *unit
	self *module // the module that the text belongs to; nil for the statements

	imports map[string]string // import path -> name
	order   []string          // import paths in the order of use
	modules map[*module]string
	modlist []*module
	taken   map[string]bool // package-level names

	vars    map[*check.Symbol]string // pointer variable of a session variable
	binds   []string                 // their declarations, as NAME = VALUE
	retyped map[*check.Symbol]bool

	aliases map[*check.Symbol]string // local aliases of types of other modules
	extra   strings.Builder          // declarations that come with the user's
	likes   int                      // functions that infer types
}

func newFile(u *unit, self *module) *file {
	return &file{u: u, self: self, imports: map[string]string{}, modules: map[*module]string{}, taken: map[string]bool{},
		vars: map[*check.Symbol]string{}, aliases: map[*check.Symbol]string{}, retyped: map[*check.Symbol]bool{}}
}

// pkg is the name under which the file imports p.
func (f *file) pkg(p *types.Package) string { return f.importName(p.Path(), p.Name()) }

func (f *file) importName(importPath, name string) string {
	if n, ok := f.imports[importPath]; ok {
		return n
	}
	n := unique(f.taken, name+"__")
	f.imports[importPath] = n
	f.order = append(f.order, importPath)
	return n
}

// rt is a name of package rt.
func (f *file) rt(name string) string { return f.importName(rtPath, "rt") + "." + name }

// in is the name under which the file imports m.
func (f *file) in(m *module) string {
	if n, ok := f.modules[m]; ok {
		return n
	}
	n := fmt.Sprintf("c%d__", len(f.modlist)+1)
	f.modules[m] = n
	f.modlist = append(f.modlist, m)
	return n
}

// symbol is how the file spells a function, type or constant of the session.
func (f *file) symbol(s *check.Symbol) string {
	p, ok := f.u.place(s)
	if !ok {
		panic(fmt.Errorf("emitting %s %q of cell %d: it has no place", s.Kind, s.Name, s.Cell))
	}
	if p.in == f.self {
		return p.local
	}
	return f.in(p.in) + "." + p.name
}

// embeddable is how the file spells a type as an embedded field: by an identifier that is the user's name of the type.
func (f *file) embeddable(c *check.Checked, s *check.Symbol) string {
	p, ok := f.u.place(s)
	if !ok || p.in == f.self || p.name == s.Name {
		return f.symbol(s)
	}
	if n, ok := f.aliases[s]; ok {
		return n
	}
	f.aliases[s] = s.Name
	params, args := "", ""
	if n, ok := c.Object(s).Type().(*types.Named); ok && n.TypeParams().Len() > 0 {
		params, args = f.typeParams(c, n.TypeParams())
	}
	f.u.declare(f, fmt.Sprintf("type %s%s = %s%s\n", s.Name, params, f.symbol(s), args))
	return s.Name
}

// typeParams spells type parameters, and the arguments that pass them on.
func (f *file) typeParams(c *check.Checked, list *types.TypeParamList) (params, args string) {
	var p, a []string
	for i := range list.Len() {
		t := list.At(i)
		name := t.Obj().Name()
		if name == "_" {
			name = fmt.Sprintf("p%d__", i)
		}
		p = append(p, name+" "+f.typeString(c, t.Constraint()))
		a = append(a, name)
	}
	return "[" + strings.Join(p, ", ") + "]", "[" + strings.Join(a, ", ") + "]"
}

// typeString is t as the file spells it.
func (f *file) typeString(c *check.Checked, t types.Type) string {
	p := typePrinter{c: c, pkg: f.pkg, named: func(s *check.Symbol, embedded bool) string {
		if embedded {
			return f.embeddable(c, s)
		}
		return f.symbol(s)
	}, anonymous: func(st *types.Struct) string { return f.anonymous(c, st) }}
	p.print(t)
	return p.b.String()
}

// variable is how the file spells a session variable.
func (f *file) variable(c *check.Checked, s *check.Symbol) string {
	return "(*" + f.pointer(c, s) + ")"
}

// pointer is the name of the file's pointer to a session variable.
func (f *file) pointer(c *check.Checked, s *check.Symbol) string {
	if n, ok := f.vars[s]; ok {
		return n
	}
	n := unique(f.taken, "v__"+s.Name)
	f.vars[s] = n
	o := f.u.c.Object(s)
	oc := f.u.c
	if o == nil {
		o, oc = c.Object(s), c
	}
	how := "Define"
	switch {
	case oc != f.u.c || f.u.isPast(s):
		how = "Old"
	case f == f.u.decls && !f.u.fresh[s] && f.u.mentionsAgain(o.Type()):
		how = "Retype"
	}
	slot := ""
	if how == "Old" {
		slot = fmt.Sprintf(", %d", len(f.u.olds[s.Name]))
		f.u.olds[s.Name] = append(f.u.olds[s.Name], s.ID)
	}
	args := fmt.Sprintf("(%q%s)", s.Name, slot)
	if w := oc.Witness(s); w != nil {
		f.binds = append(f.binds, n+" = "+f.inferred(oc, w, f.rt(how), args))
		return n
	}
	f.binds = append(f.binds, fmt.Sprintf("%s = %s[%s]%s", n, f.rt(how), f.typeString(oc, o.Type()), args))
	return n
}
