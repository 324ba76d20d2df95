package magics

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/pflag"

	"github.com/gander-go/gander/internal/open"
	"github.com/gander-go/gander/kernel/cell"
	"github.com/gander-go/gander/profiler/analyze"
	"github.com/gander-go/gander/profiler/trace"
	"github.com/gander-go/gander/render"
)

func init() {
	register(magic{
		name: "trace", use: "%trace open FILE... | diff BASE NEW | export FILE", help: "shows traces of PyTorch, Go and pprof (several are the ranks of one job), compares two, or exports the last profile",
		line: traceLine, flags: func() *pflag.FlagSet { return new(profileOptions).flags("trace") },
		check: func(m *call) error { _, _, _, err := m.traceArgs(); return err },
	})
}

func readTrace(_ context.Context, path string) (*trace.Trace, error) {
	return open.File(path, open.Options{})
}

// traceArgs splits the text behind %trace.
func (m *call) traceArgs() (sub string, files []string, o profileOptions, err error) {
	sub, rest, _ := strings.Cut(m.args, " ")
	want := map[string]int{"open": -1, "diff": 2, "export": 1}
	n, ok := want[sub]
	if !ok {
		if near := nearest(sub, []string{"open", "diff", "export"}); near != "" && sub != "" {
			return "", nil, o, usagef("%%trace: there is no %q; did you mean %s?", sub, near)
		}
		if sub == "" {
			return "", nil, o, usagef("%%trace: open FILE, diff BASE NEW or export FILE?")
		}
		return "", nil, o, usagef("%%trace: %q is not open, diff or export", sub)
	}
	if files, err = o.parse("trace", rest); err != nil {
		return "", nil, o, err
	}
	switch {
	case n > 0 && len(files) != n:
		return "", nil, o, usagef("%%trace %s takes %s, not %d", sub, map[int]string{1: "one file", 2: "two files"}[n], len(files))
	case n < 0 && len(files) == 0:
		return "", nil, o, usagef("%%trace open: which file?")
	}
	return sub, files, o, nil
}

// traceLine runs %trace.
func traceLine(m *call) *cell.Result {
	sub, files, o, err := m.traceArgs()
	if err != nil {
		return m.failure(err)
	}
	if sub == "export" {
		return m.exportLast(files[0])
	}
	var ts []*trace.Trace
	for _, f := range files {
		t, err := m.open(f)
		if err != nil {
			return m.failure(err)
		}
		ts = append(ts, t)
	}
	return m.showTraces(sub, files, ts, o)
}

// open finds a trace by the name given with -o or as a file.
func (m *call) open(name string) (*trace.Trace, error) {
	m.mu.Lock()
	t := m.kept[name]
	m.mu.Unlock()
	if t != nil {
		return t, nil
	}
	t, err := readTrace(m.ctx, m.path(name))
	if err != nil {
		reason := bare(err)
		if inner := errors.Unwrap(err); reason == err && inner != nil {
			reason = inner // the rest repeats the name
		}
		return nil, fmt.Errorf("opening %s: %w", name, reason)
	}
	return t, nil
}

func (m *call) exportLast(file string) *cell.Result {
	m.mu.Lock()
	t := m.latest
	m.mu.Unlock()
	if t == nil {
		return m.failure(usagef("%%trace export: nothing has been profiled yet"))
	}
	if err := m.writeFiles(t, analyze.Of(t), profileOptions{trace: file}); err != nil {
		return m.failure(err)
	}
	return &cell.Result{}
}

func (m *call) showTraces(sub string, files []string, ts []*trace.Trace, o profileOptions) *cell.Result {
	show := func(b render.Bundle, err error) *cell.Result {
		if err != nil {
			return m.failure(err)
		}
		if o.text {
			m.out.Display(cell.Text(b.Text))
		} else {
			m.out.Display(cell.Bundle{Data: b.MIME()})
		}
		return &cell.Result{}
	}
	if sub == "diff" {
		return show(render.Diff(ts[0], ts[1], o.rendering(&m.library, fmt.Sprintf("%s → %s", files[0], files[1]))))
	}
	m.keep(ts[len(ts)-1], o)
	return show(render.Job(ts, o.rendering(&m.library, strings.Join(files, ", "))))
}
