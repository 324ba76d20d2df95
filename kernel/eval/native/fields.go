package native

import (
	"go/ast"
	"go/types"
	"strings"

	"github.com/gander-go/gander/kernel/eval/check"
)

// Unexported fields of an earlier cell's structs are reached through functions of its package:
//
//	func GF_p_x(p *p) *int { return &p.x }

// fieldName is a field's name as the struct's text has it. The checker spells superseded types by other names, and so names
// fields that embed them.
func fieldName(c *check.Checked, f *types.Var) string {
	if !f.Embedded() {
		return f.Name()
	}
	t := f.Type()
	if p, ok := t.(*types.Pointer); ok {
		t = p.Elem()
	}
	if n, ok := t.(interface{ Obj() *types.TypeName }); ok && n.Obj().Pkg() == c.Pkg {
		if s := c.Symbol(n.Obj()); s != nil {
			return s.Name
		}
	}
	return f.Name()
}

func accessor(typeName, field string) string { return "GF_" + typeName + "_" + field }

// structHome tells where the fields of t, a struct or a named struct type, are written: the file's own package (hidden is
// false), or another, for which it gives the name of the accessors' type and the type that they take when it is not t itself.
func (f *file) structHome(c *check.Checked, t types.Type) (m *module, name, cast string, hidden bool) {
	switch t := types.Unalias(t).(type) {
	case *types.Named:
		s := c.Symbol(t.Obj())
		if s == nil {
			return nil, "", "", false // local, or of a package where Go's own rules apply
		}
		p, ok := f.u.place(s)
		if !ok {
			return nil, "", "", false
		}
		if p.home != nil && p.home != s {
			hp, ok := f.u.place(p.home)
			if !ok || hp.in == f.self {
				return nil, "", "", false
			}
			return hp.in, hp.local, f.symbol(p.home), true
		}
		return p.in, p.local, "", p.in != f.self
	case *types.Struct:
		if p, ok := f.u.anonymousPlace(c, t); ok {
			return p.in, p.name, "", p.in != f.self
		}
	}
	return nil, "", "", false
}

func isStruct(t types.Type) (*types.Struct, bool) {
	st, ok := t.Underlying().(*types.Struct)
	return st, ok
}

// selector spells x.f where f is, or the way to f goes through, a field that the file cannot name.
func (r *renderer) selector(m *ast.SelectorExpr, e *edits) bool {
	if id, ok := m.X.(*ast.Ident); ok {
		if p, ok := r.c.Info.Uses[id].(*types.PkgName); ok {
			e.replace(m.Pos(), m.End(), r.packageMember(p.Imported(), m.Sel.Name))
			return false
		}
	}
	sel := r.c.Info.Selections[m]
	if sel == nil || sel.Kind() == types.MethodExpr {
		return true
	}
	path := sel.Index()
	if sel.Kind() == types.MethodVal {
		path = path[:len(path)-1]
	}
	if !r.hiddenPath(sel.Recv(), path) {
		return true
	}
	cur := r.node(m.X)
	addressable := r.c.Info.Types[m.X].Addressable()
	t := sel.Recv()
	for _, i := range path {
		base, isPtr := stripPointer(t)
		st, _ := isStruct(base)
		fl := st.Field(i)
		if mod, name, cast, hidden := r.f.structHome(r.c, base); hidden && r.unexported(fl) {
			arg := cur
			switch {
			case isPtr:
			case addressable:
				arg = "&" + cur
			default:
				arg = r.f.rt("Ptr") + "(" + cur + ")"
			}
			if cast != "" {
				arg = "(*" + cast + ")(" + arg + ")"
			}
			cur = "(*" + r.f.in(mod) + "." + accessor(name, fieldName(r.c, fl)) + "(" + arg + "))"
			addressable = true
		} else {
			cur += "." + fieldName(r.c, fl)
			addressable = addressable || isPtr
		}
		t = fl.Type()
	}
	if sel.Kind() == types.MethodVal {
		name := m.Sel.Name
		if sel.Obj().Pkg() == r.c.Pkg {
			name = exported(name)
		}
		cur += "." + name
	}
	e.replace(m.Pos(), m.End(), cur)
	return false
}

func (r *renderer) unexported(f *types.Var) bool { return !f.Exported() && f.Pkg() == r.c.Pkg }

