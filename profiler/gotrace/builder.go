package gotrace

import (
	"encoding/json"
	"math"
	"slices"
	"strconv"
	"strings"

	xtrace "golang.org/x/exp/trace"

	"github.com/gander-go/gander/profiler/trace"
)

// Ids of tracks of kind TrackRuntime. The first two are those that profiler/goruntime uses, so that exact slices come
// where estimated ones were.
const (
	trackGC    = 1
	trackSTW   = 2
	trackProcs = 1000 // plus the number of the processor
	trackSweep = 2000
	trackTasks = 3000
)

// maxWakes bounds the arrows from what unblocked a goroutine to the goroutine.
const maxWakes = 200_000

// builder adds to t what events say.
type builder struct {
	t         *trace.Trace
	process   trace.ProcessID
	tracks    *trace.TrackIndex
	stacks    *trace.StackIndex
	clock     clock
	low, high int64 // window; high is 0 while unknown
	now       int64 // time of the latest event
	started   bool

	lines *lines
	cats  struct{ state, gc, stw, task, region, log trace.CategoryID }

	goroutines map[xtrace.GoID]*goroutine
	procs      map[xtrace.ProcID]*line
	sweeps     map[xtrace.ProcID]*line
	ranges     map[rangeKey]int64 // start of those that are open
	tasks      map[xtrace.TaskID]openTask
	counters   map[string]int
	stackIDs   map[xtrace.Stack]trace.StackID
	samples    []trace.Sample
	exact      bool // collections were seen
	wakes      int64
	lostWakes  int64

	pending xtrace.Sync // the clocks, until the first event says what they start from
}

// goroutine is what is known of one now.
type goroutine struct {
	track   trace.TrackID
	line    *line
	regions []openRegion

	named    bool   // it began while the trace was taken
	function string // that it began with
}

type openRegion struct {
	name  trace.StringID
	start int64
}

type openTask struct {
	name  trace.StringID
	start int64
}

type rangeKey struct {
	name  string
	scope xtrace.ResourceID
}

func newBuilder(t *trace.Trace, opt Options, p trace.ProcessID) *builder {
	b := &builder{
		t: t, process: p, tracks: t.TrackIndex(), stacks: t.StackIndex(), low: math.MinInt64,
		goroutines: make(map[xtrace.GoID]*goroutine), procs: make(map[xtrace.ProcID]*line),
		sweeps: make(map[xtrace.ProcID]*line), ranges: make(map[rangeKey]int64),
		tasks: make(map[xtrace.TaskID]openTask), counters: make(map[string]int), stackIDs: make(map[xtrace.Stack]trace.StackID),
	}
	b.cats.state = t.Category("goroutine_state", trace.ClassState)
	b.cats.gc = t.Category("gc", trace.ClassGC)
	b.cats.stw = t.Category("stw", trace.ClassSTW)
	b.cats.task = t.Category("task", trace.ClassAnnotation)
	b.cats.region = t.Category("region", trace.ClassAnnotation)
	b.cats.log = t.Category("log", trace.ClassOther)
	b.lines = newLines(t, b.cats.state, opt.Grain)
	return b
}

