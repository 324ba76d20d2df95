package magics

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/gander-go/gander/kernel/cell"
	"github.com/gander-go/gander/profiler/timing"
)

func init() {
	register(magic{name: "time", use: "%time STATEMENT, %%time", help: "runs code once and tells how long it took", line: timeMagic, cell: timeMagic, takesGo: true,
		check: func(m *call) error {
			switch {
			case m.isCell && m.args != "":
				return usagef("%%%%time takes no arguments, not %q; the code to time goes on the lines below", m.args)
			case !m.isCell && m.args == "":
				return usagef("%%time: there is no code to measure")
			case m.isCell && strings.TrimSpace(m.body) == "":
				return usagef("%%%%time: there is no code to measure")
			}
			return nil
		}})
	register(magic{name: "timeit", use: "%timeit [-n N] [-r R] [-c] [-p P] [-q] [-o] [-v VAR] STATEMENT, %%timeit [flags] [SETUP]", help: "runs code many times and tells how long a run takes",
		line: timeitMagic, cell: timeitMagic, takesGo: true,
		flags: func() *pflag.FlagSet { return new(timeitOptions).flags("timeit") },
		check: func(m *call) error { var o timeitOptions; _, err := o.parse(m); return err }})
	register(magic{name: "memit", use: "%memit [-r R] [-i SECONDS] [-q] [-o] [-v VAR] STATEMENT, %%memit [flags] [SETUP]", help: "runs code and tells how much memory it needed",
		line: memitMagic, cell: memitMagic, takesGo: true,
		flags: func() *pflag.FlagSet { return new(memitOptions).flags("memit") },
		check: func(m *call) error { var o memitOptions; _, err := o.parse(m); return err }})
}

// timeMagic runs %time and %%time.
func timeMagic(m *call) *cell.Result {
	code := m.body
	if !m.isCell {
		code = m.padded(m.args)
	}
	r, u := m.lang.Run(m.ctx, m.cell, code, m.line, m.o, m.out, m.in)
	if !u.Ran {
		return r
	}
	text := fmt.Sprintf("CPU times: user %s, sys: %s, total: %s\nWall time: %s\n", seconds(u.CPU-u.System), seconds(u.System), seconds(u.CPU), seconds(u.Wall))
	if u.Build > int64(100*time.Millisecond) {
		text += fmt.Sprintf("Compile time: %s\n", seconds(u.Build))
	}
	m.out.Stream(cell.Stdout, text)
	return r
}

func seconds(ns int64) string { return timing.Format(float64(ns)/1e9, 3) }

