package check

import "go/token"

// PieceKind is what a piece of a cell is.
type PieceKind uint8

const (
	StmtPiece    PieceKind = iota
	DeclPiece              // const, type, var, func or method
	ImportPiece            // one import declaration
	PackagePiece           // a package clause
)

// Piece is one top-level part of a cell: a declaration or a statement.
type Piece struct {
	Kind       PieceKind
	First      token.Token // its first token
	Start, End int         // byte offsets in the cell's text; a closing ";" is not part of it
	Semi       bool        // an explicit ";" follows
}

// Text is the piece's part of code.
func (p Piece) Text(code string) string { return code[p.Start:p.End] }
