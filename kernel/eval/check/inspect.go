package check

import (
	"context"
	"fmt"
	"go/ast"
	"go/scanner"
	"go/token"
	"go/types"
	"strings"
)

// Description is what is known about the thing at a place in code.
type Description struct {
	Name  string
	Kind  string // as in cell.CompletionItem.Type
	Decl  string // its declaration, or the type of a variable
	Doc   string // its comment, as it is written
	Where string // the package that it is from, or "In[n]"
	// Source is the text of its declaration, when asked for and at hand.
	Source string
	Sym    *Symbol // set for what belongs to the session
}

// Inspect describes what is at the byte offset cursor of code, nil when there is nothing to say. Behind the opening bracket of
// a call, and among its arguments where there is no name, that is the function.
func (s *Session) Inspect(code string, cursor int, source bool) *Description {
	cursor = min(max(cursor, 0), len(code))
	if inside, _ := inText(code, cursor); inside {
		return nil
	}
	start, end := identAt(code, cursor)
	if start == end || code[start] >= '0' && code[start] <= '9' {
		if cursor = calleeEnd(code, cursor); cursor < 0 {
			return nil
		}
		start, end = identAt(code, cursor)
	}
	if start == end {
		return nil
	}
	s.query.mu.Lock()
	defer s.query.mu.Unlock()
	st := s.snapshot()
	for i, text := range []string{code, code[:end]} {
		if i > 0 {
			pieces := Cut(text)
			if len(pieces) == 0 {
				return nil
			}
			last := text[pieces[len(pieces)-1].Start:]
			closing := closers(last)
			for _, e := range endings {
				if parses(last + e + closing) {
					text += e + closing
					break
				}
			}
		}
		if d := s.describeAt(st, text, start, source); d != nil {
			return d
		}
	}
	return nil
}

// calleeEnd is the end of the name of the function whose call's brackets cursor is in, -1 for none.
func calleeEnd(code string, cursor int) int {
	var s scanner.Scanner
	fset := token.NewFileSet()
	f := fset.AddFile("", -1, cursor)
	s.Init(f, []byte(code[:cursor]), func(token.Position, string) {}, 0)
	var open []int // for each open bracket the end of the name before it, -1 for none
	name := -1
	for {
		pos, tok, lit := s.Scan()
		if tok == token.EOF {
			break
		}
		switch tok {
		case token.LPAREN, token.LBRACK, token.LBRACE:
			if tok != token.LPAREN {
				name = -1
			}
			open = append(open, name)
		case token.RPAREN, token.RBRACK, token.RBRACE:
			if len(open) > 0 {
				open = open[:len(open)-1]
			}
		}
		name = -1
		if tok == token.IDENT {
			name = f.Offset(pos) + len(lit)
		}
	}
	for i := len(open) - 1; i >= 0; i-- {
		if open[i] >= 0 {
			return open[i]
		}
	}
	if len(open) == 0 && name == len(strings.TrimRight(code[:cursor], " \t")) {
		return name
	}
	return -1
}

// describeAt checks text and describes the identifier at offset start of it.
func (s *Session) describeAt(st *state, text string, start int, source bool) *Description {
	pieces := Cut(text)
	ps, _ := parsePieces(text, pieces)
	k := s.checkPieces(context.Background(), s.query, st, 0, text, pieces, ps, true)
	defer k.release()
	file := k.c.Cell.File
	if file == nil {
		return nil
	}
	q := &query{checker: k}
	var obj types.Object
	ast.Inspect(file, func(n ast.Node) bool {
		id, ok := n.(*ast.Ident)
		if !ok {
			return true
		}
		in, ok := origin(k.gen.segs, offset(s.query.fset, id.Pos()))
		if !ok || in != start || id.Pos() < file.Name.End() {
			return true
		}
		if o := k.c.Info.Uses[id]; o != nil {
			obj = o
		} else if o := k.c.Info.Defs[id]; o != nil {
			obj = o
		}
		return true
	})
	if obj == nil {
		return s.describePackage(k, ps, start)
	}
	return q.description(obj, source)
}

// describePackage describes a package name in code that was not checked because it stands in an import, or is not used.
func (s *Session) describePackage(k *checker, ps []*parsed, start int) *Description {
	for _, p := range ps {
		for _, id := range p.free {
			if p.off(id.Pos()) != start {
				continue
			}
			path := k.ns.imports[id.Name]
			if l := s.pkgs.Standard(id.Name); path == "" && len(l) > 0 {
				path = l[0]
			}
			if path == "" {
				return nil
			}
			return &Description{Name: id.Name, Kind: "module", Decl: "package " + id.Name, Where: path, Doc: packageDoc(s.pkgs.PackageDir(path))}
		}
	}
	return nil
}

func (q *query) description(obj types.Object, source bool) *Description {
	d := &Description{Name: q.clean(obj.Name()), Kind: kindOf(obj), Decl: q.describe(obj)}
	if c, ok := obj.(*types.Const); ok {
		d.Decl += " = " + c.Val().String()
	}
	if pn, ok := obj.(*types.PkgName); ok {
		p := pn.Imported()
		d.Name, d.Decl, d.Where, d.Doc = p.Name(), "package "+p.Name(), p.Path(), packageDoc(q.s.pkgs.PackageDir(p.Path()))
		return d
	}
	if obj.Pkg() == nil { // predeclared
		d.Where = "builtin"
		doc := readDoc(q.s.pkgs.PackageDir("builtin")+"/builtin.go", 0, obj.Name(), source)
		d.Doc, d.Source = doc.text, doc.source
		if doc.decl != "" {
			d.Decl = doc.decl
		}
		return d
	}
	if obj.Pkg() != q.c.Pkg {
		d.Where = obj.Pkg().Path()
		pos := q.v.fset.Position(obj.Pos())
		doc := readDoc(q.s.pkgs.File(pos.Filename), pos.Line, obj.Name(), source)
		d.Doc, d.Source = doc.text, doc.source
		if _, ok := obj.(*types.TypeName); ok && doc.decl != "" {
			d.Decl = doc.decl
		}
		return d
	}
	q.c.spelt = q.spelt
	q.methodTable()
	d.Sym = q.c.Symbol(obj)
	it := q.st.of[d.Sym]
	for _, own := range q.decls {
		for _, sym := range own.it.syms {
			if sym == d.Sym && d.Sym != nil {
				it = own.it
			}
		}
	}
	if it == nil {
		return d
	}
	d.Doc = it.doc
	if it.cell > 0 {
		d.Where = fmt.Sprintf("In[%d]", it.cell)
	}
	if it.kind == TypeSymbol || source && it.kind != VarSymbol {
		d.Source = it.src
	}
	if it.kind == TypeSymbol {
		d.Decl, d.Source = it.src, ""
	}
	return d
}
