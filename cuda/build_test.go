package cuda

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gander-go/gander/cuda/cupti"
	"github.com/gander-go/gander/profiler/record"
	"github.com/gander-go/gander/profiler/trace"
)

// hopper is a device of the size of an H100 (132 multiprocessors, compute capability 9.0).
var hopper = cupti.Device{
	ID: 0, Name: "Test 9.0", Major: 9, SMs: 132, WarpSize: 32, MaxWarpsPerSM: 64, MaxBlocksPerSM: 32, MaxThreadsPerBlock: 1024,
	RegistersPerSM: 65536, RegistersPerBlock: 65536, SharedPerSM: 233472, SharedPerBlock: 49152, Memory: 80 << 30,
}

// TestOccupancy compares with figures worked out by hand from the formulas of NVIDIA's occupancy calculator.
func TestOccupancy(t *testing.T) {
	volta := hopper
	volta.Major, volta.SharedPerSM = 7, 98304
	for _, c := range []struct {
		name          string
		device        cupti.Device
		kernel        cupti.Kernel
		active        int
		limit         string
		blocks, warps float64
		achieved      float64
	}{
		// 64 warps by 8 are 8 blocks; 32 registers a thread are 1024 a warp, 16 warps in each of 4 parts, 64 warps: 8 blocks.
		{"full", hopper, cupti.Kernel{Grid: [3]int32{1320, 1, 1}, Block: [3]int32{256, 1, 1}, Registers: 32}, 8, "WARPS|REGS", 10, 80, 100},
		// 255 registers are 8192 a warp after rounding to 256: 2 warps in each part, 8 warps: 1 block of 256 threads.
		{"registers", hopper, cupti.Kernel{Grid: [3]int32{1320, 1, 1}, Block: [3]int32{256, 1, 1}, Registers: 255}, 1, "REGS", 10, 80, 12.5},
		// 48 KiB and 1 KiB of the system's: 50176 bytes, 4 times in 233472.
		{"shared", hopper, cupti.Kernel{Grid: [3]int32{528, 1, 1}, Block: [3]int32{128, 1, 1}, Registers: 16, StaticShared: 49152}, 4, "SMEM", 4, 16, 25},
		// Before 8.0 nothing belongs to the system: 49152 twice in 98304.
		{"shared on 7", volta, cupti.Kernel{Grid: [3]int32{528, 1, 1}, Block: [3]int32{128, 1, 1}, Registers: 16, DynamicShared: 49152}, 2, "SMEM", 4, 16, 12.5},
		// One block of 32 threads on a device of 132: a 132nd of a block each.
		{"tiny", hopper, cupti.Kernel{Grid: [3]int32{1, 1, 1}, Block: [3]int32{32, 1, 1}, Registers: 16}, 32, "BLOCKS", 1. / 132, 1. / 132, 100. / 132 * 32 / 2048},
		// More registers than a block may have: it cannot run.
		{"too large", hopper, cupti.Kernel{Grid: [3]int32{132, 1, 1}, Block: [3]int32{1024, 1, 1}, Registers: 128}, 0, "REGS", 1, 32, 0},
	} {
		o := estimate(&c.device, &c.kernel)
		near := func(a float32, b float64) bool { return math.Abs(float64(a)-b) <= 1e-5*(1+b) }
		if o.active != c.active || o.limiting() != c.limit || !near(o.blocksPerSM, c.blocks) || !near(o.warpsPerSM, c.warps) || !near(o.achieved, c.achieved) {
			t.Errorf("%s: %+v, limited by %s; want %d by %s, %v blocks, %v warps, %v%%", c.name, o, o.limiting(), c.active, c.limit, c.blocks, c.warps, c.achieved)
		}
	}
	for _, k := range []cupti.Kernel{{}, {Grid: [3]int32{-1, 1, 1}, Block: [3]int32{1, 1, 1}}} {
		if estimate(&hopper, &k).known || estimate(nil, &k).known || estimate(&cupti.Device{}, &k).known {
			t.Error("something is estimated of nothing")
		}
	}
}

