package native

import (
	"go/types"

	"github.com/gander-go/gander/kernel/eval/check"
)

// declared is a declaration and the check whose objects its syntax tree refers to.
type declared struct {
	decl   *check.Decl
	c      *check.Checked
	pragma string // compiler directives, one a line
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
	olds       map[string][]int64 // former variables that the text asks for: their symbols, by name and slot

	probes   map[*check.Symbol]*probe // instrumented copies, see probes.go
	probed   []*probe                 // in the order in which they were found
	probeKey string                   // of a module that holds nothing but probes
	asMade   bool                     // names mean what the session has, not probes
}

func newUnit(e *Engine, c *check.Checked, o check.BuildOptions) *unit {
	u := &unit{e: e, c: c, o: o, mod: &module{}, places: map[*check.Symbol]place{}, anon: map[string]place{}, moved: map[*check.Symbol]bool{},
		replaced: map[*check.Symbol]*check.Symbol{}, fresh: map[*check.Symbol]bool{}, growth: map[*check.Symbol]bool{},
		olds: map[string][]int64{}}
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
	if p := u.probes[s]; p != nil && p.recv == nil && !u.asMade {
		return place{in: u.mod, name: p.name, local: p.name}, true
	}
	if p, ok := u.places[s]; ok {
		return p, true
	}
	p, ok := u.e.places[s]
	return p, ok
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
