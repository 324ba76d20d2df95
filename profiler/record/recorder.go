package record

import (
	"errors"
	"sync"
	"sync/atomic"
)

// Config says what a Recorder keeps besides the times of spans.
type Config struct {
	// MaxEvents bounds the spans that are kept, 32 bytes each; 0 is DefaultMaxEvents. Up to 64 chunks of 1023 come on
	// top, so that with a small bound every goroutine still has room for some. Memory events, counter values and
	// instants are bounded by a quarter of it each.
	MaxEvents int

	NoSpans bool // record no spans but those of steps

	Shapes bool // keep the shapes of operators' arguments
	FLOPs  bool // keep operators' FLOPs and bytes
	Memory bool // keep memory events
	Stacks bool // keep the call stack of every span and memory event, at a quarter of a microsecond each, more for deep ones
	Labels bool // label the goroutine with its innermost span, for CPU samples

	// OSCounts reads what the operating system counts for the thread at both ends of every span, 1.3 us together. A goroutine
	// holds its thread while it has a span open.
	OSCounts bool

	// Correlator ties device work to spans; nil for none.
	Correlator Correlator
}

// DefaultMaxEvents keeps a recording below 128 MiB.
const DefaultMaxEvents = 4 << 20

// Correlator hears of every span on the OS thread of its goroutine, which is locked to it meanwhile. Id is the external
// id that the span's slice has in the trace.
type Correlator interface {
	Push(id uint64)
	Pop(id uint64)
}

// Recorder keeps what the program reports while it is active.
type Recorder struct {
	shards    [shardCount]shard
	chunks    atomic.Int64
	maxChunks int64
	serial    atomic.Uint64
	names     names
	args      args
	heavy     bool // spans need more than their time: beginHeavy
	noSpans   bool
	tinyCall  int64 // ns, see the constant
	config    Config

	memory   journal[memEvent]
	counters journal[counterValue]
	instants journal[instant]
	counted  journal[spanCounts]
	labels   labels
	orphans  orphans
	step     atomic.Uint32 // changes with each step, for the calls that are only counted
	tallies  atomic.Int64

	// mu guards the windows.
	mu      sync.Mutex
	windows []window
}

// window is one stretch of time in which the recorder was active. To is zero while it is.
type window struct {
	from, to pair
	live     int64 // what the program's allocators held at from
}

// active is the recorder that Begin writes to, nil when nothing records.
var active atomic.Pointer[Recorder]

// errBusy is returned by Start while another recorder is active.
var errBusy = errors.New("starting to record: another recording is active")

// New makes a recorder that is not active yet.
func New(c Config) *Recorder {
	if c.MaxEvents <= 0 {
		c.MaxEvents = DefaultMaxEvents
	}
	r := &Recorder{config: c, tinyCall: tinyCall}
	r.maxChunks = int64(max(1, (c.MaxEvents+chunkLen-1)/chunkLen))
	limit := int64(max(1, c.MaxEvents/4))
	r.memory.limit, r.counters.limit, r.instants.limit = limit, limit, limit
	r.noSpans = c.NoSpans
	r.counted.limit = min(limit, maxOSCounts)
	r.heavy = c.Stacks || c.Labels || c.OSCounts || c.Correlator != nil
	return r
}

// Start makes r the active recorder. It fails while another one is. A recorder may be started again after Stop; what it
// holds then adds up.
func (r *Recorder) Start() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !active.CompareAndSwap(nil, r) {
		if active.Load() == r {
			return nil
		}
		return errBusy
	}
	r.windows = append(r.windows, window{from: readPair(), live: live.Load()})
	return nil
}

// Stop ends the recording; spans that are still open are reported as unfinished unless they end before the trace is
// built. It is idempotent.
func (r *Recorder) Stop() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !active.CompareAndSwap(r, nil) {
		return
	}
	r.windows[len(r.windows)-1].to = readPair()
}

// Active reports whether any recorder is active. Instrumentation asks it before it computes arguments.
func Active() bool { return active.Load() != nil }

// Window returns the record times of the first Start and the last Stop (now, while active). Both are 0 before the first
// Start.
func (r *Recorder) Window() (start, end int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.windows) == 0 {
		return 0, 0
	}
	end = r.windows[len(r.windows)-1].to.ns
	if end == 0 {
		end = Now()
	}
	return r.windows[0].from.ns, end
}