// TestClock converts along pairs: exactly at them, on the line between them, and at the nearest one's distance outside.
func TestClock(t *testing.T) {
	c := clock{pairs: []pair{{1000, 10}, {2000, 1010}, {4000, 3012}}}
	for in, want := range map[uint64]int64{1000: 10, 2000: 1010, 4000: 3012, 1500: 510, 3000: 2011, 900: -90, 4100: 3112} {
		if got := c.record(in); got != want {
			t.Errorf("%d is %d, want %d", in, got, want)
		}
	}
	for _, s := range []struct {
		name  string
		pairs []pair
		set   int64
	}{
		{"even", []pair{{0, 0}, {1e9, 1e9}, {2e9, 2e9}}, 0},
		{"slewed by 500 ppm", []pair{{0, 0}, {1e9 + 5e5, 1e9}}, 0},
		{"set forward by 5 ms", []pair{{0, 0}, {1e9 + 5e6, 1e9}, {2e9 + 5e6, 2e9}}, 5e6},
		{"set back by a second", []pair{{5e9, 0}, {5e9, 1e9}}, -1e9},
	} {
		c := clock{pairs: s.pairs, gap: 100}
		if got := c.set(); got != s.set {
			t.Errorf("%s: set by %d, want %d", s.name, got, s.set)
		}
	}
	back := clock{}
	times := []uint64{5000, 4000}
	for i := range times {
		if err := back.read(func() (uint64, error) { return times[i], nil }); err != nil {
			t.Fatal(err)
		}
	}
	if back.pairs[1].device <= back.pairs[0].device {
		t.Error("a clock that was set back makes pairs without order")
	}
}

// TestClockAlignment reads the wall clock as CUPTI does and converts it: the result must be record time to below a
// microsecond. Of many tries the best counts, because anything may interrupt one.
func TestClockAlignment(t *testing.T) {
	var c clock
	wall := func() (uint64, error) { return uint64(wallNow()), nil }
	for range 3 {
		if err := c.read(wall); err != nil {
			t.Fatal(err)
		}
	}
	best := int64(math.MaxInt64)
	for range 1000 {
		a := record.Now()
		w := uint64(wallNow())
		b := record.Now()
		off := max(a-c.record(w), c.record(w)-b, 0)
		best = min(best, off+(b-a)/2)
	}
	t.Logf("pairs took up to %d ns; conversion is off by %d ns at most", c.gap, best)
	if best >= 1000 {
		t.Errorf("device times are off by %d ns", best)
	}
}

// build makes a trace of records with a clock that is record time.
func build(t *testing.T, r *cupti.Records, w record.Window) *trace.Trace {
	t.Helper()
	rec := &recording{records: r, clock: &clock{pairs: []pair{{0, 0}}}, version: 1204, devices: []cupti.Device{hopper}, name: func(driver bool, id uint32) string {
		return map[uint32]string{211: "cudaLaunchKernel_v7000", 16: "cudaSetDevice_v3020", 214: "cudaLaunchKernel_ptsz_v7000"}[id]
	}}
	return traced(t, rec, w)
}

// traced makes a valid trace of a recording.
func traced(t *testing.T, rec *recording, w record.Window) *trace.Trace {
	t.Helper()
	tr := &trace.Trace{Meta: trace.Meta{Tool: "gander", Rank: trace.NoRank, End: w.End - w.Epoch}}
	tr.Category("", trace.ClassOther)
	rec.addTo(tr, w)
	settle(tr)
	tr.Sort()
	tr.Bind()
	if err := tr.Validate(); err != nil {
		t.Fatal(err)
	}
	return tr
}

func names(tr *trace.Trace, class trace.Class) (list []string) {
	for i := range tr.Slices {
		if s := &tr.Slices[i]; tr.Class(s) == class {
			list = append(list, fmt.Sprintf("%s [%d+%d]", tr.Name(s), s.Start, s.Dur))
		}
	}
	slices.Sort(list)
	return list
}

