package check

import "go/types"

// eachType calls f for every type that t is written with, t included.
func eachType(t types.Type, seen map[types.Type]bool, f func(types.Type)) {
	if t == nil || seen[t] {
		return
	}
	seen[t] = true
	f(t)
	walk := func(t types.Type) { eachType(t, seen, f) }
	args := func(l *types.TypeList) {
		for i := range l.Len() {
			walk(l.At(i))
		}
	}
	switch t := t.(type) {
	case *types.Named:
		args(t.TypeArgs())
	case *types.Alias:
		args(t.TypeArgs())
	case *types.Pointer:
		walk(t.Elem())
	case *types.Slice:
		walk(t.Elem())
	case *types.Array:
		walk(t.Elem())
	case *types.Chan:
		walk(t.Elem())
	case *types.Map:
		walk(t.Key())
		walk(t.Elem())
	case *types.Struct:
		for i := range t.NumFields() {
			walk(t.Field(i).Type())
		}
	case *types.Tuple:
		for i := range t.Len() {
			walk(t.At(i).Type())
		}
	case *types.Signature:
		walk(t.Params())
		walk(t.Results())
	case *types.Interface:
		for i := range t.NumExplicitMethods() {
			walk(t.ExplicitMethod(i).Type())
		}
		for i := range t.NumEmbeddeds() {
			walk(t.EmbeddedType(i))
		}
	case *types.Union:
		for i := range t.Len() {
			walk(t.Term(i).Type())
		}
	}
}

// typeName is the declared name of a type, nil for one without.
func typeName(t types.Type) *types.TypeName {
	switch t := t.(type) {
	case *types.Named:
		return t.Obj()
	case *types.Alias:
		return t.Obj()
	}
	return nil
}

func eachPackage(t types.Type, f func(*types.Package), seen map[types.Type]bool) {
	eachType(t, seen, func(t types.Type) {
		if n := typeName(t); n != nil && n.Pkg() != nil {
			f(n.Pkg())
		}
		if b, ok := t.(*types.Basic); ok && b.Kind() == types.UnsafePointer {
			f(types.Unsafe)
		}
	})
}

// unnamed finds a type that t is written with and that pkg cannot write: an unexported one of another package. It returns nil when
// there is none. Types of internal packages can be written: it is the go command that keeps them apart, not the compiler.
func unnamed(t types.Type, pkg *types.Package) (out *types.TypeName) {
	eachType(t, map[types.Type]bool{}, func(t types.Type) {
		if n := typeName(t); n != nil && n.Pkg() != nil && n.Pkg() != pkg && !n.Exported() {
			out = n
		}
	})
	return out
}
