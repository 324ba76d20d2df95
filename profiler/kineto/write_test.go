package kineto

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/gander-go/gander/profiler/trace"
)

// live returns a trace as Gander records it.
func live() *trace.Trace {
	t := &trace.Trace{Meta: trace.Meta{Tool: "gander", Version: "1", Host: "secret-host", PID: 100, Rank: trace.NoRank, Epoch: 1_700_000_000_000_000_000, Start: 0, End: 9000}}
	t.Devices = []trace.Device{{ID: 0, Name: `GPU "0"`, TotalMemory: 1 << 34, Major: 9, SMs: 132, WarpSize: 32}}
	host := t.Process(100, "prog")
	t.Processes = append(t.Processes, trace.Process{PID: 0, Name: "prog", Labels: "GPU 0", Device: 0})
	x := t.TrackIndex()
	main := x.Goroutine(host, 1)
	worker := x.Goroutine(host, 7)
	stream := x.ID(1, trace.TrackStream, 7, "stream 7")
	t.Tracks[stream].Device = 0
	gc := x.ID(host, trace.TrackRuntime, 1, "Garbage collector") // its id is a goroutine's as well
	states := x.ID(host, trace.TrackOther, 7, "goroutine 7 states")
	s := t.StackIndex()
	stack := s.Push(s.Push(0, s.Frame("main.main", "/src/main.go", 3)), s.Frame("main.load", "/src/load.go", 40))
	id := t.Strings.ID
	t.Ops = []trace.OpArgs{{}, {Dims: id("[[2,3]]"), Types: id("not json"), Sequence: trace.NoSequence, FLOPs: 1000, Bytes: 24, Stack: stack, Extra: id(`{"k":[1]}`)}}
	t.Calls = []trace.CallArgs{{}, {ID: -1, Parent: -1, Module: -1, Shapes: id("x: 3"), Extra: id("broken {")}}
	t.Kernels = []trace.KernelArgs{{}, {Grid: [3]int32{1, 2, 3}, Block: [3]int32{32, 1, 1}, Registers: 40, SharedMem: 1024, BlocksPerSM: 0.5, WarpsPerSM: 16.25, Occupancy: 88, Device: 0, Context: 1, Stream: 7, Queued: -1, GraphID: -1, GraphNode: -1}}
	add := func(track trace.TrackID, cat string, class trace.Class, name string, start, dur int64, flags trace.SliceFlags, kind trace.ArgKind, args uint32) {
		t.Slices = append(t.Slices, trace.Slice{Start: start, Dur: dur, Track: track, Name: id(name), Cat: t.Category(cat, class), Flags: flags, Kind: kind, Args: args})
	}
	add(main, "user_annotation", trace.ClassStep, "ProfilerStep#1", 0, 8000, 0, trace.NoArgs, 0)
	add(main, "gonum", trace.ClassOp, "blas.Dgemm <&> \"quoted\"", 10, 1001, 0, trace.ArgOp, 1)
	add(main, "go_call", trace.ClassCall, "load", 2000, 1, trace.FlagUnfinished, trace.ArgCall, 1)
	add(worker, "user_annotation", trace.ClassAnnotation, "handed over", 100, 300, trace.FlagAsync, trace.NoArgs, 0)
	add(stream, "kernel", trace.ClassKernel, "k", 3000, 500, 0, trace.ArgKernel, 1)
	t.Slices[len(t.Slices)-1].Corr, t.Slices[len(t.Slices)-1].Ext = 5, 6
	add(gc, "gc", trace.ClassGC, "GC", 4000, 700, 0, trace.NoArgs, 0)
	add(states, "goroutine_state", trace.ClassState, "running", 0, 50, 0, trace.NoArgs, 0)
	t.Instants = []trace.Instant{{Time: 5, Track: trace.NoTrack, Name: id("note"), Scope: 'g', Args: id("no json")}, {Time: 6, Track: main, Name: id("mark"), Scope: 't', Args: id(`{"a":1}`)}}
	t.Counters = []trace.Counter{
		{Name: "heap", Unit: "bytes", Process: host, Track: trace.NoTrack, Device: trace.NoDevice, Times: []int64{1, 2, 3}, Values: []float64{1, math.NaN(), 2.5e12}},
		{Name: "goroutines", Unit: "count", Process: host, Track: trace.NoTrack, Device: trace.NoDevice, Times: []int64{1}, Values: []float64{3}},
		{Name: "odd", Unit: "parsecs", Process: 1, Track: trace.NoTrack, Device: 0, Times: []int64{1}, Values: []float64{-1}},
	}
	t.Memory = []trace.MemEvent{
		{Time: 50, Track: main, Space: trace.MemHost, Device: trace.NoDevice, Name: id("buf"), Bytes: 4096, Allocated: -1, Reserved: -1},
		{Time: 60, Track: main, Space: trace.MemDevice, Device: 0, Addr: math.MaxUint64, Bytes: 1 << 20, Allocated: 1 << 20, Reserved: 2 << 20},
		{Time: 70, Track: main, Space: trace.MemDevice, Device: 0, OOM: true, Bytes: 1 << 40, Allocated: 1 << 20, Reserved: 2 << 20},
	}
	t.Samples = []trace.Sample{{Time: 500, Track: main, Stack: stack, Kind: trace.SampleCPU, Weight: 10_000_000, Count: 1}, {Time: trace.NoTime, Track: trace.NoTrack, Kind: trace.SampleInUse, Weight: 8}}
	t.Flows = []trace.Flow{{Kind: trace.FlowWake, FromTrack: main, ToTrack: states, FromTime: 20, ToTime: 25, From: trace.NoSlice, To: trace.NoSlice}}
	t.Sort()
	t.Bind()
	return t
}

