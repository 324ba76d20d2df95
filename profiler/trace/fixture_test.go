package trace

import (
	"math/rand/v2"
	"testing"
)

// everything builds a valid trace that uses every table and every field. Sizes and values come from seed.
func everything(seed uint64) *Trace {
	r := rand.New(rand.NewPCG(seed, 1))
	n := func(limit int) int { return r.IntN(limit) }
	t := &Trace{Meta: Meta{Tool: "gander", Version: "1", Host: "h", PID: 42, Rank: NoRank, World: 2, Epoch: 1 << 60, Start: -5, End: 1 << 40,
		Values: []KeyValue{{"a", "1"}, {"a", "[2]"}}}}
	for _, s := range []string{"one", "two", "three", "ünï", "{\"x\":1}", "\x00\xff"} {
		t.Strings.ID(s)
	}
	str := func() StringID { return StringID(n(t.Strings.Len())) }
	cat := t.Category("cpu_op", ClassOp)
	t.Devices = []Device{{ID: 7, Name: "gpu", TotalMemory: 1 << 36, Major: 9, Minor: 1, SMs: 132, MaxThreadsPerSM: 2048, MaxThreadsPerBlk: 1024,
		WarpSize: 32, RegsPerSM: 65536, SharedPerSM: 1 << 17, Extra: "{}"}}
	p := t.Process(42, "prog")
	t.Processes = append(t.Processes, Process{PID: 0, Key: "Spans", Name: "s", Labels: "l", Sort: -3, Device: 0})
	x := t.TrackIndex()
	for i := range 3 {
		x.Goroutine(p, int64(i+1))
	}
	t.Tracks = append(t.Tracks, Track{Process: 1, Kind: TrackStream, ID: 7, Key: "k", Name: "stream 7", Sort: 9, Device: 0, Context: 3})
	st := t.StackIndex()
	var leaf StackID
	for i := range 5 {
		leaf = st.Push(StackID(n(int(leaf)+1)), st.Frame("f", "file.go", int32(i)))
	}
	t.Ops = []OpArgs{{}, {Dims: str(), Strides: str(), Types: str(), Concrete: str(), Stack: leaf, StackText: str(), Module: str(), Sequence: NoSequence,
		FwdThread: 5, FLOPs: 1 << 50, Bytes: 99, RecordFunc: 8, Index: 3, Extra: str()}}
	t.Calls = []CallArgs{{}, {Stack: leaf, ID: -1, Parent: 4, Module: 2, Shapes: str(), Index: 1, Extra: str()}}
	t.Kernels = []KernelArgs{{}, {Grid: [3]int32{1, 2, 3}, Block: [3]int32{4, 5, -6}, Registers: 255, SharedMem: 49152, BlocksPerSM: 1.5,
		WarpsPerSM: 0.1, Occupancy: 33, Device: 0, Context: 1, Stream: 7, Queued: -1, GraphID: 2, GraphNode: 3, Extra: str()}}
	t.Copies = []CopyArgs{{}, {Bytes: 1 << 33, Bandwidth: 12.75, Device: NoDevice, Context: 1, Stream: 7, GraphID: 2, GraphNode: 3, Extra: str()}}
	t.Syncs = []SyncArgs{{}, {Kind: str(), Device: 0, Context: 1, Stream: 2, WaitStream: -1, WaitEvent: 5, WaitRecordCorr: 6, Extra: str()}}
	t.Generics = []GenericArgs{{}, {JSON: str()}}
	for range 40 + n(200) {
		k := ArgKind(n(int(ArgGeneric) + 1))
		s := Slice{Start: int64(n(1 << 20)), Dur: int64(n(1 << 10)), Corr: int64(n(50)), Ext: int64(n(50)), Track: TrackID(n(len(t.Tracks))), Name: str(), Cat: cat, Kind: k, Flags: SliceFlags(n(8))}
		if k != NoArgs {
			s.Args = 1
		}
		t.Slices = append(t.Slices, s)
	}
	for range 5 {
		t.Instants = append(t.Instants, Instant{Time: int64(n(100)), Track: NoTrack, Name: str(), Cat: cat, Scope: 'g', Args: str()})
		t.Flows = append(t.Flows, Flow{Kind: FlowLaunch, ID: int64(n(50)), Name: str(), Cat: str(), FromTrack: TrackID(n(4)), ToTrack: TrackID(n(5) - 1),
			FromTime: int64(n(1 << 20)), ToTime: int64(n(1 << 20))})
		t.Memory = append(t.Memory, MemEvent{Time: int64(n(1000)), Track: TrackID(n(4)), Space: MemDevice, OOM: n(2) == 0, Device: 0, Name: str(), Stack: leaf,
			Addr: r.Uint64(), Bytes: int64(n(1000) - 500), Allocated: int64(n(1000)), Reserved: -1, DeviceRaw: 1, IDRaw: 2, Index: int32(n(9))})
		t.Samples = append(t.Samples, Sample{Time: NoTime, Track: NoTrack, Stack: leaf, Kind: SampleAlloc, Weight: int64(n(1 << 30)), Count: 3, Span: str()},
			Sample{Time: int64(n(1000)), Track: 1, Stack: leaf, Weight: 4_000_000, Count: 1})
	}
	t.Counters = []Counter{
		{Name: "heap", Unit: "bytes", Process: p, Track: NoTrack, Device: NoDevice, Times: []int64{1, 5, 5, 1 << 40}, Values: []float64{0, 1.25, -3, 1e300}},
		{Name: "empty", Unit: "count", Process: NoProcess, Track: 2, Device: 0},
	}
	t.Problem("lost", 3, "Something was lost.", "Do something.")
	t.Attachments = []Attachment{{"go-exec-trace", []byte{0, 1, 2, 255}}}
	t.Sort()
	t.Bind()
	return t
}

func TestFixtureIsValid(t *testing.T) {
	for seed := range uint64(20) {
		if err := everything(seed).Validate(); err != nil {
			t.Fatal(err)
		}
	}
}
