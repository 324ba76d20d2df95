package check

import (
	"context"
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"maps"
	"slices"
	"sort"
	"strings"

	"github.com/gander-go/gander/kernel/cell"
)

// A check of a cell goes like this:
//
//  1. Cut the text and parse every piece (cut.go, parse.go).
//  2. Note what the cell imports and declares (imports.go, own.go).
//  3. Resolve the identifiers that no piece declares: to the cell's names, to older meanings of them, to the session's
//     names, to packages, also to those that nobody imported (resolve.go).
//  4. Work out which earlier declarations a redefinition reaches (rebind.go).
//  5. Write the file, type-check it with the session's declarations (generate.go, typecheck.go).
//  6. Compare old and new meanings of redefined names. What turns out to have changed, or not to compile with the
//     change, goes into the plan, and the check starts again from 2, at most a few times.
//  7. Lay out the steps (steps.go).

// plan is what a check knows about the redefinitions in a cell; it grows from attempt to attempt.
type plan struct {
	changed  map[*Symbol]bool // old symbols whose new meaning differs in type
	extended map[*Symbol]bool // types that get methods
	stay     map[*item]string // items that do not compile with the new meanings, and why
	stuck    map[*item]bool   // of those, the ones that cannot even follow a type that gets methods
	query    bool             // the code is being typed: take the first attempt for what it is
}

// maxAttempts bounds how often a check starts again. Each time at least one item is given up on.
const maxAttempts = 64

// checker is one attempt.
type checker struct {
	plan
	ctx   context.Context
	s     *Session
	v     *view
	st    *state
	c     *Checked
	code  string
	lines []int
	ps    []*parsed

	ns       names // what names mean after the cell
	own      map[string]*ownName
	aliases  map[string]string // types of the cell: what they are another name of, "" for a type of their own
	decls    []*ownDecl
	edits    map[int]cellEdit  // by offset in the cell
	imports  map[string]string // the file's: name to path
	problems []problem

	fresh    map[*Symbol]*Symbol // new versions of old symbols
	dirty    map[*Symbol]bool    // old symbols with a new version of another type
	grown    map[*Symbol]bool    // dirty ones whose new version has the same layout
	rebound  []*item             // new versions of items
	wasBound map[*item]*item     // the same, by their old versions
	kept     []*item             // the items that are checked along, rebound ones included

	gen   *generated
	spelt map[string]*Symbol // package-level names of the file that is checked
	errs  []types.Error
	soft  []types.Error
}

func (s *Session) check(ctx context.Context, v *view, st *state, n int, code string) *Checked {
	pieces := Cut(code)
	ps, syntax := parsePieces(code, pieces)
	if len(syntax) > 0 {
		c := &Checked{N: n, Code: code, Pieces: pieces, Fset: v.fset}
		c.report(syntax)
		return c
	}
	return s.checkPieces(ctx, v, st, n, code, pieces, ps, false).c
}

// checkPieces checks what was parsed of a cell.
func (s *Session) checkPieces(ctx context.Context, v *view, st *state, n int, code string, pieces []Piece, ps []*parsed, query bool) *checker {
	p := plan{query: query, changed: map[*Symbol]bool{}, extended: map[*Symbol]bool{}, stay: map[*item]string{}, stuck: map[*item]bool{}}
	for range maxAttempts {
		k := &checker{ctx: ctx, plan: p, s: s, v: v, st: st, code: code, lines: lineStarts(code), ps: ps,
			c:   &Checked{N: n, Code: code, Pieces: pieces, Fset: v.fset},
			own: map[string]*ownName{}, aliases: map[string]string{}, edits: map[int]cellEdit{}, imports: map[string]string{},
			fresh: map[*Symbol]*Symbol{}, dirty: map[*Symbol]bool{}, grown: map[*Symbol]bool{}, wasBound: map[*item]*item{},
			spelt: map[string]*Symbol{}}
		if k.attempt() {
			return k
		}
		p = k.plan
	}
	c := &Checked{N: n, Code: code, Pieces: pieces, Fset: v.fset}
	c.report([]problem{{0, 0, "the redefinitions in this cell do not settle; split it into several cells"}})
	return &checker{c: c}
}

// attempt runs steps 2 to 7; it returns false when the plan has grown.
func (k *checker) attempt() bool {
	k.ns = k.st.names.clone()
	k.importPieces()
	if k.ctx.Err() != nil {
		k.c.report([]problem{{0, 0, "interrupted"}})
		return true
	}
	k.declare()
	k.extend()
	k.findUnchanged()
	k.enterNames()
	k.spread()
	k.resolve()
	k.generate()
	k.typecheck()
	if k.query {
		return true
	}
	if k.grow() {
		return false
	}
	k.diagnose()
	k.finish()
	return true
}

func (k *checker) problem(off, end int, msg string) {
	k.problems = append(k.problems, problem{off, end, msg})
}

