package native

import (
	"fmt"
	"go/ast"
	"go/types"
	"strconv"
	"strings"
)

// An instrumented call f(x, y) becomes a function literal that is called with the same arguments, which are therefore evaluated
// before the span begins:
//
//	func(a0__ X, a1__ Y) R {
//		s__ := rt.Begin("pkg.f"); defer s__.End()
//		return f(a0__, a1__)
//	}(x, y)

// instrumented reports whether a span is recorded for a call.
func (r *renderer) instrumented(m *ast.CallExpr) bool {
	u := r.f.u
	return u.o.Instrument && (r.own || !u.o.Top) && r.callee(m) != nil
}

// callee is the function or method that m calls, when it is one that spans are recorded for.
func (r *renderer) callee(m *ast.CallExpr) *types.Func {
	fun := ast.Unparen(m.Fun)
	switch x := fun.(type) {
	case *ast.IndexExpr:
		fun = ast.Unparen(x.X)
	case *ast.IndexListExpr:
		fun = ast.Unparen(x.X)
	}
	var id *ast.Ident
	switch x := fun.(type) {
	case *ast.Ident:
		id = x
	case *ast.SelectorExpr:
		id = x.Sel
		if sel := r.c.Info.Selections[x]; sel != nil && (sel.Kind() != types.MethodVal || isTypeParam(sel.Recv())) {
			return nil
		}
	default:
		return nil
	}
	fn, ok := r.c.Info.Uses[id].(*types.Func)
	if !ok || fn.Pkg() == nil {
		return nil
	}
	switch fn.Pkg().Path() {
	case "runtime", "unsafe", "runtime/debug", "reflect":
		return nil
	}
	if p := fn.Pkg().Path(); p == profilerPath || strings.HasPrefix(p, profilerPath+"/") {
		return nil // the profiler does not record itself
	}
	if fn.Pkg() == r.c.Pkg && fn.Signature().Recv() == nil && r.c.Symbol(fn) == nil {
		return nil
	}
	return fn
}

const profilerPath = "github.com/gander-go/gander/profiler"

func isTypeParam(t types.Type) bool {
	t, _ = stripPointer(t)
	_, ok := t.(*types.TypeParam)
	return ok
}

// spanName is how reports call fn: "fmt.Sprintf", "bytes.(*Buffer).Write", "fib", "(*Tree).Insert".
func (r *renderer) spanName(fn *types.Func) string {
	fn = fn.Origin()
	pkg := ""
	if fn.Pkg() != r.c.Pkg {
		pkg = fn.Pkg().Name() + "."
	}
	recv := fn.Signature().Recv()
	if recv == nil {
		return pkg + fn.Name()
	}
	t, isPtr := stripPointer(recv.Type())
	n, ok := t.(*types.Named)
	if !ok {
		return pkg + fn.Name()
	}
	if isPtr {
		return pkg + "(*" + n.Obj().Name() + ")." + fn.Name()
	}
	return pkg + n.Obj().Name() + "." + fn.Name()
}

