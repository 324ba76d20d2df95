package record

import (
	"strconv"
	"sync"
	"sync/atomic"
	"unsafe"

	"github.com/gander-go/gander/profiler/trace"
)

// event is one span. 32 bytes and no pointers, so that the garbage collector never scans a chunk.
type event struct {
	start int64  // ticks
	end   uint64 // ticks<<1, the lowest bit says that another goroutine ended it; 0 while it is open
	goid  int64  // the goroutine that began it
	name  uint32
	arg   uint32 // index into args, 0 for none
}

// chunkLen makes a chunk exactly 32 KiB, which is a size class of the allocator.
const chunkLen = 1023

type chunk struct {
	n      int
	serial uint64 // number of the first event: event i has the id serial+i, from 1
	_      [16]byte
	ev     [chunkLen]event
}

const shardCount = 64

// shard is what goroutines whose ids are equal modulo shardCount write to.
type shard struct {
	// mu guards the fields below and n and the unfinished part of cur's events.
	mu      sync.Mutex
	cur     *chunk
	full    []*chunk
	dropped int64

	_ [128 - 48]byte // keeps shards off each other's pair of cache lines
}

// Span is a span that has begun. The zero Span is one that nothing records; its End does nothing. Copies are the same
// span; the first End counts.
type Span struct {
	e *event
	x *companion
}

// companion is what a span needs when more than its time is recorded: it is nil on the hot path.
type companion struct {
	r    *Recorder
	id   uint64
	prev *label
	os   start
}

// Begin starts a span called name on the calling goroutine. Nothing is recorded while no Recorder is active.
func Begin(name string) Span {
	if r := active.Load(); r != nil {
		return r.begin(name)
	}
	return Span{}
}

// BeginCall is Begin for instrumentation that nobody wrote by hand: the call of a function called name. Calls that are too
// many and too short are only counted, see tinyAfter.
func BeginCall(name string) Span {
	r := active.Load()
	if r == nil || r.noSpans {
		return Span{}
	}
	n := r.names.name(name, trace.ClassCall, trace.FlagInstrument)
	counted, t := r.counts(n)
	switch {
	case counted:
		return Span{}
	case t != nil:
		return r.beginTallied(n, t)
	case r.heavy:
		return r.beginHeavy(n.id, r.argOf(nil))
	}
	return r.reserve(n.id, 0)
}

// beginTallied begins the span that tells of the calls which t counts; when it is dropped, nothing tells of them.
func (r *Recorder) beginTallied(n *name, t *tally) Span {
	var s Span
	if r.heavy {
		s = r.beginHeavy(n.id, r.argOf(nil))
	} else {
		s = r.reserve(n.id, 0)
	}
	t.e.Store(s.e)
	return s
}

// BeginStep starts the span of step n of a schedule. It has times only: steps launch no device work of their own.
func (r *Recorder) BeginStep(n int) Span {
	r.step.Add(1)
	return r.reserve(r.names.id("ProfilerStep#"+strconv.Itoa(n), trace.ClassStep, 0), 0)
}

// EndStep ends a step's span on behalf of the calling goroutine, which takes it over: in a notebook the first step is
// begun by whoever starts the profile and ended by the cell. It must not run while a trace is being built.
func (r *Recorder) EndStep(s Span) {
	r.step.Add(1)
	if s.e == nil {
		return
	}
	sh := &r.shards[s.e.goid&(shardCount-1)]
	sh.mu.Lock()
	s.e.goid = goroutine()
	sh.mu.Unlock()
	s.End()
}

// End ends the span. Any goroutine may call it; the span belongs to the one that began it, and is marked as
// asynchronous when another one ends it.
func (s Span) End() {
	if s.e != nil {
		s.end()
	}
}

// Recording reports whether s is recorded: false for the zero Span.
func (s Span) Recording() bool { return s.e != nil }

func (s Span) end() {
	t := uint64(ticks()) << 1
	g := goroutine()
	if g != s.e.goid {
		t |= 1
	}
	if atomic.LoadUint64(&s.e.end) == 0 {
		atomic.StoreUint64(&s.e.end, t)
		if s.x != nil {
			s.x.r.leave(s, g)
		}
	}
}

func (r *Recorder) begin(name string) Span {
	if r.noSpans {
		return Span{}
	}
	id := r.names.id(name, trace.ClassAnnotation, 0)
	if r.heavy {
		return r.beginHeavy(id, r.argOf(nil))
	}
	return r.reserve(id, 0)
}

// reserve takes the next event of the calling goroutine's shard.
func (r *Recorder) reserve(name, arg uint32) Span {
	g := goroutine()
	sh := &r.shards[g&(shardCount-1)]
	sh.mu.Lock()
	c := sh.cur
	if c == nil || c.n == chunkLen {
		if c = r.nextChunk(sh); c == nil {
			sh.dropped++
			sh.mu.Unlock()
			return Span{}
		}
	}
	e := &c.ev[c.n]
	c.n++
	e.goid, e.name, e.arg = g, name, arg
	e.start = ticks()
	sh.mu.Unlock()
	return Span{e: e}
}

// nextChunk gives sh, whose lock is held, an empty chunk, or nil when the recording has used its memory. The first chunk
// of a shard is not counted: goroutines that start late find room too.
func (r *Recorder) nextChunk(sh *shard) *chunk {
	if sh.cur != nil && r.chunks.Add(1) > r.maxChunks {
		r.chunks.Add(-1)
		return nil
	}
	if sh.cur != nil {
		sh.full = append(sh.full, sh.cur)
	}
	sh.cur = &chunk{serial: r.serial.Add(chunkLen) - chunkLen + 1}
	return sh.cur
}

// idOf returns the id of e when it lies in c.
func (c *chunk) idOf(e *event) (uint64, bool) {
	if c == nil {
		return 0, false
	}
	first, last := uintptr(unsafe.Pointer(&c.ev[0])), uintptr(unsafe.Pointer(&c.ev[chunkLen-1]))
	p := uintptr(unsafe.Pointer(e))
	if p < first || p > last {
		return 0, false
	}
	return c.serial + uint64((p-first)/unsafe.Sizeof(event{})), true
}
