package check

import (
	"go/parser"
	"go/scanner"
	"go/token"
	"strings"
	"unicode/utf8"
)

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
	Doc        int         // byte offset of the comment that stands directly above, or Start
	Start, End int         // byte offsets in the cell's text; a closing ";" is not part of it
	Semi       bool        // an explicit ";" follows
}

// Text is the piece's part of code.
func (p Piece) Text(code string) string { return code[p.Start:p.End] }

// Cut cuts code into its top-level declarations and statements. It works on any text: what it cannot make sense of
// becomes statements for the parser to complain about.
func Cut(code string) []Piece {
	c := cutter{code: code, start: -1, doc: -1}
	fset := token.NewFileSet()
	c.file = fset.AddFile("", -1, len(code))
	c.scan.Init(c.file, []byte(code), func(token.Position, string) {}, scanner.ScanComments)
	for c.next() {
	}
	return c.out
}

type cutter struct {
	code string
	file *token.File
	scan scanner.Scanner
	out  []Piece

	depth   int  // of brackets
	start   int  // of the piece, -1 between pieces
	end     int  // of its last token
	header  bool // the piece has a for, if or switch outside brackets
	toks    []token.Token
	doc     int // of the comment block before the next token, -1 for none
	docLine int // last line of it
	tried   int // bytes that isStatement has parsed
}

// next takes one token and reports whether there is another.
func (c *cutter) next() bool {
	pos, tok, lit := c.scan.Scan()
	off := c.file.Offset(pos)
	switch tok {
	case token.EOF:
		c.emit(false)
		return false
	case token.COMMENT:
		if c.start < 0 {
			line := c.file.PositionFor(pos, false).Line
			if c.doc < 0 || line > c.docLine+1 {
				c.doc = off
			}
			c.docLine = c.file.PositionFor(pos+token.Pos(len(lit))-1, false).Line
		}
		return true
	case token.SEMICOLON:
		if c.depth == 0 && !(c.start >= 0 && c.header && !c.isStatement()) {
			c.emit(lit == ";")
			return true
		}
	}
	if c.start < 0 {
		c.start = off
		if c.doc >= 0 && c.file.PositionFor(pos, false).Line > c.docLine+1 {
			c.doc = -1
		}
	}
	switch tok {
	case token.LPAREN, token.LBRACK, token.LBRACE:
		c.depth++
	case token.RPAREN, token.RBRACK, token.RBRACE:
		c.depth = max(0, c.depth-1)
	case token.FOR, token.IF, token.SWITCH:
		c.header = c.header || c.depth == 0
	}
	c.end = tokenEnd(c.code, off, tok, lit)
	if len(c.toks) < maxHeadTokens {
		c.toks = append(c.toks, tok)
	}
	return true
}

// maxHeadTokens bounds how far isFunc looks for the end of a receiver.
const maxHeadTokens = 4096

func (c *cutter) emit(semi bool) {
	if c.start < 0 {
		return
	}
	p := Piece{First: c.toks[0], Start: c.start, End: c.end, Doc: c.start, Semi: semi}
	if c.doc >= 0 {
		p.Doc = c.doc
	}
	switch p.First {
	case token.IMPORT:
		p.Kind = ImportPiece
	case token.PACKAGE:
		p.Kind = PackagePiece
	case token.CONST, token.TYPE, token.VAR:
		p.Kind = DeclPiece
	case token.FUNC:
		if isFunc(c.toks) {
			p.Kind = DeclPiece
		}
	}
	c.out = append(c.out, p)
	c.start, c.doc, c.toks, c.header = -1, -1, c.toks[:0], false
}

// tokenEnd is the end of a token that starts at off. The scanner drops carriage returns from literals and replaces broken
// characters, so that their length is not that of the text.
func tokenEnd(code string, off int, tok token.Token, lit string) int {
	rest := code[off:]
	n := len(lit)
	switch {
	case tok == token.ILLEGAL:
		_, n = utf8.DecodeRuneInString(rest)
	case tok == token.COMMENT && strings.HasPrefix(rest, "/*"):
		if n = strings.Index(rest, "*/") + 2; n < 2 {
			n = len(rest)
		}
	case tok == token.COMMENT:
		if n = strings.IndexByte(rest, '\n'); n < 0 {
			n = len(rest)
		}
	case tok == token.STRING && rest[0] == '`':
		if n = strings.IndexByte(rest[1:], '`') + 2; n < 2 {
			n = len(rest)
		}
	case lit == "" || tok.IsOperator():
		n = len(tok.String())
	}
	return min(off+n, len(code))
}

// maxTries bounds the text that isStatement parses for one cell: a long header is not worth more.
const maxTries = 1 << 20

// isStatement reports whether the text of the piece so far is a whole statement: a ";" then ends it, and otherwise
// belongs to the header of its for, if or switch.
func (c *cutter) isStatement() bool {
	if c.tried += c.end - c.start; c.tried > maxTries {
		return true
	}
	_, err := parser.ParseFile(token.NewFileSet(), "", stmtHead+c.code[c.start:c.end]+stmtTail, parser.SkipObjectResolution)
	return err == nil
}

// isFunc tells `func f(` and `func (r T) m(` from a function literal.
func isFunc(toks []token.Token) bool {
	if len(toks) < 2 {
		return false
	}
	if toks[1] == token.IDENT {
		return true
	}
	if toks[1] != token.LPAREN {
		return false
	}
	depth := 0
	for i, t := range toks[1:] {
		switch t {
		case token.LPAREN:
			depth++
		case token.RPAREN:
			if depth--; depth == 0 {
				rest := toks[i+2:]
				return len(rest) > 1 && rest[0] == token.IDENT && (rest[1] == token.LPAREN || rest[1] == token.LBRACK)
			}
		}
	}
	return false
}
