package magics

import (
	"bufio"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/gander-go/gander/internal/atomicfile"
	"github.com/gander-go/gander/kernel/cell"
	"github.com/gander-go/gander/profiler/analyze"
	"github.com/gander-go/gander/profiler/kineto"
	"github.com/gander-go/gander/profiler/pprof"
	"github.com/gander-go/gander/profiler/trace"
	"github.com/gander-go/gander/render"
)

func init() {
	register(magic{
		name: "profile", use: "%%profile [flags], %profile EXPR", help: "profiles a cell or an expression and shows where time and memory went",
		more: profileMore, line: profileLine, cell: profileCell, takesGo: true,
		flags: func() *pflag.FlagSet { return new(profileOptions).flags("profile") },
		check: func(m *call) error {
			o, expr, err := m.profileArgs()
			if err == nil && !m.isCell && !o.showLast && strings.TrimSpace(expr) == "" {
				err = usagef("%%profile: what is to be profiled? write %%profile EXPR, or %%%%profile above a cell")
			}
			return err
		},
	})
}

const profileMore = `Recorded without asking: every call that the cell makes; every call that functions and methods of cells make in turn, those of
earlier cells too (--top-level: only the cell's own); ranges of profiler.Begin and Record; the heap, the resident size and
garbage collections; with a GPU its work. BLAS and LAPACK calls have shapes and FLOPs after
import _ "github.com/gander-go/gander/profiler/hooks/gonum".

Not seen one by one: what packages call inside, function values, methods of generic types, and what packages call back. Their
time is in the self time of what called them; --sample 100 shows it by function. Functions that are called often
and briefly are timed at first, then counted.`

// profileArgs splits the text behind %profile into its flags and the expression, which begins at the first word that is
// no flag and no value of one.
func (m *call) profileArgs() (o profileOptions, expr string, err error) {
	if m.isCell {
		rest, err := o.parse(m.name, m.args)
		if err == nil && len(rest) > 0 {
			err = usagef("%%%%profile: %q is no flag; the code to profile goes on the lines below", rest[0])
		}
		return o, "", err
	}
	flags, expr, err := cutFlags(o.flags(m.name), m.args)
	if err != nil {
		return o, "", err
	}
	o = profileOptions{}
	_, err = o.parse(m.name, flags)
	return o, expr, err
}

// profileCell runs %%profile.
func profileCell(m *call) *cell.Result {
	o, _, err := m.profileArgs()
	if err != nil {
		return m.failure(err)
	}
	if o.showLast {
		return m.showLast(o)
	}
	return m.profile(o, m.body, m.line)
}

// profileLine runs %profile EXPR and %profile --last.
func profileLine(m *call) *cell.Result {
	o, expr, err := m.profileArgs()
	switch {
	case err != nil:
		return m.failure(err)
	case o.showLast:
		return m.showLast(o)
	}
	return m.profile(o, m.padded(expr), m.line)
}

// profile runs code while the session records and shows the report below the code's own output. The code runs also when
// recording cannot start; a failure of the code comes after the report.
func (m *call) profile(o profileOptions, code string, line int) *cell.Result {
	started := false
	var startErr error
	var gpu gpuSampling
	begin := func() { // the first time that code is about to run: building it does not belong to the profile
		if !started {
			started = true
			gpu = sampleGPU(o)
			startErr = m.lang.StartRecording(m.ctx, o.recording())
		}
	}
	result := m.Engine.runSegments(m.ctx, m.cell, code, line, RunOptions{Instrument: true, TopLevel: o.topLevel, Before: begin}, m.out, m.in)
	defer gpu.stop()
	if !started {
		if result.Err == nil {
			m.out.Stream(cell.Stderr, "There is no profile of this cell: no Go code ran.\n")
		}
		return result
	}
	if startErr != nil {
		why := startErr.Error()
		for _, doing := range []string{"recording (start): ", "starting profile: "} {
			why = strings.TrimPrefix(why, doing)
		}
		m.out.Stream(cell.Stderr, "The profiler did not start: "+why+". The cell ran without it.\n")
		return result
	}
	// The interrupt that ended the cell must not end the report.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(m.ctx), time.Minute)
	defer cancel()
	t, err := m.lang.StopRecording(ctx)
	if err != nil {
		m.out.Stream(cell.Stderr, fmt.Sprintf("There is no profile of this cell: %v\n", err))
		return result
	}
	gpu.addTo(t)
	if result.Value != nil {
		m.out.Display(*result.Value)
		result.Value = nil
	}
	m.keep(t, o)
	if err := m.report(t, o); err != nil && result.Err == nil {
		result.Err = m.failure(err).Err
	}
	if o.output != "" && result.Err == nil {
		if r := m.bind(t, o); r != nil && r.Err != nil {
			result.Err = r.Err
		}
	}
	return result
}

