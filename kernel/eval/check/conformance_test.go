package check_test

import (
	"context"
	"go/types"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/gander-go/gander/internal/shared"
	"github.com/gander-go/gander/kernel/eval/check"
	"github.com/gander-go/gander/kernel/eval/mods"
)

var std = sync.OnceValues(func() (*mods.Modules, error) {
	dir, err := os.MkdirTemp("", "gander-check")
	if err != nil {
		return nil, err
	}
	goCmd, err := exec.LookPath("go")
	if err != nil {
		return nil, err
	}
	m, err := mods.New(context.Background(), mods.Config{Go: goCmd, Dir: dir, Env: append(os.Environ(), "GOFLAGS=", "GOWORK=off")})
	if err == nil {
		m.Warm(context.Background())
	}
	return m, err
})

func newSession(t testing.TB) *check.Session {
	t.Helper()
	m, err := std()
	if err != nil {
		t.Fatal(err)
	}
	return check.New(m)
}

type step struct {
	code string
	fail bool
}

func readCells(t testing.TB, path string) (cells []step) {
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	kind := ""
	var cur []string
	flush := func() {
		if strings.HasPrefix(kind, "cell") {
			cells = append(cells, step{strings.Join(cur, "\n"), strings.Contains(kind, "fail")})
		}
		cur = nil
	}
	for _, l := range strings.Split(string(b), "\n") {
		if strings.HasPrefix(l, "-- ") && strings.HasSuffix(l, " --") {
			flush()
			kind = strings.TrimSuffix(strings.TrimPrefix(l, "-- "), " --")
			continue
		}
		cur = append(cur, l)
	}
	flush()
	return cells
}

// TestConformanceChecks checks every cell of the conformance programs: those that are meant to fail do, the others
// do not.
func TestConformanceChecks(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(shared.Path(t, "data", "conformance"), "*.txt"))
	if err != nil || len(files) == 0 {
		t.Fatal("no conformance programs", err)
	}
	for _, f := range files {
		t.Run(strings.TrimSuffix(filepath.Base(f), ".txt"), func(t *testing.T) {
			s := newSession(t)
			for i, cell := range readCells(t, f) {
				c := s.Check(i+1, cell.code)
				if (len(c.Errors) > 0) != cell.fail {
					t.Errorf("cell %d: errors %v, want failure %v\n%s\n---\n%s", i+1, c.Errors, cell.fail, cell.code, c.Cell.Text)
				}
				validate(t, c)
				s.Commit(c, -1)
			}
		})
	}
}

// validate checks what holds of every Checked.
func validate(t *testing.T, c *check.Checked) {
	t.Helper()
	for _, d := range c.Errors {
		if d.Line < 1 || d.Col < 1 || d.Message == "" {
			t.Errorf("diagnostic without a place or words: %+v", d)
		}
	}
	if len(c.Errors) > 0 {
		return
	}
	for _, s := range c.Steps {
		if s.Kind != check.MainStep && !s.Pos.IsValid() {
			t.Errorf("step without position: %+v", s)
		}
		if n := len(s.Values); s.Kind == check.DefineStep && n > 1 && n != len(s.Targets) {
			t.Errorf("step with %d targets and %d values", len(s.Targets), n)
		}
		if s.Kind == check.StmtStep && s.Stmt == nil {
			t.Error("statement step without a statement")
		}
	}
	for _, d := range append(c.Decls, c.Rebound...) {
		if d.Node == nil || d.Sym == nil {
			t.Errorf("incomplete declaration: %+v", d)
		}
	}
	for id, obj := range c.Info.Uses {
		if obj.Pkg() == c.Pkg && obj.Parent() == c.Pkg.Scope() && c.Symbol(obj) == nil {
			t.Errorf("%s: no symbol for %v", c.Fset.Position(id.Pos()), obj)
		}
		if f, ok := obj.(*types.Func); ok && f.Pkg() == c.Pkg && f.Signature().Recv() != nil && !types.IsInterface(f.Signature().Recv().Type()) {
			if _, local := f.Signature().Recv().Type().(*types.Named); local && c.Symbol(f) == nil {
				t.Errorf("%s: no symbol for method %v", c.Fset.Position(id.Pos()), obj)
			}
		}
	}
}
