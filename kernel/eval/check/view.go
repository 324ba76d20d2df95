package check

import (
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"strings"
	"sync"
)

// view is one place to type-check in. A session has two, one for cells and one for queries, each with packages of its
// own: go/types reads imported packages lazily, so that two checks over the same ones must not run side by side, and a
// query must not wait for a cell, nor an engine that reads a Checked for a query.
type view struct {
	fset    *token.FileSet
	imp     types.Importer
	passing bool // results are not kept: files that are replaced may go

	// mu is held during a check and as long as its result is read; it guards files.
	mu    sync.Mutex
	files map[*item]*itemFile
}

// itemFile is an item parsed under the names that it was last checked with.
type itemFile struct {
	spelt  string
	full   *ast.File
	bare   *ast.File // full without function bodies
	source string
}

func newView(pkgs Packages, passing bool) *view {
	fset := token.NewFileSet()
	return &view{fset: fset, imp: pkgs.Importer(fset), passing: passing, files: map[*item]*itemFile{}}
}

// drop forgets the positions in f.
func (v *view) drop(f *ast.File) {
	if f == nil {
		return
	}
	if tf := v.fset.File(f.FileStart); tf != nil {
		v.fset.RemoveFile(tf)
	}
}

// parse returns it as a file under ns.
func (v *view) parse(it *item, ns names) *itemFile {
	spelt := it.spelt(ns)
	if f := v.files[it]; f != nil && f.spelt == spelt {
		return f
	}
	if f := v.files[it]; f != nil && v.passing {
		v.drop(f.full)
	}
	src := it.render(ns)
	f, err := parser.ParseFile(v.fset, "", src, parser.SkipObjectResolution|parser.ParseComments)
	if err != nil {
		return nil // its text parsed as part of a cell; a missing name is then reported where it is used
	}
	out := &itemFile{spelt: spelt, full: f, bare: bare(f), source: src}
	v.files[it] = out
	return out
}

// spelt is everything that render takes from ns.
func (it *item) spelt(ns names) string {
	var b strings.Builder
	for _, s := range it.syms {
		b.WriteString(ns.spell(s))
		b.WriteByte(' ')
	}
	for _, r := range it.refs {
		if r.sym != nil {
			b.WriteString(ns.spell(r.sym))
			b.WriteByte(' ')
		}
	}
	return b.String()
}

// bare copies f without the bodies of its functions: enough to use them.
func bare(f *ast.File) *ast.File {
	c := *f
	c.Decls = make([]ast.Decl, len(f.Decls))
	for i, d := range f.Decls {
		if fd, ok := d.(*ast.FuncDecl); ok && fd.Type.TypeParams == nil {
			short := *fd
			short.Body = nil
			d = &short
		}
		c.Decls[i] = d
	}
	return &c
}

// forget drops the files of items that are not in keep.
func (v *view) forget(keep []*item) {
	v.mu.Lock()
	defer v.mu.Unlock()
	live := make(map[*item]bool, len(keep))
	for _, it := range keep {
		live[it] = true
	}
	for it := range v.files {
		if !live[it] {
			if v.passing {
				v.drop(v.files[it].full)
			}
			delete(v.files, it)
		}
	}
}