func (r *renderer) hiddenPath(t types.Type, path []int) bool {
	for _, i := range path {
		base, _ := stripPointer(t)
		st, ok := isStruct(base)
		if !ok {
			return false
		}
		fl := st.Field(i)
		if r.unexported(fl) {
			if _, _, _, hidden := r.f.structHome(r.c, base); hidden {
				return true
			}
		}
		t = fl.Type()
	}
	return false
}

// packageMember is pkg.name, except that what prints goes by rt's ordered way, and what formats says the names of types as a program would.
func (r *renderer) packageMember(p *types.Package, name string) string {
	if p.Path() == "fmt" {
		switch name {
		case "Print", "Println", "Printf", "Sprint", "Sprintln", "Sprintf":
			return r.f.rt(name)
		}
	}
	return r.f.pkg(p) + "." + name
}

// literal spells a composite literal that sets fields which the file cannot name.
func (r *renderer) literal(m *ast.CompositeLit, e *edits) bool {
	if s, ok := r.hiddenLiteral(m); ok {
		e.replace(m.Pos(), m.End(), s)
		return false
	}
	t, _ := stripPointer(r.c.Info.TypeOf(m))
	if _, ok := isStruct(t); ok {
		if _, written := m.Type.(*ast.StructType); written { // by a name it would be ambiguous in the header of an if
			e.insert(m.Pos(), "(")
			defer func() { e.insert(m.End(), ")") }()
		}
		if m.Type != nil {
			ast.Inspect(m.Type, func(n ast.Node) bool { return n != nil && r.visit(n, e) })
		}
		for _, x := range m.Elts { // keys are field names, never session names
			if kv, ok := x.(*ast.KeyValueExpr); ok {
				x = kv.Value
			}
			ast.Inspect(x, func(n ast.Node) bool { return n != nil && r.visit(n, e) })
		}
		return false
	}
	return true
}

// hiddenLiteral is the text of a struct literal as a call that fills the struct field by field; ok is false when the literal can be
// written as it is.
func (r *renderer) hiddenLiteral(m *ast.CompositeLit) (text string, ok bool) {
	full := r.c.Info.TypeOf(m)
	if full == nil || len(m.Elts) == 0 {
		return "", false
	}
	t, isPtr := types.Unalias(full), false
	if m.Type == nil {
		t, isPtr = stripPointer(full)
	}
	st, isSt := isStruct(t)
	if !isSt {
		return "", false
	}
	mod, name, cast, hidden := r.f.structHome(r.c, t)
	if !hidden || !isHidden(st) {
		return "", false
	}
	needed := false
	for _, x := range m.Elts {
		kv, ok := x.(*ast.KeyValueExpr)
		if !ok || !ast.IsExported(kv.Key.(*ast.Ident).Name) {
			needed = true
		}
	}
	if !needed {
		return "", false
	}
	var b strings.Builder
	b.WriteString("func() (t__ " + r.f.typeString(r.c, t) + ") {")
	at := m.Lbrace
	for i, x := range m.Elts {
		var fl *types.Var
		value := x
		if kv, ok := x.(*ast.KeyValueExpr); ok {
			fl, _ = r.c.Info.Uses[kv.Key.(*ast.Ident)].(*types.Var)
			value = kv.Value
		} else {
			fl = st.Field(i)
		}
		b.WriteString(r.newlines(r.src.Text[r.off(at):r.off(value.Pos())]))
		target := "t__." + fieldName(r.c, fl)
		if r.unexported(fl) {
			arg := "&t__"
			if cast != "" {
				arg = "(*" + cast + ")(" + arg + ")"
			}
			target = "*" + r.f.in(mod) + "." + accessor(name, fieldName(r.c, fl)) + "(" + arg + ")"
		}
		if fl.Name() == "_" {
			target = "var _ " + r.f.typeString(r.c, fl.Type())
		}
		b.WriteString(" " + target + " = " + r.node(value) + ";")
		at = value.End()
	}
	b.WriteString(" return " + r.newlines(r.src.Text[r.off(at):r.off(m.Rbrace)]) + "}()")
	if isPtr {
		return r.f.rt("Ptr") + "(" + b.String() + ")", true
	}
	return b.String(), true
}

func (r *renderer) newlines(s string) string { return strings.Repeat("\n", strings.Count(s, "\n")) }