// TestWindow keeps what was launched in the window, whenever it ran, and what was not.
func TestWindow(t *testing.T) {
	call := func(corr uint32, start uint64) cupti.Call {
		return cupti.Call{ID: 211, Start: start, End: start + 10, Thread: 5, Correlation: corr}
	}
	kernel := func(name string, corr uint32, start uint64) cupti.Kernel {
		return cupti.Kernel{Name: name, Start: start, End: start + 100, Correlation: corr, Grid: [3]int32{1, 1, 1}, Block: [3]int32{32, 1, 1}}
	}
	tr := build(t, &cupti.Records{
		Calls: []cupti.Call{call(1, 900), call(2, 1100), call(3, 2990), call(4, 3001), {ID: 16, Start: 1200, End: 1210, Correlation: 5},
			{ID: 16, Start: 1300, End: 1310, Correlation: 6, Result: 100}, {ID: 999, Start: 1400, End: 1410, Correlation: 7}, {ID: 214, Driver: false, Start: 1500, End: 1510, Correlation: 8}},
		Kernels: []cupti.Kernel{kernel("before", 1, 1500), kernel("in", 2, 1600), kernel("late", 3, 5000), kernel("after", 4, 5200),
			kernel("node", 0, 2000), kernel("lost launch", 77, 2100), kernel("old", 78, 500), {Name: "untimed", Correlation: 2}, {Name: "torn", Correlation: 2, Start: 50, End: 40}},
	}, record.Window{Epoch: 1000, Start: 1000, End: 3000})
	if got, want := names(tr, trace.ClassKernel), []string{"in [600+100]", "late [4000+100]", "lost launch [1100+100]", "node [1000+100]"}; !slices.Equal(got, want) {
		t.Errorf("got %q", got)
	}
	want := []string{"cudaLaunchKernel [100+10]", "cudaLaunchKernel [1990+10]", "cudaLaunchKernel [500+10]", "cudaSetDevice [300+10]", "runtime call 999 [400+10]"}
	if got := names(tr, trace.ClassRuntime); !slices.Equal(got, want) {
		t.Errorf("got %q", got)
	}
	if tr.Meta.End != 4100 || len(tr.Flows) != 2 {
		t.Errorf("the window ends at %d, with %d arrows", tr.Meta.End, len(tr.Flows))
	}
	if len(tr.Problems) != 1 || tr.Problems[0].Kind != "cuda-untimed" || tr.Problems[0].Count != 2 {
		t.Errorf("problems %+v", tr.Problems)
	}
}

