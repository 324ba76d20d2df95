package native

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"strings"

	"github.com/gander-go/gander/kernel/eval/check"
)

// A variable whose type the file cannot write is bound by a generic function that infers the type from the variable's witness:
//
//	var v__b = like1__(&http.NoBody)
//	func like1__[T any](*T) *T { return rt.Define[T]("b") }
//
//	var v__r = like2__(pkg.New)
//	func like2__[A0, R0, R1 any](func(A0) (R0, R1)) *R0 { return rt.Define[R0]("r") }

// inferred is the text that binds a variable with that witness: define is the function of package rt for it, args its arguments.
func (f *file) inferred(c *check.Checked, w *check.Witness, define, args string) string {
	r := newRenderer(f, c, w.Source)
	f.likes++
	name := fmt.Sprintf("like%d__", f.likes)
	declare := func(params, from, to string) {
		fmt.Fprintf(&f.extra, "func %s[%s any](%s) *%s { return %s[%s]%s }\n", name, params, from, to, define, to, args)
	}
	x := ast.Unparen(w.Expr)
	call, ok := x.(*ast.CallExpr)
	if !ok {
		params, from, to := "T", "*T", "T"
		switch y := x.(type) {
		case *ast.UnaryExpr: // the address of a variable
			x, to = y.X, "*T"
		case *ast.StarExpr:
			x, from = y.X, "**T"
		case *ast.IndexExpr:
			x, from = y.X, "*[]T"
			if _, isMap := c.Info.TypeOf(x).Underlying().(*types.Map); isMap {
				params, from = "K comparable, T", "*map[K]T"
			}
		}
		declare(params, from, to)
		return name + "(&" + r.node(x) + ")"
	}
	fun, sig := r.function(call)
	var params, in, out []string
	add := func(list *[]string, kind string, t *types.Tuple, variadic bool) {
		for i := range t.Len() {
			p := fmt.Sprintf("%s%d", kind, len(*list))
			params = append(params, p)
			if variadic && i == t.Len()-1 {
				p = "..." + p
			}
			*list = append(*list, p)
		}
	}
	if recv := sig.Recv(); recv != nil {
		add(&in, "A", types.NewTuple(recv), false)
	}
	add(&in, "A", sig.Params(), sig.Variadic())
	add(&out, "R", sig.Results(), false)
	declare(strings.Join(params, ", "), "func("+strings.Join(in, ", ")+") ("+strings.Join(out, ", ")+")", out[w.Index])
	return name + "(" + fun + ")"
}

// function is the function that m calls, as a value that is made without evaluating more than a variable. Its signature has a receiver
// where the value is a method expression.
func (r *renderer) function(m *ast.CallExpr) (text string, sig *types.Signature) {
	sig = r.c.Info.TypeOf(m.Fun).Underlying().(*types.Signature)
	plain := types.NewSignatureType(nil, nil, nil, sig.Params(), sig.Results(), sig.Variadic())
	fun := ast.Unparen(m.Fun)
	id, _ := fun.(*ast.Ident)
	if s, ok := fun.(*ast.SelectorExpr); ok {
		id = s.Sel
		sel := r.c.Info.Selections[s]
		if sel != nil && sel.Kind() == types.MethodVal && r.writable(sel.Recv()) {
			recv := sel.Recv()
			if _, isPtr := stripPointer(recv); !isPtr && !types.IsInterface(recv) && r.c.Info.Types[s.X].Addressable() {
				recv = types.NewPointer(recv) // it has the methods of both
			}
			name := s.Sel.Name
			if sel.Obj().Pkg() == r.c.Pkg {
				name = exported(name)
			}
			v := types.NewVar(token.NoPos, nil, "", recv)
			return "(" + r.f.typeString(r.c, recv) + ")." + name, types.NewSignatureType(v, nil, nil, sig.Params(), sig.Results(), sig.Variadic())
		}
	}
	text = r.node(fun)
	if args := r.c.Info.Instances[id].TypeArgs; id != nil && args.Len() > 0 {
		var l []string
		for i := range args.Len() {
			l = append(l, r.f.typeString(r.c, args.At(i)))
		}
		text += "[" + strings.Join(l, ", ") + "]"
	}
	return text, plain
}
