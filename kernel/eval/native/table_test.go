package native

import (
	"context"
	"errors"
	"flag"
	"go/token"
	"go/types"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/gander-go/gander/kernel/eval/interp"
	"github.com/gander-go/gander/kernel/session/link"
)

var allTables = flag.Bool("alltables", false, "compile the tables of all standard packages")

// tableEngine is an engine with a cache of its own, and packages that it can make tables of.
func tableEngine(t *testing.T, cache string) (*Engine, types.Importer) {
	t.Helper()
	s, err := shared()
	if err != nil {
		t.Fatal(err)
	}
	e, err := New(Options{Workspace: s.ws, Dir: s.ws.Dir, CacheDir: cache, Log: discard})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { e.Close() })
	return e, s.mods.Importer(token.NewFileSet())
}

// TestTableTexts compiles the tables of packages whose symbols are of all kinds: generic ones and constraints, types that only C allocates, none
// at all, and those of the runtime's own.
func TestTableTexts(t *testing.T) {
	e, imp := tableEngine(t, t.TempDir())
	paths := []string{"net/http", "go/types", "os/exec", "syscall", "structs", "runtime/cgo", "cmp", "iter", "weak", "embed", "reflect", "sync/atomic", "testing", "encoding/csv"}
	if *allTables {
		out, err := exec.Command("go", "list", "std").Output()
		if err != nil {
			t.Fatal(err)
		}
		paths = slices.DeleteFunc(strings.Fields(string(out)), isInternal)
	}
	if err := e.tools.need(context.Background(), paths); err != nil {
		t.Fatal(err)
	}
	dir, n := t.TempDir(), 0
	cfg := filepath.Join(dir, "importcfg")
	if err := e.tools.importcfg(cfg, nil); err != nil {
		t.Fatal(err)
	}
	for _, path := range paths {
		p, err := imp.Import(path)
		if err != nil {
			t.Fatal(err)
		}
		text := tableText(p)
		if text == "" {
			if path != "unsafe" {
				t.Errorf("there is no table of %s", path)
			}
			continue
		}
		n++
		src := filepath.Join(dir, "table.go")
		if err := os.WriteFile(src, []byte(text+"const name = \"t\"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
		if err := e.tools.compile(context.Background(), "gander/t", src, cfg, filepath.Join(dir, "table.a")); err != nil {
			t.Errorf("the table of %s: %v", path, err)
		}
	}
	t.Logf("%d tables", n)
}

// TestTableBuild builds a table when it is asked to, once for all who wait, and finds it in the cache from then on.
func TestTableBuild(t *testing.T) {
	cache, ctx := t.TempDir(), context.Background()
	e, imp := tableEngine(t, cache)
	p, err := imp.Import("encoding/csv")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := e.Table(ctx, p, false); !errors.Is(err, interp.ErrNoTable) {
		t.Fatalf("before it is built: %v", err)
	}
	text, err := e.tableText(p)
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	got := make([]interp.Table, 4)
	for i := range got {
		wg.Go(func() {
			var err error
			if got[i], err = e.table(ctx, p, text, true); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	for _, g := range got {
		if g != got[0] || g.Name == "" {
			t.Errorf("%v and %v", g, got[0])
		}
	}
	if _, err := os.Stat(got[0].Plugin); err != nil {
		t.Error(err)
	}
	other, _ := tableEngine(t, cache)
	if err := other.tools.need(ctx, []string{"encoding/csv"}); err != nil {
		t.Fatal(err)
	}
	if g, err := other.Table(ctx, p, false); err != nil || g.Name != got[0].Name {
		t.Errorf("from the cache: %v %v", g, err)
	}
	if !e.Discard(link.Unit{Plugins: []string{got[0].Plugin}}) {
		t.Error("there is no hope in building it anew")
	}
	if _, err := e.Table(ctx, p, false); !errors.Is(err, interp.ErrNoTable) {
		t.Errorf("after it was discarded: %v", err)
	}
	if g, err := e.Table(ctx, p, true); err != nil || g.Name != got[0].Name || g.Plugin == got[0].Plugin {
		t.Errorf("built anew: %v %v", g, err)
	}
	gone, stop := context.WithCancel(ctx)
	stop()
	q, err := imp.Import("container/ring")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := e.Table(gone, q, true); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	if _, err := e.Table(ctx, types.NewPackage("example.com/internal/x", "x"), true); err == nil {
		t.Error("an internal package has a table")
	}
}
