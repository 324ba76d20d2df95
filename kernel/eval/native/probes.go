package native

import (
	"fmt"
	"go/ast"
	"go/types"
	"slices"
	"strings"

	"github.com/gander-go/gander/kernel/eval/check"
)

// An instrumented cell records the calls that it makes, and those that functions and methods of earlier cells make in turn. Those were
// compiled without spans, so the unit has a copy of each that it can reach, a probe, which only its own text calls: the session keeps
// the functions that it has. A method's probe is a function whose first parameter is the receiver; a call through an interface goes to
// the probe of the session type that it finds there. Methods of generic types, and what packages call back, run as they were compiled.

// probe is the copy of a function or method.
type probe struct {
	d    *declared
	name string       // in the unit's module
	ptr  bool         // a method with a pointer receiver
	recv *types.Named // the receiver's type, nil for functions
}

// findProbes collects what the unit's own text can reach.
func (u *unit) findProbes() {
	if !u.o.Instrument || u.o.Top {
		return
	}
	u.probes = map[*check.Symbol]*probe{}
	for _, s := range u.c.Steps {
		for _, n := range stepNodes(s) {
			u.reach(u.c, n)
		}
	}
	for _, d := range u.emitted {
		u.reach(d.c, d.decl.Node)
	}
}

// stepNodes are the parts of a step that hold code.
func stepNodes(s check.Step) (list []ast.Node) {
	if s.Stmt != nil {
		list = append(list, s.Stmt)
	}
	for _, v := range s.Values {
		list = append(list, v)
	}
	if s.Func != nil {
		list = append(list, s.Func)
	}
	return list
}

// reach adds probes for the session's functions that n mentions.
func (u *unit) reach(c *check.Checked, n ast.Node) {
	ast.Inspect(n, func(m ast.Node) bool {
		switch m := m.(type) {
		case *ast.SelectorExpr:
			sel := c.Info.Selections[m]
			if sel == nil || sel.Kind() != types.MethodVal {
				break
			}
			if types.IsInterface(sel.Recv()) && !isTypeParam(sel.Recv()) {
				for _, fn := range u.dispatched(c, sel) {
					u.add(c, fn)
				}
			} else if fn, ok := sel.Obj().(*types.Func); ok {
				u.add(c, fn)
			}
		case *ast.Ident:
			if fn, ok := c.Info.Uses[m].(*types.Func); ok && fn.Signature().Recv() == nil {
				u.add(c, fn)
			}
		}
		return true
	})
}

// add makes a probe for fn if it is a function or method of an earlier cell.
func (u *unit) add(c *check.Checked, fn *types.Func) {
	s := c.Symbol(fn)
	if s == nil || s.Kind != check.FuncSymbol && s.Kind != check.MethodSymbol {
		return
	}
	s = u.resolve(s)
	d := u.e.live[s]
	if d == nil || u.probes[s] != nil || slices.ContainsFunc(u.emitted, func(e *declared) bool { return e.decl.Sym == s }) {
		return
	}
	decl, ok := d.decl.Node.(*ast.FuncDecl)
	if !ok || decl.Body == nil {
		return
	}
	p := &probe{d: d}
	own, ok := d.c.Info.Defs[decl.Name].(*types.Func)
	if !ok {
		return
	}
	name := exported(s.Name)
	if recv := own.Signature().Recv(); recv != nil {
		t, ptr := stripPointer(recv.Type())
		n, ok := t.(*types.Named)
		if !ok || n.TypeParams().Len() > 0 {
			return
		}
		p.recv, p.ptr = n, ptr
		name = exported(n.Obj().Name()) + "__" + s.Name
	}
	p.name = unique(u.decls.taken, name)
	u.probes[s] = p
	u.probed = append(u.probed, p)
	u.reach(d.c, decl)
}

// dispatched are the methods of session types that a call through an interface can mean.
func (u *unit) dispatched(c *check.Checked, sel *types.Selection) (list []*types.Func) {
	i, ok := sel.Recv().Underlying().(*types.Interface)
	if !ok || c.Pkg == nil {
		return nil
	}
	for _, name := range c.Pkg.Scope().Names() {
		o, ok := c.Pkg.Scope().Lookup(name).(*types.TypeName)
		if !ok || o.IsAlias() {
			continue
		}
		n, ok := o.Type().(*types.Named)
		if !ok || n.TypeParams().Len() > 0 || types.IsInterface(n) || !types.Implements(types.NewPointer(n), i) {
			continue
		}
		for k := range n.NumMethods() {
			if fn := n.Method(k); fn.Name() == sel.Obj().Name() && fn.Pkg() == sel.Obj().Pkg() {
				list = append(list, fn)
			}
		}
	}
	return list
}

