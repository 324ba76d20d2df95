package interp

import (
	"maps"
	"reflect"
	"slices"
)

// tables makes the symbol table of each package that interpreted cells may use. Filled by init functions.
var tables = map[string]func() map[string]reflect.Value{}

// instances makes the instances of a package's generic functions. Filled by init functions.
var instances = map[string]func() map[string]reflect.Value{}

// Register adds the table of a package. For use in init functions.
func Register(path string, symbols func() map[string]reflect.Value) { tables[path] = symbols }

// Paths are the import paths of the packages whose tables this process carries, sorted.
func Paths() []string { return slices.Sorted(maps.Keys(tables)) }

// Symbols is the symbol table of a package that interpreted cells may use, nil for one that is not carried. The front process
// checks cells with it where there is no Go toolchain.
func Symbols(path string) map[string]reflect.Value {
	if make, ok := tables[path]; ok {
		return make()
	}
	return nil
}
