package native

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

var (
	tagged       = regexp.MustCompile(`In\[#[0-9a-f]{8}\]`)
	compilerLine = regexp.MustCompile(`^In\[(\d+)\]:(\d+)(?::\d+)?: (.*)$`)
)

// packages is the text of a unit.
type packages struct {
	declPath, declText string // empty when the cell declares nothing
	cellPath, cellText string
	imports            []string // packages that are not cells'
	mod                *module
	modules            []*module // of earlier cells, directly imported by either
}

// emit writes the unit's packages and names them.
func (u *unit) emit(ctx context.Context) (*packages, error) {
	u.plan()
	cell := u.cellText()
	decl := u.declText()
	p := &packages{mod: u.mod}
	for _, m := range slices.Concat(u.decls.modlist, u.cell.modlist) {
		if m != u.mod && !slices.Contains(p.modules, m) {
			p.modules = append(p.modules, m)
		}
	}
	var blank []string
	for _, i := range u.c.Imports {
		if i.Name == "_" {
			blank = append(blank, i.Path)
		}
	}
	p.imports = slices.Concat(u.decls.order, u.cell.order, blank)
	slices.Sort(p.imports)
	p.imports = slices.Compact(p.imports)
	if err := u.e.tools.need(ctx, p.imports); err != nil {
		return nil, err
	}
	deps := u.e.tools.fingerprint(p.imports)
	if decl != "" {
		u.mod.deps = append(u.mod.deps, u.decls.modlist...)
		text := u.decls.assemble(decl, nil)
		if u.loadedProbes(text, deps) {
			p.modules = append(p.modules, u.mod)
			p.cellText = u.cell.assemble(cell, blank)
			p.cellPath = modulePrefix + "s" + u.e.tools.hash("cell", p.cellText, deps)
			return p, nil
		}
		for salt := 0; ; salt++ {
			p.declText = text
			if salt > 0 { // the same text again, but about other variables: a package of its own
				p.declText += fmt.Sprintf("\n// %d\n", salt)
			}
			p.declPath = modulePrefix + "d" + u.e.tools.hash("decl", p.declText, deps)
			if !u.e.loaded[p.declPath] {
				break
			}
		}
		u.mod.path = p.declPath
		if !strings.Contains(cell, u.cell.modules[u.mod]+".") || u.cell.modules[u.mod] == "" {
			blank = append(blank, p.declPath)
		}
	}
	p.cellText = u.cell.assemble(cell, blank)
	p.cellPath = modulePrefix + "s" + u.e.tools.hash("cell", p.cellText, deps)
	return p, nil
}