// probe is the probe of fn, nil when there is none.
func (r *renderer) probe(fn *types.Func) *probe {
	if len(r.f.u.probes) == 0 {
		return nil
	}
	if s := r.c.Symbol(fn); s != nil {
		return r.f.u.probes[r.f.u.resolve(s)]
	}
	return nil
}

// probeName is how the file spells p.
func (f *file) probeName(p *probe) string {
	if f.self == f.u.mod {
		return p.name
	}
	return f.in(f.u.mod) + "." + p.name
}

// probeText writes the probes as functions of the unit's module.
func (u *unit) probeText(b *strings.Builder) {
	for _, p := range u.probed {
		r := newRenderer(u.decls, p.d.c, p.d.decl.Source)
		n := p.d.decl.Node.(*ast.FuncDecl)
		b.WriteString(p.d.pragma + u.line(p.d.c, n.Pos()))
		if p.recv == nil {
			b.WriteString(r.node(n) + "\n")
			continue
		}
		b.WriteString("func " + p.name + "(" + r.fields(n.Recv, true))
		if n.Type.Params.NumFields() > 0 {
			b.WriteString(", " + r.fields(n.Type.Params, true))
		}
		b.WriteString(")")
		if n.Type.Results != nil {
			b.WriteString(" (" + r.fields(n.Type.Results, false) + ")")
		}
		e := &edits{r: r}
		r.enter(n.Body, n, e)
		ast.Inspect(n.Body, func(m ast.Node) bool { return m != nil && r.visit(m, e) })
		q := p.d.c.Fset.Position(n.Body.Pos())
		fmt.Fprintf(b, " /*line %s:%d:%d*/%s\n", u.e.tagOf(q.Filename), q.Line, q.Column, r.splice(n.Body.Pos(), n.Body.End(), e))
	}
}

// fields is a list of parameters or results. Named gives every one a name.
func (r *renderer) fields(l *ast.FieldList, named bool) string {
	var out []string
	for _, f := range l.List {
		var names []string
		for _, n := range f.Names {
			names = append(names, n.Name)
		}
		if len(names) == 0 && named {
			names = []string{"_"}
		}
		out = append(out, strings.TrimSpace(strings.Join(names, ", ")+" "+r.node(f.Type)))
	}
	return strings.Join(out, ", ")
}

// methodProbe is the text that calls the probe of a method instead of r__.M, empty where there is none; have says that r__ is a pointer.
func (r *renderer) methodProbe(s *types.Selection, fn *types.Func, have bool) string {
	p := r.probe(fn)
	if p == nil || len(s.Index()) > 1 {
		return ""
	}
	switch {
	case p.ptr && !have:
		return ""
	case !p.ptr && have:
		return r.f.probeName(p) + "(*r__"
	}
	return r.f.probeName(p) + "(r__"
}

// dispatch is a switch that calls the probes of session types behind an interface in r__.
func (r *renderer) dispatch(s *types.Selection, pass []string, results bool) string {
	var b strings.Builder
	for _, fn := range r.f.u.dispatched(r.c, s) {
		p := r.probe(fn)
		if p == nil {
			continue
		}
		of, _ := stripPointer(fn.Signature().Recv().Type())
		t := r.f.typeString(r.c, of)
		call := r.f.probeName(p) + "(" + strings.Join(append([]string{"x__"}, pass...), ", ") + ")"
		if results {
			call = "return " + call
		} else {
			call += "; return"
		}
		if p.ptr {
			t = "*" + t
		}
		fmt.Fprintf(&b, "case %s: %s; ", t, call)
	}
	if b.Len() == 0 {
		return ""
	}
	return "switch x__ := r__.(type) { " + b.String() + "}; "
}

// loadedProbes makes the unit's module the one that an earlier cell loaded with the same probes over the same variables, if there is one and
// the module holds nothing else: a profile that is run again adds nothing to the session process.
func (u *unit) loadedProbes(text, deps string) bool {
	if len(u.probed) == 0 || len(u.emitted) > 0 {
		return false
	}
	var ids []int64
	for s := range u.decls.vars {
		ids = append(ids, s.ID)
	}
	slices.Sort(ids)
	u.probeKey = fmt.Sprint(ids, deps, "\n", text)
	m := u.e.probes[u.probeKey]
	if m == nil {
		return false
	}
	u.mod.path, u.mod.archive, u.mod.deps = m.path, m.archive, m.deps
	return true
}