func TestLiveTraceIsReadBack(t *testing.T) {
	want := live()
	var out bytes.Buffer
	if err := Write(&out, want, WriteOptions{}); err != nil {
		t.Fatal(err)
	}
	if !json.Valid(out.Bytes()) {
		t.Fatalf("no valid JSON:\n%s", out.Bytes())
	}
	if strings.Contains(out.String(), "secret-host") {
		t.Error("the host's name is written without being asked for")
	}
	got, _ := mustRead(t, out.Bytes(), ReadOptions{})
	if len(got.Problems) != 0 {
		t.Errorf("problems %v", got.Problems)
	}
	if got.Meta.Tool != "gander" || got.Meta.PID != 100 || got.Meta.Epoch != want.Meta.Epoch || got.Meta.End != want.Meta.End || len(got.Meta.Values) != 0 {
		t.Errorf("meta %+v", got.Meta)
	}
	kinds := make(map[string]trace.TrackKind)
	for _, k := range got.Tracks {
		kinds[k.Name] = k.Kind
	}
	for name, kind := range map[string]trace.TrackKind{"goroutine 1": trace.TrackGoroutine, "stream 7": trace.TrackStream, "Garbage collector": trace.TrackRuntime,
		"goroutine 7 states": trace.TrackOther} {
		if kinds[name] != kind {
			t.Errorf("track %q is of kind %d, want %d (%v)", name, kinds[name], kind, kinds)
		}
	}
	for i := range want.Slices {
		w := &want.Slices[i]
		found := false
		for j := range got.Slices {
			g := &got.Slices[j]
			if got.Name(g) != want.Name(w) {
				continue
			}
			found = true
			if g.Start != w.Start || g.Dur != w.Dur || got.Class(g) != want.Class(w) || g.Flags != w.Flags || g.Corr != w.Corr {
				t.Errorf("%s: %+v (class %d), want %+v (class %d)", want.Name(w), *g, got.Class(g), *w, want.Class(w))
			}
		}
		if !found {
			t.Errorf("slice %q is lost", want.Name(w))
		}
	}
	for i, w := range want.Counters {
		g := got.Counters[i]
		unit := w.Unit
		if w.Name == "odd" {
			unit = "" // not one that the reader knows
		}
		if g.Name != w.Name || g.Unit != unit || g.Values[len(g.Values)-1] != w.Values[len(w.Values)-1] {
			t.Errorf("counter %+v, want %+v", g, w)
		}
	}
	if len(got.Counters[0].Times) != 2 {
		t.Errorf("a value that is no number is not left out: %+v", got.Counters[0])
	}
	for i, w := range want.Memory {
		g := got.Memory[i]
		if g.Time != w.Time || g.Space != w.Space || g.Device != w.Device || g.OOM != w.OOM || g.Addr != w.Addr || g.Bytes != w.Bytes ||
			g.Allocated != w.Allocated || g.Reserved != w.Reserved || got.Strings.Get(g.Name) != want.Strings.Get(w.Name) {
			t.Errorf("memory event %+v, want %+v", g, w)
		}
	}
	if len(got.Samples) != 1 || got.Samples[0].Time != 500 || got.Samples[0].Weight != 10_000_000 {
		t.Fatalf("samples %+v", got.Samples)
	}
	top := got.Frames[got.Stacks[got.Samples[0].Stack].Frame]
	if got.Strings.Get(top.Func) != "main.load" || got.Strings.Get(top.File) != "/src/load.go" || top.Line != 40 {
		t.Errorf("innermost frame %+v", top)
	}
	if len(got.Flows) != 1 || got.Flows[0].Kind != trace.FlowWake || got.Flows[0].From == trace.NoSlice || got.Flows[0].To == trace.NoSlice {
		t.Errorf("flows %+v", got.Flows)
	}
	if d := got.Devices[0]; d.Name != `GPU "0"` || d.SMs != 132 || d.TotalMemory != 1<<34 {
		t.Errorf("device %+v", d)
	}
}

