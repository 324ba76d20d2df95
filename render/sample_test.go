package render

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/gander-go/gander/profiler/trace"
)

// hostile are names that break out of careless pages: each sets window.PWNED if it ever runs.
var hostile = []string{
	`</script><img src=x onerror="window.PWNED=1">`,
	`<img src=x onerror=window.PWNED=2>`,
	`__f__(function(){window.PWNED=3})()__f__`,
	`<!--<script>window.PWNED=4//`,
	"line\u2028separator\u2029</title><svg onload=window.PWNED=5>",
	`"onmouseover="window.PWNED=6`,
	`{{constructor.constructor('window.PWNED=7')()}}`,
	`'-window.PWNED=8-'`,
	"bad \xff\xfe utf8 \x00\x07",
	`@fn:time`,
	`]]>&lt;b&gt;`,
	`=cmd|' /C calc'!A0`,
}

// sample is a small training run: steps on a host thread, a goroutine, kernels on two streams, memory, counters,
// samples, problems. Every text of it that a user could choose is hostile somewhere.
func sample(t testing.TB) *trace.Trace {
	t.Helper()
	return sampleOf(t, hostile)
}

// friendly are names for pictures of reports.
var friendly = []string{"worker", "Demo GPU", "layer_norm_kernel", "copies", "data loader", "GPU 0", "softmax", "dropout", "embedding", "gelu", "add", "transpose"}

// sampleOf is sample with the names of hostile replaced.
func sampleOf(t testing.TB, hostile []string) *trace.Trace {
	t.Helper()
	tr := &trace.Trace{}
	tr.Meta = trace.Meta{Tool: "gander", Rank: trace.NoRank, Start: 1000, End: 1000 + 60_000_000}
	id := tr.Strings.ID
	tr.Processes = []trace.Process{{PID: 1, Name: "train " + hostile[0], Device: trace.NoDevice}, {PID: 2, Name: "GPU", Device: 0, Sort: 5}}
	tr.Devices = []trace.Device{{ID: 0, Name: "Test GPU " + hostile[1], TotalMemory: 8 << 30, Major: 8, SMs: 80, MaxThreadsPerSM: 2048}}
	tr.Tracks = []trace.Track{
		{Process: 0, Kind: trace.TrackThread, ID: 11, Name: "main", Device: trace.NoDevice},
		{Process: 0, Kind: trace.TrackGoroutine, ID: 7, Name: hostile[4], Device: trace.NoDevice},
		{Process: 1, Kind: trace.TrackStream, ID: 7, Device: 0},
		{Process: 1, Kind: trace.TrackStream, ID: 8, Name: hostile[3], Device: 0},
	}
	step, op := tr.Category("user_annotation", trace.ClassStep), tr.Category("cpu_op", trace.ClassOp)
	api, kernel, copies := tr.Category("cuda_runtime", trace.ClassRuntime), tr.Category("kernel", trace.ClassKernel), tr.Category("gpu_memcpy", trace.ClassMemcpy)
	call, gc := tr.Category("call", trace.ClassCall), tr.Category("gc", trace.ClassGC)
	tr.Ops = []trace.OpArgs{{}, {Dims: id("[[128,64],[64,32]]"), Types: id(hostile[0]), Sequence: trace.NoSequence, FLOPs: 524288}}
	tr.Kernels = []trace.KernelArgs{{}, {Grid: [3]int32{32, 1, 1}, Block: [3]int32{256, 1, 1}, Registers: 40, SharedMem: 4096, BlocksPerSM: 0.4, WarpsPerSM: 3.2, Occupancy: 31, Stream: 7}}
	tr.Copies = []trace.CopyArgs{{}, {Bytes: 1 << 20, Bandwidth: 12, Stream: 8}}
	tr.Generics = []trace.GenericArgs{{}, {JSON: id(`{"key <b>":"</script>","n":3}`)}}

	var tracks [4][]trace.Slice
	add := func(k int, s trace.Slice) { s.Track = trace.TrackID(k); tracks[k] = append(tracks[k], s) }
	corr := int64(100)
	for n := range 4 {
		t0 := int64(1000 + n*14_000_000)
		add(0, trace.Slice{Start: t0, Dur: 13_000_000, Name: id(fmt.Sprintf("ProfilerStep#%d", n)), Cat: step})
		for i := range 12 {
			a := t0 + int64(i)*1_000_000 + 10_000
			corr++
			add(0, trace.Slice{Start: a, Dur: 800_000, Ext: corr, Name: id("aten::" + []string{"mm", "relu", hostile[i%len(hostile)]}[i%3]), Cat: op, Kind: trace.ArgOp, Args: 1})
			add(0, trace.Slice{Start: a + 20_000, Dur: 90_000, Corr: corr, Ext: corr, Name: id("cudaLaunchKernel"), Cat: api, Kind: trace.ArgGeneric, Args: 1})
			stream := 2
			cat, kind, name := kernel, trace.ArgKernel, "sgemm_128x64"
			if i%4 == 3 {
				stream, cat, kind, name = 3, copies, trace.ArgCopy, "Memcpy HtoD (Pageable -> Device)"
			} else if i%4 == 2 {
				name = hostile[2]
			}
			add(stream, trace.Slice{Start: a + 200_000, Dur: 500_000, Corr: corr, Ext: corr, Name: id(name), Cat: cat, Kind: kind, Args: 1})
		}
		add(1, trace.Slice{Start: t0 + 100, Dur: 3_000_000, Name: id("main.load"), Cat: call})
		add(1, trace.Slice{Start: t0 + 200_000, Dur: 900_000, Name: id("GC"), Cat: gc})
	}
	index := map[int64][2]int32{}
	for _, list := range tracks {
		for _, s := range list {
			i := int32(len(tr.Slices))
			if s.Corr != 0 {
				e, ok := index[s.Corr]
				if !ok {
					e = [2]int32{trace.NoSlice, trace.NoSlice}
				}
				e[b2i(s.Track >= 2)] = i
				index[s.Corr] = e
			}
			tr.Slices = append(tr.Slices, s)
		}
	}
	for c := int64(101); c <= corr; c++ {
		e := index[c]
		from, to := &tr.Slices[e[0]], &tr.Slices[e[1]]
		tr.Flows = append(tr.Flows, trace.Flow{Kind: trace.FlowLaunch, ID: c, Name: id("ac2g"), Cat: id("ac2g"), FromTrack: from.Track, FromTime: from.Start, ToTrack: to.Track, ToTime: to.Start, From: e[0], To: e[1]})
	}
	var used int64
	rng := rand.New(rand.NewPCG(1, 2))
	live := []uint64{}
	sizes := map[uint64]int64{}
	for i := range 300 {
		at := int64(1000 + i*180_000)
		if i%3 != 2 {
			addr, n := uint64(0x1000+i*64), int64(rng.IntN(4<<20)+4096)
			live, sizes[addr], used = append(live, addr), n, used+n
			tr.Memory = append(tr.Memory, trace.MemEvent{Time: at, Track: 0, Space: trace.MemDevice, Device: 0, Addr: addr, Bytes: n, Allocated: used, Reserved: used + 2<<20})
		} else {
			addr := live[0]
			live, used = live[1:], used-sizes[addr]
			tr.Memory = append(tr.Memory, trace.MemEvent{Time: at, Track: 0, Space: trace.MemDevice, Device: 0, Addr: addr, Bytes: -sizes[addr], Allocated: used, Reserved: used + 2<<20})
		}
	}
	for _, c := range []trace.Counter{{Name: "Heap in use", Unit: "bytes"}, {Name: "GPU power " + hostile[5], Unit: "watts"}} {
		c.Process, c.Track, c.Device = trace.NoProcess, trace.NoTrack, trace.NoDevice
		for i := range 50 {
			c.Times = append(c.Times, int64(1000+i*1_000_000))
			c.Values = append(c.Values, float64(rng.IntN(1000)*1000))
		}
		tr.Counters = append(tr.Counters, c)
	}
	tr.Frames = []trace.Frame{{}, {Func: id("main.main"), File: id("main.go"), Line: 3}, {Func: id("gonum.Dgemm " + hostile[1]), File: id("gemm.go"), Line: 9}}
	tr.Stacks = []trace.Stack{{}, {Parent: 0, Frame: 1}, {Parent: 1, Frame: 2}}
	for i := range 40 {
		tr.Samples = append(tr.Samples, trace.Sample{Time: int64(1000 + i*1_000_000), Track: 0, Stack: trace.StackID(1 + i%2), Kind: trace.SampleCPU, Weight: 10_000_000, Count: 1})
	}
	tr.Problem("dropped-spans", 12, "12 spans were dropped "+hostile[0], "Record less.")
	if err := tr.Validate(); err != nil {
		t.Fatalf("the sample is not a valid trace: %v", err)
	}
	return tr
}

