package interp_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"strings"
)

// uses silences the complaint about variables that a cell may leave unused.
func uses(stmt string) string {
	f, err := parser.ParseFile(token.NewFileSet(), "", "package p\nfunc _() {\n"+stmt+"\n}", 0)
	if err != nil {
		return ""
	}
	var b strings.Builder
	use := func(id *ast.Ident) {
		if id.Name != "_" {
			fmt.Fprintf(&b, "_ = %s\n", id.Name)
		}
	}
	for _, s := range f.Decls[0].(*ast.FuncDecl).Body.List {
		switch s := s.(type) {
		case *ast.AssignStmt:
			if s.Tok == token.DEFINE {
				for _, l := range s.Lhs {
					use(l.(*ast.Ident))
				}
			}
		case *ast.DeclStmt:
			for _, sp := range s.Decl.(*ast.GenDecl).Specs {
				if v, ok := sp.(*ast.ValueSpec); ok {
					for _, id := range v.Names {
						use(id)
					}
				}
			}
		}
	}
	return b.String()
}
