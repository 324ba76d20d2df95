package check

import (
	"context"
	"go/ast"
	"go/scanner"
	"go/token"
	"go/types"
	"strings"
	"unicode"
	"unicode/utf8"
)

// cursorName stands for the identifier at the cursor while a query is checked.
const cursorName = mark + "here"

// query is a check of code that is being typed, with the cursor's surroundings made whole.
type query struct {
	*checker
	start, end int        // of the identifier at the cursor
	prefix     string     // the part of it before the cursor
	id         *ast.Ident // that stands for it
	path       []ast.Node // from the file down to id
}

// identAt is the identifier around the byte offset cursor.
func identAt(code string, cursor int) (start, end int) {
	start, end = cursor, cursor
	for start > 0 {
		r, n := utf8.DecodeLastRuneInString(code[:start])
		if r != '_' && !unicode.IsLetter(r) && !unicode.IsDigit(r) {
			break
		}
		start -= n
	}
	for end < len(code) {
		r, n := utf8.DecodeRuneInString(code[end:])
		if r != '_' && !unicode.IsLetter(r) && !unicode.IsDigit(r) {
			break
		}
		end += n
	}
	return start, end
}

// endings are what may make code whole that stops in the middle, before the brackets that are open.
var endings = []string{"", "()", " {}", ": ", "; {}", " = 0", " int", ") {}", "{}"}

// ask checks code with the cursor's identifier replaced by a mark. It returns nil when nothing of the code around the cursor
// makes sense. The query view's lock must be held, and stay held while the result is in use; then it is to be released.
func (s *Session) ask(st *state, code string, cursor int) *query {
	q := &query{}
	q.start, q.end = identAt(code, cursor)
	q.prefix = code[q.start:cursor]
	text := code[:q.start] + cursorName + code[q.end:]
	if !q.try(s, st, text) {
		upto := code[:q.start] + cursorName
		pieces := Cut(upto)
		if len(pieces) == 0 {
			return nil
		}
		last := pieces[len(pieces)-1]
		closing := closers(upto[last.Start:])
		found := false
		for _, e := range endings {
			if piece := upto[last.Start:] + e + closing; parses(piece) {
				found = q.try(s, st, upto+e+closing)
				break
			}
		}
		if !found {
			if q.checker != nil {
				q.release()
			}
			return nil
		}
	}
	return q
}

// parses reports whether text is one piece without syntax errors.
func parses(text string) bool {
	pieces := Cut(text)
	_, problems := parsePieces(text, pieces)
	return len(problems) == 0
}

// try checks text and looks for the mark.
func (q *query) try(s *Session, st *state, text string) bool {
	pieces := Cut(text)
	ps, _ := parsePieces(text, pieces)
	found := false
	for _, p := range ps {
		found = found || p.Start <= q.start && q.start < p.End
	}
	if !found {
		return false
	}
	if q.checker != nil {
		q.release()
	}
	q.checker = s.checkPieces(context.Background(), s.query, st, 0, text, pieces, ps, true)
	file := q.c.Cell.File
	if file == nil {
		return false
	}
	var path []ast.Node
	ast.Inspect(file, func(n ast.Node) bool {
		if n == nil {
			path = path[:len(path)-1]
			return true
		}
		path = append(path, n)
		if id, ok := n.(*ast.Ident); ok && id.Name == cursorName && q.id == nil {
			q.id, q.path = id, append([]ast.Node(nil), path...)
		}
		return true
	})
	return q.id != nil
}

// release forgets the files that were made for one query: a session sees one for every key that is pressed.
func (k *checker) release() {
	k.v.drop(k.c.Cell.File)
	for _, it := range k.rebound {
		if f := k.v.files[it]; f != nil {
			k.v.drop(f.full)
			delete(k.v.files, it)
		}
	}
}

// closers are the brackets that text leaves open, in the order to close them.
func closers(text string) string {
	e := scanEnd(text)
	var b strings.Builder
	for i := len(e.open) - 1; i >= 0; i-- {
		switch e.open[i] {
		case token.LPAREN:
			b.WriteString(")")
		case token.LBRACK:
			b.WriteString("]")
		default:
			b.WriteString("\n}")
		}
	}
	return b.String()
}

// inText reports whether the cursor is inside a comment or a string, and the literal's start in the latter case.
func inText(code string, cursor int) (inside bool, literal int) {
	var s scanner.Scanner
	fset := token.NewFileSet()
	f := fset.AddFile("", -1, len(code))
	s.Init(f, []byte(code), func(token.Position, string) {}, scanner.ScanComments)
	for {
		pos, tok, lit := s.Scan()
		if tok == token.EOF {
			return false, -1
		}
		start := f.Offset(pos)
		if start >= cursor {
			return false, -1
		}
		if tok != token.COMMENT && tok != token.STRING && tok != token.CHAR {
			continue
		}
		end := tokenEnd(code, start, tok, lit)
		closed := len(lit) > 1 && (tok == token.STRING && lit[len(lit)-1] == lit[0] || tok == token.CHAR && lit[len(lit)-1] == '\'' ||
			tok == token.COMMENT && strings.HasPrefix(lit, "/*") && strings.HasSuffix(lit, "*/"))
		if cursor < end || cursor == end && !closed {
			if tok == token.STRING {
				return true, start
			}
			return true, -1
		}
	}
}

// scopeAt is the innermost scope at the mark.
func (q *query) scopeAt() *types.Scope {
	if s := q.c.Pkg.Scope().Innermost(q.id.Pos()); s != nil {
		return s
	}
	return q.c.Pkg.Scope()
}

// parent is the node above the identifier, by n steps.
func (q *query) parent(n int) ast.Node {
	if i := len(q.path) - 1 - n; i >= 0 {
		return q.path[i]
	}
	return nil
}

// qualifier prints package names as a user writes them, and none for the session's own.
func (q *query) qualifier(p *types.Package) string {
	if p == q.c.Pkg {
		return ""
	}
	return p.Name()
}

// describe is an object's declaration, with the user's names.
func (q *query) describe(o types.Object) string {
	return q.clean(types.ObjectString(o, q.qualifier))
}

func (q *query) typeString(t types.Type) string {
	return q.clean(types.TypeString(t, q.qualifier))
}
