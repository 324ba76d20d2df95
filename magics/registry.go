package magics

import (
	"context"
	"slices"
	"sort"

	"github.com/spf13/pflag"

	"github.com/gander-go/gander/kernel/cell"
)

// magic is one entry of the registry.
type magic struct {
	name string
	use  string // how it is written, for %lsmagic and %help
	help string // one sentence
	more string // what else there is to know, for %help and questions; usually nothing
	// line runs %name args; nil when there is no such form.
	line func(m *call) *cell.Result
	// cell runs %%name args over a body; nil when there is no such form.
	cell func(m *call) *cell.Result
	// flags are those of the magic, for completion and help. nil for magics without flags.
	flags func() *pflag.FlagSet
	// takesGo says that Go code follows the flags on the magic's line.
	takesGo bool
	// check finds mistakes in args and body before anything of the cell runs. nil for nothing to check.
	check func(m *call) error
}

// call is one use of a magic.
type call struct {
	*Engine
	ctx  context.Context
	cell *cell.Cell
	out  cell.Output
	in   cell.Input

	name string // of the magic
	args string // behind the name
	body string // of a cell magic
	line int    // of the cell, of the magic or of the first line of the body
	at   int    // line of the magic itself

	o RunOptions // how code around the magic runs: code that the magic runs is recorded if that is

	isCell bool // written as %%name
	last   bool // nothing follows in the cell: values are shown
}

// registry is filled by init functions and read-only after.
var registry = map[string]*magic{}

func register(m magic) { registry[m.name] = &m }

// noArgs is the check of magics that take nothing.
func noArgs(m *call) error {
	if m.args == "" {
		return nil
	}
	mark := "%"
	if m.isCell {
		mark = "%%"
	}
	return usagef("%s%s takes no arguments, not %q", mark, m.name, m.args)
}

// names lists all magics in order.
func names() []string {
	var out []string
	for n := range registry {
		out = append(out, n)
	}
	sort.Strings(out)
	return out
}

// instead tells what does here what magics of IPython and its extensions do there.
var instead = map[string]string{
	"prun":       "%%profile tells where the time goes",
	"lprun":      "%%profile --sample 250 tells where the time goes",
	"mprun":      "%%profile --profile-memory and %%memit tell of memory",
	"pip":        "%get PATH[@VERSION] adds a Go module",
	"conda":      "%get PATH[@VERSION] adds a Go module",
	"mamba":      "%get PATH[@VERSION] adds a Go module",
	"uv":         "%get PATH[@VERSION] adds a Go module",
	"autoreload": "packages that change on disk are built again by themselves",
	"load_ext":   "everything is loaded already (%lsmagic lists it)",
	"matplotlib": "a display.Chart draws lines: display.Chart? tells how",
	"ls":         "!ls lists files",
	"script":     "%%bash runs the shell",
	"python":     "cells are Go; !python3 FILE runs a script",
	"capture":    "results are Go values: assign them",
	"pinfo":      "write expr? instead",
	"pinfo2":     "write expr?? instead",
	"edit":       "%load FILE puts a file into the cell",
	"debug":      "an error names the cell and the line of every frame of yours",
	"pdb":        "an error names the cell and the line of every frame of yours",
}

// find looks a magic up. The error names the nearest one that exists in the form asked for.
func find(name string, cellForm bool) (*magic, error) {
	m := registry[name]
	mark := "%"
	if cellForm {
		mark = "%%"
	}
	switch {
	case m == nil && instead[name] != "":
		return nil, usagef("there is no magic %s%s; %s", mark, name, instead[name])
	case m == nil:
		if near := nearest(name, names()); near != "" {
			return nil, usagef("there is no magic %s%s; did you mean %s%s? (%%lsmagic lists all)", mark, name, mark, near)
		}
		return nil, usagef("there is no magic %s%s; %%lsmagic lists all", mark, name)
	case cellForm && m.cell == nil:
		return nil, usagef("%%%s works on a line only: write %s", name, m.use)
	case !cellForm && m.line == nil:
		return nil, usagef("%%%s works on a whole cell only: put %%%%%s on its first line", name, name)
	}
	return m, nil
}

// failure is a result that tells of err, at the line of the magic.
func (m *call) failure(err error) *cell.Result { return failed(m.cell, m.at, err) }

// textResult shows s as the value of the cell.
func textResult(s string) *cell.Result {
	b := cell.Text(s)
	return &cell.Result{Value: &b}
}

func sorted[T any](list []T, less func(a, b T) int) []T {
	slices.SortFunc(list, less)
	return list
}