func (b *builder) event(e *xtrace.Event) {
	if e.Kind() == xtrace.EventSync {
		if b.pending.ClockSnapshot == nil {
			b.pending = e.Sync()
		}
		b.clock.sync(b.pending, 0, b.t)
		return
	}
	if !b.clock.known {
		b.clock.sync(b.pending, int64(e.Time()), b.t)
	}
	at := int64(e.Time()) + b.clock.offset
	b.now = at
	if !b.started {
		b.started = true
		b.begin(at)
	}
	switch e.Kind() {
	case xtrace.EventStateTransition:
		if d := e.StateTransition(); d.Resource.Kind == xtrace.ResourceGoroutine {
			b.transition(e, &d, at)
		}
	case xtrace.EventRangeBegin, xtrace.EventRangeActive:
		r := e.Range()
		k := rangeKey{r.Name, r.Scope}
		if _, open := b.ranges[k]; !open {
			b.ranges[k] = at
		}
	case xtrace.EventRangeEnd:
		r := e.Range()
		k := rangeKey{r.Name, r.Scope}
		if start, open := b.ranges[k]; open {
			delete(b.ranges, k)
			b.span(k, start, at)
		}
	case xtrace.EventTaskBegin:
		k := e.Task()
		b.tasks[k.ID] = openTask{b.t.Strings.ID(k.Type), at}
	case xtrace.EventTaskEnd:
		k := e.Task()
		if open, ok := b.tasks[k.ID]; ok {
			delete(b.tasks, k.ID)
			b.task(k.ID, open, at)
		}
	case xtrace.EventRegionBegin:
		g := b.goroutine(e.Goroutine())
		g.regions = append(g.regions, openRegion{b.t.Strings.ID(e.Region().Type), at})
	case xtrace.EventRegionEnd:
		g := b.goroutine(e.Goroutine())
		if n := len(g.regions); n > 0 {
			b.slice(g.track, g.regions[n-1].name, b.cats.region, g.regions[n-1].start, at, 0)
			g.regions = g.regions[:n-1]
		}
	case xtrace.EventLog:
		b.log(e, at)
	case xtrace.EventMetric:
		b.metric(e.Metric(), at)
	case xtrace.EventStackSample:
		b.sample(e, at)
	}
}

// begin is called with the time of the first event.
func (b *builder) begin(at int64) {
	if b.clock.merged {
		b.lines.window(b.low, b.high)
		return
	}
	b.low = at
}

// goroutine returns what is known of id, which must not be NoGoroutine.
func (b *builder) goroutine(id xtrace.GoID) *goroutine {
	g := b.goroutines[id]
	if g == nil {
		g = &goroutine{track: b.tracks.Goroutine(b.process, int64(id))}
		states := b.tracks.ID(b.process, trace.TrackOther, int64(id), "goroutine "+strconv.FormatInt(int64(id), 10)+" states")
		g.line = b.lines.add(states)
		b.goroutines[id] = g
	}
	return g
}

// wake adds an arrow from the goroutine that unblocked another one.
func (b *builder) wake(from, to trace.TrackID, at int64) {
	if !b.inside(at) {
		return
	}
	if b.wakes++; b.wakes > maxWakes {
		b.lostWakes++
		return
	}
	b.t.Flows = append(b.t.Flows, trace.Flow{
		Kind: trace.FlowWake, ID: b.wakes, Name: b.t.Strings.ID("wake"), Cat: b.t.Strings.ID("wake"),
		FromTrack: from, ToTrack: to, FromTime: at, ToTime: at, From: trace.NoSlice, To: trace.NoSlice,
	})
}

// inside reports whether a time lies in the window.
func (b *builder) inside(at int64) bool { return at >= b.low && (!b.clock.merged || at <= b.high) }

// slice adds a slice as far as it lies in the window.
func (b *builder) slice(k trace.TrackID, name trace.StringID, cat trace.CategoryID, from, to int64, flags trace.SliceFlags) {
	from = max(from, b.low)
	if b.clock.merged {
		to = min(to, b.high)
	}
	if to >= from {
		b.t.Slices = append(b.t.Slices, trace.Slice{Start: from, Dur: to - from, Track: k, Name: name, Cat: cat, Flags: flags})
	}
}

// span adds a phase of the garbage collector or a pause.
func (b *builder) span(k rangeKey, from, to int64) {
	name := b.t.Strings.ID(k.name)
	switch {
	case strings.HasPrefix(k.name, "stop-the-world"):
		b.exact = true
		b.slice(b.tracks.ID(b.process, trace.TrackRuntime, trackSTW, "Stop the world"), name, b.cats.stw, from, to, 0)
	case k.scope.Kind == xtrace.ResourceNone:
		b.exact = true
		b.slice(b.tracks.ID(b.process, trace.TrackRuntime, trackGC, "Garbage collector"), name, b.cats.gc, from, to, 0)
	case k.scope.Kind == xtrace.ResourceGoroutine:
		b.slice(b.goroutine(k.scope.Goroutine()).track, name, b.cats.gc, from, to, 0)
	case k.scope.Kind == xtrace.ResourceProc:
		p := k.scope.Proc()
		l := b.sweeps[p]
		if l == nil {
			l = b.lines.add(b.tracks.ID(b.process, trace.TrackRuntime, trackSweep+int64(p), "P"+strconv.FormatInt(int64(p), 10)+" sweep"))
			b.sweeps[p] = l
		}
		l.begin(name, from)
		l.end(to)
	}
}

