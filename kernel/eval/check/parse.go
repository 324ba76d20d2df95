package check

import (
	"errors"
	"go/ast"
	"go/parser"
	"go/scanner"
	"go/token"
	"slices"
	"strings"
)

// Every piece is parsed on its own inside these, so that a mistake in one does not hide those in the others.
const (
	declHead = "package p;"
	stmtHead = "package p;func _(){"
	stmtTail = "\n}"
)

// parsed is a piece with its syntax tree.
type parsed struct {
	Piece
	index int
	file  *token.File
	head  int      // bytes before the piece in the parsed text
	decl  ast.Decl // of a declaration or import
	stmt  ast.Stmt // of a statement
	free  []*ast.Ident
	sels  map[*ast.Ident]string // of a free identifier x in x.Sel: Sel
}

// off is the byte offset in the cell of a position of the piece's tree.
func (p *parsed) off(pos token.Pos) int { return p.file.Offset(pos) - p.head + p.Start }

// problem is a finding at a byte offset of the cell.
type problem struct {
	off, end int
	msg      string
}

// parsePieces parses all pieces of code. Pieces that fail are left out of the result.
func parsePieces(code string, pieces []Piece) (out []*parsed, problems []problem) {
	fset := token.NewFileSet()
	for i, pc := range pieces {
		if pc.Kind == PackagePiece {
			if i > 0 {
				problems = append(problems, problem{pc.Start, pc.End, "syntax error: the package clause must come first"})
			}
			continue
		}
		p := &parsed{Piece: pc, index: i}
		head, tail := declHead, ""
		if pc.Kind == StmtPiece {
			head, tail = stmtHead, stmtTail
		}
		p.head = len(head)
		f, err := parser.ParseFile(fset, "", head+pc.Text(code)+tail, 0)
		if err != nil {
			problems = append(problems, syntaxProblems(err, p, code)...)
			continue
		}
		p.file = fset.File(f.Package)
		if !p.place(f) {
			problems = append(problems, problem{pc.Start, pc.End, "syntax error: unbalanced brackets"})
			continue
		}
		p.collect(f)
		out = append(out, p)
	}
	return out, problems
}

// place finds the piece's node in f and reports whether it is the only one there.
func (p *parsed) place(f *ast.File) bool {
	if len(f.Decls) != 1 {
		return false
	}
	if p.Kind != StmtPiece {
		p.decl = f.Decls[0]
		return true
	}
	fd, ok := f.Decls[0].(*ast.FuncDecl)
	if !ok || fd.Body == nil || len(fd.Body.List) != 1 {
		return false
	}
	p.stmt = fd.Body.List[0]
	return true
}

// collect gathers the identifiers that nothing inside the piece declares.
func (p *parsed) collect(f *ast.File) {
	free := map[*ast.Ident]bool{}
	for _, id := range f.Unresolved {
		free[id] = true
	}
	p.sels = map[*ast.Ident]string{}
	ast.Inspect(f, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.SelectorExpr:
			if id, ok := n.X.(*ast.Ident); ok && free[id] {
				p.sels[id] = n.Sel.Name
			}
		case *ast.CompositeLit: // the resolver leaves keys alone, for they may be fields
			switch n.Type.(type) {
			case *ast.MapType, *ast.ArrayType:
				for _, e := range n.Elts {
					if kv, ok := e.(*ast.KeyValueExpr); ok {
						if id, ok := kv.Key.(*ast.Ident); ok && id.Obj == nil {
							free[id] = true
						}
					}
				}
			}
		}
		return true
	})
	specs := map[any]*ast.ValueSpec{} // the variables that the piece declares are not its own business either
	if d, ok := p.decl.(*ast.GenDecl); ok && d.Tok == token.VAR {
		for _, s := range d.Specs {
			specs[s] = s.(*ast.ValueSpec)
		}
	}
	ast.Inspect(f, func(n ast.Node) bool {
		id, ok := n.(*ast.Ident)
		if !ok {
			return true
		}
		if id.Obj != nil && specs[id.Obj.Decl] != nil && !slices.Contains(specs[id.Obj.Decl].Names, id) {
			free[id] = true
		}
		if free[id] {
			p.free = append(p.free, id)
		}
		return true
	})
}

// syntaxProblems turns the parser's errors into problems of the cell.
func syntaxProblems(err error, p *parsed, code string) (out []problem) {
	var list scanner.ErrorList
	if !errors.As(err, &list) {
		return []problem{{p.Start, p.End, "syntax error: " + err.Error()}}
	}
	last := -1
	for _, e := range list {
		off, msg := e.Pos.Offset-p.head+p.Start, e.Msg
		if off >= p.End { // the parser met the end of what it was given
			off = p.End
			msg, _, _ = strings.Cut(msg, ", found")
			msg += ", found the end"
		}
		off = min(max(off, 0), len(code))
		if line := strings.Count(code[:off], "\n"); line != last { // one per line: the others follow from the first
			out = append(out, problem{off, off, "syntax error: " + msg})
			last = line
		}
	}
	return out
}
