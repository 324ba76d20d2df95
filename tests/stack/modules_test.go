package stack

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/gander-go/gander/kernel/eval"
)

// touch writes a file whose time is later than any before.
func touch(t *testing.T, file, text string) {
	t.Helper()
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	later := time.Now().Add(time.Hour)
	if err := os.Chtimes(file, later, later); err != nil {
		t.Fatal(err)
	}
}

// TestNotebookModule imports from the module around the notebook: plain Go, generic Go, and C. A package that changes on
// disk is built again for the next cell, and the user is told which variables are of the old one.
func TestNotebookModule(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, map[string]string{
		"go.mod":         "module example.org/book\n\ngo 1.26\n",
		"shape/shape.go": "package shape\n\ntype Square struct{ Side int }\n\nfunc (s Square) Area() int { return s.Side * s.Side }\n\nfunc Map[T, U any](l []T, f func(T) U) (r []U) {\n\tfor _, x := range l {\n\t\tr = append(r, f(x))\n\t}\n\treturn r\n}\n\nfunc Fail(l []int) int { return l[7] }\n",
		"inc/inc.go":     "package inc\n\n// static int twice(int x) { return 2 * x; }\nimport \"C\"\n\nfunc Twice(n int) int { return int(C.twice(C.int(n))) }\n",
	})
	book := filepath.Join(dir, "notebooks")
	if err := os.Mkdir(book, 0o755); err != nil {
		t.Fatal(err)
	}
	b := open(t, book)
	if v := b.ok("import (\"example.org/book/shape\"; \"example.org/book/inc\")\nsq := shape.Square{3}\nsq.Area() + inc.Twice(20)"); v != "49" {
		t.Errorf("the sum is %s", v)
	}
	if v := b.ok("shape.Map([]int{1, 2}, func(n int) string { return fmt.Sprint(n * 2) })"); !strings.Contains(v, "2") || !strings.Contains(v, "4") {
		t.Errorf("Map gives %s", v)
	}
	b.fails("shape.Fail(nil)", "panic", "index out of range [7]", "shape.go:14", "return l[7]")
	b.ok("func area(n int) int { return shape.Square{n}.Area() }")
	b.out.Take()
	file := filepath.Join(dir, "shape", "shape.go")
	touch(t, file, "package shape\n\ntype Square struct{ Side int }\n\nfunc (s Square) Area() int { return 1000 }\n\nfunc New() string { return \"new\" }\n")
	if v := b.ok("shape.New() + fmt.Sprint(shape.Square{3}.Area())"); strings.Trim(v, `"`) != "new1000" {
		t.Errorf("the changed package gives %s", v)
	}
	for _, said := range []string{"example.org/book/shape has changed on disk", "values of its old version are in sq"} {
		if s := b.out.All(); !strings.Contains(s, said) {
			t.Errorf("the user is not told %q but\n%s", said, s)
		}
	}
	if v := b.ok("sq = shape.Square{4}\nsq.Area()"); v != "1000" {
		t.Logf("sq keeps its old type: %s", v)
	}
	b.out.Take()
	touch(t, file, "package shape\n\nfunc New() string { return 5 }\n")
	if v := b.ok("shape.New()"); strings.Trim(v, `"`) != "new" {
		t.Errorf("while the package does not compile, New gives %s", v)
	}
	if s := b.out.Take(); !strings.Contains(s, "it does not compile") || !strings.Contains(s, "shape.go:3") {
		t.Errorf("the user is not told that it does not compile, but\n%s", s)
	}
	touch(t, file, "package shape\n\ntype Square struct{ Side int }\n\nfunc (s Square) Area() int { return 7 }\n\nfunc New() string { return \"newer\" }\n")
	if v := b.ok("shape.New()"); strings.Trim(v, `"`) != "newer" {
		t.Errorf("when it compiles again, New gives %s", v)
	}
	if v := b.ok("inc.Twice(4)"); v != "8" {
		t.Errorf("Twice gives %s", v)
	}
}

// TestC says what to do instead of writing C into a cell, and shows the words of a C compiler that fails.
func TestC(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, map[string]string{
		"go.mod":     "module example.org/book\n\ngo 1.26\n",
		"bad/bad.go": "package bad\n\n// #include <no_such_header_of_gander.h>\nimport \"C\"\n\nfunc F() int { return int(C.f()) }\n",
	})
	b := open(t, dir)
	b.fails("/*\nint one() { return 1; }\n*/\nimport \"C\"\nC.one()", "CompileError", "import \"C\"", "package")
	b.fails("import \"example.org/book/bad\"\nbad.F()", "CompileError", "no_such_header_of_gander.h")
}

// TestWorkspace imports a module of the workspace around the notebook.
func TestWorkspace(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, map[string]string{
		"go.work":    "go 1.26\n\nuse (\n\t./a\n\t./b\n)\n",
		"a/go.mod":   "module example.org/a\n\ngo 1.26\n",
		"a/a.go":     "package a\n\nimport \"example.org/b\"\n\nfunc A() int { return b.B() + 1 }\n",
		"b/go.mod":   "module example.org/b\n\ngo 1.26\n",
		"b/b.go":     "package b\n\nfunc B() int { return 41 }\n",
		"nb/.gander": "",
	})
	b := open(t, filepath.Join(dir, "nb"))
	if v := b.okIn(eval.Native, "import \"example.org/a\"\na.A()"); v != "42" {
		t.Errorf("A gives %s", v)
	}
}

// TestGet tells the go command's own words when a module is not there.
func TestGet(t *testing.T) {
	b := open(t, "")
	t.Setenv("GOPROXY", "off")
	var said []string
	err := b.Get(context.Background(), "example.org/absent/module@v1.0.0", func(l string) { said = append(said, l) })
	if err == nil || !strings.Contains(err.Error(), "example.org/absent/module") {
		t.Errorf("getting an absent module: %v", err)
	}
	b.fails("import \"example.org/absent/module\"\nmodule.F()", "CompileError", "%get example.org/absent/module")
	if v := b.ok("1 + 1"); v != "2" {
		t.Errorf("1 + 1 is %s", v)
	}
}
