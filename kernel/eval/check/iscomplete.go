package check

import (
	"go/scanner"
	"go/token"
	"strings"

	"github.com/gander-go/gander/kernel/cell"
)

// IsComplete judges by syntax alone whether code can run as it is, needs more lines, or can never be right.
func IsComplete(code string) cell.Completeness {
	end := scanEnd(code)
	if end.unclosed || len(end.open) > 0 {
		if _, broken := firstProblem(code, end); broken {
			return cell.Completeness{Status: "invalid"}
		}
		return cell.Completeness{Status: "incomplete", Indent: end.indent(code)}
	}
	off, broken := firstProblem(code, end)
	switch {
	case broken:
		return cell.Completeness{Status: "invalid"}
	case off >= 0:
		return cell.Completeness{Status: "incomplete", Indent: end.indent(code)}
	}
	return cell.Completeness{Status: "complete"}
}

// ending is how a piece of code ends.
type ending struct {
	open     []token.Token // brackets that are not closed, outermost first
	unclosed bool          // it ends inside a comment or a raw string
	last     token.Token   // the last token, ILLEGAL for none
	lastEnd  int           // its end
}

func scanEnd(code string) (e ending) {
	var s scanner.Scanner
	fset := token.NewFileSet()
	f := fset.AddFile("", -1, len(code))
	s.Init(f, []byte(code), func(_ token.Position, msg string) {
		if msg == "comment not terminated" || msg == "raw string literal not terminated" {
			e.unclosed = true
		}
	}, 0)
	for {
		pos, tok, lit := s.Scan()
		if tok == token.EOF {
			return e
		}
		if tok == token.SEMICOLON && lit != ";" {
			continue
		}
		switch tok {
		case token.LPAREN, token.LBRACK, token.LBRACE:
			e.open = append(e.open, tok)
		case token.RPAREN, token.RBRACK, token.RBRACE:
			if n := len(e.open); n > 0 {
				e.open = e.open[:n-1]
			}
		}
		e.last = tok
		e.lastEnd = tokenEnd(code, f.Offset(pos), tok, lit)
	}
}

// firstProblem is the offset of the first syntax error, -1 for none; broken says that more text at the end cannot mend
// it.
func firstProblem(code string, end ending) (off int, broken bool) {
	pieces := Cut(code)
	_, problems := parsePieces(code, pieces)
	if len(problems) == 0 {
		return -1, false
	}
	off = problems[0].off
	for _, p := range problems {
		off = min(off, p.off)
	}
	if end.unclosed {
		return off, off < pieces[len(pieces)-1].Start
	}
	if len(end.open) == 0 && endsLine(end.last) {
		return off, true // the next line starts a new statement
	}
	return off, off < end.lastEnd
}

// endsLine reports whether Go's grammar puts a semicolon between tok and the end of a line.
func endsLine(tok token.Token) bool {
	switch tok {
	case token.IDENT, token.BREAK, token.CONTINUE, token.FALLTHROUGH, token.RETURN, token.INC, token.DEC,
		token.RPAREN, token.RBRACK, token.RBRACE:
		return true
	}
	return tok.IsLiteral()
}

// indent is what the next line should start with.
func (e ending) indent(code string) string {
	if e.unclosed {
		return ""
	}
	lines := strings.Split(strings.TrimRight(code, "\n \t"), "\n")
	line := lines[len(lines)-1]
	lead := line[:len(line)-len(strings.TrimLeft(line, " \t"))]
	switch e.last {
	case token.LPAREN, token.LBRACK, token.LBRACE, token.COLON:
		return lead + "\t"
	}
	if len(e.open) == 0 {
		return lead + "\t"
	}
	return lead
}
