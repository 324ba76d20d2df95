package record

import (
	"context"
	"runtime"
	"runtime/pprof"
	"sync"
	"sync/atomic"
)

// SpanLabel is the profiler label that carries the name of a goroutine's innermost span while Config.Labels is on.
const SpanLabel = "gander_span"

// label is the context whose labels name a span.
type label struct {
	ctx  context.Context
	name uint32
}

// labels remembers for each goroutine which span labels it, so that End can put back the one around it.
type labels struct {
	// mu guards the maps.
	mu      sync.Mutex
	byName  map[uint32]*label
	current map[int64]*label
}

// beginHeavy begins a span of which more than the time is wanted: labels for CPU samples, ids for device work.
func (r *Recorder) beginHeavy(name, arg uint32) Span {
	var os start
	if r.config.OSCounts {
		runtime.LockOSThread()
		os = readStart() // before the span begins: it takes half a microsecond
	}
	s := r.reserve(name, arg)
	if s.e == nil && r.config.OSCounts {
		runtime.UnlockOSThread()
	}
	if s.e == nil || !r.config.Labels && r.config.Correlator == nil && !r.config.OSCounts {
		return s
	}
	if r.orphans.count.Load() > 0 {
		r.adopt(s.e.goid)
	}
	s.x = &companion{r: r, os: os}
	if r.config.Labels {
		s.x.prev = r.enterLabel(s.e.goid, name)
	}
	if r.config.Correlator != nil {
		runtime.LockOSThread()
		s.x.id = r.serialOf(s)
		r.config.Correlator.Push(s.x.id)
	}
	return s
}

// leave undoes beginHeavy for a span that goroutine g ended. A goroutine cannot undo what belongs to another: that is
// left to the one that began the span, when it next begins or ends one.
func (r *Recorder) leave(s Span, g int64) {
	if owner := s.e.goid; g != owner {
		r.orphans.add(owner, s.x)
		return
	}
	if r.orphans.count.Load() > 0 {
		r.adopt(g)
	}
	if r.config.OSCounts {
		r.countOS(s.e, &s.x.os)
	}
	r.undo(s.x, g)
}

func (r *Recorder) undo(x *companion, g int64) {
	if r.config.OSCounts {
		runtime.UnlockOSThread()
	}
	if r.config.Correlator != nil {
		r.config.Correlator.Pop(x.id)
		runtime.UnlockOSThread()
	}
	if r.config.Labels {
		r.leaveLabel(g, x.prev)
	}
}

// adopt undoes the spans of goroutine g that others ended.
func (r *Recorder) adopt(g int64) {
	for _, x := range r.orphans.take(g) {
		r.undo(x, g)
	}
}

// orphans are companions of spans that were ended by other goroutines than began them.
type orphans struct {
	count atomic.Int64

	// mu guards list.
	mu   sync.Mutex
	list map[int64][]*companion // by the goroutine that began the span
}

func (o *orphans) add(g int64, x *companion) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.list == nil {
		o.list = make(map[int64][]*companion)
	}
	o.list[g] = append(o.list[g], x)
	o.count.Add(1)
}

func (o *orphans) take(g int64) []*companion {
	o.mu.Lock()
	defer o.mu.Unlock()
	list := o.list[g]
	delete(o.list, g)
	o.count.Add(-int64(len(list)))
	return list
}

// serialOf returns the id of the span just reserved: its place in the chunk that is current or was filled by it.
func (r *Recorder) serialOf(s Span) uint64 {
	sh := &r.shards[s.e.goid&(shardCount-1)]
	sh.mu.Lock()
	defer sh.mu.Unlock()
	for i := len(sh.full); i >= 0; i-- {
		c := sh.cur
		if i < len(sh.full) {
			c = sh.full[i]
		}
		if id, ok := c.idOf(s.e); ok {
			return id
		}
	}
	return 0
}

func (r *Recorder) enterLabel(g int64, id uint32) *label {
	t := &r.labels
	t.mu.Lock()
	l := t.byName[id]
	if l == nil {
		if t.byName == nil {
			t.byName, t.current = make(map[uint32]*label), make(map[int64]*label)
		}
		text := r.names.all()[id].text
		l = &label{pprof.WithLabels(context.Background(), pprof.Labels(SpanLabel, text)), id}
		t.byName[id] = l
	}
	prev := t.current[g]
	t.current[g] = l
	t.mu.Unlock()
	pprof.SetGoroutineLabels(l.ctx)
	return prev
}

func (r *Recorder) leaveLabel(g int64, prev *label) {
	t := &r.labels
	t.mu.Lock()
	ctx := context.Background()
	if prev != nil {
		t.current[g] = prev
		ctx = prev.ctx
	} else {
		delete(t.current, g)
	}
	t.mu.Unlock()
	pprof.SetGoroutineLabels(ctx)
}
