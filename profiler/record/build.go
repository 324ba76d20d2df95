package record

import (
	"os"
	"slices"
	"sync/atomic"

	"github.com/gander-go/gander/profiler/trace"
)

// grain is how far a child may reach past its parent before the two count as overlapping: readings of the time stamp
// counter are not fenced, so that the ends of nested spans can swap by a few nanoseconds.
const grain = 100

// AddTo adds what r holds to t, in whose time zero is the record time epoch. It may be called while r records, and
// again later. It does not sort what other sources have added to t.
//
//  1. A snapshot of all shards is taken: which chunks, how full.
//  2. Events are counted by goroutine and placed into t.Slices goroutine by goroutine; within one they are ordered by
//     start already, because a goroutine writes to one shard.
//  3. Each goroutine's slices are checked for nesting; those that overlap an enclosing one are marked asynchronous.
func (r *Recorder) AddTo(t *trace.Trace, epoch int64) {
	b := r.builder(t, epoch)
	b.osCountsOf()
	b.spans()
	b.memory()
	b.counters()
	b.instants()
	b.problems()
}

// builder holds what AddTo needs throughout.
type builder struct {
	r       *Recorder
	t       *trace.Trace
	scale   scale
	epoch   int64
	start   int64 // of the recording, ns since epoch
	end     int64
	windows []window
	process trace.ProcessID
	tracks  *trace.TrackIndex
	args    *argBuilder
	names   []builtName
	used    map[*event]*osCounts // by span
	dropped int64
}

type builtName struct {
	id    trace.StringID
	cat   trace.CategoryID
	class trace.Class
	flags trace.SliceFlags
	made  bool

	tiny    map[*event]int64 // calls that were counted, by the slice that has to tell of them
	counted int64            // and those that the first slice of the name has to tell of
}

func (r *Recorder) builder(t *trace.Trace, epoch int64) *builder {
	r.mu.Lock()
	windows := slices.Clone(r.windows)
	r.mu.Unlock()
	b := &builder{r: r, t: t, epoch: epoch, windows: windows}
	if n := len(windows); n > 0 {
		if windows[n-1].to == (pair{}) {
			windows[n-1].to = readPair()
		}
		b.scale = newScale(windows[0].from, windows[n-1].to)
		b.start = windows[0].from.ns - epoch
		b.end = windows[n-1].to.ns - epoch
	}
	b.process = t.Process(int64(os.Getpid()), processName())
	b.tracks = t.TrackIndex()
	b.args = &argBuilder{t: t, args: r.args.all(), names: r.names.all()}
	return b
}

func processName() string {
	if len(os.Args) == 0 {
		return "go"
	}
	name := os.Args[0]
	for i := len(name) - 1; i >= 0; i-- {
		if os.IsPathSeparator(name[i]) {
			return name[i+1:]
		}
	}
	return name
}

// time converts ticks to the time of the trace.
func (b *builder) time(tick int64) int64 { return b.scale.ns(tick) - b.epoch }

// snapshot returns the events of a shard that are in place now. Only their end may still change.
func (sh *shard) snapshot() (runs [][]event, dropped int64) {
	sh.mu.Lock()
	defer sh.mu.Unlock()
	for _, c := range sh.full {
		runs = append(runs, c.ev[:c.n])
	}
	if sh.cur != nil {
		runs = append(runs, sh.cur.ev[:sh.cur.n])
	}
	return runs, sh.dropped
}

// serials returns the id of the first event of each run of snapshot.
func (sh *shard) serials(n int) []uint64 {
	sh.mu.Lock()
	defer sh.mu.Unlock()
	list := make([]uint64, 0, len(sh.full)+1)
	for _, c := range sh.full {
		list = append(list, c.serial)
	}
	if sh.cur != nil {
		list = append(list, sh.cur.serial)
	}
	return list[:n]
}

func (b *builder) spans() {
	for i := range b.r.shards {
		sh := &b.r.shards[i]
		runs, dropped := sh.snapshot()
		b.dropped += dropped
		if len(runs) > 0 {
			b.shard(runs, sh.serials(len(runs)))
		}
	}
}

// member is one goroutine's part of a shard.
type member struct {
	track trace.TrackID
	next  int // where its next slice goes
	from  int
}

