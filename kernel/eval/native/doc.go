// Package native is the compiled engine: it makes Go packages of a checked cell, builds them as a plugin that fits the
// session process, and keeps what it built in a cache on disk.
//
// It checks nothing and runs nothing: package check gives it a Checked, the session process opens what it built. Its one
// invariant: two units with the same import path have the same text and the same dependencies, so a path that a session
// process has loaded, or that the cache holds, may be used again whenever the engine arrives at it.
//
// # What a cell becomes
//
// Up to two packages, both of which say "package main", so that reflect and %T name types as a program does:
//
//   - the declarations, when the cell makes any (or others must be made again because of it): its import path is the
//     hash of its text. Later cells import it. Identifiers are exported under the prefix G__, types by an alias, so that
//     their names stay the user's; unexported fields by accessor functions, which the compiler inlines.
//   - the statements, as func Cell: the plugin's main package.
//
// Session variables are in neither: they live in package rt, and code reaches them through pointers (v__x) that it binds
// by name and type. So a cell's text does not depend on which cell or which engine made a variable, and a cell that is run again
// unchanged arrives at the path that is loaded already.
//
// Positions are kept by line directives that name the cell by the hash of its text (In[#1f2e3d4c]) and not by its number,
// for the same reason; Engine.Translate puts the numbers back.
//
// # Redefinition
//
// Calls between compiled functions are direct. When a name gets a new meaning, what depends on it is emitted again with
// the cell that redefines it (Checked.Rebound), and when a type of an earlier cell gets other methods (Checked.Extended)
// the type is emitted again with everything that mentions it; variables of such types are given the new version of the
// type, which is laid out alike.
//
// # Where a cell differs from a program
//
//   - reflect's PkgPath and the names of functions in stack traces have the path of the cell's package. Translate and rt.PlainNames put
//     the user's names back into what is shown.
//   - Unexported methods are exported to reflection, and some messages of the runtime name them G__m.
//   - Values in closures, channels and the sync package's containers keep the old version of a type that gets methods; closures and
//     goroutines that are running keep the functions that they were compiled with.
//   - A struct type of one cell is not assignable to an anonymous struct with the same unexported fields that another cell writes; a
//     conversion is always possible.
//   - Each new plugin costs the session process about 2 MB of memory for good (BenchmarkMemory): Go does not unload plugins.
package native
