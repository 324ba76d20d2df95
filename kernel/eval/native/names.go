package native

import (
	"fmt"
	"go/ast"
	"go/types"
	"strings"

	"github.com/gander-go/gander/kernel/eval/check"
)

// module is a package of declarations. Its path is known once its text is.
type module struct {
	path    string // import path, the hash of the text
	archive string // compiled form
	deps    []*module
}

// place is where a symbol's code is: the module and the name that other packages use. home is the symbol of the struct type
// whose text holds the fields, for types that are defined by another type's name.
type place struct {
	in    *module
	name  string // exported
	local string // inside the module
	home  *check.Symbol
}

// exported is the name under which a package exports name.
func exported(name string) string {
	if ast.IsExported(name) {
		return name
	}
	return "G__" + name
}

// PlainName undoes what the engine does to the names of functions in stack traces: "gander/d12ab.(*G__p).move" becomes "(*p).move".
func PlainName(fn string) string {
	if rest, ok := strings.CutPrefix(fn, modulePrefix); ok {
		if _, name, ok := strings.Cut(rest, "."); ok {
			fn = name
		}
	}
	return strings.ReplaceAll(fn, "G__", "")
}

const modulePrefix = "gander/"

// stripPointer returns the element of a pointer type, and whether t is one.
func stripPointer(t types.Type) (types.Type, bool) {
	t = types.Unalias(t)
	if p, ok := t.Underlying().(*types.Pointer); ok {
		return types.Unalias(p.Elem()), true
	}
	return t, false
}

// unique returns base, or base with a number when taken has it, and takes it.
func unique(taken map[string]bool, base string) string {
	name := base
	for i := 2; taken[name]; i++ {
		name = fmt.Sprintf("%s_%d", base, i)
	}
	taken[name] = true
	return name
}

// isHidden reports whether a struct has fields that other packages cannot name.
func isHidden(st *types.Struct) bool {
	for i := range st.NumFields() {
		if f := st.Field(i); !f.Exported() {
			return true
		}
	}
	return false
}
