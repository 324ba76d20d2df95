package check

import (
	"fmt"
	"go/ast"
	"go/types"
	"regexp"
	"runtime"
	"slices"
	"strings"
)

// Forgotten is a declaration that the session no longer has.
type Forgotten struct {
	Kind SymbolKind
	Name string // "f", "T" or "T.M"
	Cell int    // that declared it
	Why  string // "undefined: shape.Square"
}

// Refit fits the session to packages that have changed: Packages yields the changed ones already. Declarations that no longer
// compile with them are forgotten, and returned in the order of their cells; the others that use them are bound again with the
// next cell.
func (s *Session) Refit(paths []string) []Forgotten {
	s.cells.mu.Lock()
	old := s.snapshot()
	stale := map[*item]bool{}
	for _, it := range old.items {
		for _, r := range it.refs {
			if r.pkg != "" && slices.Contains(paths, r.pkg) {
				stale[it] = true
			}
		}
	}
	if len(stale) == 0 {
		s.cells.mu.Unlock()
		return nil
	}
	gone := s.misfits(old, stale)
	next := &state{names: old.names.clone(), of: map[*Symbol]*item{}, stale: map[*item]bool{}}
	var out []Forgotten
	for _, it := range old.items {
		if why, ok := gone[it]; ok {
			if why != "" {
				out = append(out, Forgotten{it.kind, it.syms[0].Key(), it.cell, why})
			}
			continue
		}
		next.items = append(next.items, it)
		for _, sym := range it.syms {
			next.of[sym] = it
		}
		if stale[it] && it.kind != VarSymbol {
			next.stale[it] = true
		}
	}
	next.tidy()
	s.cells.mu.Unlock()

	s.mu.Lock()
	s.st = next
	s.mu.Unlock()
	s.cells.forget(next.items)
	s.query.forget(next.items)
	slices.SortStableFunc(out, func(a, b Forgotten) int { return a.Cell - b.Cell })
	return out
}

// misfits finds the items that do not compile any more, with the reasons. Those in stale are looked at whole, of others only what can be
// seen from outside. The reason of an item that no name means is empty: nobody misses it.
func (s *Session) misfits(st *state, stale map[*item]bool) map[*item]string {
	gone := map[*item]string{}
	drop := func(it *item, why string) {
		gone[it] = ""
		for _, sym := range it.syms {
			if st.names.syms[sym.Key()] == sym {
				gone[it] = why
			}
		}
	}
	for {
		before := len(gone)
		for it, msg := range s.checkItems(st, stale, gone) {
			drop(it, it.clean(msg))
		}
		// What uses something that is gone is gone too.
		for again := true; again; {
			again = false
			for _, it := range st.items {
				if _, ok := gone[it]; ok {
					continue
				}
				for _, r := range append([]ref{{sym: it.recv}}, it.refs...) {
					of := st.of[r.sym]
					if _, lost := gone[of]; lost && of != nil {
						drop(it, fmt.Sprintf("it uses %s %s", of.kind, r.sym.Key()))
						again = true
						break
					}
				}
			}
		}
		if len(gone) == before {
			return gone
		}
	}
}

// checkItems type-checks the items but for those in gone, and returns the first complaint about each that does not compile.
func (s *Session) checkItems(st *state, stale map[*item]bool, gone map[*item]string) map[*item]string {
	v := s.cells
	bases := map[int]*item{}
	var files []*ast.File
	for _, it := range st.items {
		if _, ok := gone[it]; ok {
			continue
		}
		pf := v.parse(it, st.names)
		if pf == nil {
			continue
		}
		f := pf.bare
		if stale[it] {
			f = pf.full
		}
		files = append(files, f)
		bases[v.fset.File(f.Package).Base()] = it
	}
	bad := map[*item]string{}
	conf := types.Config{
		Importer:                 v.imp,
		DisableUnusedImportCheck: true,
		Sizes:                    types.SizesFor("gc", runtime.GOARCH),
		Error: func(err error) {
			e := err.(types.Error)
			f := v.fset.File(e.Pos)
			if f == nil || e.Soft {
				return
			}
			if it := bases[f.Base()]; it != nil && bad[it] == "" {
				bad[it] = strings.TrimSpace(e.Msg)
			}
		},
	}
	types.NewChecker(&conf, v.fset, types.NewPackage("main", "cell"), nil).Files(files) //nolint:errcheck // every error went to conf.Error
	return bad
}

var internalNumber = regexp.MustCompile(mark + `\d+`)

// clean spells the internal names in a message about the item as its user would.
func (it *item) clean(msg string) string {
	for _, r := range it.refs {
		if r.pkg != "" {
			msg = strings.ReplaceAll(msg, alias(r.pkg), baseName(r.pkg))
		}
	}
	return internalNumber.ReplaceAllString(msg, "")
}
