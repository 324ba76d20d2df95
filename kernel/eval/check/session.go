package check

import (
	"context"
	"go/token"
	"go/types"
	"sync"
	"sync/atomic"
)

// Packages finds packages for the checker. It is safe for concurrent use.
type Packages interface {
	// Importer returns an importer of its own packages, whose positions are in fset. The checker uses it from one
	// goroutine at a time.
	Importer(fset *token.FileSet) types.Importer
	// Prepare makes paths importable in one go, so that importing each is fast. It reports no errors: importing does.
	Prepare(ctx context.Context, paths []string)
	// Known reports whether a package can be imported, or is known not to exist, without waiting.
	Known(path string) bool
	// Standard returns the import paths of the standard packages of that name, the preferred one first.
	Standard(name string) []string
	// StandardNames returns the names of all standard packages.
	StandardNames() []string
	// Paths returns the import paths that cells are likely to import.
	Paths() []string
	// PackageDir is the folder with a package's source, "" when unknown.
	PackageDir(path string) string
	// File is the path on disk of a file as export data names it.
	File(name string) string
}

// Session is what the cells so far have declared. All methods are safe for concurrent use; queries work on the state of
// the last Commit and never wait for a cell.
type Session struct {
	pkgs  Packages
	cells *view
	query *view
	ids   atomic.Int64 // of symbols

	// mu guards st.
	mu sync.Mutex
	st *state
}

// state is an immutable snapshot of a session.
type state struct {
	items []*item // what is kept, in the order of declaration
	of    map[*Symbol]*item
	names names
	stale map[*item]bool // those that the next cell binds again, because packages that they use have changed
}

// New makes an empty session.
func New(pkgs Packages) *Session {
	return &Session{pkgs: pkgs, cells: newView(pkgs, false), query: newView(pkgs, true), st: emptyState()}
}

func emptyState() *state {
	return &state{of: map[*Symbol]*item{}, names: names{syms: map[string]*Symbol{}, imports: map[string]string{}}}
}

// Reset forgets all declarations.
func (s *Session) Reset() {
	s.mu.Lock()
	s.st = emptyState()
	s.mu.Unlock()
}

// Preimport makes packages known under their names without an import declaration. Those that cannot be found are left
// out.
func (s *Session) Preimport(paths ...string) {
	s.pkgs.Prepare(context.Background(), paths)
	found := map[string]string{}
	s.cells.mu.Lock()
	for _, p := range paths {
		if pkg, err := s.cells.imp.Import(p); err == nil {
			found[pkg.Name()] = p
		}
	}
	s.cells.mu.Unlock()
	s.mu.Lock()
	defer s.mu.Unlock()
	st := *s.st
	st.names = st.names.clone()
	for n, p := range found {
		st.names.imports[n] = p
	}
	s.st = &st
}

func (s *Session) snapshot() *state {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.st
}

// Fset has the positions of every Checked of this session.
func (s *Session) Fset() *token.FileSet { return s.cells.fset }

// Check checks code as In[n]. The session stays as it is.
func (s *Session) Check(n int, code string) *Checked {
	return s.CheckContext(context.Background(), n, code)
}

// CheckContext is Check that stops looking for packages, and fails, when ctx ends.
func (s *Session) CheckContext(ctx context.Context, n int, code string) *Checked {
	s.cells.mu.Lock()
	defer s.cells.mu.Unlock()
	return s.check(ctx, s.cells, s.snapshot(), n, code)
}