// shard places the events of one shard.
func (b *builder) shard(runs [][]event, serials []uint64) {
	index := make(map[int64]int32)
	var members []member
	var goids []int64
	for _, run := range runs {
		last, at := int64(-1), int32(0)
		for i := range run {
			if g := run[i].goid; g != last {
				n, ok := index[g]
				if !ok {
					n = int32(len(members))
					index[g] = n
					members = append(members, member{})
					goids = append(goids, g)
				}
				last, at = g, n
			}
			members[at].next++
		}
	}
	total := len(b.t.Slices)
	for i := range members {
		m := &members[i]
		n := m.next
		m.track = b.tracks.Goroutine(b.process, goids[i])
		m.from, m.next = total, total
		total += n
	}
	b.t.Slices = slices.Grow(b.t.Slices, total-len(b.t.Slices))[:total]
	for k, run := range runs {
		last, at := int64(-1), int32(0)
		for i := range run {
			e := &run[i]
			if e.goid != last {
				last, at = e.goid, index[e.goid]
			}
			m := &members[at]
			b.slice(&b.t.Slices[m.next], e, m.track, int64(serials[k])+int64(i))
			m.next++
		}
	}
	for i := range members {
		nest(b.t.Slices[members[i].from:members[i].next])
	}
}

// slice converts one event.
func (b *builder) slice(s *trace.Slice, e *event, track trace.TrackID, ext int64) {
	n := b.name(e.name)
	*s = trace.Slice{Start: max(b.time(e.start), b.start), Track: track, Name: n.id, Cat: n.cat, Flags: n.flags}
	if b.r.config.Correlator != nil {
		s.Ext = ext
	}
	end := b.end
	if raw := atomic.LoadUint64(&e.end); raw != 0 {
		if raw&1 != 0 {
			s.Flags |= trace.FlagAsync
		}
		end = b.time(int64(raw >> 1))
	} else {
		s.Flags |= trace.FlagUnfinished
	}
	if end > b.end {
		end = b.end
		s.Flags |= trace.FlagUnfinished
	}
	s.Dur = max(0, end-s.Start)
	if e.arg != 0 {
		s.Kind, s.Args = b.args.ref(e.arg, n.class == trace.ClassCall)
	}
	if n.tiny != nil || n.counted > 0 {
		if sum := n.counted + n.tiny[e]; sum > 0 {
			b.countedArgs(s, sum)
			n.counted = 0
		}
	}
	if used := b.used[e]; used != nil {
		b.addOSCounts(s, used)
	}
}

func (b *builder) name(id uint32) *builtName {
	for int(id) >= len(b.names) {
		b.names = append(b.names, builtName{})
	}
	n := &b.names[id]
	if !n.made {
		src := b.r.names.all()[id]
		*n = builtName{id: b.t.Strings.ID(src.text), cat: b.t.Category(categoryName(src.class), src.class), class: src.class, flags: src.flags, made: true}
		if c := src.calls.tiny.Load(); c != nil {
			n.tiny = make(map[*event]int64)
			c.each(func(e *event, calls int64) {
				if e == nil {
					n.counted += calls
				} else {
					n.tiny[e] += calls
				}
			})
		}
	}
	return n
}

// categoryName spells the categories as Kineto does where it has them.
func categoryName(c trace.Class) string {
	switch c {
	case trace.ClassOp:
		return "cpu_op"
	case trace.ClassCall:
		return "go_call"
	}
	return "user_annotation"
}

// nest checks that the slices of one goroutine, ordered by start, contain each other or are apart.
func nest(list []trace.Slice) {
	if !slices.IsSortedFunc(list, inOrder) {
		slices.SortStableFunc(list, inOrder)
	}
	open := make([]int64, 0, 32) // ends of the slices around the current one
	for i := range list {
		s := &list[i]
		for len(open) > 0 && open[len(open)-1] <= s.Start {
			open = open[:len(open)-1]
		}
		if s.Flags&trace.FlagAsync != 0 {
			continue
		}
		if len(open) > 0 && s.End() > open[len(open)-1] {
			if over := s.End() - open[len(open)-1]; over > grain {
				s.Flags |= trace.FlagAsync
				continue
			}
			s.Dur = open[len(open)-1] - s.Start
		}
		open = append(open, s.End())
	}
	// A child that was cut can now start with a sibling of zero length; the order must hold all the same.
	if !slices.IsSortedFunc(list, inOrder) {
		slices.SortStableFunc(list, inOrder)
	}
}

func inOrder(a, b trace.Slice) int {
	switch {
	case a.Start != b.Start:
		if a.Start < b.Start {
			return -1
		}
		return 1
	case a.Dur != b.Dur:
		if a.Dur > b.Dur {
			return -1
		}
		return 1
	}
	return 0
}
