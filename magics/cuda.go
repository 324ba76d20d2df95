package magics

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/gander-go/gander/cuda/bind"
	"github.com/gander-go/gander/cuda/nvml"
	"github.com/gander-go/gander/cuda/nvrtc"
	"github.com/gander-go/gander/kernel/cell"
)

func init() {
	register(magic{
		name: "cuda", use: "%%cuda [--name N] [--arch sm_90]", help: "compiles CUDA C++ and makes a Go function of each kernel in the cell",
		cell: cudaCell, flags: func() *pflag.FlagSet { return new(cudaOptions).flags() },
		check: func(m *call) error { _, err := parseCUDA(m.args); return err },
	})
}

// cudaOptions are the flags of %%cuda.
type cudaOptions struct {
	name     string
	arch     string
	options  []string
	optional bool
	quiet    bool
	ptx      bool
}

func (o *cudaOptions) flags() *pflag.FlagSet {
	fs := newFlags("cuda")
	fs.StringVarP(&o.name, "name", "n", "", "bind the compiled program to this variable, a *driver.Program")
	fs.StringVar(&o.arch, "arch", "", "sm_90 for code of exactly such GPUs, compute_90 for PTX that these and newer ones run; the machine's GPUs by default")
	fs.StringArrayVarP(&o.options, "option", "o", nil, "an option of NVRTC, such as --use_fast_math; may be given several times")
	fs.BoolVar(&o.optional, "optional", false, "where CUDA C cannot be compiled, tell it in a line and make functions that return the reason as an error")
	fs.BoolVarP(&o.quiet, "quiet", "q", false, "do not list the functions")
	fs.BoolVar(&o.ptx, "ptx", false, "show the PTX")
	return fs
}

func parseCUDA(args string) (cudaOptions, error) {
	var o cudaOptions
	fs := o.flags()
	if err := parseFlags(fs, args); err != nil {
		return o, err
	}
	switch {
	case fs.NArg() > 0:
		return o, usagef("%%%%cuda: %q is no flag; the source goes on the lines below", fs.Arg(0))
	case o.name != "" && !isName(o.name):
		return o, usagef("%%%%cuda --name: %q is no Go variable name", o.name)
	}
	if o.arch != "" {
		var n int
		for _, form := range []string{"sm_%d", "compute_%d", "%d"} {
			if k, err := fmt.Sscanf(o.arch, form, &n); k == 1 && err == nil {
				break
			}
		}
		if n < 10 || n > 999 {
			return o, usagef("%%%%cuda --arch: %q is not like sm_90 or compute_90", o.arch)
		}
		if o.arch[0] >= '0' && o.arch[0] <= '9' {
			o.arch = "sm_" + o.arch
		}
	}
	if o.ptx && strings.HasPrefix(o.arch, "sm_") {
		o.arch = "compute_" + strings.TrimPrefix(o.arch, "sm_")
	}
	return o, nil
}

// cudaCell runs %%cuda: the kernels' declarations are read, NVRTC compiles the source, and the functions are declared in the
// session as any Go code is. The driver is not needed until one is called.
func cudaCell(m *call) *cell.Result {
	o, err := parseCUDA(m.args)
	if err != nil {
		return m.failure(err)
	}
	if strings.TrimSpace(m.body) == "" {
		return m.failure(usagef("%%%%cuda: there is no source; CUDA C++ goes on the lines below"))
	}
	source := strings.Repeat("\n", m.line-1) + m.body // lines are those of the cell
	kernels, err := bind.Parse(source)
	var wrong *bind.Error
	if errors.As(err, &wrong) {
		return m.sourceErrors([]cell.Diagnostic{{Pos: cell.Pos{Cell: m.cell.N, Line: wrong.Line, Col: 1}, Message: wrong.Text}})
	}
	p := bind.Program{Var: o.name, Kernels: kernels}
	if p.Var == "" {
		p.Var = programName(kernels)
	}
	summary, failed := m.compileCUDA(&p, source, o)
	if failed != nil {
		return failed
	}
	r, _ := m.lang.Run(m.ctx, m.cell, p.Go(), m.line, RunOptions{Quiet: true}, m.out, m.in)
	if r.Err != nil || o.quiet {
		return r
	}
	m.out.Stream(cell.Stdout, summary)
	return r
}

// programName names the variable of a program that was given no name.
func programName(kernels []bind.Kernel) string {
	for _, k := range kernels {
		if !k.Template {
			return "cuda_" + k.GoName()
		}
	}
	return "cuda_program"
}

