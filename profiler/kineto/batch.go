package kineto

import "github.com/gander-go/gander/profiler/trace"

// batch is what one scanner made of one unit. Ids in it (strings, tracks, categories) are the scanner's own, side tables
// are indexed from 1; the merger translates both.
type batch struct {
	slices   []trace.Slice
	ops      []trace.OpArgs
	calls    []trace.CallArgs
	kernels  []trace.KernelArgs
	copies   []trace.CopyArgs
	syncs    []trace.SyncArgs
	generics []trace.GenericArgs
	memory   []trace.MemEvent
	instants []trace.Instant
	points   []flowPoint
	edges    []edge
	values   []counterValue
	notes    []note
	samples  []sampleEvent

	events int64 // elements read, bad ones included
	lost   [numProblems]int64

	// What the scanner has given ids to since its last batch. fresh says that its tables started anew before this one.
	fresh      bool
	strings    []string
	tracks     []trackKey
	categories []trace.Category
}

// reset empties b and keeps its memory.
func (b *batch) reset() {
	*b = batch{
		slices: b.slices[:0], ops: b.ops[:0], calls: b.calls[:0], kernels: b.kernels[:0], copies: b.copies[:0],
		syncs: b.syncs[:0], generics: b.generics[:0], memory: b.memory[:0], instants: b.instants[:0], points: b.points[:0],
		edges: b.edges[:0], values: b.values[:0], notes: b.notes[:0], samples: b.samples[:0],
	}
}

// trackKey identifies a track within one scanner: pid and tid, each a number or the id of a string.
type trackKey struct {
	pid, tid       int64
	pidKey, tidKey trace.StringID
	kind           trackUse
	category       trace.StringID // of asynchronous events
}

// trackUse separates what shares pid and tid but not a line of the timeline.
type trackUse uint8

const (
	useThread trackUse = iota
	useAsync           // asynchronous events of one category of a process
	useState           // states of a thread
)

// flowPoint is one end of an arrow.
type flowPoint struct {
	id    int64
	time  int64
	track trace.TrackID
	cat   trace.StringID
	name  trace.StringID
	phase byte // 's', 't' or 'f'
}

// edge is the begin or the end of a slice that is written as two events.
type edge struct {
	slice trace.Slice // of a begin; of an end Start, Track, Name and Cat count
	id    int64       // of asynchronous ones
	phase byte        // 'B', 'E', 'b' or 'e'
}

// counterValue is one value of one series of a counter.
type counterValue struct {
	time   int64
	value  float64
	track  trace.TrackID // only its process counts
	name   trace.StringID
	series trace.StringID
}

// note is a metadata event: what key says about a process or thread.
type note struct {
	track trace.TrackID
	key   noteKey
	text  trace.StringID
	value int64
	name  trace.StringID // of other metadata
}

type noteKey uint8

const (
	noteOther noteKey = iota
	noteProcessName
	noteProcessLabels
	noteProcessSort
	noteThreadName
	noteThreadSort
)

// sampleEvent is a sample of a Chrome trace; frame is an id of its stackFrames.
type sampleEvent struct {
	time   int64
	track  trace.TrackID
	frame  trace.StringID
	weight int64
}
