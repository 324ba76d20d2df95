package check

import (
	"go/ast"
	"go/token"
	"go/types"

	"github.com/gander-go/gander/kernel/cell"
)

// Checked is a cell that has been checked. When Errors is not empty only N, Code, Pieces and the diagnostics are sure
// to be set, and the cell must not run.
type Checked struct {
	N      int    // In[N]
	Code   string // as the user sent it
	Pieces []Piece
	Fset   *token.FileSet // of every position here

	Cell Source // the whole cell as one file, see the package comment
	// Rebound are earlier declarations that must be emitted again because something they use has a new meaning. Each
	// has a new Symbol; its Source is part of Pkg and Info, like the cell's. An engine emits them with the cell.
	Rebound []*Decl

	Pkg  *types.Package // path "main"; the whole session as this cell sees it
	Info *types.Info    // of Cell and of Rebound; for other earlier declarations only the objects exist, no bodies

	// Steps is what running the cell does, in the order to do it.
	Steps []Step
	// Decls are the declarations that the cell's text makes: types, functions, methods and constants. Variables are in
	// Vars. A declaration that repeats the session's own exactly has Unchanged set and keeps its old Symbol.
	Decls []*Decl
	// Vars are the variables that the cell defines. One with Reused keeps its storage: only its value changes.
	Vars []*Var
	// Redefined pairs the symbols that this cell supersedes with what takes their place.
	Redefined []Redefinition
	// Extended are types of earlier cells to which the cell adds methods, or whose methods it replaces. The type is
	// still the same type to the user; values made before have the new methods too.
	Extended []*Symbol
	// Imports are those that the cell's text uses, the added ones included.
	Imports []Import
	// AddedImports are standard packages that the cell uses without importing them.
	AddedImports []Import
	// Unused are local variables that are never used; Go's compiler would refuse them, so engines must use them.
	Unused []*types.Var
	// UnusedLabels are labels that nothing jumps to, likewise.
	UnusedLabels []*ast.LabeledStmt

	// Show is the trailing expression whose value the cell shows; nil for none. It may be a call with several values.
	Show ast.Expr

	Errors   []cell.Diagnostic // of this cell, sorted by position
	Warnings []cell.Diagnostic // soft findings in this cell, and what redefinition did to earlier cells

	session *Session
	symbols map[types.Object]*Symbol
	objects map[*Symbol]types.Object
	commit  *pending
}

// StepKind is what a step does.
type StepKind uint8

const (
	StmtStep   StepKind = iota // run Stmt
	DefineStep                 // assign Values to Targets
	InitStep                   // call the init function Func
	MainStep                   // call the session's function main, of a pasted program
)

// Step is one thing that running the cell does.
type Step struct {
	Kind  StepKind
	Piece int       // index in Pieces; -1 for MainStep
	Pos   token.Pos // where it starts in the user's text

	Stmt ast.Stmt // of StmtStep, in func Cell_N of Cell.File

	// Of DefineStep. Values has as many elements as Targets, or one that yields all of them (a call, or a comma-ok
	// form), or none: the targets get the zero value of Type. Type is nil where the text gives none.
	Targets []Target
	Values  []ast.Expr
	Type    ast.Expr

	Func *ast.FuncDecl // of InitStep
	Show bool          // of StmtStep: Stmt is an *ast.ExprStmt whose value is Checked.Show
}

// Target is the left side of one assignment of a DefineStep.
type Target struct {
	Sym  *Symbol    // the session variable; nil for the blank identifier
	Name *ast.Ident // where it is in the text; its position is the user's
}

// Decl is one declared thing together with its text.
type Decl struct {
	Sym  *Symbol
	Syms []*Symbol // all symbols of the declaration: a const group declares several
	Node ast.Decl  // in Source.File
	Spec ast.Spec  // the type's or constants' spec inside Node; nil for functions and methods
	Source
	Unchanged bool
	// Uses are the session's symbols that the declaration refers to, directly.
	Uses []*Symbol
}

// Var is a variable that the cell defines.
type Var struct {
	Sym    *Symbol
	Type   types.Type
	Reused bool // the session has it already, with an identical type
	Step   int  // index of the step that defines it
}

// Redefinition is a name that gets a new meaning.
type Redefinition struct {
	Old, New *Symbol // New is nil for a method that its redefined type has lost
	SameType bool    // functions and methods: the signature is identical, so that callers can be bound late
}

// Symbol returns the session's symbol of a package-level object or method of Pkg; nil for other objects. For a field
// or a local it is nil, for a method of an instantiated type it is that of the generic method.
func (c *Checked) Symbol(obj types.Object) *Symbol {
	switch o := obj.(type) {
	case *types.Func:
		obj = o.Origin()
	case *types.Var:
		obj = o.Origin()
	}
	return c.symbols[obj]
}

// Object is the inverse of Symbol: the object in Pkg of a symbol that this check knows, nil for one it does not.
func (c *Checked) Object(s *Symbol) types.Object { return c.objects[s] }

// BuildOptions say how an engine builds a checked cell.
type BuildOptions struct {
	Instrument bool // record spans for the calls that the cell's code makes
	Top        bool // of those, only the calls that the cell's own statements make
	Quiet      bool // the value of the trailing expression is not wanted
}
