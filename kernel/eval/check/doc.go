// Package check turns the text of a cell into a checked cell: it cuts the text into pieces, type-checks them with
// go/types against everything that earlier cells declared, and says what running the cell would do, step by step. The
// same machinery answers completion and hover.
//
// It runs nothing and builds nothing: engines (kernel/eval/native, kernel/eval/interp) take a Checked and make code of
// it. Its one invariant: Session.Check never changes the session; only Session.Commit does.
//
// # What a session means
//
// A session is one Go package that grows. Every declaration of every cell is a Symbol of that package. A cell that
// declares a name again makes a new Symbol; the old one leaves the namespace but lives on, under an internal name, as
// long as something uses it. Earlier functions, methods and types that use a redefined name follow the new meaning
// where they still compile with it (they are Rebound: engines emit them again), and keep the old one where they do not
// (a warning says so). Variables never change their type behind their back: a variable of a redefined type keeps the
// old type. Defining a variable again with an identical type keeps the variable and assigns to it.
//
// # The text that is checked
//
// The cell becomes one file (Checked.Cell): its declarations as they are, a package-level variable for each variable
// that a top-level statement defines, and func Cell_N with the other statements. Identifiers of the file are the
// user's, except those that mean a superseded symbol, which are spelled by their internal name. Engines do not interpret
// names: they ask Checked.Symbol for the symbol of an object.
package check
