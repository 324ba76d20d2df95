package trace

// Trace is one recording: what every source (live spans, the Go runtime, CUPTI, an imported file) ends in and every
// analysis, chart and export starts from.
//
// All times are int64 nanoseconds on one clock whose zero is Meta.Epoch. Slices are ordered by (Track, Start, -Dur):
// Validate checks that and everything else a reader of a Trace may rely on.
type Trace struct {
	Meta       Meta
	Strings    Strings
	Categories []Category // Slice.Cat and Instant.Cat index it; index 0 is the zero Category
	Processes  []Process
	Tracks     []Track

	Slices   []Slice
	Instants []Instant
	Flows    []Flow
	Counters []Counter
	Memory   []MemEvent // ordered by Time

	Stacks  []Stack // call stacks as a prefix tree; index 0 is the empty stack
	Frames  []Frame // Stack.Frame indexes it
	Samples []Sample

	// Side tables, indexed by Slice.Args according to Slice.ArgKind. Index 0 of each is unused, so that the zero
	// Slice has no arguments.
	Ops      []OpArgs
	Calls    []CallArgs
	Kernels  []KernelArgs
	Copies   []CopyArgs
	Syncs    []SyncArgs
	Generics []GenericArgs

	Devices  []Device
	Problems []Problem // what was lost or repaired on the way here, with what to do about it

	// Attachments hold recordings in a source's own format that only another process can parse: the Go execution
	// trace is taken in the process that records and parsed where golang.org/x/exp/trace is linked.
	Attachments []Attachment
}

// Attachment is a raw recording that travels with a trace until somebody parses it.
type Attachment struct {
	Kind string // "go-exec-trace"
	Data []byte
}

// Meta says where a trace comes from.
type Meta struct {
	Tool    string // "gander", "pytorch", "chrome", "pprof", "go-trace"
	Version string
	Host    string // never shown or exported unless asked for
	PID     int64
	Rank    int // position in a distributed job; NoRank when there is none
	World   int // size of the job, 0 when unknown

	Epoch int64 // wall clock (Unix, ns) of time zero; 0 when unknown
	Start int64 // recorded window, ns
	End   int64

	// Values holds the remaining key-value pairs of the source in their order, each value as JSON text.
	Values []KeyValue
}

// NoRank marks a trace that is not part of a distributed job.
const NoRank = -1

// KeyValue is one named piece of metadata; Value is JSON text.
type KeyValue struct{ Key, Value string }

// Typed ids. They index the slices of Trace of the same name.
type (
	StringID   uint32
	CategoryID uint16
	ProcessID  int32
	TrackID    int32
	StackID    uint32
	FrameID    uint32
	DeviceID   int32
)

const (
	NoTrack   TrackID   = -1
	NoProcess ProcessID = -1
	NoDevice  DeviceID  = -1
	NoSlice   int32     = -1
)

// Class is the part a category plays in analysis, whatever a tool calls it.
type Class uint8

const (
	ClassOther      Class = iota
	ClassOp               // an operator on the host: cpu_op, a gonum BLAS call
	ClassAnnotation       // a named range of the user on the host: user_annotation, profiler.Begin
	ClassStep             // one step of a schedule: ProfilerStep#N
	ClassCall             // a Go function call
	ClassPython           // a Python function call
	ClassRuntime          // a CUDA/HIP/MTIA runtime API call on the host
	ClassDriver           // a driver API call on the host
	ClassKernel           // a kernel on a device
	ClassMemcpy           // a copy done by a device
	ClassMemset
	ClassDeviceAnnotation // a range on a stream: gpu_user_annotation
	ClassSync             // a synchronisation: cuda_sync
	ClassOverhead         // the profiler's own cost
	ClassComm             // a collective as the source marks it: collective_comm
	ClassGC               // garbage collector phases
	ClassSTW              // stop-the-world pauses
	ClassState            // goroutine or thread state
	ClassMemory           // [memory] and [OutOfMemory] instants
	ClassTool             // whole-recording spans of the tool itself: cat "Trace"
	NumClasses
)

// Category is one event category as the source spells it.
type Category struct {
	Name  string
	Class Class
}

// Process groups tracks, as a pid does in a Chrome trace.
type Process struct {
	PID    int64
	Key    string // the source's pid where that is not a number ("Spans"); else empty
	Name   string
	Labels string
	Sort   int64
	Device DeviceID // the device whose work the process shows, or NoDevice
}