// compileCUDA fills in the image of p. Where there is no compiler and the cell is optional, p says so.
func (m *call) compileCUDA(p *bind.Program, source string, o cudaOptions) (summary string, failed *cell.Result) {
	var list strings.Builder
	q := nvrtc.Request{Name: fmt.Sprintf("In[%d]", m.cell.N), Source: source, Options: o.options}
	for _, k := range p.Kernels {
		if k.Template {
			if !slices.ContainsFunc(p.Kernels, func(o bind.Kernel) bool { return strings.HasPrefix(o.Name, k.Name+"<") }) {
				fmt.Fprintf(&list, "%s is a template: name the types and it is a function, as in template __global__ void %[1]s<float>(…);\n", k.Name)
			}
			continue
		}
		q.Kernels = append(q.Kernels, k.Name)
		list.WriteString(k.Signature() + "\n")
	}
	devices, major := machine()
	compiler, err := nvrtc.Open(major)
	if err != nil {
		if !o.optional {
			return "", m.failure(err)
		}
		p.Missing = err.Error()
		m.out.Stream(cell.Stderr, "Not compiled: "+err.Error()+"\n")
		return list.String(), nil
	}
	q.Arch = o.arch
	if q.Arch == "" {
		q.Arch = architecture(devices, compiler.Architectures(), o.ptx)
	}
	start := time.Now()
	r, err := compiler.Compile(q)
	took := time.Since(start)
	var ce *nvrtc.CompileError
	switch {
	case errors.As(err, &ce):
		return "", m.sourceErrors(m.diagnostics(q.Name, ce.Diagnostics, ce.Log))
	case err != nil:
		return "", m.failure(err)
	}
	for _, n := range r.Notes {
		if !n.Error {
			m.out.Stream(cell.Stderr, fmt.Sprintf("%s:%d: warning: %s\n", n.File, n.Line, n.Message))
		}
	}
	p.Image, p.Names = r.Image, r.Names
	if o.ptx {
		m.out.Display(cell.Text(string(r.Image)))
	}
	kind := "machine code"
	if r.PTX {
		kind = "PTX"
	}
	fmt.Fprintf(&list, "NVRTC %d.%d made %d bytes of %s for %s in %d ms\n", compiler.Major, compiler.Minor, len(r.Image), kind, q.Arch, took.Milliseconds())
	return list.String(), nil
}

// machine returns the compute capabilities of the GPUs that cells may use and the version of CUDA that the driver is for; nothing and 0
// where they are not known.
func machine() (capabilities []int, cudaMajor int) {
	lib, err := nvml.Open()
	if err != nil {
		return nil, 0
	}
	devices := lib.Devices()
	for _, i := range nvml.Visible(devices, os.Getenv("CUDA_VISIBLE_DEVICES")) {
		if d := devices[i]; d.Major > 0 {
			capabilities = append(capabilities, d.Major*10+d.Minor)
		}
	}
	return capabilities, lib.System().CUDAMajor
}

// anyGPU is what is compiled for when no GPU is known: every GPU that a current toolkit supports runs its PTX.
const anyGPU = 75

// architecture chooses what to compile for: machine code where all GPUs are alike and the compiler knows them, PTX for the least of
// them otherwise. supported is in order; empty when the compiler does not tell.
func architecture(gpus, supported []int, ptx bool) string {
	target := anyGPU
	if len(gpus) > 0 {
		target = slices.Min(gpus)
		if same := slices.Max(gpus) == target; same && !ptx && slices.Contains(supported, target) {
			return fmt.Sprintf("sm_%d", target)
		}
	}
	best := target
	if len(supported) > 0 {
		best = supported[0]
		for _, a := range supported {
			if a <= target {
				best = a
			}
		}
	}
	return fmt.Sprintf("compute_%d", best)
}

// diagnostics turns the compiler's messages into places of the cell. Those about headers stand at the magic.
func (m *call) diagnostics(name string, all []nvrtc.Diagnostic, log string) []cell.Diagnostic {
	var out []cell.Diagnostic
	for _, d := range all {
		if !d.Error {
			continue
		}
		c := cell.Diagnostic{Pos: cell.Pos{Cell: m.cell.N, Line: d.Line, Col: 1}, Message: d.Message}
		if d.File != name {
			c.Line = max(1, m.line-1)
			if d.File != "" {
				c.Message = fmt.Sprintf("%s:%d: %s", d.File, d.Line, d.Message)
			}
		}
		out = append(out, c)
	}
	if len(out) == 0 {
		out = append(out, cell.Diagnostic{Pos: cell.Pos{Cell: m.cell.N, Line: max(1, m.line-1), Col: 1}, Message: strings.TrimSpace(log)})
	}
	return out
}

// maxErrors is how many errors of a source are shown with their lines.
const maxErrors = 20

// sourceErrors is the result of a cell whose source is wrong, with the lines that are.
func (m *call) sourceErrors(diags []cell.Diagnostic) *cell.Result {
	const red, bold, reset = "\x1b[31m", "\x1b[1m", "\x1b[0m"
	ue := &cell.UserError{Name: "CompileError", Diags: diags, Message: diags[0].Message}
	if n := len(diags); n > 1 {
		ue.Message += fmt.Sprintf(" (and %d more errors)", n-1)
	}
	ue.Text = []string{red + bold + ue.Name + reset}
	lines := strings.Split(m.cell.Code, "\n")
	for i, d := range diags {
		if i == maxErrors {
			ue.Text = append(ue.Text, fmt.Sprintf("and %d more", len(diags)-i))
			break
		}
		ue.Text = append(ue.Text, fmt.Sprintf("%sIn[%d]:%d: %s%s", bold, d.Cell, d.Line, d.Message, reset))
		if d.Line >= 1 && d.Line <= len(lines) {
			ue.Text = append(ue.Text, fmt.Sprintf("%5d | %s", d.Line, strings.TrimRight(lines[d.Line-1], "\r")))
		}
	}
	return &cell.Result{Err: ue}
}
