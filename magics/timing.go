package magics

import (
	"fmt"
	"go/ast"
	"go/parser"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/gander-go/gander/kernel/cell"
	"github.com/gander-go/gander/profiler/timing"
)

func init() {
	timeit := func() []string { var o timeitOptions; return flagNames(o.flags("timeit")) }
	memit := func() []string { var o memitOptions; return flagNames(o.flags("memit")) }
	register(magic{name: "time", use: "%time STATEMENT, %%time", help: "runs code once and tells how long it took", line: timeMagic, cell: timeMagic})
	register(magic{name: "timeit", use: "%timeit [-n N] [-r R] [-c] [-p P] [-q] [-o] [-v VAR] STATEMENT, %%timeit [flags] [SETUP]", help: "runs code many times and tells how long a run takes", line: timeitMagic, cell: timeitMagic, flags: timeit,
		check: func(m *call) error {
			var o timeitOptions
			_, err := parseTimed(o.flags(m.name), m.args)
			return err
		}})
	register(magic{name: "memit", use: "%memit [-r R] [-i SECONDS] [-q] [-o] STATEMENT, %%memit [flags] [SETUP]", help: "runs code and tells how much memory it needed", line: memitMagic, cell: memitMagic, flags: memit,
		check: func(m *call) error {
			var o memitOptions
			_, err := parseTimed(o.flags(m.name), m.args)
			return err
		}})
}

// timeMagic runs %time and %%time.
func timeMagic(m *call) *cell.Result {
	code := m.body
	if !m.isCell() {
		code = m.padded(m.args)
	} else if m.args != "" {
		return m.failure(usagef("%%%%time takes no arguments, not %q", m.args))
	}
	r, u := m.lang.Run(m.ctx, m.cell, code, m.line, RunOptions{}, m.out, m.in)
	if !u.Ran {
		return r
	}
	text := fmt.Sprintf("CPU times: total: %s\nWall time: %s\n", seconds(u.CPU), seconds(u.Wall))
	if u.Build > int64(100*time.Millisecond) {
		text += fmt.Sprintf("Compile time: %s\n", seconds(u.Build))
	}
	m.out.Stream(cell.Stdout, text)
	return r
}

func seconds(ns int64) string { return timing.Format(float64(ns)/1e9, 3) }

// isCell reports whether the magic was written as %%name.
func (m *call) isCell() bool { return strings.HasPrefix(strings.TrimSpace(m.cell.Code), "%%"+m.name) }

// padded puts the code of a line magic at the column that it has in the cell.
func (m *call) padded(code string) string {
	lines := strings.Split(m.cell.Code, "\n")
	if m.line < 1 || m.line > len(lines) {
		return code
	}
	at := strings.Index(lines[m.line-1], code)
	return strings.Repeat(" ", max(0, at)) + code
}

type timeitOptions struct {
	loops, runs, precision int
	wall, cpu, quiet       bool
	result                 bool
	variable               string
}

func (o *timeitOptions) flags(name string) *pflag.FlagSet {
	fs := newFlags(name)
	fs.IntVarP(&o.loops, "number", "n", 0, "loops in each run; chosen so that a run takes 0.2 s by default")
	fs.IntVarP(&o.runs, "repeat", "r", 7, "runs")
	fs.IntVarP(&o.precision, "precision", "p", 3, "significant digits")
	fs.BoolVarP(&o.wall, "time", "t", false, "measure wall time (the default)")
	fs.BoolVarP(&o.cpu, "clock", "c", false, "measure CPU time")
	fs.BoolVarP(&o.quiet, "quiet", "q", false, "print nothing")
	fs.BoolVarP(&o.result, "output", "o", false, "give the result as the cell's value, a *timing.Result")
	fs.StringVarP(&o.variable, "var", "v", "", "keep the result in a variable")
	return fs
}

// parseTimed parses the flags in front of Go code, and returns the code.
func parseTimed(fs *pflag.FlagSet, text string) (code string, err error) {
	flags, code, err := cutFlags(fs, text)
	if err != nil {
		return "", err
	}
	return code, parseFlags(fs, flags)
}

func timeitMagic(m *call) *cell.Result {
	var o timeitOptions
	code, err := parseTimed(o.flags(m.name), m.args)
	if err != nil {
		return m.failure(err)
	}
	options := fmt.Sprintf("timing.Options{Loops: %d, Runs: %d, CPU: %t, Precision: %d}", o.loops, o.runs, o.cpu, o.precision)
	return m.timed(code, "timing.Run("+options, o.quiet, o.result, o.variable)
}

type memitOptions struct {
	runs     int
	interval float64
	quiet    bool
	result   bool
	variable string
}

func (o *memitOptions) flags(name string) *pflag.FlagSet {
	fs := newFlags(name)
	fs.IntVarP(&o.runs, "repeat", "r", 1, "runs, of which the largest counts")
	fs.Float64VarP(&o.interval, "interval", "i", 0.01, "seconds between samples")
	fs.BoolVarP(&o.quiet, "quiet", "q", false, "print nothing")
	fs.BoolVarP(&o.result, "output", "o", false, "give the result as the cell's value, a *timing.MemoryResult")
	fs.StringVarP(&o.variable, "var", "v", "", "keep the result in a variable")
	return fs
}

func memitMagic(m *call) *cell.Result {
	var o memitOptions
	code, err := parseTimed(o.flags(m.name), m.args)
	if err != nil {
		return m.failure(err)
	}
	options := fmt.Sprintf("timing.MemoryOptions{Runs: %d, Interval: %d}", o.runs, int64(o.interval*1e9))
	return m.timed(code, "timing.Memory("+options, o.quiet, o.result, o.variable)
}

// timed runs code inside a call of package timing, whose text up to the function is call. In the cell form code is the
// setup, run once and not measured, and the cell's body is measured.
func (m *call) timed(code, call string, quiet, result bool, variable string) *cell.Result {
	line := m.line
	if m.isCell() {
		if setup := strings.TrimSpace(code); setup != "" {
			if r, _ := m.lang.Run(m.ctx, m.cell, setup, max(1, m.line-1), RunOptions{Quiet: true}, m.out, m.in); r.Err != nil {
				return r
			}
		}
		code = m.body
	} else {
		code = m.padded(code)
	}
	if strings.TrimSpace(code) == "" {
		return m.failure(usagef("%%%s: there is no code to measure", m.name))
	}
	if variable == "" {
		variable = "gander_timing"
	} else if !isName(variable) {
		return m.failure(usagef("%%%s --var: %q is no Go variable name", m.name, variable))
	}
	// The wrapping stands on lines of its own, so that positions in the user's code stay right.
	src := fmt.Sprintf("import \"github.com/gander-go/gander/profiler/timing\"; %s := %s, func() {\n%s\n})", variable, call, statement(code))
	if !quiet && !result {
		src += fmt.Sprintf("; fmt.Println(%s)", variable)
	}
	if result {
		src += "; " + variable
	}
	r, _ := m.lang.Run(m.ctx, m.cell, src, line-1, RunOptions{Engine: "native", Quiet: !result}, m.out, m.in)
	return r
}

// statement makes a statement of code that is an expression: one that is no call must be used for something.
func statement(code string) string {
	e, err := parser.ParseExpr(code)
	if err != nil {
		return code
	}
	if _, isCall := ast.Unparen(e).(*ast.CallExpr); isCall {
		return code
	}
	trimmed := strings.TrimRight(code, " \t\r\n")
	return "timing.Keep(" + trimmed + ")"
}
