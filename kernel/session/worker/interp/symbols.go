package interp

import "reflect"

// Symbols is the symbol table of a package that interpreted cells may use, nil for one that is not carried. The front process
// checks cells with it where there is no Go toolchain.
func Symbols(path string) map[string]reflect.Value {
	if make, ok := tables[path]; ok {
		return make()
	}
	return nil
}
