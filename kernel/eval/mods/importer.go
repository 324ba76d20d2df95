package mods

import (
	"context"
	"fmt"
	"go/importer"
	"go/token"
	"go/types"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/gander-go/gander/kernel/eval/reflected"
)

// Importer returns an importer with packages of its own, positioned in fset. It is for one goroutine at a time.
func (m *Modules) Importer(fset *token.FileSet) types.Importer {
	if m.cfg.Go == "" && m.cfg.Symbols != nil {
		return reflected.New(m.cfg.Symbols, m.cfg.Generic)
	}
	return &reader{m: m, fset: fset, generation: -1}
}

// reader reads export data. It starts afresh when the listing changes.
type reader struct {
	m          *Modules
	fset       *token.FileSet
	generation int
	gc         types.Importer
}

func (r *reader) Import(path string) (*types.Package, error) {
	if path == "unsafe" {
		return types.Unsafe, nil
	}
	m := r.m
	if len(m.unknown([]string{path})) > 0 {
		m.list(context.Background(), []string{path})
	}
	m.mu.Lock()
	if p := m.pkgs[path]; p == nil || p.Export == "" {
		err := m.failure(path)
		m.mu.Unlock()
		return nil, err
	}
	if r.generation != m.generation {
		r.generation = m.generation
		r.gc = importer.ForCompiler(r.fset, "gc", r.open)
	}
	m.mu.Unlock()
	return r.gc.Import(path)
}

func (r *reader) open(path string) (io.ReadCloser, error) {
	r.m.mu.Lock()
	p := r.m.pkgs[path]
	r.m.mu.Unlock()
	if p == nil || p.Export == "" {
		return nil, fmt.Errorf("importing %q: it was not listed", path)
	}
	return os.Open(p.Export)
}

// PackageDir is the folder with a package's source, "" when it is not known.
func (m *Modules) PackageDir(path string) string {
	m.mu.Lock()
	defer m.mu.Unlock()
	if p := m.pkgs[path]; p != nil && p.Dir != "" {
		return p.Dir
	}
	if m.cfg.GOROOT != "" && valid(path) {
		if dir := filepath.Join(m.cfg.GOROOT, "src", filepath.FromSlash(path)); !strings.Contains(path, "..") {
			if st, err := os.Stat(dir); err == nil && st.IsDir() {
				return dir
			}
		}
	}
	return ""
}

// File is the path on disk of a file as export data names it: files of the Go installation start with $GOROOT there.
func (m *Modules) File(name string) string {
	if rest, ok := strings.CutPrefix(name, "$GOROOT"); ok && m.cfg.GOROOT != "" {
		return m.cfg.GOROOT + rest
	}
	return name
}
