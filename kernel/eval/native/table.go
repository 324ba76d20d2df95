package native

import (
	"context"
	"errors"
	"fmt"
	"go/types"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/gander-go/gander/kernel/eval/interp"
)

// A table plugin makes a package known to interpreted cells: it names every exported function, variable and type of it, and registers them
// with package rt. It is built like a cell, and kept in the same cache; its import path is the hash of its text and of the state of the package.

// tables are what the engine knows of table plugins.
type tables struct {
	// mu guards what follows.
	mu     sync.Mutex
	texts  map[*types.Package]string
	found  map[*types.Package]interp.Table
	builds map[string]*building // by file: those that have not ended, and those that failed

	ctx  context.Context // of builds; it ends with the engine
	stop context.CancelFunc
}

// building is a build that others may wait for. err is set before done is closed.
type building struct {
	done chan struct{}
	err  error
}

func (b *building) failed() bool {
	select {
	case <-b.done:
		return b.err != nil
	default:
		return false
	}
}

func newTables() *tables {
	t := &tables{texts: map[*types.Package]string{}, found: map[*types.Package]interp.Table{}, builds: map[string]*building{}}
	t.ctx, t.stop = context.WithCancel(context.Background())
	return t
}

// forget drops what may no longer hold when packages change or the session process is another one.
func (t *tables) forget() {
	t.mu.Lock()
	defer t.mu.Unlock()
	clear(t.texts)
	clear(t.found)
	for name, b := range t.builds {
		if b.failed() {
			delete(t.builds, name)
		}
	}
}

// Table implements interp.Tables.
func (e *Engine) Table(ctx context.Context, p *types.Package, wait bool) (interp.Table, error) {
	text, err := e.tableText(p)
	if err != nil {
		return interp.Table{}, err
	}
	table, err := e.table(ctx, p, text, wait)
	if err == nil { // the session process is about to load it, and with it the package
		e.mu.Lock()
		e.tools.noteUsed([]string{p.Path()}, e.used)
		e.mu.Unlock()
	}
	return table, err
}

// BuildTable implements interp.Tables.
func (e *Engine) BuildTable(p *types.Package) {
	text, err := e.tableText(p) // now: p is not for two goroutines at a time
	if err == nil {
		go e.table(e.tables.ctx, p, text, true) //nolint:errcheck // who needs the table is told
	}
}

func (e *Engine) table(ctx context.Context, p *types.Package, text string, wait bool) (interp.Table, error) {
	t := e.tables
	t.mu.Lock()
	table, ok := t.found[p]
	t.mu.Unlock()
	if ok {
		return table, nil
	}
	path := p.Path()
	if wait {
		if err := e.tools.need(ctx, []string{path}); err != nil {
			return interp.Table{}, err
		}
	} else if !e.tools.knows(path) {
		return interp.Table{}, interp.ErrNoTable
	}
	if err := e.tools.oneVersion(path); err != nil {
		return interp.Table{}, err
	}
	name := "t" + e.tools.hash("table", text, e.tools.fingerprint([]string{path}))
	table = interp.Table{Name: name, Plugin: e.tableFile(name)}
	if _, err := os.Stat(table.Plugin); err != nil && !e.cache.fetch(name+".so", table.Plugin) {
		if !wait {
			return interp.Table{}, interp.ErrNoTable
		}
		if err := e.buildTableOnce(ctx, table, path, text); err != nil {
			return interp.Table{}, fmt.Errorf("building the table of package %s: %w", path, err)
		}
	}
	t.mu.Lock()
	t.found[p] = table
	t.mu.Unlock()
	return table, nil
}

