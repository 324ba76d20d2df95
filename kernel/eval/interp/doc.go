// Package interp is the interpreted engine: it decides by types whether yaegi runs a cell right, and lowers such a cell
// to the few constructs that it is trusted with. Nothing is built, so a statement cell answers in well under a
// millisecond.
//
// Session variables live in compiled storage (kernel/session/rt) and their types are compiled types; the lowered code
// reaches both through pointers and symbol tables. What yaegi gets wrong with types of its own (methods, unexported
// fields, %T) therefore cannot come up. Constant expressions are folded by go/types and never seen by yaegi.
//
// Packages are known by tables of their symbols: those that the session process carries (carried.go), and those that the compiled engine builds
// as plugins when a cell first needs them (Tables).
//
// Its one invariant: what is not on the whitelist is refused with a reason, never run. The whitelist is whitelist.go; proof.txt names
// programs that show yaegi running each entry right, and its test fails for an entry without one.
package interp