// enterNames puts what the cell declares into the namespace.
func (k *checker) enterNames() {
	for _, d := range k.decls {
		if d.unchanged != nil {
			for i, s := range d.it.syms {
				old := k.st.names.syms[s.Key()]
				k.own[s.Key()].sym = old
				d.it.syms[i] = old
			}
		}
	}
	for key, o := range k.own {
		if old := k.ns.syms[key]; old != nil && old != o.sym {
			k.fresh[old] = o.sym
		}
		k.ns.syms[key] = o.sym
	}
	// A type of another meaning has none of the methods that came with the old one; those of other cells try to follow.
	for key, s := range k.ns.syms {
		if s.Kind != MethodSymbol || k.own[key] != nil {
			continue
		}
		if o := k.own[s.Recv]; o != nil && o.sym != k.st.names.syms[s.Recv] && !k.follows(s) {
			delete(k.ns.syms, key)
		}
	}
	for name := range k.own {
		delete(k.ns.imports, name)
	}
}

// follows reports whether method m moves on to the new meaning of its receiver's type.
func (k *checker) follows(m *Symbol) bool {
	old := k.st.names.syms[m.Recv]
	o := k.own[m.Recv]
	return old != nil && o != nil && o.sym.Kind == TypeSymbol && (m.Cell != old.Cell || k.extended[old])
}

// report makes the cell's errors of problems.
func (c *Checked) report(list []problem) {
	lines := lineStarts(c.Code)
	for _, p := range list {
		d := cell.Diagnostic{Severity: cell.Error, Message: p.msg}
		d.Cell = c.N
		d.Line, d.Col = cellPos(c.Code, lines, p.off)
		if p.end > p.off {
			d.EndLine, d.EndCol = cellPos(c.Code, lines, p.end)
		}
		c.Errors = append(c.Errors, d)
	}
	sortDiagnostics(c.Errors)
}

func sortDiagnostics(l []cell.Diagnostic) {
	sort.SliceStable(l, func(i, j int) bool {
		a, b := l[i].Pos, l[j].Pos
		if a.Cell != b.Cell {
			return a.Cell > b.Cell
		}
		return a.Line < b.Line || a.Line == b.Line && a.Col < b.Col
	})
}

// importPieces notes the cell's import declarations.
func (k *checker) importPieces() {
	var paths []string
	each := func(do func(p *parsed, s *ast.ImportSpec, path string)) {
		for _, p := range k.ps {
			if d, ok := p.decl.(*ast.GenDecl); ok && d.Tok == token.IMPORT {
				for _, s := range d.Specs {
					is := s.(*ast.ImportSpec)
					do(p, is, strings.Trim(is.Path.Value, "\"`"))
				}
			}
		}
	}
	each(func(_ *parsed, _ *ast.ImportSpec, path string) { paths = append(paths, path) })
	if len(paths) == 0 {
		return
	}
	if !k.query {
		k.s.pkgs.Prepare(k.ctx, paths)
	}
	if k.ctx.Err() != nil {
		return
	}
	each(func(p *parsed, s *ast.ImportSpec, path string) {
		pkg, err := k.importPackage(path)
		if err != nil {
			k.problem(p.off(s.Path.Pos()), p.off(s.Path.End()), err.Error())
			return
		}
		name, imp := pkg.Name(), Import{Path: path}
		if s.Name != nil {
			name, imp.Name = s.Name.Name, s.Name.Name
		}
		k.c.Imports = append(k.c.Imports, imp)
		switch name {
		case "_":
			k.imports[alias(path)] = path
		case ".":
			dots := []string{path}
			for _, d := range k.ns.dots {
				if d != path {
					dots = append(dots, d)
				}
			}
			k.ns.dots = dots
		default:
			delete(k.ns.syms, name)
			k.ns.imports[name] = path
		}
	})
}

func (k *checker) importPackage(path string) (*types.Package, error) {
	switch path {
	case "unsafe":
		return types.Unsafe, nil
	case "C":
		return nil, fmt.Errorf("a cell cannot import \"C\"; put the cgo code into a package beside the notebook and import that")
	case "":
		return nil, fmt.Errorf("invalid import path (empty string)")
	}
	if k.query && !k.s.pkgs.Known(path) && !slices.Contains(k.s.pkgs.Standard(baseName(path)), path) {
		go k.s.pkgs.Prepare(context.Background(), []string{path}) // it may have to be compiled; the next query will find it
		return nil, fmt.Errorf("package %s is not known yet", path)
	}
	return k.v.imp.Import(path)
}

// importPath is the package that name means in the session, "" for none.
func (k *checker) importPath(name string) string { return k.ns.imports[name] }

func sortedKeys[V any](m map[string]V) []string {
	l := make([]string, 0, len(m))
	for s := range maps.Keys(m) {
		l = append(l, s)
	}
	sort.Strings(l)
	return l
}
