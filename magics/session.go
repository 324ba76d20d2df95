package magics

import (
	"fmt"
	"slices"
	"strings"

	"github.com/dustin/go-humanize"

	"github.com/gander-go/gander/kernel/cell"
	"github.com/gander-go/gander/render"
)

func init() {
	register(magic{name: "who", use: "%who [TYPE]", help: "lists the session's variables", line: func(m *call) *cell.Result { return m.who(false) }})
	register(magic{name: "whos", use: "%whos [TYPE]", help: "lists the session's variables with types, sizes and values", line: func(m *call) *cell.Result { return m.who(true) }})
	register(magic{name: "reset", use: "%reset", help: "forgets all variables, functions and types: a new session process", line: resetLine, check: noArgs})
	register(magic{name: "get", use: "%get path[@version]...", help: "adds modules to the session, as go get does", line: getLine, check: func(m *call) error { _, err := m.modules(); return err }})
	register(magic{name: "engine", use: "%engine [auto|native|interp]", help: "shows or sets how cells run", line: engineLine,
		check: func(m *call) error {
			if m.args != "" && !slices.Contains(engineModes, m.args) {
				return usagef("%%engine: %q is not one of %s", m.args, strings.Join(engineModes, ", "))
			}
			return nil
		}})
	register(magic{name: "native", use: "%%native", help: "compiles the cell, whatever the engine", check: noArgs, cell: func(m *call) *cell.Result {
		o := m.o
		o.Engine = "native"
		return m.runSegments(m.ctx, m.cell, m.body, m.line, o, m.out, m.in)
	}})
}

var engineModes = []string{"auto", "native", "interp"}

// who lists variables, all or those whose type contains the text given.
func (m *call) who(long bool) *cell.Result {
	vars, err := m.lang.Vars(m.ctx)
	if err != nil {
		return m.failure(err)
	}
	want := strings.TrimSpace(m.args)
	kept := vars[:0]
	for _, v := range vars {
		if want == "" || strings.Contains(v.Type, want) {
			kept = append(kept, v)
		}
	}
	vars = sorted(kept, func(a, b Variable) int { return strings.Compare(a.Name, b.Name) })
	if len(vars) == 0 {
		return textResult("There are no variables.")
	}
	if !long {
		var list []string
		for _, v := range vars {
			list = append(list, v.Name)
		}
		return textResult(strings.Join(list, "  "))
	}
	grid := render.Grid{Title: "Variables", Sort: -1, Cols: []render.Column{{Name: "Name"}, {Name: "Type"}, {Name: "Size", Unit: render.UnitBytes, Help: "shallow size and elements, an estimate"}, {Name: "Value"}}}
	var text strings.Builder
	for _, v := range vars {
		grid.Rows = append(grid.Rows, []any{v.Name, v.Type, v.Bytes, v.Value})
		fmt.Fprintf(&text, "%-16s %-24s %10s  %s\n", v.Name, v.Type, humanize.IBytes(uint64(max(0, v.Bytes))), v.Value)
	}
	b, err := render.Table(grid, render.Options{Limit: -1})
	if err != nil {
		return m.failure(err)
	}
	data := b.MIME()
	data["text/plain"] = strings.TrimRight(text.String(), "\n")
	delete(data, "image/png")
	m.out.Display(cell.Bundle{Data: data})
	return &cell.Result{}
}

func resetLine(m *call) *cell.Result {
	if err := m.lang.Reset(m.ctx); err != nil {
		return m.failure(err)
	}
	m.mu.Lock()
	m.env = map[string]string{}
	m.mu.Unlock()
	m.library.Reset()
	return &cell.Result{}
}

// modules are the arguments of %get.
func (m *call) modules() ([]string, error) {
	specs, err := words(m.args)
	switch {
	case err != nil:
		return nil, usagef("%%get: %v", err)
	case len(specs) == 0:
		return nil, usagef("%%get: which module? write %%get path[@version]")
	}
	for _, s := range specs {
		if strings.HasPrefix(s, "-") {
			return nil, usagef("%%get: there is no flag %s", s)
		}
	}
	return specs, nil
}

// getLine runs %get; a line tells how far it is and is replaced as it goes.
func getLine(m *call) *cell.Result {
	specs, err := m.modules()
	if err != nil {
		return m.failure(err)
	}
	id := fmt.Sprintf("get-%d-%d", m.cell.N, m.line)
	shown := false
	progress := func(s string) {
		b := cell.Text(s)
		b.DisplayID = id
		if !shown {
			m.out.Display(b)
			shown = true
			return
		}
		m.out.Update(b)
	}
	for _, spec := range specs {
		progress("go get " + spec)
		if err := m.lang.Get(m.ctx, spec, progress); err != nil {
			return m.failure(err)
		}
	}
	progress("added " + strings.Join(specs, ", "))
	return &cell.Result{}
}

func engineLine(m *call) *cell.Result {
	mode := strings.TrimSpace(m.args)
	if mode == "" {
		return textResult(m.lang.Engine())
	}
	if err := m.lang.SetEngine(mode); err != nil {
		return m.failure(usagef("%%engine: %v", err))
	}
	return &cell.Result{}
}
