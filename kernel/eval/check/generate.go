package check

import (
	"fmt"
	"go/ast"
	"go/token"
	"strings"
)

// generated is the file that stands for the cell, and what each of its declarations is.
type generated struct {
	text  string
	segs  []segment
	decls []genDecl
	body  []*parsed // the statements of func Cell
}

// genDecl says what a declaration of the generated file, after its imports, comes from.
type genDecl struct {
	p       *parsed
	targets []int // of a short variable declaration: the left sides that it stands for
	check   bool  // it is there only for the type check: func _() { x = value }
}

// bodyName is the function that holds the cell's statements.
const bodyName = mark + "cell"

// generate writes the cell's file.
func (k *checker) generate() {
	edits := make([]edit, 0, len(k.edits))
	for _, e := range k.edits {
		edits = append(edits, e.edit)
	}
	g := &generated{}
	t := newText(k.c.N, k.code, edits)
	t.raw("package cell;")
	for _, name := range sortedKeys(k.imports) {
		fmt.Fprintf(&t.b, "import %s %q;", name, k.imports[name])
	}
	t.raw("\n")
	for _, p := range k.ps {
		if p.decl != nil {
			if d, ok := p.decl.(*ast.GenDecl); ok && d.Tok == token.IMPORT {
				continue
			}
			if doc := k.code[p.Doc:p.Start]; strings.Contains(doc, "//go:") {
				t.copy(p.Doc, p.Start)
				t.raw("\n")
			}
			t.cell(p.Start, p.End)
			t.raw("\n")
			g.decls = append(g.decls, genDecl{p: p})
			continue
		}
		a := p.define()
		if a == nil || !k.definesAny(p, a) {
			g.body = append(g.body, p)
			continue
		}
		k.generateShort(t, g, p, a)
	}
	t.raw("func " + bodyName + "() {\n")
	for _, p := range g.body {
		t.cell(p.Start, p.End)
		t.raw("\n")
	}
	t.raw("}\n")
	g.text, g.segs = t.b.String(), t.segs
	k.gen = g
}

// definesAny reports whether a defines a variable at this point of the cell.
func (k *checker) definesAny(p *parsed, a *ast.AssignStmt) bool {
	for _, l := range a.Lhs {
		if k.definesHere(p, l.(*ast.Ident)) {
			return true
		}
	}
	return false
}

func (k *checker) definesHere(p *parsed, id *ast.Ident) bool {
	o := k.own[id.Name]
	return o != nil && o.how == asShort && o.piece == p.index
}

// generateShort writes a top-level short variable declaration as variables of the package. Left sides that the cell has
// defined before are assigned to.
func (k *checker) generateShort(t *text, g *generated, p *parsed, a *ast.AssignStmt) {
	from := func(n ast.Node) (int, int) { return p.off(n.Pos()), p.off(n.End()) }
	if len(a.Rhs) == len(a.Lhs) {
		for i, l := range a.Lhs {
			id := l.(*ast.Ident)
			d := genDecl{p: p, targets: []int{i}}
			d.check = id.Name != "_" && !k.definesHere(p, id)
			if d.check {
				t.raw("func _() { ")
			} else {
				t.raw("var ")
			}
			t.cell(from(l))
			t.raw(" = ")
			t.cell(from(a.Rhs[i]))
			if d.check {
				t.raw(" }")
			}
			t.raw("\n")
			g.decls = append(g.decls, d)
		}
		return
	}
	d := genDecl{p: p}
	t.raw("var ")
	for i, l := range a.Lhs {
		if i > 0 {
			t.raw(", ")
		}
		if k.definesHere(p, l.(*ast.Ident)) {
			t.cell(from(l))
		} else {
			t.raw("_") // whether it can be assigned to is checked afterwards
		}
		d.targets = append(d.targets, i)
	}
	t.raw(" = ")
	t.cell(from(a.Rhs[0]))
	t.raw("\n")
	g.decls = append(g.decls, d)
}
