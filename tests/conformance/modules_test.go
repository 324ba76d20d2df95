package conformance

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gander-go/gander/internal/compose"
	"github.com/gander-go/gander/kernel/cell"
	"github.com/gander-go/gander/kernel/eval"
)

// notebookModule is the module of a notebook's folder: a local package, one with generics, and one with C code.
var notebookModule = map[string]string{
	"go.mod":         "module example.com/notebook\n\ngo 1.26\n",
	"shapes/s.go":    "package shapes\n\ntype Rect struct{ W, H float64 }\n\nfunc (r Rect) Area() float64 { return r.W * r.H }\n",
	"sets/s.go":      "package sets\n\ntype Set[T comparable] map[T]struct{}\n\nfunc Of[T comparable](l ...T) Set[T] {\n\ts := Set[T]{}\n\tfor _, x := range l {\n\t\ts[x] = struct{}{}\n\t}\n\treturn s\n}\n\nfunc (s Set[T]) Has(x T) bool { _, ok := s[x]; return ok }\n",
	"native/add.go":  "package native\n\n// int add(int a, int b) { return a + b; }\nimport \"C\"\n\nfunc Add(a, b int) int { return int(C.add(C.int(a), C.int(b))) }\n",
	"native/none.go": "package native\n\nconst Language = \"C\"\n",
}

// TestModules imports a local package, one with generics and one with cgo from the notebook's module, and gonum, each in its own cell, and uses
// them in others.
func TestModules(t *testing.T) {
	dir := t.TempDir()
	for name, text := range notebookModule {
		p := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(p, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	l := compose.NewLanguage(dir, nil)
	if err := l.Start(); err != nil {
		t.Fatal(err)
	}
	defer l.Shutdown(context.Background())
	e, out := l.Evaluator(), &transcript{}
	if err := e.Get(context.Background(), "gonum.org/v1/gonum@"+gonum(t), func(string) {}); err != nil {
		t.Fatal(err)
	}
	for i, code := range []string{
		"import \"fmt\"\nimport \"example.com/notebook/shapes\"\nr := shapes.Rect{W: 2, H: 3}",
		"fmt.Println(r.Area())",
		"import \"example.com/notebook/sets\"\ns := sets.Of(\"a\", \"b\")\nfmt.Println(len(s), s.Has(\"a\"), s.Has(\"z\"))",
		"import \"example.com/notebook/native\"\nfmt.Println(native.Add(40, 2), native.Language)",
		"import \"gonum.org/v1/gonum/mat\"\na := mat.NewDense(2, 2, []float64{1, 2, 3, 4})\nvar b mat.Dense\nb.Mul(a, a)\nfmt.Println(b.RawMatrix().Data)",
		"fmt.Println(mat.Det(a), a.At(1, 0))",
		"func total(l ...shapes.Rect) (t float64) { for _, x := range l { t += x.Area() }; return }\nfmt.Println(total(r, r))",
	} {
		res, _ := e.Run(context.Background(), &cell.Cell{N: i + 1, Code: code}, code, 1, eval.RunOptions{}, out, noInput{})
		if res.Err != nil {
			t.Fatalf("%v\n%s\n%s", res.Err, strings.Join(res.Err.Text, "\n"), code)
		}
	}
	const want = "6\n2 true false\n42 C\n[7 10 15 22]\n-2 3\n12\n"
	if got := out.text.String(); strings.ReplaceAll(got, "-2.0000000000000004", "-2") != want {
		t.Errorf("printed\n%s\nwant\n%s", got, want)
	}
}

// gonum is the version of gonum that this module requires, which is at hand.
func gonum(t *testing.T) string {
	t.Helper()
	data, err := os.ReadFile("../../go.mod")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(data)) {
		if f := strings.Fields(line); len(f) >= 2 && f[0] == "gonum.org/v1/gonum" {
			return f[1]
		}
	}
	t.Fatal("go.mod does not require gonum")
	return ""
}

// memoryPerCell bounds what a compiled cell may cost the session process: its plugin is never unloaded.
const memoryPerCell = 5 << 20

// TestMemory runs many compiled cells in one session, and holds the growth of the session process to memoryPerCell.
func TestMemory(t *testing.T) {
	cells := 200
	if testing.Short() {
		cells = 20
	}
	e := start(t).Evaluator()
	n := 0
	run := func(code string) string {
		n++
		out := &transcript{}
		r, _ := e.Run(context.Background(), &cell.Cell{N: n, Code: code}, code, 1, eval.RunOptions{}, out, noInput{})
		if r.Err != nil {
			t.Fatalf("cell %d: %v\n%s", n, r.Err, code)
		}
		return out.text.String()
	}
	run("import (\n\"fmt\"\n\"os\"\n\"strings\"\n)\nfunc resident() (kb int) {\n\tb, _ := os.ReadFile(\"/proc/self/status\")\n\tfor _, l := range strings.Split(string(b), \"\\n\") {\n\t\tif strings.HasPrefix(l, \"VmRSS:\") { fmt.Sscanf(l, \"VmRSS: %d kB\", &kb) }\n\t}\n\treturn kb\n}")
	resident := func() (kb int64) {
		fmt.Sscan(run("fmt.Println(resident())"), &kb)
		return kb << 10
	}
	before := resident()
	if before == 0 {
		t.Skip("SKIPPED: there is no /proc/self/status on this system")
	}
	for i := range cells {
		run(fmt.Sprintf("type T%d struct{ A int }\nfunc (t T%d) M() int { return t.A + %d }\nv%d := T%d{%d}\nfmt.Println(v%d.M())", i, i, i, i, i, i, i))
	}
	per := (resident() - before) / int64(cells)
	t.Logf("%d compiled cells: the session process grew by %.2f MiB each, from %d MiB", cells, float64(per)/(1<<20), before>>20)
	if per > memoryPerCell {
		t.Errorf("a compiled cell costs %d bytes, more than %d", per, memoryPerCell)
	}
}
