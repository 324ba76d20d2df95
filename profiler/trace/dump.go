package trace

import (
	"bufio"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
)

// Dump writes t as text for people and for comparing: one line an event, names instead of ids, tables in a fixed order.
// Host name, and what only says where rows lie in memory, are left out.
func Dump(w io.Writer, t *Trace) error {
	d := dumper{bufio.NewWriter(w), t}
	d.meta()
	d.tracks()
	d.others()
	d.samples()
	if err := d.w.Flush(); err != nil {
		return fmt.Errorf("dumping trace: %w", err)
	}
	return nil
}

type dumper struct {
	w *bufio.Writer
	t *Trace
}

// line writes one line; errors stay in the writer until Flush.
func (d *dumper) line(format string, args ...any) {
	fmt.Fprintf(d.w, format, args...)
	d.w.WriteByte('\n')
}

func (d *dumper) meta() {
	m := &d.t.Meta
	d.line("trace %s %s pid=%d rank=%d world=%d epoch=%d window=%d..%d", m.Tool, m.Version, m.PID, m.Rank, m.World, m.Epoch, m.Start, m.End)
	for _, v := range m.Values {
		d.line("value %s = %s", v.Key, v.Value)
	}
	for i := range d.t.Devices {
		v := d.t.Devices[i]
		d.line("device %d id=%d %q cc=%d.%d sms=%d memory=%d warp=%d threads/sm=%d threads/block=%d regs/sm=%d shared/sm=%d %s", i, v.ID, v.Name, v.Major,
			v.Minor, v.SMs, v.TotalMemory, v.WarpSize, v.MaxThreadsPerSM, v.MaxThreadsPerBlk, v.RegsPerSM, v.SharedPerSM, v.Extra)
	}
	for _, p := range d.t.Problems {
		d.line("problem %s x%d %q %q", p.Kind, p.Count, p.Text, p.Remedy)
	}
	for i, p := range d.t.Processes {
		d.line("process %d pid=%d%s %q labels=%q sort=%d device=%d", i, p.PID, key(p.Key), p.Name, p.Labels, p.Sort, p.Device)
	}
	for _, a := range d.t.Attachments {
		d.line("attachment %s %d bytes", a.Kind, len(a.Data))
	}
}

// plain returns s as it is when it fits a line, quoted otherwise.
func plain(s string) string {
	if strconv.CanBackquote(s) {
		return s
	}
	return strconv.Quote(s)
}

func key(s string) string {
	if s == "" {
		return ""
	}
	return fmt.Sprintf(" key=%q", s)
}

var trackNames = [...]string{"thread", "goroutine", "stream", "runtime", "counter", "other"}

// tracks writes each track with its slices, indented by how many slices are around them.
func (d *dumper) tracks() {
	next := 0
	for i := range d.t.Tracks {
		k := &d.t.Tracks[i]
		d.line("track %d %s process=%d id=%d%s %q sort=%d device=%d context=%d", i, trackNames[min(int(k.Kind), len(trackNames)-1)], k.Process, k.ID, key(k.Key), k.Name, k.Sort, k.Device, k.Context)
		var open []int64
		for ; next < len(d.t.Slices) && d.t.Slices[next].Track <= TrackID(i); next++ {
			s := &d.t.Slices[next]
			for len(open) > 0 && open[len(open)-1] <= s.Start {
				open = open[:len(open)-1]
			}
			d.slice(s, len(open))
			open = append(open, s.End())
		}
	}
}

func (d *dumper) slice(s *Slice, depth int) {
	var b strings.Builder
	fmt.Fprintf(&b, "%s[%d +%d] %q %s", strings.Repeat("  ", depth+1), s.Start, s.Dur, d.t.Name(s), d.category(s.Cat))
	if s.Corr != 0 {
		fmt.Fprintf(&b, " corr=%d", s.Corr)
	}
	if s.Ext != 0 {
		fmt.Fprintf(&b, " ext=%d", s.Ext)
	}
	for i, name := range [...]string{"async", "unfinished", "instrument"} {
		if s.Flags&(1<<i) != 0 {
			b.WriteString(" " + name)
		}
	}
	d.args(&b, s)
	d.line("%s", b.String())
}

func (d *dumper) category(id CategoryID) string {
	if int(id) >= len(d.t.Categories) {
		return "?"
	}
	c := d.t.Categories[id]
	return fmt.Sprintf("%s/%d", c.Name, c.Class)
}