// task adds a task, which may begin and end on different goroutines.
func (b *builder) task(id xtrace.TaskID, open openTask, to int64) {
	k := b.tracks.ID(b.process, trace.TrackOther, trackTasks, "Tasks")
	n := len(b.t.Slices)
	if b.slice(k, open.name, b.cats.task, open.start, to, trace.FlagAsync); len(b.t.Slices) > n {
		b.t.Slices[n].Ext = int64(id)
	}
}

func (b *builder) log(e *xtrace.Event, at int64) {
	if !b.inside(at) {
		return
	}
	l := e.Log()
	name := l.Category
	if name == "" {
		name = "log"
	}
	k := trace.NoTrack
	if id := e.Goroutine(); id != xtrace.NoGoroutine {
		k = b.goroutine(id).track
	}
	text, err := json.Marshal(map[string]string{"message": l.Message})
	if err != nil {
		return
	}
	b.t.Instants = append(b.t.Instants, trace.Instant{Time: at, Track: k, Name: b.t.Strings.ID(name), Cat: b.cats.log, Scope: 't', Args: b.t.Strings.IDBytes(text)})
}

// curves are the metrics that the recording merged into may have itself, under names for people: one curve is enough.
var curves = map[string]string{"/memory/classes/heap/objects:bytes": "Go heap", "/gc/heap/goal:bytes": "Go heap goal"}

// recorded stands in builder.counters for a metric that is left out.
const recorded = -1

// metric adds a value to the counter of its name, "/memory/classes/heap/objects:bytes".
func (b *builder) metric(m xtrace.Metric, at int64) {
	if m.Value.Kind() != xtrace.ValueUint64 || !b.inside(at) {
		return
	}
	i, ok := b.counters[m.Name]
	if !ok {
		name, unit, _ := strings.Cut(m.Name, ":")
		if curve := curves[m.Name]; curve != "" && slices.ContainsFunc(b.t.Counters, func(c trace.Counter) bool { return c.Name == curve }) {
			b.counters[m.Name] = recorded
			return
		}
		i = len(b.t.Counters)
		b.counters[m.Name] = i
		b.t.Counters = append(b.t.Counters, trace.Counter{Name: name, Unit: unit, Process: b.process, Track: trace.NoTrack, Device: trace.NoDevice})
	}
	if i == recorded {
		return
	}
	c := &b.t.Counters[i]
	c.Times = append(c.Times, at)
	c.Values = append(c.Values, float64(m.Value.Uint64()))
}

// stack returns the id of a call stack.
func (b *builder) stack(s xtrace.Stack) trace.StackID {
	if s == xtrace.NoStack {
		return 0
	}
	if id, ok := b.stackIDs[s]; ok {
		return id
	}
	frames := slices.Collect(s.Frames()) // innermost first
	id := trace.StackID(0)
	for i := len(frames) - 1; i >= 0; i-- {
		id = b.stacks.Push(id, b.stacks.Frame(frames[i].Func, frames[i].File, int32(min(frames[i].Line, math.MaxInt32))))
	}
	b.stackIDs[s] = id
	return id
}

func (b *builder) sample(e *xtrace.Event, at int64) {
	if !b.inside(at) {
		return
	}
	k := trace.NoTrack
	if id := e.Goroutine(); id != xtrace.NoGoroutine {
		k = b.goroutine(id).track
	}
	b.samples = append(b.samples, trace.Sample{Time: at, Track: k, Stack: b.stack(e.Stack()), Kind: trace.SampleCPU, Weight: defaultPeriod, Count: 1})
}

// defaultPeriod is the time between samples of a CPU profile of 100 Hz, which runtime/pprof uses unless told otherwise.
const defaultPeriod = 10_000_000