func TestPrivateMetadataIsLeftOut(t *testing.T) {
	tr := live()
	tr.Meta.Values = []trace.KeyValue{{Key: "metadata", Value: `{"TOKEN":"hush"}`}, {Key: "username", Value: `"hush"`}, {Key: "trace_id", Value: `"7"`}}
	for _, host := range []bool{false, true} {
		var out bytes.Buffer
		if err := Write(&out, tr, WriteOptions{Host: host}); err != nil {
			t.Fatal(err)
		}
		text := out.String()
		if strings.Contains(text, "hush") != host || strings.Contains(text, "secret-host") != host || !strings.Contains(text, `"trace_id":"7"`) {
			t.Errorf("asked for private metadata: %v, wrote %.300s", host, text)
		}
	}
}

func TestWriteReportsErrors(t *testing.T) {
	if err := Write(full{}, live(), WriteOptions{}); err == nil || !strings.Contains(err.Error(), "disk full") {
		t.Errorf("got %v", err)
	}
}

type full struct{}

func (full) Write([]byte) (int, error) { return 0, errors.New("disk full") }

func TestWriteEmptyTrace(t *testing.T) {
	var out bytes.Buffer
	if err := Write(&out, &trace.Trace{}, WriteOptions{}); err != nil || !json.Valid(out.Bytes()) {
		t.Fatalf("%v\n%s", err, out.Bytes())
	}
	mustRead(t, out.Bytes(), ReadOptions{})
}

// TestArrowsThatShareAnID writes one start with several ends, a chain with steps and a start without an end as such.
func TestArrowsThatShareAnID(t *testing.T) {
	end := func(ph string, id, ts int) string {
		return fmt.Sprintf(`{"ph":%q,"id":%d,"ts":%d,"pid":1,"tid":1,"cat":"ac2g","name":"ac2g"}`, ph, id, ts)
	}
	text := "[" + strings.Join([]string{
		end("s", 1, 0), end("f", 1, 3), end("f", 1, 5), end("f", 1, 7),
		end("s", 2, 0), end("t", 2, 4), end("t", 2, 6), end("f", 2, 9),
		end("s", 3, 0), end("s", 3, 0), end("f", 3, 2), end("s", 3, 4), end("f", 3, 4),
		end("f", 4, 1), end("s", 4, 2), end("f", 4, 3),
	}, ",") + "]"
	tr, _ := mustRead(t, []byte(text), ReadOptions{})
	if len(tr.Flows) != 3+3+3+2 {
		t.Fatalf("%d arrows", len(tr.Flows))
	}
	out := string(roundTrip(t, tr))
	if s, steps, f := strings.Count(out, `"ph":"s"`), strings.Count(out, `"ph":"t"`), strings.Count(out, `"ph":"f"`); s != 6 || steps != 2 || f != 8 {
		t.Errorf("%d starts, %d steps, %d ends", s, steps, f)
	}
}
