package sessions

import (
	"maps"
	"slices"
	"strings"
)

// part is one line of a cell: a declaration, the definition of a variable, an import or a statement.
type part struct {
	decl   decl
	define *define
	imp    string // "strings", or the name under which strings is imported
	stmt   stmt
}

// define is name := x, or var name typ = x, or var name typ.
type define struct {
	name  string
	short bool
	typ   tref
	x     expr
}

func (p part) text() string {
	switch {
	case p.decl != nil:
		return p.decl.text()
	case p.imp == "strings":
		return `import "strings"`
	case p.imp != "":
		return "import " + p.imp + ` "strings"`
	case p.define != nil && p.define.short:
		return p.define.name + " := " + p.define.x.text()
	case p.define != nil && p.define.x != nil:
		return "var " + p.define.name + " " + p.define.typ.text() + " = " + p.define.x.text()
	case p.define != nil:
		return "var " + p.define.name + " " + p.define.typ.text()
	}
	return p.stmt.text()
}

// isStatement reports whether p is a statement to Go: other parts around it are declarations.
func (p part) isStatement() bool { return p.stmt != nil || p.define != nil && p.define.short }

func (p part) isInit() bool {
	d, ok := p.decl.(*funcDecl)
	return ok && d.name == "init"
}

func text(cell []part) string {
	var l []string
	for _, p := range cell {
		l = append(l, p.text())
	}
	return strings.Join(l, "\n")
}

// run is what a cell does.
type run struct {
	out   strings.Builder
	value string
	err   string // "compile", or why it stopped
}

// model is a session.
type model struct {
	ns    names
	w     *world
	cells int
	pkg   *symbol // package strings
}

const isPkg role = 100

func newModel() *model {
	m := &model{ns: names{}, w: &world{impls: map[*symbol]*impl{}, methods: map[*symbol]map[string]*impl{}}, pkg: &symbol{name: "strings", role: isPkg}}
	m.ns["strings"] = m.pkg
	return m
}

// play runs a cell. It returns nil, and has done nothing, when what the cell does is not for a model to say.
func (m *model) play(cell []part) (r *run) {
	r = &run{}
	m.cells++
	defer func() {
		if v := recover(); v == (unplayable{}) {
			m.cells--
			r = nil
		} else if v != nil {
			panic(v)
		}
	}()
	stay := map[*impl]bool{}
	for {
		a := &attempt{m: m, cell: cell, n: m.cells, ns: maps.Clone(m.ns), w: m.w.clone(), own: map[string]int{}, declared: map[string]bool{},
			replaced: map[*symbol]*symbol{}, fresh: map[*impl]*impl{}, vars: map[int]*symbol{}}
		if !a.enter() {
			r.err = "compile"
			return r
		}
		a.spread(stay)
		before := len(stay)
		for old, im := range a.fresh {
			if !im.decl.check(a.w, im) {
				stay[old] = true
			}
		}
		if len(stay) > before {
			continue
		}
		if !a.check() {
			r.err = "compile"
			return r
		}
		a.execute(r)
		return r
	}
}

// at is what names mean in part i.
func (a *attempt) at(i int) func(string) *symbol {
	p := a.cell[i]
	return func(name string) *symbol {
		j, own := a.own[name]
		if !own || p.decl != nil {
			return a.ns[name]
		}
		early := false
		switch {
		case p.isStatement():
			early = i <= j
		case a.cell[j].isStatement():
			early = i < j
		case i < j:
			early = a.statementBetween(i, j)
		case i == j:
			early = a.m.ns[name] != nil
		}
		if !early {
			return a.ns[name]
		}
		if s := a.m.ns[name]; s != nil {
			return s
		}
		return nil
	}
}

func (a *attempt) statementBetween(i, j int) bool {
	return slices.ContainsFunc(a.cell[i+1:j], part.isStatement)
}

// check type-checks the cell.
func (a *attempt) check() bool {
	for i, p := range a.cell {
		sc := &scope{w: a.w, lookup: a.at(i)}
		switch {
		case p.decl != nil:
			if !p.decl.check(a.w, a.implOf(p.decl)) {
				return false
			}
		case p.define != nil && p.define.x != nil:
			t, ok := p.define.x.check(sc)
			if !ok || p.define.short && t != a.vars[i].typ || !fits(a.vars[i].typ, t) {
				return false
			}
		case p.stmt != nil:
			if _, isValue := p.stmt.(evaluate); isValue && i != len(a.cell)-1 || !p.stmt.check(sc) {
				return false
			}
		}
	}
	return true
}

func (a *attempt) implOf(d decl) *impl { return &impl{decl: d, refs: a.refs(d), cell: a.n} }

// execute runs a cell that checks, and makes what it declares the session's.
func (a *attempt) execute(r *run) {
	for _, s := range a.vars {
		if *s.store == nil {
			*s.store = a.w.zero(s.typ)
		}
	}
	a.m.w = a.w
	order := a.order()
	done := map[int]bool{}
	func() {
		defer func() {
			if v := recover(); v != nil {
				r.err = v.(stop).why
			}
		}()
		for _, i := range order {
			a.step(i, r)
			done[i] = true
		}
	}()
	before := a.m.ns
	a.m.ns = a.ns
	if r.err == "" {
		return
	}
	// Variables that were not reached are not defined, unless a declaration uses them.
	used := map[*symbol]bool{}
	note := func(im *impl) {
		for _, s := range im.refs {
			used[s] = true
		}
	}
	for _, im := range a.w.impls {
		note(im)
	}
	for _, l := range a.w.methods {
		for _, im := range l {
			note(im)
		}
	}
	for i, s := range a.vars {
		if done[i] || used[s] || before[s.name] == s {
			continue
		}
		if old := before[s.name]; old != nil {
			a.m.ns[s.name] = old
		} else {
			delete(a.m.ns, s.name)
		}
	}
}

// order is the order in which the parts are run: init functions run behind the variables of the declarations around them.
func (a *attempt) order() []int {
	var out []int
	for i := 0; i < len(a.cell); {
		if a.cell[i].isStatement() {
			out = append(out, i)
			i++
			continue
		}
		j := i
		for j < len(a.cell) && !a.cell[j].isStatement() {
			j++
		}
		for _, inits := range []bool{false, true} {
			for k := i; k < j; k++ {
				if a.cell[k].isInit() == inits {
					out = append(out, k)
				}
			}
		}
		i = j
	}
	return out
}

func (a *attempt) step(i int, r *run) {
	p := a.cell[i]
	ev := &env{w: a.w, lookup: a.at(i), run: r}
	switch {
	case p.isInit():
		a.implOf(p.decl).call(ev, nil, nil)
	case p.define != nil:
		s := a.vars[i]
		v := a.w.zero(s.typ)
		if p.define.x != nil {
			v = box(s.typ, p.define.x.eval(ev), a.w)
		}
		*s.store = v
	case p.stmt != nil:
		p.stmt.exec(ev)
	}
}
