package check

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"regexp"
	"strings"

	"github.com/gander-go/gander/kernel/cell"
)

// diagnose turns what the type check found into the cell's errors and warnings.
func (k *checker) diagnose() {
	c := k.c
	c.report(k.problems)
	k.checkAssigned()
	seen := map[cell.Diagnostic]bool{}
	for _, e := range k.errs {
		if k.tolerated(e) {
			continue
		}
		if d := k.diagnostic(e, cell.Error); !seen[d] {
			seen[d] = true
			c.Errors = append(c.Errors, d)
		}
	}
	sortDiagnostics(c.Errors)
	if len(c.Errors) > 0 {
		return
	}
	for _, e := range k.soft {
		if k.cellOffset(e.Pos) < 0 {
			continue
		}
		c.Warnings = append(c.Warnings, k.diagnostic(e, cell.Warning))
	}
	k.noteUnused()
	for it, why := range k.stay {
		d := cell.Diagnostic{Severity: cell.Warning, Message: fmt.Sprintf("%s %s keeps using what it was defined with: %s",
			it.kind, it.syms[0].Key(), k.clean(why))}
		d.Cell, d.Line, d.Col = it.cell, it.line, it.col
		c.Warnings = append(c.Warnings, d)
	}
	sortDiagnostics(c.Warnings)
}

// cellOffset is the offset in the cell of pos, -1 when it is not in the cell's text.
func (k *checker) cellOffset(pos token.Pos) int {
	f := k.v.fset.File(pos)
	if f == nil || f != k.v.fset.File(k.c.Cell.File.Package) {
		return -1
	}
	in, ok := origin(k.gen.segs, f.Offset(pos))
	if !ok {
		return -1
	}
	return in
}

func (k *checker) diagnostic(e types.Error, sev cell.Severity) cell.Diagnostic {
	d := cell.Diagnostic{Severity: sev, Message: k.clean(e.Msg)}
	d.Cell = k.c.N
	if in := k.cellOffset(e.Pos); in >= 0 {
		d.Line, d.Col = cellPos(k.code, k.lines, min(in, len(k.code)))
		return d
	}
	// An earlier declaration does not stand what the cell does; the error is still the cell's.
	d.Line, d.Col = 1, 1
	if len(k.ps) > 0 {
		d.Line, d.Col = lineCol(k.lines, k.ps[0].Start)
	}
	p := k.v.fset.Position(e.Pos)
	d.Message = fmt.Sprintf("%s:%d:%d: %s", p.Filename, p.Line, p.Column, d.Message)
	return d
}

// tolerated reports whether e is no mistake in a cell: the value of the last expression is used by being shown, and a
// variable may be defined by a function that uses it.
func (k *checker) tolerated(e types.Error) bool {
	in := k.cellOffset(e.Pos)
	if in < 0 { // the witness of a variable may have come to use what uses the variable
		return strings.HasPrefix(e.Msg, "initialization cycle")
	}
	if strings.HasSuffix(e.Msg, "is not used") {
		last := k.ps[len(k.ps)-1]
		_, isExpr := last.stmt.(*ast.ExprStmt)
		return isExpr && last.index == len(k.c.Pieces)-1 && last.Start <= in && in < last.End
	}
	if strings.HasPrefix(e.Msg, "initialization cycle") {
		for _, p := range k.ps {
			if p.Start <= in && in < p.End {
				return p.define() != nil
			}
		}
	}
	return false
}

// checkAssigned checks what the file has no code for: the values of a call that go to variables the cell has defined
// before, and constants that are only shown.
func (k *checker) checkAssigned() {
	nodes := k.c.Cell.File.Decls
	skip := len(nodes) - len(k.gen.decls) - 1
	if skip < 0 {
		return
	}
	for i, g := range k.gen.decls {
		if len(g.targets) < 2 {
			continue
		}
		a := g.p.define()
		v := nodes[skip+i].(*ast.GenDecl).Specs[0].(*ast.ValueSpec)
		tuple, ok := k.c.Info.Types[v.Values[0]].Type.(*types.Tuple)
		if !ok || tuple.Len() != len(a.Lhs) {
			continue
		}
		for j, l := range a.Lhs {
			id := l.(*ast.Ident)
			o := k.own[id.Name]
			if id.Name == "_" || o == nil || k.definesHere(g.p, id) {
				continue
			}
			obj := k.object(o.sym)
			if obj == nil || invalid(obj.Type()) || types.AssignableTo(tuple.At(j).Type(), obj.Type()) {
				continue
			}
			q := types.RelativeTo(k.c.Pkg)
			k.c.report([]problem{{g.p.off(id.Pos()), g.p.off(id.End()), k.clean(fmt.Sprintf("cannot use %s value as %s value in assignment",
				types.TypeString(tuple.At(j).Type(), q), types.TypeString(obj.Type(), q)))}})
		}
	}
	k.checkNames()
	if n := len(k.gen.body); n > 0 {
		fd := nodes[len(nodes)-1].(*ast.FuncDecl)
		if e, ok := fd.Body.List[len(fd.Body.List)-1].(*ast.ExprStmt); ok && !constantFits(k.c.Info.Types[e.X]) {
			p := k.gen.body[n-1]
			k.c.report([]problem{{p.Start, p.End, "the constant overflows int"}})
		}
	}
}