func (m *call) keep(t *trace.Trace, o profileOptions) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.latest, m.latestOptions = t, o
	if o.output != "" {
		m.kept[o.output] = t
	}
}

func (m *call) showLast(o profileOptions) *cell.Result {
	m.mu.Lock()
	t := m.latest
	m.mu.Unlock()
	if t == nil {
		return m.failure(usagef("%%profile --last: nothing has been profiled yet"))
	}
	if err := m.report(t, o); err != nil {
		return m.failure(err)
	}
	return &cell.Result{}
}

// report shows t and writes the files that were asked for.
func (m *call) report(t *trace.Trace, o profileOptions) error {
	a := analyze.Of(t)
	if err := m.writeFiles(t, a, o); err != nil {
		return err
	}
	if o.quiet {
		return nil
	}
	note := fmt.Sprintf("In[%d]", m.cell.N)
	if s := o.summary(); s != "" {
		note += " " + s
	}
	var bundle render.Bundle
	var err error
	if o.compare != "" {
		var base *trace.Trace
		if base, err = m.base(o.compare); err != nil {
			return err
		}
		bundle, err = render.Diff(base, t, o.rendering(&m.library, note))
	} else {
		bundle, err = render.Profile(t, o.rendering(&m.library, note))
	}
	if err != nil {
		return err
	}
	if o.text {
		m.out.Display(cell.Text(bundle.Text))
		return nil
	}
	m.out.Display(cell.Bundle{Data: bundle.MIME()})
	return nil
}

// base finds the profile to compare with: one kept by name, or a file.
func (m *call) base(name string) (*trace.Trace, error) {
	m.mu.Lock()
	t := m.kept[name]
	m.mu.Unlock()
	if t != nil {
		return t, nil
	}
	t, err := readTrace(m.ctx, m.path(name))
	if err != nil {
		return nil, fmt.Errorf("comparing with %s: there is no profile of that name, and as a file: %w", name, err)
	}
	return t, nil
}

// path is a file that the user named, relative to the working directory.
func (m *call) path(name string) string {
	if filepath.IsAbs(name) {
		return name
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	return filepath.Join(m.dir, name)
}

func (m *call) writeFiles(t *trace.Trace, a *analyze.Analysis, o profileOptions) error {
	write := func(name string, f func(w io.Writer) error) error {
		if name == "" {
			return nil
		}
		path := m.path(name)
		if err := writeFile(path, f); err != nil {
			return err
		}
		m.out.Stream(cell.Stdout, "wrote "+name+"\n")
		return nil
	}
	chrome := func(w io.Writer) error { return kineto.Write(w, t, kineto.WriteOptions{}) }
	metric := "self_cpu_time_total"
	if strings.Contains(o.sort, "cuda") || strings.Contains(o.sort, "device") {
		metric = "self_device_time_total"
	}
	tensorboard := ""
	if o.tensorboard != "" {
		host, _ := os.Hostname()
		if err := os.MkdirAll(m.path(o.tensorboard), 0o755); err != nil {
			return fmt.Errorf("writing %s: %w", o.tensorboard, err)
		}
		tensorboard = filepath.Join(o.tensorboard, host+"_"+strconv.FormatInt(t.Meta.PID, 10)+"."+strconv.FormatInt(time.Now().UnixNano(), 10)+".pt.trace.json.gz")
	}
	for _, f := range []struct {
		name  string
		write func(w io.Writer) error
	}{
		{o.trace, chrome},
		{tensorboard, chrome},
		{o.report, func(w io.Writer) error {
			return render.Page(w, []*trace.Trace{t}, o.rendering(nil, "gander profile"))
		}},
		{o.stacks, func(w io.Writer) error { return a.WriteStacks(w, metric) }},
		{o.pprof, func(w io.Writer) error { return pprof.Write(w, t, trace.SampleCPU) }},
	} {
		if err := write(f.name, f.write); err != nil {
			return err
		}
	}
	return nil
}

// writeFile writes a file in whole or not at all, compressed when its name ends in .gz. Profiles of pprof compress
// themselves.
func writeFile(path string, write func(w io.Writer) error) error {
	return atomicfile.Write(path, func(w io.Writer) error {
		buf := bufio.NewWriterSize(w, 1<<18)
		if !strings.HasSuffix(path, ".gz") || strings.HasSuffix(path, ".pb.gz") {
			return errors.Join(write(buf), buf.Flush())
		}
		gz := gzip.NewWriter(buf)
		return errors.Join(write(gz), gz.Close(), buf.Flush())
	})
}
