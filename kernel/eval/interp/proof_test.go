package interp

import (
	"context"
	"go/types"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/gander-go/gander/internal/golden"
	"github.com/gander-go/gander/kernel/eval/check"
	"github.com/gander-go/gander/kernel/eval/mods"
)

// TestProof holds the whitelist to its proof. It lowers the cells of every program in kernel/eval/testdata/programs as the evaluator
// would, and compares which programs rely on which construct with the table in proof.txt; -update writes it. A construct without a
// program is an error. That those programs print what Go prints, and that their cells really are interpreted, is what
// tests/conformance checks; in auto mode a package's table is built after the first cell that uses it.
func TestProof(t *testing.T) {
	files, err := filepath.Glob("../testdata/programs/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatal("no programs", err)
	}
	goCmd, err := exec.LookPath("go")
	if err != nil {
		t.Fatal(err)
	}
	m, err := mods.New(context.Background(), mods.Config{Go: goCmd, Dir: filepath.Join(t.TempDir(), "module"), Env: append(os.Environ(), "GOFLAGS=", "GOWORK=off")})
	if err != nil {
		t.Fatal(err)
	}
	proof := map[construct][]string{}
	for _, f := range files {
		name := strings.TrimSuffix(filepath.Base(f), ".txt")
		for c := range constructsOf(t, m, f) {
			proof[c] = append(proof[c], name)
		}
	}
	var b strings.Builder
	for c := range constructs {
		if len(proof[c]) == 0 {
			t.Errorf("no program shows that %q is right", c)
		}
		slices.Sort(proof[c])
		// The first few are enough to read, and do not change with every new program.
		b.WriteString(c.String() + "\t" + strings.Join(proof[c][:min(3, len(proof[c]))], " ") + "\n")
	}
	golden.Check(t, "proof.txt", []byte(b.String()))
}

// anyTables makes the engine lower cells over any package.
type anyTables struct{}

func (anyTables) Table(context.Context, *types.Package, bool) (Table, error) {
	return Table{}, ErrNoTable
}
func (anyTables) BuildTable(*types.Package) {}

// constructsOf are what the interpreted cells of a program rely on. Cells that need a table count for nothing else: in auto mode they may be
// compiled.
func constructsOf(t *testing.T, m *mods.Modules, file string) map[construct]bool {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	used, foreign := map[construct]bool{}, false
	s, e := check.New(m), New(Options{Tables: anyTables{}})
	parts := strings.Split(string(data), "\n-- ")
	for i, part := range parts[1:] {
		head, code, _ := strings.Cut(part, " --\n")
		if !strings.HasPrefix(head, "cell") {
			continue
		}
		c := s.Check(i+1, code)
		if len(c.Errors) > 0 {
			continue
		}
		if l, err := e.lower(c, check.BuildOptions{}); err == nil && len(c.Steps) > 0 {
			if l.used[foreignPackage] {
				foreign = true
				clear(l.used)
			}
			maps.Copy(used, l.used)
		}
		s.Commit(c, -1)
	}
	if foreign && len(used) > 0 {
		used[foreignPackage] = true
	}
	return used
}
