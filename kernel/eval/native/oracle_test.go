package native

import (
	"bytes"
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gander-go/gander/kernel/eval/check"
)

var (
	oracle      = flag.Bool("oracle", false, "build the programs marked (go run) with the go command and write down what they print")
	onlyProgram = flag.String("program", "", "with -oracle, only the programs whose names contain this")
)

// TestOracle keeps the expectations of the programs honest: those whose first line says "(go run)" are what the go command's program prints,
// those that say "(by hand)" follow from the rules of redefinition, which no Go program knows.
func TestOracle(t *testing.T) {
	files, err := filepath.Glob("../testdata/programs/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatal("no programs", err)
	}
	for _, f := range files {
		b, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		head, _, _ := strings.Cut(string(b), "\n")
		byHand, byGo := strings.Contains(head, "(by hand)"), strings.Contains(head, "(go run)")
		if byHand == byGo {
			t.Errorf("%s: the first line must say (go run) or (by hand)", f)
		}
		if !*oracle || !byGo || !strings.Contains(f, *onlyProgram) {
			continue
		}
		want, err := goRun(readProgram(t, f))
		if err != nil {
			t.Errorf("%s: %v", f, err)
			continue
		}
		text, _, _ := strings.Cut(string(b), "-- stdout --\n")
		if !strings.HasSuffix(text, "\n") {
			text += "\n"
		}
		if err := os.WriteFile(f, []byte(text+"-- stdout --\n"+want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// goRun makes one program of the cells: declarations at the top, everything else in func main, in order.
func goRun(p program) (string, error) {
	imports := map[string]bool{}
	var top, body bytes.Buffer
	for _, c := range p.cells {
		for _, piece := range check.Cut(c.code) {
			text := piece.Text(c.code)
			switch {
			case piece.Kind == check.ImportPiece:
				imports[text] = true
			case piece.Kind == check.DeclPiece && piece.First != token.VAR:
				top.WriteString(text + "\n")
			default:
				body.WriteString(text + "\n" + uses(text))
			}
		}
	}
	var b strings.Builder
	b.WriteString("package main\n")
	for i := range imports {
		b.WriteString(i + "\n")
	}
	b.WriteString(top.String() + "func main() {\n" + body.String() + "}\n")
	dir, err := os.MkdirTemp("", "gander-oracle-")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(dir)
	for name, s := range map[string]string{"main.go": b.String(), "go.mod": "module program\ngo 1.26\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(s), 0o644); err != nil {
			return "", err
		}
	}
	cmd := exec.Command("go", "run", ".")
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "GOFLAGS=", "GOWORK=off")
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("%w\n%s\n%s", err, errs.String(), b.String())
	}
	return out.String(), nil
}

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
