package check

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/printer"
	"go/token"
	"os"
	"path/filepath"
	"strings"
)

// doc is what a source file says about a declaration.
type doc struct {
	text   string // the comment
	decl   string // a type's declaration
	source string // a function's text
}

// maxDeclLines bounds the declarations of types that are shown.
const maxDeclLines = 60

// readDoc finds the declaration of name at a line of a file; line 0 takes the first of that name. Export data knows the
// file and the line of every object.
func readDoc(path string, line int, name string, source bool) (d doc) {
	src, err := os.ReadFile(path)
	if err != nil {
		return d
	}
	fset := token.NewFileSet()
	f, _ := parser.ParseFile(fset, path, src, parser.ParseComments|parser.SkipObjectResolution)
	if f == nil {
		return d
	}
	here := func(id *ast.Ident) bool {
		return id.Name == name && (line == 0 || fset.Position(id.Pos()).Line == line)
	}
	done := false
	ast.Inspect(f, func(n ast.Node) bool {
		if done {
			return false
		}
		switch n := n.(type) {
		case *ast.FuncDecl:
			if here(n.Name) {
				done = true
				d.text = n.Doc.Text()
				if source {
					d.source = string(src[fset.Position(n.Pos()).Offset:fset.Position(n.End()).Offset])
				}
				if line == 0 {
					short := *n
					short.Body, short.Doc = nil, nil
					d.decl = printNode(fset, &short)
				}
			}
			return false
		case *ast.GenDecl:
			for _, s := range n.Specs {
				switch s := s.(type) {
				case *ast.TypeSpec:
					if here(s.Name) {
						done = true
						d.text = first(s.Doc.Text(), n.Doc.Text(), s.Comment.Text())
						short := *s
						short.Doc, short.Comment = nil, nil
						d.decl = "type " + printNode(fset, &short)
					}
				case *ast.ValueSpec:
					for _, id := range s.Names {
						if here(id) {
							done = true
							d.text = first(s.Doc.Text(), s.Comment.Text(), n.Doc.Text())
						}
					}
				}
			}
		case *ast.Field:
			for _, id := range n.Names {
				if here(id) && line > 0 {
					done = true
					d.text = first(n.Doc.Text(), n.Comment.Text())
				}
			}
		}
		return true
	})
	return d
}

func first(l ...string) string {
	for _, s := range l {
		if s != "" {
			return s
		}
	}
	return ""
}

// printNode prints n, the unexported fields of structs left out as `go doc` does.
func printNode(fset *token.FileSet, n ast.Node) string {
	if ts, ok := n.(*ast.TypeSpec); ok {
		if st, ok := ts.Type.(*ast.StructType); ok {
			var keep []*ast.Field
			for _, f := range st.Fields.List {
				if len(f.Names) == 0 || ast.IsExported(f.Names[0].Name) {
					keep = append(keep, &ast.Field{Names: f.Names, Type: f.Type})
				}
			}
			hidden := len(st.Fields.List) - len(keep)
			ts.Type = &ast.StructType{Fields: &ast.FieldList{List: keep}}
			var b bytes.Buffer
			printer.Fprint(&b, token.NewFileSet(), ts) //nolint:errcheck // into memory
			s := b.String()
			if i := strings.LastIndex(s, "}"); hidden > 0 && i >= 0 {
				s = strings.TrimRight(s[:i], "\n ") + "\n"
				s += fmt.Sprintf("\t// and %d unexported fields\n}", hidden)
			}
			return shorten(s)
		}
	}
	var b bytes.Buffer
	(&printer.Config{Mode: printer.UseSpaces | printer.TabIndent, Tabwidth: 8}).Fprint(&b, fset, n) //nolint:errcheck // into memory
	return shorten(b.String())
}

func shorten(s string) string {
	lines := strings.Split(s, "\n")
	if len(lines) > maxDeclLines {
		lines = append(lines[:maxDeclLines], "\t…")
	}
	return strings.Join(lines, "\n")
}

// packageDoc is the package comment of the package in dir.
func packageDoc(dir string) string {
	if dir == "" {
		return ""
	}
	files, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		return ""
	}
	best := ""
	for _, path := range files {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		f, _ := parser.ParseFile(token.NewFileSet(), path, nil, parser.PackageClauseOnly|parser.ParseComments)
		if f != nil && f.Doc != nil && len(f.Doc.Text()) > len(best) {
			best = f.Doc.Text()
		}
	}
	return best
}