// checkNames finds variables whose types other cells could neither write nor infer.
func (k *checker) checkNames() {
	for i, g := range k.gen.decls {
		d, ok := k.declNode(i).(*ast.GenDecl)
		if !ok || d.Tok != token.VAR {
			continue
		}
		for _, s := range d.Specs {
			v := s.(*ast.ValueSpec)
			for j, id := range v.Names {
				obj, _ := k.c.Info.Defs[id].(*types.Var)
				if obj == nil || id.Name == "_" {
					continue
				}
				n := unnamed(obj.Type(), k.c.Pkg)
				if n == nil {
					continue
				}
				if len(v.Values) > 0 && infers(k.c.Info, k.c.Pkg, v.Values[min(j, len(v.Values)-1)]) {
					continue
				}
				in := max(k.cellOffset(id.Pos()), g.p.Start)
				name, _, _ := strings.Cut(id.Name, mark)
				k.c.report([]problem{{in, in + len(name), fmt.Sprintf("%s would be of type %s, which contains %s.%s, a type that only its package can name; "+
					"give %s an interface type (var %s any = …), or use the value inside a function", name, k.clean(types.TypeString(obj.Type(), k.c.short)),
					n.Pkg().Name(), n.Name(), name, name)}})
			}
		}
	}
}

// declNode is the i-th declaration of the generated file.
func (k *checker) declNode(i int) ast.Decl {
	nodes := k.c.Cell.File.Decls
	return nodes[len(nodes)-len(k.gen.decls)-1+i]
}

// noteUnused finds the objects of the soft errors.
func (k *checker) noteUnused() {
	at := map[token.Pos]bool{}
	for _, e := range k.soft {
		at[e.Pos] = true
	}
	if len(at) == 0 {
		return
	}
	for id, obj := range k.c.Info.Defs {
		if v, ok := obj.(*types.Var); ok && at[id.Pos()] {
			k.c.Unused = append(k.c.Unused, v)
		}
	}
	for _, obj := range k.c.Info.Implicits { // switch x := y.(type)
		if v, ok := obj.(*types.Var); ok && at[v.Pos()] {
			k.c.Unused = append(k.c.Unused, v)
		}
	}
	ast.Inspect(k.c.Cell.File, func(n ast.Node) bool {
		if l, ok := n.(*ast.LabeledStmt); ok && at[l.Label.Pos()] {
			k.c.UnusedLabels = append(k.c.UnusedLabels, l)
		}
		return true
	})
}

var (
	internalName  = regexp.MustCompile(`([\pL_][\pL\pN_]*?)` + mark + `(\d+)`)
	internalAlias = regexp.MustCompile(mark + `[\pL\pN_]+`)
)

// clean spells the internal names in a message so that a user knows what they mean.
func (k *checker) clean(msg string) string {
	if !strings.Contains(msg, mark) {
		return msg
	}
	msg = internalName.ReplaceAllStringFunc(msg, func(s string) string {
		sym := k.spelt[s]
		if sym == nil {
			name, _, _ := strings.Cut(s, mark)
			return name
		}
		if k.ns.syms[sym.Key()] == sym {
			return sym.Name
		}
		return fmt.Sprintf("%s (of In[%d])", sym.Name, sym.Cell)
	})
	return internalAlias.ReplaceAllStringFunc(msg, func(s string) string {
		for _, path := range k.imports {
			if alias(path) == s {
				return baseName(path)
			}
		}
		return s
	})
}
