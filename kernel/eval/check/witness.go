package check

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"
)

// A variable may be of a type that only its package can name: b := http.NoBody. Later cells cannot write its declaration as
// "var b T", so the session keeps "var b = http.NoBody": an expression of that type, its witness. Nobody evaluates it again; an engine
// takes it apart for what it can infer the type from: a variable, or a function that yields such a value.

// Witness is an expression whose Index-th value has the type of a variable.
type Witness struct {
	Expr  ast.Expr
	Index int
	Source
}

// Witness returns how the type of a variable can be inferred, nil for one whose type can be written.
func (c *Checked) Witness(s *Symbol) *Witness {
	w, ok := c.witnesses[s]
	if !ok {
		return nil
	}
	return &w
}

// fillWitnesses finds the witnesses of the variables that the check knows.
func (k *checker) fillWitnesses() {
	c := k.c
	c.witnesses = map[*Symbol]Witness{}
	for _, it := range k.kept {
		f := k.v.files[it]
		if it.typ == "" || f == nil {
			continue
		}
		v := f.full.Decls[len(f.full.Decls)-1].(*ast.GenDecl).Specs[0].(*ast.ValueSpec)
		index := slices.IndexFunc(v.Names, func(id *ast.Ident) bool { return id.Name != "_" })
		c.witnesses[it.syms[0]] = Witness{v.Values[0], index, Source{f.source, f.full}}
	}
	for _, v := range c.Vars {
		if _, ok := c.witnesses[v.Sym]; ok || unnamed(v.Type, c.Pkg) == nil {
			continue
		}
		if x, i := c.value(v); x != nil {
			c.witnesses[v.Sym] = Witness{x, i, c.Cell}
		}
	}
}

// value is the expression that yields the first value of a variable, and which of its values that is.
func (c *Checked) value(v *Var) (x ast.Expr, index int) {
	st := c.Steps[v.Step]
	for i, t := range st.Targets {
		switch {
		case t.Sym != v.Sym || len(st.Values) == 0:
		case len(st.Values) == 1:
			return st.Values[0], i
		default:
			return st.Values[i], 0
		}
	}
	return nil, 0
}

// infers reports whether the type of x can be inferred without evaluating more than variables.
func infers(info *types.Info, pkg *types.Package, x ast.Expr) bool {
	switch x := ast.Unparen(x).(type) {
	case *ast.UnaryExpr:
		return x.Op == token.AND && addressable(info, x.X)
	case *ast.CallExpr:
		tv := info.Types[x.Fun]
		return !tv.IsType() && !tv.IsBuiltin() && callable(info, pkg, x.Fun)
	case *ast.StarExpr:
		return addressable(info, x.X)
	case *ast.IndexExpr:
		switch info.TypeOf(x.X).Underlying().(type) {
		case *types.Slice, *types.Map:
			return addressable(info, x.X)
		}
		return false
	default:
		return addressable(info, x)
	}
}

// addressable reports whether x is a variable, or a field inside one, whose address can be taken without following a pointer.
func addressable(info *types.Info, x ast.Expr) bool {
	switch x := ast.Unparen(x).(type) {
	case *ast.Ident:
		_, ok := info.Uses[x].(*types.Var)
		return ok
	case *ast.SelectorExpr:
		sel := info.Selections[x]
		if sel == nil {
			_, ok := info.Uses[x.Sel].(*types.Var)
			return ok
		}
		return sel.Kind() == types.FieldVal && !sel.Indirect() && addressable(info, x.X)
	}
	return false
}

// callable reports whether the function that a call names can be mentioned without calling anything.
func callable(info *types.Info, pkg *types.Package, fun ast.Expr) bool {
	switch f := ast.Unparen(fun).(type) {
	case *ast.IndexExpr:
		return callable(info, pkg, f.X)
	case *ast.IndexListExpr:
		return callable(info, pkg, f.X)
	case *ast.Ident:
		return instanceNamed(info, pkg, f)
	case *ast.SelectorExpr:
		sel := info.Selections[f]
		switch {
		case sel == nil:
			return instanceNamed(info, pkg, f.Sel)
		case sel.Kind() == types.FieldVal:
			return addressable(info, f)
		case sel.Kind() == types.MethodExpr, unnamed(sel.Recv(), pkg) == nil:
			return true
		}
		// A method of a variable whose own type cannot be named: as a value of the variable.
		_, isPtr := sel.Recv().Underlying().(*types.Pointer)
		_, wantsPtr := sel.Obj().Type().(*types.Signature).Recv().Type().(*types.Pointer)
		return addressable(info, f.X) && !types.IsInterface(sel.Recv()) && isPtr == wantsPtr
	}
	return false
}

// instanceNamed reports whether the type arguments that were inferred for a generic function can be written.
func instanceNamed(info *types.Info, pkg *types.Package, id *ast.Ident) bool {
	args := info.Instances[id].TypeArgs
	for i := range args.Len() {
		if unnamed(args.At(i), pkg) != nil {
			return false
		}
	}
	return true
}

// witnessItem makes the item of a variable whose type cannot be written.
func (k *checker) witnessItem(v *Var, it *item) bool {
	c := k.c
	x, index := c.value(v)
	if x == nil {
		return false
	}
	start, ok := origin(k.gen.segs, offset(k.v.fset, x.Pos()))
	end, ok2 := origin(k.gen.segs, offset(k.v.fset, x.End()-1))
	if !ok || !ok2 {
		return false
	}
	head := "var " + strings.Repeat("_, ", index)
	it.defs = []span{{len(head), len(head) + len(v.Sym.Name)}}
	head += v.Sym.Name
	if t, ok := c.Info.TypeOf(x).(*types.Tuple); ok {
		head += strings.Repeat(", _", t.Len()-index-1)
	}
	head += " = "
	it.src = head + k.code[start:end+1]
	it.refs = k.refsIn(x, start-len(head))
	return true
}
