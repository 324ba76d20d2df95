package analyze

import (
	"bufio"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/gander-go/gander/profiler/trace"
)

// stackMetrics are torch's names of what WriteStacks can write, and Gander's own.
var stackMetrics = []string{
	"self_cpu_time_total", "self_device_time_total", "self_cuda_time_total", "self_xpu_time_total", "self_privateuse1_time_total", "samples",
}

// WriteStacks writes collapsed stacks for flamegraph.pl, speedscope and others: frames from the outermost joined by ';',
// a space, and an integer. The metric is one of torch's ("self_cpu_time_total", "self_cuda_time_total" and its device_
// spellings, in microseconds) or "samples" (CPU samples, in ns). As torch does, events that have a recorded call stack
// write that; in a trace without any, the stack is the nesting of the events themselves. Values of 0 are left out.
func (a *Analysis) WriteStacks(w io.Writer, metric string) error {
	out := bufio.NewWriter(w)
	var err error
	switch metric {
	case "samples":
		writeFlame(out, a.Flame(FlameOptions{Metric: FlameCPU}))
	case "self_cpu_time_total":
		err = a.writeEvents(out, false)
	case "self_device_time_total", "self_cuda_time_total", "self_xpu_time_total", "self_privateuse1_time_total":
		err = a.writeEvents(out, true)
	default:
		return fmt.Errorf("writing stacks: no metric %q; did you mean %q?", metric, nearest(metric, stackMetrics))
	}
	if err == nil {
		err = out.Flush()
	}
	if err != nil {
		return fmt.Errorf("writing stacks: %w", err)
	}
	return nil
}

// WriteStacks writes collapsed stacks of t.
func WriteStacks(w io.Writer, t *trace.Trace, metric string) error {
	return Of(t).WriteStacks(w, metric)
}

func (a *Analysis) writeEvents(w *bufio.Writer, device bool) error {
	b := &builder{x: a.index(), t: a.Trace}
	b.names()
	b.deviceWork()
	b.tree = buildTree(b.x, b.host, b.twice)
	b.tree.settle(b.own, false)
	b.totals()
	const allFrames = 1 << 20
	frames := newStackReader(b.x, allFrames)
	recorded := false
	for _, i := range b.tree.order {
		if recorded = hasStack(a.Trace, i); recorded {
			break
		}
	}
	for _, i := range b.tree.order {
		value := b.self[i]
		if device {
			value = 0
			if b.own != nil {
				value = b.own[i]
			}
		}
		if value /= 1000; value <= 0 || recorded && !hasStack(a.Trace, i) {
			continue
		}
		list := frames.frames(i)
		if !recorded {
			list = append([]string{a.Trace.Name(&a.Trace.Slices[i])}, list...)
		}
		for k := len(list) - 1; k >= 0; k-- {
			w.WriteString(stackFrame(list[k]))
			if k > 0 {
				w.WriteByte(';')
			}
		}
		if _, err := w.WriteString(" " + strconv.FormatInt(value, 10) + "\n"); err != nil {
			return err
		}
	}
	return nil
}

func hasStack(t *trace.Trace, i int32) bool {
	switch s := &t.Slices[i]; s.Kind {
	case trace.ArgOp:
		return t.Ops[s.Args].StackText != 0 || t.Ops[s.Args].Stack != 0
	case trace.ArgCall:
		return t.Calls[s.Args].Stack != 0
	}
	return false
}

// stackFrame replaces what separates frames and values.
func stackFrame(s string) string {
	return strings.Map(func(r rune) rune {
		switch r {
		case ' ', ';', '\t', '\n', '\r':
			return '_'
		}
		return r
	}, s)
}

func writeFlame(w *bufio.Writer, g *FlameGraph) {
	var path []string
	for i := range g.Nodes {
		n := &g.Nodes[i]
		path = append(path[:max(0, int(n.Depth)-1)], stackFrame(g.Names[n.Name]))
		if n.Self > 0 && n.Depth > 0 {
			fmt.Fprintf(w, "%s %d\n", strings.Join(path, ";"), n.Self)
		}
	}
}