// TrackKind says what a track's slices mean.
type TrackKind uint8

const (
	TrackThread    TrackKind = iota // an OS thread
	TrackGoroutine                  // a goroutine; ID is its goid
	TrackStream                     // a device stream; slices may overlap
	TrackRuntime                    // garbage collector, stop-the-world, scheduler
	TrackCounter
	TrackOther
)

// Track is one line of the timeline. Slices of one thread or goroutine nest; those of other kinds may overlap.
type Track struct {
	Process ProcessID
	Kind    TrackKind
	ID      int64  // tid, goroutine id or stream id
	Key     string // the source's tid where that is not a number; else empty
	Name    string
	Sort    int64
	Device  DeviceID
	Context int64 // device context of a stream
}

// ArgKind names the side table that Slice.Args indexes.
type ArgKind uint8

const (
	NoArgs ArgKind = iota
	ArgOp
	ArgCall
	ArgKernel
	ArgCopy
	ArgSync
	ArgGeneric
)

// SliceFlags are facts about one slice that fit a bit each.
type SliceFlags uint8

const (
	FlagAsync      SliceFlags = 1 << iota // started and ended on different threads
	FlagUnfinished                        // its end was not recorded: Dur reaches the end of the window
	FlagInstrument                        // recorded without annotation (cell-level instrumentation)
)

// Slice is something that took time on a track. 48 bytes.
type Slice struct {
	Start int64
	Dur   int64 // never negative
	Corr  int64 // correlation id shared by an API call and the device work it caused; 0 is none
	Ext   int64 // external id: on an op its own id, on runtime calls and device work that of the op that launched it; 0 is none
	Track TrackID
	Name  StringID
	Args  uint32
	Cat   CategoryID
	Kind  ArgKind
	Flags SliceFlags
}

// End is the time at which the slice ends.
func (s Slice) End() int64 { return s.Start + s.Dur }

// Instant is something that happened at one time.
type Instant struct {
	Time  int64
	Track TrackID // NoTrack for a global one
	Name  StringID
	Cat   CategoryID
	Scope byte     // 'g', 'p' or 't', as in Chrome traces
	Args  StringID // JSON object text, or 0
}

// FlowKind says what an arrow means.
type FlowKind uint8

const (
	FlowOther    FlowKind = iota
	FlowLaunch            // from a runtime call to the device work it caused (ac2g)
	FlowBackward          // from a forward op to its backward op (fwdbwd)
	FlowWake              // from what unblocked a goroutine to the goroutine
)

// Flow is an arrow between two points of tracks. A side that the source never gave has track NoTrack.
type Flow struct {
	Kind      FlowKind
	ID        int64
	Name      StringID
	Cat       StringID
	FromTrack TrackID
	ToTrack   TrackID
	FromTime  int64
	ToTime    int64
	From, To  int32 // indexes into Slices, or NoSlice; set by Bind
}

// Counter is a value over time. Times and Values have equal length; Times never decrease.
type Counter struct {
	Name    string
	Unit    string // "bytes", "count", "percent", "watts", "ns", …
	Process ProcessID
	Track   TrackID // NoTrack unless it belongs to one
	Device  DeviceID
	Times   []int64
	Values  []float64
}

// CounterGoHeap is the name of the counter of bytes in objects on the Go heap, garbage not yet swept included.
const CounterGoHeap = "Go heap"

// MemSpace is where memory lives.
type MemSpace uint8

const (
	MemHost MemSpace = iota
	MemDevice
	MemOther
)

// MemEvent is one allocation (Bytes > 0) or release (Bytes < 0).
type MemEvent struct {
	Time      int64
	Track     TrackID // the thread or goroutine that did it, or NoTrack
	Space     MemSpace
	OOM       bool     // a failed allocation; Bytes is what was asked for
	Device    DeviceID // of device memory, else NoDevice
	Name      StringID // what was allocated, or 0
	Stack     StackID
	Addr      uint64
	Bytes     int64
	Allocated int64 // total in use after the event, -1 when the source does not say
	Reserved  int64 // total held by the allocator after the event, -1 when the source does not say
	DeviceRaw int32 // the source's device type and id, kept for a faithful round trip
	IDRaw     int32
	Index     int32 // the source's event index ("Ev Idx") plus one, 0 when it has none
}