// large is a trace of about n events on 50 tracks with random names and durations, which compress badly.
func large(n int) *trace.Trace {
	tr := &trace.Trace{}
	rng := rand.New(rand.NewPCG(7, 9))
	tr.Meta = trace.Meta{Tool: "gander", Rank: trace.NoRank}
	tr.Processes = []trace.Process{{PID: 1, Name: "host", Device: trace.NoDevice}, {PID: 2, Name: "GPU", Device: trace.NoDevice}}
	op, kernel := tr.Category("cpu_op", trace.ClassOp), tr.Category("kernel", trace.ClassKernel)
	var names []trace.StringID
	for i := range 400 {
		names = append(names, tr.Strings.ID(fmt.Sprintf("void at::native::kernel_%d<float, %d>(int, float*)", i, i*7)))
	}
	per := n / 50
	for k := range 50 {
		kind, cat := trace.TrackThread, op
		if k >= 30 {
			kind, cat = trace.TrackStream, kernel
		}
		tr.Tracks = append(tr.Tracks, trace.Track{Process: trace.ProcessID(b2i(k >= 30)), Kind: kind, ID: int64(k), Device: trace.NoDevice})
		var at int64
		for i := 0; i < per; {
			d := int64(rng.IntN(90_000) + 2000)
			at += int64(rng.IntN(4000))
			s := trace.Slice{Start: at, Dur: d, Track: trace.TrackID(k), Name: names[rng.IntN(len(names))], Cat: cat}
			tr.Slices = append(tr.Slices, s)
			i++
			if k < 30 {
				for depth := 0; depth < 3 && i < per; depth++ {
					s.Start, s.Dur = s.Start+s.Dur/10, s.Dur*7/10
					s.Name = names[rng.IntN(len(names))]
					tr.Slices = append(tr.Slices, s)
					i++
				}
			}
			at += d
		}
		tr.Meta.End = max(tr.Meta.End, at)
	}
	return tr
}