// TestMemory follows allocations, releases of what was there before, and pools.
func TestMemory(t *testing.T) {
	event := func(at, addr, bytes uint64, release bool) cupti.Memory {
		return cupti.Memory{Time: at, Address: addr, Bytes: bytes, Release: release, Kind: memoryDevice}
	}
	pooled := func(at, addr, bytes, pool uint64, release bool) cupti.Memory {
		m := event(at, addr, bytes, release)
		m.Pool, m.PoolSize = 0x900, pool
		return m
	}
	tr := build(t, &cupti.Records{Memory: []cupti.Memory{
		event(1500, 0x30, 300, true),                                                            // released, and never seen allocated: there from the start
		event(1100, 0x10, 100, false), event(1200, 0x20, 50, false), event(1300, 0x10, 0, true), // a release that does not tell how much
		event(900, 0x40, 7, false),
		pooled(1600, 0x50, 20, 64, false), pooled(1700, 0x50, 20, 64, true),
		{Time: 1400, Address: 0x60, Bytes: 9, Kind: memoryPinned}, {Time: 1450, Address: 0x70, Bytes: 1, Kind: memoryManaged, Device: 1},
	}, Pools: []cupti.Pool{{Time: 1800, Operation: 3, Address: 0x900, Size: 32}, {Time: 1850, Operation: 2, Address: 0x900}}},
		record.Window{Epoch: 1000, Start: 1000, End: 3000})
	var got []string
	for _, m := range tr.Memory {
		got = append(got, fmt.Sprintf("%d: %+d = %d/%d %d %s", m.Time, m.Bytes, m.Allocated, m.Reserved, m.Device, tr.Strings.Get(m.Name)))
	}
	want := []string{
		"100: +100 = 407/407 0 ", "200: +50 = 457/457 0 ", "300: -100 = 357/357 0 ", "400: +9 = -1/-1 -1 pinned memory",
		"450: +1 = 1/1 1 managed memory", "500: -300 = 57/57 0 ", "600: +20 = 77/121 0 ", "700: -20 = 57/121 0 ",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// TestSettle moves a call into its span, cuts what sticks out by the clocks, and leaves alone what is elsewhere.
func TestSettle(t *testing.T) {
	tr := &trace.Trace{Meta: trace.Meta{Rank: trace.NoRank, End: 1e6}}
	user, run := tr.Category("user_annotation", trace.ClassAnnotation), tr.Category("cuda_runtime", trace.ClassRuntime)
	p := tr.Process(1, "p")
	x := tr.TrackIndex()
	g, th := x.Goroutine(p, 7), x.ID(p, trace.TrackThread, 5, "thread 5")
	slice := func(track trace.TrackID, cat trace.CategoryID, start, dur, ext, corr int64) {
		tr.Slices = append(tr.Slices, trace.Slice{Start: start, Dur: dur, Ext: ext, Corr: corr, Track: track, Cat: cat, Name: tr.Strings.ID("x")})
	}
	slice(g, user, 1000, 10000, 1, 0)
	slice(g, user, 50000, 10000, 2, 0)
	slice(th, run, 900, 200, 1, 11)   // begins 100 ns early
	slice(th, run, 10900, 300, 1, 12) // ends 200 ns late
	slice(th, run, 5000, 100, 0, 13)  // in no span
	slice(th, run, 6000, 100, 9, 14)  // in a span that was not recorded
	slice(th, run, 90000, 100, 2, 15) // long after its span
	tr.Memory = []trace.MemEvent{{Time: 11100, Track: th, Bytes: 8, Device: trace.NoDevice}, {Time: 5050, Track: th, Bytes: 8, Device: trace.NoDevice}}
	settle(tr)
	type at struct {
		track      trace.TrackID
		start, dur int64
	}
	for corr, want := range map[int64]at{11: {g, 1000, 100}, 12: {g, 10900, 100}, 13: {th, 5000, 100}, 14: {th, 6000, 100}, 15: {g, 90000, 100}} {
		for _, s := range tr.Slices {
			if s.Corr == corr && (at{s.Track, s.Start, s.Dur}) != want {
				t.Errorf("call %d is at %+v, want %+v", corr, at{s.Track, s.Start, s.Dur}, want)
			}
		}
	}
	if tr.Memory[0].Track != g || tr.Memory[0].Time != 11000 || tr.Memory[1].Track != th {
		t.Errorf("memory %+v", tr.Memory)
	}
}

// TestOthers has waits find the record of their event, and ranges, overhead, graphs and names come out.
func TestOthers(t *testing.T) {
	tr := build(t, &cupti.Records{
		Contexts: []cupti.Context{{ID: 3, Device: 0}},
		Events:   []cupti.Event{{Context: 3, Stream: 7, Correlation: 20, ID: 1}, {Context: 3, Stream: 8, Correlation: 30, ID: 1}, {Context: 3, Stream: 9, Correlation: 50, ID: 1}},
		Syncs: []cupti.Sync{
			{Type: syncStreamWait, Start: 100, End: 101, Context: 3, Stream: 13, Correlation: 40, Event: 1},
			{Type: syncContext, Start: 200, End: 300, Context: 3, Stream: cupti.None, Correlation: 41, Event: cupti.None},
			{Type: syncStream, Start: 200, End: 300, Context: 3, Stream: 13, Correlation: 42, Event: cupti.None},
		},
		Markers:   []cupti.Marker{{Start: true, Time: 10, ID: 1, Thread: 5, Name: "range", Domain: "lib"}, {End: true, Time: 50, ID: 1, Thread: 5}, {Instant: true, Time: 60, ID: 2, Thread: 5, Name: "mark"}, {Start: true, Time: 70, ID: 3, Name: "open"}},
		Overheads: []cupti.Overhead{{Kind: 1 << 16, Start: 400, End: 500, Object: 2, Thread: 5}},
		Graphs:    []cupti.Graph{{Start: 600, End: 700, Context: 3, Stream: 7, ID: 12}},
		Names:     []cupti.Name{{Object: 5, Context: 3, Stream: 13, Name: "copies"}, {Object: 2, Thread: 5, Name: "main"}},
		Copies:    []cupti.Copy{{Kind: 10, From: 3, To: 3, Peer: true, Bytes: 4000, Start: 800, End: 1000, Context: 3, Stream: 13, SrcDevice: 0, DstDevice: 1}},
		Sets:      []cupti.Set{{MemoryKind: 3, Bytes: 10, Start: 1, End: 1, Context: 3, Stream: 13}},
		Lost:      cupti.Loss{Dropped: 3, Excess: 6, Bytes: 100, Refused: 2, Broken: map[cupti.Result]int{21: 1}, Short: map[cupti.Kind]uint64{10: 4}},
	}, record.Window{End: 5000})
	for class, want := range map[trace.Class][]string{
		trace.ClassSync:             {"Context Sync [200+100]", "Stream Sync [200+100]", "Stream Wait Event [100+1]"},
		trace.ClassAnnotation:       {"lib: range [10+40]"},
		trace.ClassOverhead:         {"Buffer Flush [400+100]"},
		trace.ClassKernel:           {"CUDA graph 12 [600+100]"},
		trace.ClassDeviceAnnotation: nil,
		trace.ClassMemcpy:           {"Memcpy PtoP (Device -> Device) [800+200]"},
		trace.ClassMemset:           {"Memset (Device) [1+0]"},
	} {
		if got := names(tr, class); !slices.Equal(got, want) {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	for _, a := range tr.Syncs[1:] {
		if kind := tr.Strings.Get(a.Kind); kind == "Stream Wait Event" && (a.WaitStream != 8 || a.WaitRecordCorr != 30 || a.WaitEvent != 1) || kind != "Stream Wait Event" && a.WaitEvent != -1 {
			t.Errorf("%s waits for %+v", kind, a)
		}
	}
	if a := tr.Copies[1]; a.Bandwidth != 20 || !strings.Contains(tr.Strings.Get(a.Extra), `"toDevice":1`) {
		t.Errorf("the copy has %+v, %s", a, tr.Strings.Get(a.Extra))
	}
	var tracks, problems []string
	for _, k := range tr.Tracks {
		tracks = append(tracks, k.Name)
	}
	for _, q := range tr.Problems {
		problems = append(problems, fmt.Sprint(q.Kind, " ", q.Count))
	}
	slices.Sort(tracks)
	if want := []string{"context 3 (sync)", "stream 13 (copies)", "stream 13 (sync)", "stream 7", "thread 5", "thread 5 (main)"}; !slices.Equal(tracks, want) {
		t.Errorf("tracks %q", tracks)
	}
	if want := []string{"cuda-dropped 3", "cuda-overrun 100", "cuda-excess 6", "cuda-no-buffer 2", "cuda-broken 5"}; !slices.Equal(problems, want) {
		t.Errorf("problems %q", problems)
	}
	if len(tr.Instants) != 1 || tr.Strings.Get(tr.Instants[0].Name) != "mark" {
		t.Errorf("instants %+v", tr.Instants)
	}
}

func wallNow() int64 { return time.Now().UnixNano() }