// Stack is one frame and what called it.
type Stack struct {
	Parent StackID
	Frame  FrameID
}

// Frame is a place in code.
type Frame struct {
	Func StringID
	File StringID
	Line int32
}

// SampleKind says what a sample's Weight counts.
type SampleKind uint8

const (
	SampleCPU   SampleKind = iota // Weight in ns of CPU time
	SampleAlloc                   // Weight in bytes allocated, Count objects
	SampleInUse                   // Weight in bytes in use, Count objects
	SampleBlock                   // Weight in ns blocked, Count contentions
	SampleMutex
)

// Sample is one sample or one aggregated record of a sampling profile.
type Sample struct {
	Time   int64   // NoTime when the source aggregates
	Track  TrackID // NoTrack when unknown
	Stack  StackID
	Kind   SampleKind
	Weight int64
	Count  int64
	Span   StringID // name of the innermost span that the sample was taken in, 0 when unknown or none
}

// NoTime marks an aggregated sample.
const NoTime int64 = -1 << 63

// OpArgs are the arguments of an operator or annotation.
type OpArgs struct {
	Dims, Strides, Types, Concrete StringID // JSON text as in Kineto ("Input Dims", …), or 0
	Stack                          StackID
	StackText                      StringID // "Call stack" of the source, ';'-joined
	Module                         StringID // "Module Hierarchy" or "Python module id" as text
	Sequence                       int64    // autograd sequence number, NoSequence when absent
	FwdThread                      int64
	FLOPs                          int64 // 0 when unknown
	Bytes                          int64 // bytes read and written, 0 when unknown
	RecordFunc                     int64 // "Record function id" of the source, 0 when absent
	Index                          int32 // the source's event index ("Ev Idx") plus one, 0 when it has none
	Extra                          StringID
}

// NoSequence marks an op without sequence number.
const NoSequence int64 = -1

// CallArgs are the arguments of a Go or Python call.
type CallArgs struct {
	Stack              StackID
	ID, Parent, Module int64    // Python ids, -1 when absent
	Shapes             StringID // lengths and shapes of the arguments, as text
	Index              int32    // the source's event index ("Ev Idx") plus one, 0 when it has none
	Extra              StringID
}

// KernelArgs are the launch parameters of a kernel. Negative numbers are unknown.
type KernelArgs struct {
	Grid, Block     [3]int32
	Registers       int32 // per thread
	SharedMem       int32 // bytes, static and dynamic
	BlocksPerSM     float32
	WarpsPerSM      float32
	Occupancy       float32 // estimated achieved occupancy, percent
	Device          DeviceID
	Context, Stream int64
	Queued          int64 // time from queueing to start as the source reports it
	GraphID         int64
	GraphNode       int64
	Extra           StringID
}

// CopyArgs are the arguments of a copy or set.
type CopyArgs struct {
	Bytes           int64
	Bandwidth       float64 // GB/s as the source reports it, 0 when it does not
	Device          DeviceID
	Context, Stream int64
	GraphID         int64
	GraphNode       int64
	Extra           StringID
}

// SyncArgs are the arguments of a synchronisation event.
type SyncArgs struct {
	Kind           StringID
	Device         DeviceID
	Context        int64
	Stream         int64
	WaitStream     int64
	WaitEvent      int64
	WaitRecordCorr int64 // correlation id of the event record that is waited for
	Extra          StringID
}

// GenericArgs keeps the arguments of an event that no other table fits, as JSON object text.
type GenericArgs struct{ JSON StringID }

// Device is one accelerator as the source describes it. Zero fields are unknown.
type Device struct {
	ID               int64
	Name             string
	TotalMemory      int64 // bytes
	Major, Minor     int   // compute capability
	SMs              int
	MaxThreadsPerSM  int
	MaxThreadsPerBlk int
	WarpSize         int
	RegsPerSM        int
	SharedPerSM      int64  // bytes
	Extra            string // the source's JSON object
}

// Problem is a loss or repair: what happened, how often, and what to do about it.
type Problem struct {
	Kind   string // stable identifier, "dropped-spans"
	Count  int64
	Text   string // one sentence for people
	Remedy string // what to do about it, may be empty
}
