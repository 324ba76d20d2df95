package native

import (
	"fmt"
	"go/ast"
	"go/types"
	"strings"
)

// call spells the calls that mean something else in a package of its own: conversions between structs with unexported fields, and
// functions that call back on a goroutine which nothing else guards.
func (r *renderer) call(m *ast.CallExpr, e *edits) bool {
	tv := r.c.Info.Types[m.Fun]
	if v := r.c.Info.Types[m].Value; v != nil && tv.IsBuiltin() && r.isOffset(m) { // of a field that the file cannot name
		e.replace(m.Pos(), m.End(), "uintptr("+v.ExactString()+")")
		return false
	}
	if tv.IsType() && len(m.Args) == 1 {
		if to := tv.Type; r.splitStructs(to, r.c.Info.TypeOf(m.Args[0])) {
			e.replace(m.Pos(), m.End(), r.f.rt("Cast")+"["+r.f.typeString(r.c, to)+"]("+r.node(m.Args[0])+")")
			return false
		}
		return true
	}
	if i, ok := r.callsBack(m); ok {
		a := m.Args[i]
		if !r.instrumented(m) {
			e.insert(a.Pos(), r.f.rt("Guarded")+"(")
			e.replace(a.Pos(), a.End(), r.node(a)+")")
			ast.Inspect(m.Fun, func(n ast.Node) bool { return n != nil && r.visit(n, e) })
			for j, x := range m.Args {
				if j != i {
					ast.Inspect(x, func(n ast.Node) bool { return n != nil && r.visit(n, e) })
				}
			}
			return false
		}
	}
	if r.instrumented(m) {
		if s, ok := r.spanCall(m); ok {
			e.replace(m.Pos(), m.End(), s)
			return false
		}
	}
	return true
}

// isOffset reports whether m is unsafe.Offsetof of a field that the file cannot name.
func (r *renderer) isOffset(m *ast.CallExpr) bool {
	var id *ast.Ident
	switch f := ast.Unparen(m.Fun).(type) {
	case *ast.SelectorExpr:
		id = f.Sel
	case *ast.Ident:
		id = f
	}
	if b, ok := r.c.Info.Uses[id].(*types.Builtin); !ok || b.Name() != "Offsetof" {
		return false
	}
	x, ok := ast.Unparen(m.Args[0]).(*ast.SelectorExpr)
	if !ok {
		return false
	}
	sel := r.c.Info.Selections[x]
	return sel != nil && r.hiddenPath(sel.Recv(), sel.Index())
}

// splitStructs reports whether a and b are different types of one struct whose unexported fields belong to different packages.
func (r *renderer) splitStructs(a, b types.Type) bool {
	if a == nil || b == nil {
		return false
	}
	a, pa := stripPointer(a)
	b, pb := stripPointer(b)
	sa, ok1 := isStruct(a)
	sb, ok2 := isStruct(b)
	if pa != pb || !ok1 || !ok2 || !isHidden(sa) || !isHidden(sb) || types.Identical(a, b) {
		return false
	}
	ma, na, _, _ := r.f.structHome(r.c, a)
	mb, nb, _, _ := r.f.structHome(r.c, b)
	return ma != mb || na != nb
}

// callsBack finds the argument that a call of the standard library runs on a goroutine of its own.
func (r *renderer) callsBack(m *ast.CallExpr) (arg int, ok bool) {
	sel, isSel := ast.Unparen(m.Fun).(*ast.SelectorExpr)
	if !isSel || m.Ellipsis.IsValid() {
		return 0, false
	}
	fn, isFn := r.c.Info.Uses[sel.Sel].(*types.Func)
	if !isFn || fn.Pkg() == nil {
		return 0, false
	}
	switch fn.FullName() {
	case "(*sync.WaitGroup).Go":
		return 0, len(m.Args) == 1
	case "time.AfterFunc", "context.AfterFunc":
		return 1, len(m.Args) == 2
	}
	return 0, false
}

// goStmt spells `go f(args)` so that a panic of f ends the cell and not the process. f and args are evaluated first, as ever.
func (r *renderer) goStmt(m *ast.GoStmt) string {
	guard := fmt.Sprintf("defer %s(%s(run__)); ", r.f.rt("Guard"), r.f.rt("Enter"))
	if r.instrumented(m.Call) {
		guard += fmt.Sprintf("defer %s(%q).End(); ", r.f.rt("Begin"), r.spanName(r.callee(m.Call)))
	}
	run := "{ run__ := " + r.f.rt("Current") + "(); "
	call := m.Call
	if lit, ok := ast.Unparen(call.Fun).(*ast.FuncLit); ok {
		e := &edits{r: r}
		e.insert(lit.Body.Lbrace+1, " "+guard)
		ast.Inspect(call, func(n ast.Node) bool { return n != nil && (n == ast.Node(call) || r.visit(n, e)) })
		return run + "go " + r.splice(call.Pos(), call.End(), e) + " }"
	}
	if tv := r.c.Info.Types[call.Fun]; tv.IsBuiltin() || tv.IsType() {
		return run + r.goBuiltin(call, guard) + " }"
	}
	sig, ok := r.c.Info.TypeOf(call.Fun).Underlying().(*types.Signature)
	if !ok {
		return r.inner(m)
	}
	params := []string{"f__ " + r.f.typeString(r.c, sig)}
	var args []string
	for i := range sig.Params().Len() {
		name := fmt.Sprintf("a%d__", i)
		t := r.f.typeString(r.c, sig.Params().At(i).Type())
		pass := name
		if sig.Variadic() && i == sig.Params().Len()-1 {
			if sl, ok := sig.Params().At(i).Type().(*types.Slice); ok && !call.Ellipsis.IsValid() {
				t = "..." + r.f.typeString(r.c, sl.Elem())
			}
			pass += "..."
		}
		params = append(params, name+" "+t)
		args = append(args, pass)
	}
	if len(call.Args) == 1 {
		if tuple, ok := r.c.Info.TypeOf(call.Args[0]).(*types.Tuple); ok { // go f(g()): g yields all the arguments
			var names []string
			for i := range tuple.Len() {
				names = append(names, fmt.Sprintf("b%d__", i))
			}
			l := strings.Join(names, ", ")
			return run + "f__ := " + r.node(call.Fun) + "; " + l + " := " + r.node(call.Args[0]) + "; go func() { " + guard + "f__(" + l + ") }() }"
		}
	}
	given := []string{r.node(call.Fun)}
	for _, a := range call.Args {
		given = append(given, r.node(a))
	}
	list := strings.Join(given, ", ")
	return run + "go func(" + strings.Join(params, ", ") + ") { " + guard + "f__(" + strings.Join(args, ", ") + ") }(" + list + ") }"
}

func isTuple(t types.Type) bool {
	_, ok := t.(*types.Tuple)
	return ok
}

// goBuiltin is a go statement of a builtin function such as close or println.
func (r *renderer) goBuiltin(call *ast.CallExpr, guard string) string {
	var set, names []string
	for i, a := range call.Args {
		tv := r.c.Info.Types[a]
		if tv.Value != nil || tv.IsNil() || tv.IsType() {
			names = append(names, r.node(a))
			continue
		}
		n := fmt.Sprintf("a%d__", i)
		names = append(names, n)
		set = append(set, n+" := "+r.node(a)+"; ")
	}
	dots := ""
	if call.Ellipsis.IsValid() {
		dots = "..."
	}
	return strings.Join(set, "") + "go func() { " + guard + r.node(call.Fun) + "(" + strings.Join(names, ", ") + dots + ") }()"
}
