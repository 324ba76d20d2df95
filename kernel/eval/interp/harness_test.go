package interp_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/gander-go/gander/kernel/eval/check"
	"github.com/gander-go/gander/kernel/eval/interp"
	"github.com/gander-go/gander/kernel/eval/interp/testdata/probe"
	"github.com/gander-go/gander/kernel/eval/mods"
	"github.com/gander-go/gander/kernel/session/rt"
	"github.com/gander-go/gander/kernel/session/worker"
	runner "github.com/gander-go/gander/kernel/session/worker/interp"
)

// bench is a session whose compiled part is package probe, linked into the test itself: nothing is built, so that
// thousands of cells can be tried.
type bench struct {
	t      testing.TB
	check  *check.Session
	engine *interp.Engine
	runner worker.Interpreter
	out    *os.File
	n      int
	failed bool // the last cell panicked
}

var packages = sync.OnceValues(func() (*mods.Modules, error) {
	goCmd, err := exec.LookPath("go")
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "gander-interp-test-")
	if err != nil {
		return nil, err
	}
	cleanup = append(cleanup, dir)
	return mods.New(context.Background(), mods.Config{Go: goCmd, Dir: filepath.Join(dir, "module"), Env: append(os.Environ(), "GOFLAGS=", "GOWORK=off")})
})

var cleanup []string

func TestMain(m *testing.M) {
	code := m.Run()
	for _, d := range cleanup {
		os.RemoveAll(d)
	}
	os.Exit(code)
}

// probeText is package probe without its package clause.
func probeText(t testing.TB) string {
	t.Helper()
	b, err := os.ReadFile("testdata/probe/probe.go")
	if err != nil {
		t.Fatal(err)
	}
	_, text, _ := strings.Cut(string(b), "\npackage probe\n")
	return text
}

func newBench(t testing.TB) *bench {
	t.Helper()
	m, err := packages()
	if err != nil {
		t.Fatal(err)
	}
	b := &bench{t: t, check: check.New(m), engine: interp.New(interp.Options{HotLoops: true}), runner: runner.New()}
	c := b.check.Check(1, probeText(t))
	if len(c.Errors) > 0 {
		t.Fatal(c.Errors)
	}
	b.check.Commit(c, -1)
	b.n = 1
	for _, v := range rt.Variables() {
		rt.Forget(v.Name)
	}
	probe.Register()
	if b.out, err = os.Create(filepath.Join(t.TempDir(), "stdout")); err != nil {
		t.Fatal(err)
	}
	stdout := os.Stdout
	os.Stdout = b.out
	t.Cleanup(func() {
		os.Stdout = stdout
		b.out.Close()
	})
	return b
}

// run interprets a cell and returns what it printed. A panic is printed last, as the programs of the oracle do.
// refused says why the cell was not interpreted.
func (b *bench) run(code string) (printed, refused string) {
	b.t.Helper()
	b.n++
	c := b.check.Check(b.n, code)
	if len(c.Errors) > 0 {
		b.t.Fatalf("the cell does not check: %v\n%s", c.Errors, code)
	}
	unit, _, err := b.engine.Build(context.Background(), c, check.BuildOptions{})
	if err != nil {
		return "", err.Error()
	}
	if err := b.out.Truncate(0); err != nil {
		b.t.Fatal(err)
	}
	b.out.Seek(0, 0)
	var text string
	err = b.runner.Run(context.Background(), &unit)
	var p *worker.Panic
	b.failed = errors.As(err, &p)
	switch {
	case b.failed:
		text = fmt.Sprintf("panic: %v\n", p.Value)
	case err != nil:
		b.t.Errorf("%v\n%s\n--- lowered ---\n%s", err, code, unit.Source)
	}
	b.check.Commit(c, -1)
	rt.TakeShown()
	data, err := os.ReadFile(b.out.Name())
	if err != nil {
		b.t.Fatal(err)
	}
	return strings.ReplaceAll(string(data)+text, "probe.", "main."), ""
}

// lowered is the text that yaegi gets for a cell, for messages.
func (b *bench) lowered(code string) string {
	unit, _, err := b.engine.Build(context.Background(), b.check.Check(b.n, code), check.BuildOptions{})
	if err != nil {
		return err.Error()
	}
	return unit.Source
}

// goRun prints, for every program of cells, what a compiled program with the same statements prints.
func goRun(t testing.TB, programs []string) []string {
	t.Helper()
	const mark = "\x00end\x00"
	var src strings.Builder
	text := probeText(t)
	_, decls, _ := strings.Cut(text, ")\n") // after its imports
	src.WriteString("package main\nimport (\n\"cmp\"\n\"errors\"\n\"fmt\"\n\"maps\"\n\"math\"\n\"slices\"\n\"sort\"\n\"strconv\"\n\"strings\"\n)\nvar _, _, _ = math.Pi, sort.Ints, strconv.Itoa\n" + decls)
	for i, p := range programs {
		fmt.Fprintf(&src, "func program%d() {\ndefer func() { if r := recover(); r != nil { fmt.Printf(\"panic: %%v\\n\", r) } }()\n%s}\n", i, p)
	}
	src.WriteString("func main() {\n")
	for i := range programs {
		fmt.Fprintf(&src, "program%d()\nfmt.Print(%q)\n", i, mark)
	}
	src.WriteString("}\n")
	dir := t.TempDir()
	for name, s := range map[string]string{"main.go": src.String(), "go.mod": "module program\ngo 1.26\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(s), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.Command("go", "run", "-gcflags=-e", ".")
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "GOFLAGS=", "GOWORK=off")
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil {
		t.Fatalf("go run: %v\n%s", err, errs.String())
	}
	parts := strings.Split(out.String(), mark)
	return parts[:len(parts)-1]
}