// args writes the arguments of a slice; fields that hold nothing are left out.
func (d *dumper) args(b *strings.Builder, s *Slice) {
	t := d.t
	text := func(name string, id StringID) {
		if id != 0 {
			fmt.Fprintf(b, " %s=%s", name, plain(t.Strings.Get(id)))
		}
	}
	number := func(name string, n int64) {
		if n != 0 {
			fmt.Fprintf(b, " %s=%d", name, n)
		}
	}
	switch s.Kind {
	case ArgOp:
		a := &t.Ops[s.Args]
		text("dims", a.Dims)
		text("strides", a.Strides)
		text("types", a.Types)
		text("concrete", a.Concrete)
		text("stack-text", a.StackText)
		text("module", a.Module)
		if a.Sequence != NoSequence {
			fmt.Fprintf(b, " seq=%d fwd=%d", a.Sequence, a.FwdThread)
		}
		number("flops", a.FLOPs)
		number("bytes", a.Bytes)
		number("record-func", a.RecordFunc)
		number("index", int64(a.Index))
		d.stack(b, a.Stack)
		text("extra", a.Extra)
	case ArgCall:
		a := &t.Calls[s.Args]
		fmt.Fprintf(b, " id=%d parent=%d module=%d", a.ID, a.Parent, a.Module)
		text("shapes", a.Shapes)
		number("index", int64(a.Index))
		d.stack(b, a.Stack)
		text("extra", a.Extra)
	case ArgKernel:
		a := t.Kernels[s.Args]
		fmt.Fprintf(b, " grid=%v block=%v regs=%d shared=%d blocks/sm=%g warps/sm=%g occupancy=%g device=%d context=%d stream=%d queued=%d graph=%d/%d",
			a.Grid, a.Block, a.Registers, a.SharedMem, a.BlocksPerSM, a.WarpsPerSM, a.Occupancy, a.Device, a.Context, a.Stream, a.Queued, a.GraphID, a.GraphNode)
		text("extra", a.Extra)
	case ArgCopy:
		a := t.Copies[s.Args]
		fmt.Fprintf(b, " bytes=%d bandwidth=%g device=%d context=%d stream=%d graph=%d/%d", a.Bytes, a.Bandwidth, a.Device, a.Context, a.Stream, a.GraphID, a.GraphNode)
		text("extra", a.Extra)
	case ArgSync:
		a := t.Syncs[s.Args]
		fmt.Fprintf(b, " sync=%s device=%d context=%d stream=%d wait=%d/%d/%d", t.Strings.Get(a.Kind), a.Device, a.Context, a.Stream, a.WaitStream, a.WaitEvent, a.WaitRecordCorr)
		text("extra", a.Extra)
	case ArgGeneric:
		text("args", t.Generics[s.Args].JSON)
	}
}

// stack writes a call stack from the root, separated by semicolons.
func (d *dumper) stack(b *strings.Builder, id StackID) {
	var path []string
	for ; id != 0 && int(id) < len(d.t.Stacks); id = d.t.Stacks[id].Parent {
		f := d.t.Frames[d.t.Stacks[id].Frame]
		path = append(path, fmt.Sprintf("%s:%d", d.t.Strings.Get(f.Func), f.Line))
	}
	if len(path) > 0 {
		slices.Reverse(path)
		b.WriteString(" stack=" + strings.Join(path, ";"))
	}
}

func (d *dumper) others() {
	t := d.t
	for i := range t.Instants {
		e := &t.Instants[i]
		d.line("instant %d track=%d %q %s scope=%c %s", e.Time, e.Track, t.Strings.Get(e.Name), d.category(e.Cat), e.Scope, plain(t.Strings.Get(e.Args)))
	}
	for i := range t.Flows {
		f := &t.Flows[i]
		d.line("flow kind=%d id=%d %q %q %d@%d -> %d@%d slices %d -> %d", f.Kind, f.ID, t.Strings.Get(f.Name), t.Strings.Get(f.Cat), f.FromTrack, f.FromTime, f.ToTrack, f.ToTime, f.From, f.To)
	}
	for i := range t.Counters {
		c := &t.Counters[i]
		d.line("counter %q unit=%s process=%d track=%d device=%d", c.Name, c.Unit, c.Process, c.Track, c.Device)
		for j := range c.Times {
			d.line("  %d %g", c.Times[j], c.Values[j])
		}
	}
	for i := range t.Memory {
		m := &t.Memory[i]
		var b strings.Builder
		fmt.Fprintf(&b, "memory %d track=%d space=%d device=%d addr=%#x bytes=%d allocated=%d reserved=%d raw=%d/%d index=%d", m.Time, m.Track, m.Space, m.Device, m.Addr, m.Bytes, m.Allocated, m.Reserved, m.DeviceRaw, m.IDRaw, m.Index)
		if m.OOM {
			b.WriteString(" out-of-memory")
		}
		if m.Name != 0 {
			fmt.Fprintf(&b, " %q", t.Strings.Get(m.Name))
		}
		d.stack(&b, m.Stack)
		d.line("%s", b.String())
	}
}

var sampleNames = [...]string{"cpu", "alloc", "inuse", "block", "mutex"}

func (d *dumper) samples() {
	for i := range d.t.Samples {
		s := &d.t.Samples[i]
		var b strings.Builder
		fmt.Fprintf(&b, "sample %s weight=%d count=%d track=%d", sampleNames[min(int(s.Kind), len(sampleNames)-1)], s.Weight, s.Count, s.Track)
		if s.Time != NoTime {
			fmt.Fprintf(&b, " time=%d", s.Time)
		}
		if s.Span != 0 {
			fmt.Fprintf(&b, " span=%q", d.t.Strings.Get(s.Span))
		}
		d.stack(&b, s.Stack)
		d.line("%s", b.String())
	}
}
