// Package std carries the symbols of the whole standard library for interpreted cells, where there is no toolchain to make their tables with: what
// kernel/session/worker/interp itself carries is what every session process has.
//
// It has no state and decides nothing. Linking it costs size on disk; a table is made when a cell first uses its package. Its one invariant: it
// is linked into gander only, never into the session process that is built for a toolchain.
package std

// Generic is a Go file with the declarations of what is generic in the package of that path, which no table can have; "" when there is
// nothing. Functions have no bodies and structs no fields: it is for the checker.
func Generic(path string) string { return generic[path] }
