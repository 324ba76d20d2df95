package interp

import (
	"go/types"
	"slices"
	"strconv"
	"strings"
)

// Packages are the import paths whose symbols every session process carries for interpreted cells. The tables are made from this list by
// worker/interp/gen; those of the rest of the standard library are linked only where there is no toolchain to build them with.
var Packages = []string{
	"bufio", "bytes", "context", "encoding/base64", "encoding/binary", "encoding/hex", "encoding/json", "errors", "fmt",
	"github.com/gander-go/gander/display", "github.com/gander-go/gander/profiler", "image", "image/color", "io", "log",
	"math", "math/big", "math/bits", "math/cmplx", "math/rand", "math/rand/v2", "os", "path", "path/filepath", "reflect",
	"regexp", "runtime", "runtime/debug", "sort", "strconv", "strings", "sync", "sync/atomic", "text/tabwriter", "time",
	"unicode", "unicode/utf8",
}

var (
	ordered    = []string{"int", "int32", "int64", "uint8", "uint64", "float32", "float64", "string"}
	comparable = append(slices.Clone(ordered), "bool", "any", "error")
	keyed      = [][2]string{
		{"string", "int"}, {"string", "float64"}, {"string", "string"}, {"string", "bool"}, {"string", "any"}, {"int", "int"}, {"int", "float64"},
		{"int", "string"}, {"int", "bool"}, {"int", "any"}, {"int32", "int"},
	}
	keyedLists = [][2]string{{"string", "[]string"}, {"string", "[]int"}, {"string", "[]float64"}, {"int", "[]int"}, {"int", "[]string"}}
)

// Instances are the instances of generic functions that every session process carries, by import path and function: the type arguments of each,
// as they are spelled. The session process has no other way to make one.
var Instances = map[string]map[string][]string{
	"slices": join(
		of(lists(comparable), "Clip", "Clone", "Compact", "Concat", "Contains", "Delete", "Equal", "Grow", "Index", "Insert", "Repeat", "Replace", "Reverse", "Values",
			"ContainsFunc", "DeleteFunc", "IndexFunc", "IsSortedFunc", "MaxFunc", "MinFunc", "SortFunc", "SortStableFunc"),
		of(lists(ordered), "BinarySearch", "Compare", "IsSorted", "Max", "Min", "Sort"),
		of(comparable, "Collect"),
		of(ordered, "Sorted"),
	),
	"maps": join(
		of(keyedTypes(1, slices.Concat(keyed, keyedLists)), "Clone", "Keys", "Values"),
		of(keyedTypes(2, slices.Concat(keyed, keyedLists)), "Copy"),
		of(keyedTypes(2, keyed), "Equal"),
	),
	"cmp":          join(of(ordered, "Compare", "Less"), of(comparable, "Or")),
	"math/rand/v2": of([]string{"int", "int32", "int64", "uint8", "uint64", "time.Duration"}, "N"),
}

// of gives each of the functions the same type arguments.
func of(args []string, functions ...string) map[string][]string {
	m := map[string][]string{}
	for _, f := range functions {
		m[f] = args
	}
	return m
}

func join(l ...map[string][]string) map[string][]string {
	m := map[string][]string{}
	for _, x := range l {
		for f, args := range x {
			m[f] = args
		}
	}
	return m
}

// lists are the arguments of functions over [S ~[]E, E any].
func lists(elems []string) (args []string) {
	for _, e := range elems {
		args = append(args, "[]"+e+", "+e)
	}
	return args
}

// keyedTypes are the arguments of functions over n types M ~map[K]V.
func keyedTypes(n int, kvs [][2]string) (args []string) {
	for _, kv := range kvs {
		args = append(args, strings.Repeat("map["+kv[0]+"]"+kv[1]+", ", n)+kv[0]+", "+kv[1])
	}
	return args
}

// argument spells a type argument as Instances does; "" for one that is not in it.
func argument(t types.Type) string {
	switch t := types.Unalias(t).(type) {
	case *types.Basic:
		return types.Typ[t.Kind()].Name() // not byte, or rune
	case *types.Named:
		switch {
		case t.TypeArgs().Len() > 0:
		case t.Obj().Pkg() == nil:
			return t.Obj().Name()
		case t.Obj().Pkg().Path() == "time":
			return "time." + t.Obj().Name()
		}
	case *types.Slice:
		if e := argument(t.Elem()); e != "" {
			return "[]" + e
		}
	case *types.Map:
		k, v := argument(t.Key()), argument(t.Elem())
		if k != "" && v != "" {
			return "map[" + k + "]" + v
		}
	case *types.Interface:
		if t.Empty() {
			return "any"
		}
	}
	return ""
}

// generic lowers the callee of a call of a package's generic function.
func (l *lowering) generic(path, name string, inst types.Instance) string {
	var args []string
	for t := range inst.TypeArgs.Types() {
		args = append(args, argument(t))
	}
	list := strings.Join(args, ", ")
	if !slices.Contains(Instances[path][name], list) {
		refuse("calls the generic function %s for types that it is not carried for", name)
	}
	l.use(callGeneric)
	return session + "." + l.helper("G", strconv.Quote(path)+"."+name, list)
}
