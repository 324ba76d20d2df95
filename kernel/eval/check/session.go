package check

import (
	"go/token"
	"go/types"
	"sync"
)

// Importer finds packages for the checker. It is safe for concurrent use.
type Importer interface {
	types.Importer
	// Prepare makes paths importable in one go, so that Import of each is fast. It reports no errors: Import does.
	Prepare(paths []string)
}

// Session is what the cells so far have declared. All methods are safe for concurrent use; queries work on the state of
// the last Commit and never wait for a cell.
type Session struct {
	fset *token.FileSet
	imp  Importer

	// mu guards st.
	mu sync.Mutex
	st *state
}

// state is an immutable snapshot of a session.
type state struct{}

// pending is what Commit makes of a checked cell.
type pending struct{}

// New makes an empty session whose positions are in fset, which imp must use too.
func New(fset *token.FileSet, imp Importer) *Session {
	return &Session{fset: fset, imp: imp, st: &state{}}
}

// Check checks code as In[n]. The session stays as it is.
func (s *Session) Check(n int, code string) *Checked { return nil }

// Commit makes what c declares part of the session. It is called after the cell ran, also when it failed: steps is the
// number of steps that are known to have been done, or -1 for all. All declarations are committed; of the variables
// those that a done step defined, and those that a committed declaration uses (they hold their zero value).
func (s *Session) Commit(c *Checked, steps int) {}
