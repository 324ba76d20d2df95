package interp

import (
	"go/types"
	"runtime"
)

// mayNotCompare reports whether comparing values of t may panic, because of an interface in them.
func mayNotCompare(t types.Type) bool {
	switch u := t.Underlying().(type) {
	case *types.Interface:
		return true
	case *types.Array:
		return mayNotCompare(u.Elem())
	case *types.Struct:
		for f := range u.Fields() {
			if mayNotCompare(f.Type()) {
				return true
			}
		}
	}
	return false
}

// pointerShaped reports whether an interface holds values of t as they are: pointers, maps, channels, functions, and what consists of one.
func pointerShaped(t types.Type) bool {
	switch u := t.Underlying().(type) {
	case *types.Pointer, *types.Map, *types.Chan, *types.Signature:
		return true
	case *types.Basic:
		return u.Kind() == types.UnsafePointer
	case *types.Array:
		return u.Len() == 1 && pointerShaped(u.Elem())
	case *types.Struct:
		return u.NumFields() == 1 && pointerShaped(u.Field(0).Type())
	}
	return false
}

// byAddress reports whether the compiler makes an interface of the address of a t, rather than of its value.
func byAddress(t types.Type) bool {
	if pointerShaped(t) {
		return false
	}
	switch u := t.Underlying().(type) {
	case *types.Slice:
		return false
	case *types.Basic:
		if u.Info()&types.IsString != 0 {
			return false
		}
	}
	sizes := types.SizesFor("gc", runtime.GOARCH)
	size, align := sizes.Sizeof(t), sizes.Alignof(t)
	return !(size == align && (size == 2 || size == 4 || size == 8) && !hasPointers(t))
}

func hasPointers(t types.Type) bool {
	switch u := t.Underlying().(type) {
	case *types.Basic:
		return u.Info()&types.IsString != 0 || u.Kind() == types.UnsafePointer
	case *types.Array:
		return u.Len() > 0 && hasPointers(u.Elem())
	case *types.Struct:
		for f := range u.Fields() {
			if hasPointers(f.Type()) {
				return true
			}
		}
		return false
	}
	return true
}
