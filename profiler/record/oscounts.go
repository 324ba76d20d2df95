package record

import (
	"strconv"

	"github.com/gander-go/gander/profiler/trace"
)

// osCounts is what the operating system counts for one thread.
type osCounts struct {
	cpu                   int64 // ns
	faults                int64 // page faults, minor and major
	blocksIn, blocksOut   int64 // of 512 bytes, from and to storage
	switches, preemptions int64 // voluntary and involuntary context switches
}

const (
	// OSCountsLeast is the duration in ns from which on a span's counts are kept: two readings take a microsecond, and what
	// is shorter has no time to wait in.
	OSCountsLeast = 20_000
	// maxOSCounts bounds what is kept: 56 bytes a span while recording, and a line of JSON in the trace.
	maxOSCounts = 1 << 18
)

// spanCounts is what a span used.
type spanCounts struct {
	e    *event
	used osCounts
}

// start is the reading at the begin of a span.
type start struct {
	counts osCounts
	at     int64 // record time; 0 when nothing could be read
}

func readStart() (s start) {
	var ok bool
	if s.counts, ok = readOSCounts(); ok {
		s.at = max(1, Now())
	}
	return s
}

// countOS notes what the thread used since span s, whose reading is before, began. Only the goroutine that began it calls this, on
// the thread that the span has held since.
func (r *Recorder) countOS(e *event, before *start) {
	if before.at == 0 || Now()-before.at < OSCountsLeast {
		return
	}
	if now, ok := readOSCounts(); ok {
		b := &before.counts
		r.counted.add(e.goid, spanCounts{e, osCounts{
			now.cpu - b.cpu, now.faults - b.faults, now.blocksIn - b.blocksIn, now.blocksOut - b.blocksOut,
			now.switches - b.switches, now.preemptions - b.preemptions,
		}})
	}
}

// Names of the counts, in the other arguments of slices. Those of steps are the whole process's and say user and system.
const (
	OSCPU         = "CPU ns"
	OSFaults      = "page faults"
	OSBlocksIn    = "blocks in"
	OSBlocksOut   = "blocks out"
	OSSwitches    = "context switches"
	OSPreemptions = "preemptions"
)

// text writes the counts as members of a JSON object; those that are zero are left out, but never all.
func (c *osCounts) text(b []byte) []byte {
	b = append(b, `"`+OSCPU+`":`...)
	b = strconv.AppendInt(b, c.cpu, 10)
	for _, m := range []struct {
		name string
		n    int64
	}{{OSFaults, c.faults}, {OSBlocksIn, c.blocksIn}, {OSBlocksOut, c.blocksOut}, {OSSwitches, c.switches}, {OSPreemptions, c.preemptions}} {
		if m.n != 0 {
			b = append(b, `,"`+m.name+`":`...)
			b = strconv.AppendInt(b, m.n, 10)
		}
	}
	return b
}

// osCountsOf reads the journal into a map by event.
func (b *builder) osCountsOf() {
	list, dropped := b.r.counted.all()
	if len(list) == 0 {
		return
	}
	b.used = make(map[*event]*osCounts, len(list))
	for i := range list {
		b.used[list[i].e] = &list[i].used
	}
	if dropped > 0 {
		b.t.Problem("dropped-os-counts", dropped, "The operating system's counts of spans were dropped because there were too many: sums of them are too small.",
			"Record a shorter piece, or fewer spans.")
	}
}

// addOSCounts hangs counts on s, beside the arguments that it has.
func (b *builder) addOSCounts(s *trace.Slice, used *osCounts) {
	text := used.text([]byte{'{'})
	with := func(extra trace.StringID) trace.StringID {
		if old := b.t.Strings.Get(extra); len(old) > 2 { // an object with members
			text = append(append(text, ','), old[1:]...)
		} else {
			text = append(text, '}')
		}
		return b.t.Strings.IDBytes(text)
	}
	if s.Kind == trace.ArgCall || b.t.Categories[s.Cat].Class == trace.ClassCall {
		b.t.Calls = first(b.t.Calls)
		args := trace.CallArgs{ID: -1, Parent: -1, Module: -1}
		if s.Kind == trace.ArgCall {
			args = b.t.Calls[s.Args]
		}
		args.Extra = with(args.Extra)
		b.t.Calls = append(b.t.Calls, args)
		s.Kind, s.Args = trace.ArgCall, uint32(len(b.t.Calls)-1)
		return
	}
	b.t.Ops = first(b.t.Ops)
	args := trace.OpArgs{Sequence: trace.NoSequence}
	if s.Kind == trace.ArgOp {
		args = b.t.Ops[s.Args]
	}
	args.Extra = with(args.Extra)
	b.t.Ops = append(b.t.Ops, args)
	s.Kind, s.Args = trace.ArgOp, uint32(len(b.t.Ops)-1)
}
