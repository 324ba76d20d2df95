package eval

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/gander-go/gander/kernel/cell"
	"github.com/gander-go/gander/kernel/eval/check"
)

// refresh takes notice of packages that have changed on disk. A session process cannot load a second version of a package, so
// that one which it has loaded stays, unless the engine knows a way.
func (e *Evaluator) refresh(out cell.Output) {
	changed := e.cfg.Packages.Changed()
	if len(changed) == 0 {
		return
	}
	err := e.reload(changed)
	loaded := slices.ContainsFunc(changed, func(p string) bool { return e.loaded[p] })
	if loaded && err != nil {
		for _, p := range changed {
			out.Stream(cell.Stderr, fmt.Sprintf("Note: package %s has changed on disk; this session has loaded it and keeps it as it was. %%reset starts anew with the changes.\n", p))
		}
		out.Stream(cell.Stderr, "The reason: "+err.Error()+"\n")
		return
	}
	local := e.cfg.Packages.Local() // others may use the changed ones
	e.cfg.Packages.Adopt()
	for _, p := range changed {
		out.Stream(cell.Stderr, fmt.Sprintf("Note: package %s has changed on disk and is built again.\n", p))
		if old := e.session.VarsOfPackage(p); len(old) > 0 {
			out.Stream(cell.Stderr, fmt.Sprintf("Note: values of its old version are in %s; make them anew to use the changes.\n", strings.Join(old, ", ")))
		}
	}
	if gone := e.session.Refit(local); len(gone) > 0 {
		var b strings.Builder
		b.WriteString("Note: what no longer compiles with the changes is forgotten:\n")
		for _, f := range gone {
			fmt.Fprintf(&b, "  %s %s of In[%d]: %s\n", f.Kind, f.Name, f.Cell, f.Why)
		}
		out.Stream(cell.Stderr, b.String())
	}
}

// reload tells the compiling engine that packages have changed.
func (e *Evaluator) reload(paths []string) error {
	if r, ok := e.cfg.Native.(Reloader); ok {
		return r.Reload(paths)
	}
	return errors.New("a package can be loaded once")
}

// noteLoaded remembers the local packages that the session process has loaded with c.
func (e *Evaluator) noteLoaded(c *check.Checked) {
	local := e.cfg.Packages.Local()
	if slices.ContainsFunc(c.Imports, func(i check.Import) bool { return slices.Contains(local, i.Path) }) {
		for _, p := range local {
			e.loaded[p] = true
		}
	}
}
