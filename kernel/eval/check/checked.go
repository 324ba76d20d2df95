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
	// Extended are new versions of types to which the cell adds methods, or methods with another signature; Origin is
	// the type before. To the user it is still the same type: its declaration, its other methods and all that uses it
	// are in Rebound (or in Decls, when the cell repeats them), variables are in Migrated.
	Extended []*Symbol
	// Migrated are variables of earlier cells whose type is built from an Extended one. Their new symbol means the same
	// memory under the new version of the type, which has the same layout.
	Migrated []Migration
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

	witnesses map[*Symbol]Witness

	names   names
	spelt   map[string]*Symbol             // package-level names of Pkg
	methods map[*Symbol]map[string]*Symbol // of types, by name
	same    map[*Symbol]*Symbol            // new symbols that turned out to be old ones
	k       *checker                       // what Commit needs; nil when there are errors
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
	Name *ast.Ident // where it is in the text; nil where the checked text does not repeat it
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

// Migration is a variable that moves to the new version of its type.
type Migration struct {
	Old, New *Symbol
	Type     types.Type
}

// Redefinition is a name that gets a new meaning.
type Redefinition struct {
	Old, New *Symbol // New is nil for a method that its redefined type has lost
	SameType bool    // functions and methods: the signature is identical, so that callers can be bound late
}

// Symbol returns the session's symbol of a package-level object or method of Pkg; nil for other objects, fields and
// locals among them. For a method of an instantiated type it is that of the generic method.
func (c *Checked) Symbol(obj types.Object) *Symbol {
	if obj == nil || obj.Pkg() != c.Pkg {
		return nil
	}
	if f, ok := obj.(*types.Func); ok && f.Signature().Recv() != nil {
		f = f.Origin()
		if t := receiver(f); t != nil {
			return c.methods[c.Symbol(t)][f.Name()]
		}
		return nil
	}
	if obj.Parent() != c.Pkg.Scope() {
		return nil
	}
	s := c.spelt[obj.Name()]
	if o := c.same[s]; o != nil {
		return o
	}
	return s
}

// receiver is the declared type whose method f is, nil for a method of an interface or of a local type.
func receiver(f *types.Func) types.Object {
	t := types.Unalias(f.Signature().Recv().Type())
	if p, ok := t.(*types.Pointer); ok {
		t = types.Unalias(p.Elem())
	}
	if n, ok := t.(*types.Named); ok {
		return n.Origin().Obj()
	}
	return nil
}

// Object is the inverse of Symbol for symbols other than methods: the object in Pkg, nil when this check has none.
func (c *Checked) Object(s *Symbol) types.Object {
	if c.Pkg == nil {
		return nil
	}
	for fresh, old := range c.same {
		if old == s {
			s = fresh
			break
		}
	}
	return c.Pkg.Scope().Lookup(c.names.spell(s))
}

// BuildOptions say how an engine builds a checked cell.
type BuildOptions struct {
	Instrument bool // record spans for the calls that the cell's code makes
	Top        bool // of those, only the calls that the cell's own statements make
	Quiet      bool // the value of the trailing expression is not wanted
	Only       bool // no other engine could take the cell, so that what is missing is made now
}