// padded puts the code of a line magic at the column that it has in the cell.
func (m *call) padded(code string) string {
	lines := strings.Split(m.cell.Code, "\n")
	if m.at < 1 || m.at > len(lines) {
		return code
	}
	at := strings.Index(lines[m.at-1], code)
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

// parse reads the flags in front of Go code, and returns the code.
func (o *timeitOptions) parse(m *call) (code string, err error) {
	if code, err = m.parseTimed(o.flags(m.name)); err != nil {
		return "", err
	}
	switch {
	case o.loops < 0:
		return "", usagef("%%timeit --number: %d is no number of loops", o.loops)
	case o.runs < 1:
		return "", usagef("%%timeit --repeat: %d is no number of runs", o.runs)
	case o.precision < 1:
		return "", usagef("%%timeit --precision: %d is no number of digits", o.precision)
	}
	return code, m.checkVariable(o.variable)
}

// parseTimed parses the flags in front of Go code with fs, and returns the code.
func (m *call) parseTimed(fs *pflag.FlagSet) (code string, err error) {
	flags, code, err := cutFlags(fs, m.args)
	if err != nil {
		return "", err
	}
	if err := parseFlags(fs, flags); err != nil {
		return "", err
	}
	if strings.HasPrefix(code, "-") {
		if _, err := parser.ParseExpr(code); err != nil { // neither Go nor a flag: it was meant as one
			return "", parseFlags(fs, code)
		}
	}
	if m.isCell && strings.TrimSpace(m.body) == "" || !m.isCell && strings.TrimSpace(code) == "" {
		return "", usagef("%%%s: there is no code to measure", m.name)
	}
	return code, nil
}

// checkVariable checks the name that a result is to be kept under.
func (m *call) checkVariable(name string) error {
	if name != "" && !isName(name) {
		return usagef("%%%s --var: %q is no Go variable name", m.name, name)
	}
	return nil
}

func timeitMagic(m *call) *cell.Result {
	var o timeitOptions
	code, err := o.parse(m)
	if err != nil {
		return m.failure(err)
	}
	options := fmt.Sprintf("Run(gander_timing.Options{Loops: %d, Runs: %d, CPU: %t, Precision: %d}", o.loops, o.runs, o.cpu, o.precision)
	return m.timed(code, "Result", options, o.quiet, o.result, o.variable)
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

// parse reads the flags in front of Go code, and returns the code.
func (o *memitOptions) parse(m *call) (code string, err error) {
	if code, err = m.parseTimed(o.flags(m.name)); err != nil {
		return "", err
	}
	switch {
	case o.runs < 1:
		return "", usagef("%%memit --repeat: %d is no number of runs", o.runs)
	case o.interval <= 0 || o.interval > 3600:
		return "", usagef("%%memit --interval: %v is no number of seconds between samples", o.interval)
	}
	return code, m.checkVariable(o.variable)
}

func memitMagic(m *call) *cell.Result {
	var o memitOptions
	code, err := o.parse(m)
	if err != nil {
		return m.failure(err)
	}
	options := fmt.Sprintf("Memory(gander_timing.MemoryOptions{Runs: %d, Interval: %d}", o.runs, int64(o.interval*1e9))
	return m.timed(code, "MemoryResult", options, o.quiet, o.result, o.variable)
}

// timingImport is under a name that users do not take.
const timingImport = `import gander_timing "github.com/gander-go/gander/profiler/timing"; `

// timed runs code inside a call of package timing, whose text up to the function is call and which returns a *typ. In the
// cell form code is the setup, run once and not measured, and the cell's body is measured; both see each other's
// variables, the cells after them do not.
//
// The code is checked by itself first, so that errors stand where the user wrote it and not inside the wrapping.
func (m *call) timed(code, typ, call string, quiet, result bool, variable string) *cell.Result {
	line, plain, body := m.line, m.padded(code), code
	if m.isCell {
		line, plain, body = m.at, m.padded(code)+strings.Repeat("\n", m.line-m.at)+m.body, m.body
	}
	if ue := m.lang.Check(m.cell, plain, line); ue != nil {
		return &cell.Result{Err: ue}
	}
	var run string
	switch setup := strings.TrimSpace(code); {
	case m.isCell && setup != "":
		run = fmt.Sprintf("func() *gander_timing.%s { %s; return gander_timing.%s, func() {%s%s\n}) }()", typ, setup, call, strings.Repeat("\n", m.line-m.at), m.used(setup+"\n", body, m.line))
	case m.isCell:
		run = fmt.Sprintf("gander_timing.%s, func() {%s%s\n})", call, strings.Repeat("\n", m.line-m.at), m.used("", body, m.line))
	default:
		run = fmt.Sprintf("gander_timing.%s, func() { /*line :%d:%d*/%s\n})", call, line, len(plain)-len(code)+1, m.used("", body, line))
	}
	src := timingImport
	if variable != "" {
		src += variable + " := "
		run += "; "
		if !quiet && !result {
			run += fmt.Sprintf("gander_timing.Print(%s)", variable)
		} else if result {
			run += variable
		} else {
			run += "_ = " + variable
		}
	} else if !result && quiet {
		src += "_ = "
	} else if !result {
		run = "gander_timing.Print(" + run + ")"
	}
	o := m.o
	o.Engine, o.Quiet = "native", !result
	r, _ := m.lang.Run(m.ctx, m.cell, src+run, line, o, m.out, m.in)
	return r
}

// used makes code use the value of the expression that it ends with, if it does: what is nothing but an expression has to be
// used for something, and the compiler could drop it. Calls of functions without or with several results stay as they are.
// The code stands behind setup.
func (m *call) used(setup, code string, line int) string {
	const before = "package p; func _() {"
	fset := token.NewFileSet()
	f, err := parser.ParseFile(fset, "", before+code+"\n}", parser.SkipObjectResolution)
	if err != nil {
		return code
	}
	body := f.Decls[0].(*ast.FuncDecl).Body.List
	if len(body) == 0 {
		return code
	}
	last, ok := body[len(body)-1].(*ast.ExprStmt)
	if !ok {
		return code
	}
	start, end := fset.Position(last.Pos()).Offset-len(before), fset.Position(last.End()).Offset-len(before)
	if start < 0 || end > len(code) {
		return code
	}
	kept := code[:start] + "gander_timing.Keep(" + code[start:end] + ")" + code[end:]
	if m.lang.Check(m.cell, timingImport+setup+kept, line) != nil {
		return code
	}
	return kept
}
