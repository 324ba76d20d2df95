package record

import (
	"runtime/pprof"
	"sync"
	"testing"
	"unsafe"

	"github.com/gander-go/gander/profiler/trace"
)

// heap keeps what the tests report off the stack, which moves.
var heap []byte

func TestMemoryTotals(t *testing.T) {
	heap = make([]byte, 8)
	p := heap
	before := live.Load()
	Alloc("early", unsafe.Pointer(&p[0]), 1000)
	r := recording(t, Config{Memory: true})
	Alloc("a", unsafe.Pointer(&p[1]), 300)
	Free(unsafe.Pointer(&p[0]), 1000) // of before the recording
	OutOfMemory("huge", 1<<40)
	Alloc("b", unsafe.Pointer(&p[2]), 50)
	Free(unsafe.Pointer(&p[1]), 300)
	x := built(t, r)
	want := []struct {
		name             string
		bytes, allocated int64
		oom              bool
	}{{"a", 300, 1300, false}, {"", -1000, 300, false}, {"huge", 1 << 40, 300, true}, {"b", 50, 350, false}, {"", -300, 50, false}}
	if len(x.Memory) != len(want) {
		t.Fatalf("%d events, want %d", len(x.Memory), len(want))
	}
	for i, w := range want {
		m := x.Memory[i]
		if x.Strings.Get(m.Name) != w.name || m.Bytes != w.bytes || m.Allocated != w.allocated+before || m.OOM != w.oom || m.Reserved != -1 {
			t.Errorf("event %d is %q %+v, want %+v", i, x.Strings.Get(m.Name), m, w)
		}
	}
	if x.Memory[0].Addr != uint64(uintptr(unsafe.Pointer(&p[1]))) || x.Memory[0].Addr != x.Memory[4].Addr {
		t.Error("an allocation and its release have different addresses")
	}
	Free(unsafe.Pointer(&p[2]), 50)
}

func TestJournalDropsAreCounted(t *testing.T) {
	r := recording(t, Config{Memory: true, MaxEvents: 400})
	for range 1000 {
		Counter("c", "count", 1)
	}
	x := built(t, r)
	kept := int64(len(x.Counters[0].Times))
	if dropped := problem(x, "dropped-counter-values"); kept != 100 || dropped != 900 {
		t.Errorf("%d kept, %d dropped of 1000", kept, dropped)
	}
}

func TestCountersAndMarks(t *testing.T) {
	r := recording(t, Config{})
	var wg sync.WaitGroup
	for i := range 4 {
		wg.Go(func() {
			for j := range 100 {
				Counter("queue", "count", float64(i*100+j))
			}
			Mark("done")
		})
	}
	wg.Wait()
	Counter("queue", "bytes", 1)
	x := built(t, r)
	if len(x.Counters) != 2 || len(x.Counters[0].Times) != 400 || len(x.Instants) != 4 {
		t.Fatalf("%d counters, %d instants", len(x.Counters), len(x.Instants))
	}
	sum := 0.0
	for _, v := range x.Counters[0].Values {
		sum += v
	}
	if sum != 399*400/2 {
		t.Errorf("values add up to %v", sum)
	}
}

// spy is a Correlator that notes what it hears.
type spy struct{ pushed, popped []uint64 }

func (s *spy) Push(id uint64) { s.pushed = append(s.pushed, id) }
func (s *spy) Pop(id uint64)  { s.popped = append(s.popped, id) }

func TestCorrelator(t *testing.T) {
	s := new(spy)
	r := recording(t, Config{Correlator: s})
	a := Begin("a")
	b := Begin("b")
	b.End()
	a.End()
	for range chunkLen { // into the next chunk
		Begin("x").End()
	}
	x := built(t, r)
	if len(s.pushed) != chunkLen+2 || len(s.popped) != chunkLen+2 {
		t.Fatalf("%d pushed, %d popped", len(s.pushed), len(s.popped))
	}
	if s.popped[0] != s.pushed[1] || s.popped[1] != s.pushed[0] {
		t.Error("spans were not popped inside out")
	}
	for i := range x.Slices {
		if x.Slices[i].Ext != int64(s.pushed[i]) || x.Slices[i].Ext == 0 {
			t.Fatalf("slice %d has id %d, the correlator heard %d", i, x.Slices[i].Ext, s.pushed[i])
		}
	}
}

func TestLabels(t *testing.T) {
	r := recording(t, Config{Labels: true})
	label := func() string {
		r.labels.mu.Lock()
		defer r.labels.mu.Unlock()
		if l := r.labels.current[slowID()]; l != nil {
			v, _ := pprof.Label(l.ctx, SpanLabel)
			return v
		}
		return "none"
	}
	check := func(want string) {
		t.Helper()
		if got := label(); got != want {
			t.Errorf("labelled %q, want %q", got, want)
		}
	}
	check("none")
	a := Begin("a")
	check("a")
	b := Begin("b")
	check("b")
	b.End()
	check("a")
	a.End()
	check("none")
	if n := len(r.labels.current); n != 0 {
		t.Errorf("%d goroutines are still labelled", n)
	}
	if x := built(t, r); len(x.Slices) != 2 || x.Class(&x.Slices[0]) != trace.ClassAnnotation {
		t.Errorf("spans: %v", spanNames(x))
	}
}

func TestEndElsewhereIsUndoneByTheOwner(t *testing.T) {
	s := new(spy)
	r := recording(t, Config{Correlator: s, Labels: true})
	a := Begin("handed over")
	done := make(chan bool)
	go func() { a.End(); close(done) }()
	<-done
	if len(s.popped) != 0 {
		t.Error("another goroutine popped the owner's span")
	}
	Begin("next").End()
	x := built(t, r)
	if len(s.popped) != 2 || s.popped[0] != s.pushed[0] || len(r.labels.current) != 0 || r.orphans.count.Load() != 0 {
		t.Errorf("pushed %v, popped %v, labels %v", s.pushed, s.popped, r.labels.current)
	}
	if x.Slices[0].Flags != trace.FlagAsync || x.Slices[1].Flags != 0 {
		t.Errorf("flags %b and %b", x.Slices[0].Flags, x.Slices[1].Flags)
	}
}
