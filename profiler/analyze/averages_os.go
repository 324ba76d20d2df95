package analyze

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/gander-go/gander/profiler/trace"
)

// OSCounts is what the operating system counted for the spans of a row: for the thread that each ran on, or for the whole
// process where it was steps.
type OSCounts struct {
	Process bool  `json:"process,omitempty"` // the whole process's
	Spans   int64 `json:"spans"`             // that were counted: short ones are not
	Wall    int64 `json:"wall_ns"`           // ns that those took
	CPU     int64 `json:"cpu_ns"`            // ns on a processor

	Faults      int64 `json:"page_faults"`
	BlocksIn    int64 `json:"io_blocks_in"`  // of 512 bytes, from storage
	BlocksOut   int64 `json:"io_blocks_out"` // and to it
	Switches    int64 `json:"context_switches"`
	Preemptions int64 `json:"preemptions"` // switches that the span did not ask for
}

func (c *OSCounts) add(d *OSCounts) {
	c.Process = c.Process || d.Process
	c.Spans += d.Spans
	c.Wall += d.Wall
	c.CPU += d.CPU
	c.Faults += d.Faults
	c.BlocksIn += d.BlocksIn
	c.BlocksOut += d.BlocksOut
	c.Switches += d.Switches
	c.Preemptions += d.Preemptions
}

// osField is the field that a recording calls name, nil for none.
func (c *OSCounts) osField(name string) *int64 {
	switch name {
	case "CPU ns", "CPU user ns", "CPU system ns":
		return &c.CPU
	case "page faults":
		return &c.Faults
	case "blocks in":
		return &c.BlocksIn
	case "blocks out":
		return &c.BlocksOut
	case "context switches":
		return &c.Switches
	case "preemptions":
		return &c.Preemptions
	}
	return nil
}

// readOSCounts reads counts out of a slice's other arguments, JSON of one level. Steps count their voluntary and involuntary switches
// apart as spans do.
func readOSCounts(text string) (c OSCounts, ok bool) {
	for {
		open := strings.IndexByte(text, '"')
		if open < 0 {
			return c, ok
		}
		name, rest, found := strings.Cut(text[open+1:], `":`)
		if !found {
			return c, ok
		}
		n := 0
		for n < len(rest) && (rest[n] >= '0' && rest[n] <= '9' || rest[n] == '-') {
			n++
		}
		if v, err := strconv.ParseInt(rest[:n], 10, 64); err == nil {
			if f := c.osField(name); f != nil {
				*f += v
				ok = ok || strings.HasPrefix(name, "CPU")
			}
		}
		text = rest[n:]
	}
}

// osCounted reports whether spans of the trace may have counts.
func osCounted(t *trace.Trace) bool {
	for _, v := range t.Meta.Values {
		if v.Key == "os_counts" {
			return true
		}
	}
	return false
}

// countOS adds the counts of slice i to its row.
func (b *builder) countOS(r *Average, i int32) {
	s := &b.t.Slices[i]
	step := b.x.class[i] == trace.ClassStep
	if !step && !b.osCounted {
		return
	}
	var extra trace.StringID
	switch s.Kind {
	case trace.ArgOp:
		extra = b.t.Ops[s.Args].Extra
	case trace.ArgCall:
		extra = b.t.Calls[s.Args].Extra
	}
	if extra == 0 {
		return
	}
	c, ok := readOSCounts(b.t.Strings.Get(extra))
	if !ok {
		return
	}
	c.Process, c.Spans, c.Wall = step, 1, s.Dur
	if r.OS == nil {
		r.OS = &OSCounts{}
	}
	r.OS.add(&c)
}

// osCells are the columns of a row: CPU time, the share of its time on a processor, page faults, blocks, switches. Sums over fewer spans than
// there are calls are at least that.
func (r *Average) osCells(unit string) []string {
	c := r.OS
	if c == nil {
		return []string{"-", "-", "-", "-", "-"}
	}
	least := ""
	if c.Spans < r.Count {
		least = ">="
	}
	n := func(v int64) string { return least + strconv.FormatInt(v, 10) }
	return []string{least + formatTime(float64(c.CPU), unit), formatShare(c.CPU, c.Wall), n(c.Faults), n(c.BlocksIn + c.BlocksOut), n(c.Switches + c.Preemptions)}
}

var osHeader = []string{"CPU time", "on CPU", "Faults", "IO blocks", "Switches"}

// SpansHaveOS reports whether other rows than steps have counts: then the table has columns for them.
func (a *Averages) SpansHaveOS() bool {
	return slices.ContainsFunc(a.Rows, func(r Average) bool { return r.OS != nil && !r.OS.Process })
}

// osText explains the columns, or says in a line what the steps used where there are none.
func (a *Averages) osText(unit string) string {
	if a.SpansHaveOS() {
		return fmt.Sprintf("CPU time, on CPU, faults, IO blocks, switches: the operating system's counts of the thread that a span ran on, with what it called there; "+
			"of steps those of the whole process. >=: spans under %s have none\n", formatTime(osLeast, ""))
	}
	var sum OSCounts
	for i := range a.Rows {
		if c := a.Rows[i].OS; c != nil {
			sum.add(c)
		}
	}
	if sum.Spans == 0 {
		return ""
	}
	return fmt.Sprintf("The process in %d steps: CPU time %s (%s of their time), %d page faults, %d IO blocks, %d context switches\n", sum.Spans,
		formatTime(float64(sum.CPU), unit), formatShare(sum.CPU, sum.Wall), sum.Faults, sum.BlocksIn+sum.BlocksOut, sum.Switches+sum.Preemptions)
}

// osLeast is the duration in ns from which on recordings keep counts of spans.
const osLeast = 20_000