// spanCall is the text of the instrumented call; ok is false when a type of it cannot be written in the file.
func (r *renderer) spanCall(m *ast.CallExpr) (text string, ok bool) {
	fn := r.callee(m)
	sig, isSig := r.c.Info.TypeOf(m.Fun).(*types.Signature)
	if !isSig || !r.writable(sig) {
		return "", false
	}
	var params, pass, args []string
	var dispatch *types.Selection
	probed := ""
	if sel, isSel := ast.Unparen(m.Fun).(*ast.SelectorExpr); isSel && r.c.Info.Selections[sel] != nil {
		s := r.c.Info.Selections[sel]
		tuple := len(m.Args) == 1 && isTuple(r.c.Info.TypeOf(m.Args[0]))
		recv := s.Recv()
		if tuple || !r.writable(recv) || r.hiddenPath(recv, s.Index()[:len(s.Index())-1]) {
			return "", false
		}
		x, ptr := r.node(sel.X), ""
		_, isPtr := stripPointer(recv)
		want := fn.Signature().Recv().Type()
		if _, wantPtr := stripPointer(want); !isPtr && !types.IsInterface(recv) && (wantPtr || len(s.Index()) > 1) && r.c.Info.Types[sel.X].Addressable() {
			ptr, x = "*", "&"+x
		}
		params = append(params, "r__ "+ptr+r.f.typeString(r.c, recv))
		args = append(args, x)
		name := sel.Sel.Name
		if s.Obj().Pkg() == r.c.Pkg {
			name = exported(name)
		}
		text = "r__." + name
		if types.IsInterface(recv) {
			dispatch = s
		} else if p := r.methodProbe(s, fn, isPtr || ptr != ""); p != "" {
			probed = p
		}
	} else {
		text = r.node(m.Fun)
	}
	var values []string
	for i := range sig.Params().Len() {
		name := fmt.Sprintf("a%d__", i)
		t := sig.Params().At(i).Type()
		ts, p := "", name
		if sig.Variadic() && i == sig.Params().Len()-1 {
			p += "..."
			if sl, isSl := t.(*types.Slice); isSl && !m.Ellipsis.IsValid() {
				ts = "..." + r.f.typeString(r.c, sl.Elem())
			}
		}
		if ts == "" {
			ts = r.f.typeString(r.c, t)
		}
		params = append(params, name+" "+ts)
		pass = append(pass, p)
		values = append(values, name)
	}
	back, calls := r.callsBack(m)
	for i, a := range m.Args {
		s := r.node(a)
		if calls && i == back {
			s = r.f.rt("Guarded") + "(" + s + ")"
		}
		args = append(args, s)
	}
	results, ret := "", ""
	if sig.Results().Len() > 0 {
		results, ret = " ("+r.f.typeString(r.c, sig.Results())+")", "return "
	}
	begin := r.f.rt("Begin") + "(" + strconv.Quote(r.spanName(fn)) + ")"
	if len(values) > 0 {
		begin = r.f.rt("BeginArgs") + "(" + strconv.Quote(r.spanName(fn)) + ", func() []any { return []any{" + strings.Join(values, ", ") + "} })"
	}
	call := text + "(" + strings.Join(pass, ", ") + ")"
	before := ""
	if probed != "" {
		call = strings.Join(append([]string{probed}, pass...), ", ") + ")"
	} else if dispatch != nil {
		before = r.dispatch(dispatch, pass, ret != "")
	}
	return fmt.Sprintf("func(%s)%s { s__ := %s; defer s__.End(); %s%s%s }(%s)",
		strings.Join(params, ", "), results, begin, before, ret, call, strings.Join(args, ", ")), true
}

// deferStmt leaves the call that is deferred as it is when it is a session function: what it defers may recover, which works only in a function
// that the defer statement itself names.
func (r *renderer) deferStmt(m *ast.DeferStmt, e *edits) bool {
	if !r.instrumented(m.Call) {
		return true
	}
	if fn := r.callee(m.Call); fn.Pkg() != r.c.Pkg {
		return true
	}
	ast.Inspect(m.Call, func(n ast.Node) bool { return n == ast.Node(m.Call) || n != nil && r.visit(n, e) })
	return false
}

// writable reports whether the file can spell t: it names no unexported type of another package.
func (r *renderer) writable(t types.Type) bool {
	ok := true
	walkTypes(t, func(t types.Type) bool {
		switch t := t.(type) {
		case *types.Named:
			if p := t.Obj().Pkg(); p != nil && p != r.c.Pkg && !t.Obj().Exported() {
				ok = false
			}
		case *types.Struct:
			for i := range t.NumFields() {
				if f := t.Field(i); !f.Exported() && f.Pkg() != r.c.Pkg {
					ok = false
				}
			}
		case *types.Interface:
			for i := range t.NumExplicitMethods() {
				if f := t.ExplicitMethod(i); !f.Exported() && f.Pkg() != r.c.Pkg {
					ok = false
				}
			}
		}
		return ok
	})
	return ok
}

// walkTypes calls f for t and the types that it is written with, not going into the definitions of named ones.
func walkTypes(t types.Type, f func(types.Type) bool) {
	if t == nil || !f(t) {
		return
	}
	switch t := t.(type) {
	case *types.Alias:
		walkTypes(types.Unalias(t), f)
	case *types.Named:
		for i := range t.TypeArgs().Len() {
			walkTypes(t.TypeArgs().At(i), f)
		}
	case *types.Pointer:
		walkTypes(t.Elem(), f)
	case *types.Slice:
		walkTypes(t.Elem(), f)
	case *types.Array:
		walkTypes(t.Elem(), f)
	case *types.Map:
		walkTypes(t.Key(), f)
		walkTypes(t.Elem(), f)
	case *types.Chan:
		walkTypes(t.Elem(), f)
	case *types.Signature:
		walkTypes(t.Params(), f)
		walkTypes(t.Results(), f)
	case *types.Tuple:
		for i := range t.Len() {
			walkTypes(t.At(i).Type(), f)
		}
	case *types.Struct:
		for i := range t.NumFields() {
			walkTypes(t.Field(i).Type(), f)
		}
	case *types.Interface:
		for i := range t.NumExplicitMethods() {
			walkTypes(t.ExplicitMethod(i).Type(), f)
		}
		for i := range t.NumEmbeddeds() {
			walkTypes(t.EmbeddedType(i), f)
		}
	case *types.Union:
		for i := range t.Len() {
			walkTypes(t.Term(i).Type(), f)
		}
	}
}
