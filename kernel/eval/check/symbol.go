package check

import (
	"go/ast"
	"go/token"
)

// SymbolKind is what a symbol is.
type SymbolKind uint8

const (
	VarSymbol SymbolKind = iota
	FuncSymbol
	TypeSymbol
	ConstSymbol
	MethodSymbol
)

func (k SymbolKind) String() string {
	return [...]string{"variable", "function", "type", "constant", "method"}[k]
}

// Symbol is one version of one package-level name of the session, or one method of a type. Symbols keep their identity
// across cells: two checks that mean the same declaration yield the same *Symbol, while go/types objects are new in
// every check. Engines key what they have built by Symbol.
//
// A Symbol is immutable after the Check that made it returned.
type Symbol struct {
	ID   int64  // unique in the session
	Name string // as the user writes it; for a method without its receiver
	Recv string // for a method, the name of its receiver's base type
	Kind SymbolKind
	Cell int // the cell that declares it
	Pos  token.Pos

	// Origin is the symbol of the cell that declared this one, when this one is the same declaration bound again to
	// redefined names; nil otherwise.
	Origin *Symbol
}

// Key is the name that a redefinition replaces: "f", "T" or "T.M".
func (s *Symbol) Key() string {
	if s.Kind == MethodSymbol {
		return s.Recv + "." + s.Name
	}
	return s.Name
}

// Source is Go text and its syntax tree. The byte offset in Text of a position p of the tree is
// Fset.PositionFor(p, false).Offset; Fset.Position(p) is the place in the user's cell, with filename "In[n]".
type Source struct {
	Text string
	File *ast.File
}

// Import is an imported package as a file names it.
type Import struct {
	Name string // as written before the path: "" when absent, "_" or "."
	Path string
}