// buildTableOnce builds a table, or waits for the build of it that there is. One that has failed is not tried again.
func (e *Engine) buildTableOnce(ctx context.Context, table interp.Table, path, text string) error {
	t, name := e.tables, table.Plugin
	t.mu.Lock()
	b := t.builds[name]
	if b == nil {
		b = &building{done: make(chan struct{})}
		t.builds[name] = b
		go func() {
			b.err = e.buildTable(t.ctx, table, path, text)
			if b.err == nil {
				t.mu.Lock()
				delete(t.builds, name)
				t.mu.Unlock()
			}
			close(b.done)
		}()
	}
	t.mu.Unlock()
	select {
	case <-b.done:
		return b.err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// buildTable compiles and links a table plugin. It holds no lock meanwhile.
func (e *Engine) buildTable(ctx context.Context, table interp.Table, path, text string) error {
	dir, err := os.MkdirTemp(filepath.Dir(table.Plugin), "build-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	cfg := dir + "/importcfg"
	if err := e.tools.importcfg(cfg, nil); err != nil {
		return err
	}
	text += fmt.Sprintf("const name = %q\n", table.Name)
	if err := os.WriteFile(dir+"/table.go", []byte(text), 0o644); err != nil {
		return err
	}
	self := modulePrefix + table.Name
	if err := e.tools.compile(ctx, self, dir+"/table.go", cfg, dir+"/table.a"); err != nil {
		return err
	}
	if err := e.tools.link(ctx, self, dir+"/table.a", cfg+".link", dir+"/table.so"); err != nil {
		return err
	}
	if err := os.Rename(dir+"/table.so", table.Plugin); err != nil {
		return err
	}
	e.cache.store(table.Name+".so", table.Plugin)
	return nil
}

// tableFile is where a table's plugin is, or is put.
func (e *Engine) tableFile(name string) string {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.path(name + e.again[name+".so"] + ".so")
}

func (e *Engine) tableText(p *types.Package) (string, error) {
	t := e.tables
	t.mu.Lock()
	defer t.mu.Unlock()
	text, ok := t.texts[p]
	if !ok {
		text = tableText(p)
		t.texts[p] = text
	}
	if text == "" {
		return "", errors.New("package " + p.Path() + " cannot be imported by others")
	}
	return text, nil
}

// tableText is the text of a table plugin, but for its name; "" for a package that other packages cannot import. Constants are not in it, since the checker
// has folded them, and neither is what is generic.
func tableText(p *types.Package) string {
	path := p.Path()
	if p.Name() == "main" || path == "unsafe" || path == "C" || isInternal(path) {
		return ""
	}
	var b strings.Builder
	alias := "_"
	scope := p.Scope()
	for _, name := range scope.Names() {
		o := scope.Lookup(name)
		if !o.Exported() {
			continue
		}
		switch o := o.(type) {
		case *types.Var:
			if isUnallocatable(o.Type()) {
				continue
			}
			fmt.Fprintf(&b, "m[%q] = reflect.ValueOf(&p.%s).Elem()\n", name, name)
		case *types.Func:
			if o.Signature().TypeParams().Len() > 0 {
				continue
			}
			fmt.Fprintf(&b, "m[%q] = reflect.ValueOf(p.%s)\n", name, name)
		case *types.TypeName:
			if !registrable(o) {
				continue
			}
			fmt.Fprintf(&b, "m[%q] = reflect.ValueOf((*p.%s)(nil))\n", name, name)
		default:
			continue
		}
		alias = "p"
	}
	return fmt.Sprintf(`package main
import (
"reflect"
rt %q
%s %q
)
func init() { rt.DeclareTable(name, table) }
func main() {}
func table() map[string]reflect.Value {
m := map[string]reflect.Value{}
%sreturn m
}
`, rtPath, alias, path, b.String())
}

// isInternal reports whether only some packages may import path.
func isInternal(path string) bool {
	return strings.HasPrefix(path, "vendor/") || slices.Contains(strings.Split(path, "/"), "internal")
}

// knows reports whether a package's archive is known, without waiting for the go command.
func (t *toolchain) knows(path string) bool {
	if !t.mu.TryLock() {
		return false
	}
	defer t.mu.Unlock()
	return t.pkgs[path] != nil
}

// oneVersion is an error when new cells use another version of a package, or of one that it imports, than the session process has
// loaded under that path.
func (t *toolchain) oneVersion(path string) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	paths := []string{path}
	if q := t.pkgs[path]; q != nil {
		paths = append(paths, q.Deps...)
	}
	for _, p := range paths {
		if t.remap[p] != "" {
			return fmt.Errorf("package %s has changed since it was loaded", p)
		}
	}
	return nil
}
