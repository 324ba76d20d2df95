package conformance

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/gander-go/gander/internal/compose"
	"github.com/gander-go/gander/kernel/cell"
	"github.com/gander-go/gander/kernel/eval"
)

// evaluator is a session for a benchmark.
func evaluator(b *testing.B) *eval.Evaluator {
	b.Helper()
	l := compose.NewLanguage(b.TempDir(), nil)
	if err := l.Start(); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { l.Shutdown(context.Background()) })
	return l.Evaluator()
}

func runCell(b *testing.B, e *eval.Evaluator, n int, code string) eval.Usage {
	b.Helper()
	r, u := e.Run(context.Background(), &cell.Cell{N: n, Code: code}, code, 1, eval.RunOptions{}, &transcript{}, noInput{})
	if r.Err != nil {
		b.Fatalf("%v\n%s", r.Err, code)
	}
	return u
}

const declarations = `import "fmt"
type Point struct{ X, Y int }
func (p Point) Norm() int { return p.X*p.X + p.Y*p.Y }
var total int
`

// BenchmarkStatementCell is an interpreted cell. The bound is 3 ms.
func BenchmarkStatementCell(b *testing.B) {
	e := evaluator(b)
	runCell(b, e, 1, declarations)
	n := 1
	for b.Loop() {
		n++
		runCell(b, e, n, fmt.Sprintf("p := Point{%d, 2}\ntotal += p.Norm()\ntotal", n))
	}
}

// BenchmarkPackageCell is a statement cell over a package that the session process does not carry: compiled, as it is while the package's table is
// not built, and interpreted.
func BenchmarkPackageCell(b *testing.B) {
	for _, mode := range []string{eval.Native, eval.Interp} {
		b.Run(mode, func(b *testing.B) {
			e := evaluator(b)
			n := 1
			run := func() {
				code := fmt.Sprintf("import \"fmt\"\nimport \"net/url\"\nu, err := url.Parse(\"http://host/%d/%d\")\nfmt.Println(u.Path, err)", n, os.Getpid())
				r, _ := e.Run(context.Background(), &cell.Cell{N: n, Code: code}, code, 1, eval.RunOptions{Engine: mode}, &transcript{}, noInput{})
				if r.Err != nil {
					b.Fatalf("%v\n%s", r.Err, code)
				}
				n++
			}
			run() // builds the table
			for b.Loop() {
				run()
			}
		})
	}
}

// BenchmarkRerunUnchanged runs a compiled cell again. The bound is 3 ms.
func BenchmarkRerunUnchanged(b *testing.B) {
	e := evaluator(b)
	code := declarations + "func Twice(x int) int { return 2 * x }\ntotal = Twice(3)"
	runCell(b, e, 1, code)
	n := 1
	for b.Loop() {
		n++
		runCell(b, e, n, code)
	}
}

// BenchmarkCachedAfterRestart runs a compiled cell that an earlier session has built. The bound is 60 ms; the restart of the
// session process is not part of it.
func BenchmarkCachedAfterRestart(b *testing.B) {
	e := evaluator(b)
	code := declarations + "func Twice(x int) int { return 2 * x }\ntotal = Twice(3)"
	runCell(b, e, 1, code)
	for b.Loop() {
		b.StopTimer()
		if err := e.Reset(context.Background()); err != nil {
			b.Fatal(err)
		}
		b.StartTimer()
		runCell(b, e, 1, code)
	}
}

// BenchmarkNewCompiledCell compiles a function that no session has seen. The bound is 0.7 s.
func BenchmarkNewCompiledCell(b *testing.B) {
	e := evaluator(b)
	runCell(b, e, 1, declarations)
	n := 1
	for b.Loop() {
		n++
		runCell(b, e, n, fmt.Sprintf("func F%d(x int) int { return x + %d + %d }\nfmt.Println(F%d(1))", n, n, os.Getpid(), n))
	}
}

// BenchmarkRebuildMain is how gonb runs such a cell: all code so far is one program, which is built and run again.
func BenchmarkRebuildMain(b *testing.B) {
	dir := b.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "go.mod"), []byte("module program\ngo 1.26\n"), 0o644); err != nil {
		b.Fatal(err)
	}
	n := 0
	for b.Loop() {
		n++
		src := "package main\n" + declarations + fmt.Sprintf("func F%d(x int) int { return x + %d + %d }\nfunc main() { fmt.Println(F%d(1)) }\n", n, n, os.Getpid(), n)
		if err := os.WriteFile(filepath.Join(dir, "main.go"), []byte(src), 0o644); err != nil {
			b.Fatal(err)
		}
		build := exec.Command("go", "build", "-o", "program", ".")
		build.Dir, build.Env = dir, append(os.Environ(), "GOFLAGS=", "GOWORK=off")
		if out, err := build.CombinedOutput(); err != nil {
			b.Fatalf("%v\n%s", err, out)
		}
		if out, err := exec.Command(filepath.Join(dir, "program")).CombinedOutput(); err != nil {
			b.Fatalf("%v\n%s", err, out)
		}
	}
}
