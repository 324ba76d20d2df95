package analyze

import (
	"fmt"
	"strings"
	"testing"

	"github.com/gander-go/gander/profiler/trace"
)

// gpuMaker has one thread, one stream and one step of a millisecond.
func gpuMaker(memory int64) (m *maker, th, st trace.TrackID) {
	m = newMaker()
	th, st = m.thread(1), m.track(trace.TrackStream, 7, m.device(memory, 8))
	m.add(trace.ClassStep, "user_annotation", th, "ProfilerStep#1", 0, 1000)
	return
}

func TestAdvice(t *testing.T) {
	tests := []struct {
		kind string
		// slow stretches all times of the trace, to what leastOf asks for
		slow  int64
		build func() *trace.Trace
		// what the advice has to say: parts of its text and of its first evidence, the time at stake, and the share
		text, evidence string
		time           int64
		share          float64
		severity       Severity
	}{
		{"data-loader-starvation", 100, func() *trace.Trace {
			m, th, st := gpuMaker(0)
			m.add(trace.ClassAnnotation, "user_annotation", th, "enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__", 100, 300)
			m.launch(th, st, "k", 500, 5, 600, 300, 0)
			return m.done()
		}, "30.0% of the step time", "__next__", 30_000_000, 0.3, Severe},
		{"data-parallel", 1, func() *trace.Trace {
			m, th, st := gpuMaker(0)
			st2 := m.track(trace.TrackStream, 7, m.device(0, 8))
			m.add(trace.ClassAnnotation, "user_annotation", th, "DataParallel.forward", 0, 900)
			m.launch(th, st, "k", 10, 5, 20, 900, 0)
			m.launch(th, st2, "k", 20, 5, 30, 900, 0)
			return m.done()
		}, "2 devices", "DataParallel.forward", 0, 0, Warning},
		{"nccl", 1, func() *trace.Trace {
			m, th, st := gpuMaker(0)
			m.add(trace.ClassAnnotation, "user_annotation", th, "DistributedDataParallel.forward", 0, 900)
			m.launch(th, st, "k", 10, 5, 20, 900, 0)
			return m.done()
		}, "compute capability 8.0", "DistributedDataParallel.forward", 0, 0, Warning},
		{"communication", 100, func() *trace.Trace {
			m, th, st := gpuMaker(0)
			m.launch(th, st, "k", 0, 5, 10, 600, 0)
			m.launch(th, st, "ncclDevKernel_AllReduce", 10, 5, 700, 250, 0)
			return m.done()
		}, "25.0% of the step time", "ncclDevKernel_AllReduce", 25_000_000, 0.25, Warning},
		{"low-gpu-utilization", 100, func() *trace.Trace {
			m, th, st := gpuMaker(0)
			m.launch(th, st, "k", 0, 5, 10, 400, 0)
			return m.done()
		}, "during 40.0% of the steps", "Runtime", 60_000_000, 0.6, Warning},
		{"tensor-cores", 100, func() *trace.Trace {
			m, th, st := gpuMaker(0)
			m.op(th, "aten::mm", 10, 50, 5, trace.OpArgs{})
			m.op(th, "aten::add", 100, 50, 6, trace.OpArgs{})
			m.launch(th, st, "sgemm", 20, 5, 30, 600, 5)
			m.launch(th, st, "add", 110, 5, 640, 200, 6)
			return m.done()
		}, "75% of the kernel time", "aten::mm", 60_000_000, 0.6, Warning},
		{"memory-full", 1, func() *trace.Trace {
			m, th, _ := gpuMaker(1000)
			m.memory(th, 10, 1, 950)
			m.Memory[0].Space, m.Memory[0].Device = trace.MemDevice, 0
			return m.done()
		}, "950 B of the 1000 B", "holds 950 B", 0, 0, Severe},
		{"host-device-sync", 100, func() *trace.Trace {
			m, th, st := gpuMaker(0)
			for k := range int64(12) {
				m.op(th, "aten::item", k*80, 60, 10+k, trace.OpArgs{})
				m.launch(th, st, "k", k*80+1, 2, k*80+5, 40, 10+k)
				m.add(trace.ClassRuntime, "cuda_runtime", th, "cudaStreamSynchronize", k*80+10, 40)
			}
			return m.done()
		}, "12 calls wait 48.000ms", "cudaStreamSynchronize in aten::item", 48_000_000, 0.48, Severe},
		{"device-allocation", 100, func() *trace.Trace {
			m, th, st := gpuMaker(0)
			m.launch(th, st, "k", 1, 2, 5, 900, 0)
			for k := range int64(10) {
				m.add(trace.ClassRuntime, "cuda_runtime", th, "cudaMalloc", 10+k*20, 10)
			}
			return m.done()
		}, "10 allocations and releases", "cudaMalloc", 10_000_000, 0.1, Warning},
		{"small-kernels", 1, func() *trace.Trace {
			m, th, st := gpuMaker(0)
			m.Slices[0].Dur *= 12
			for k := range int64(2400) {
				m.launch(th, st, "tiny", k*4, 3, k*4+2, 1, 0)
			}
			return m.done()
		}, "2400 of 2400 kernels (100%)", "tiny", 9_600_000, 0.8, Warning},
		{"pageable-copies", 100, func() *trace.Trace {
			m, th, st := gpuMaker(0)
			m.launch(th, st, "k", 1, 2, 5, 600, 0)
			m.Copies = append(m.Copies, trace.CopyArgs{Bytes: 1 << 20, Device: 0, Stream: 7})
			s := m.add(trace.ClassMemcpy, "gpu_memcpy", st, "Memcpy HtoD (Pageable -> Device)", 700, 100)
			s.Kind, s.Args = trace.ArgCopy, 1
			return m.done()
		}, "1 copies of 1.00 MB", "Pageable", 10_000_000, 0.1, Warning},
		{"gc-pressure", 100, func() *trace.Trace {
			m, th, _ := gpuMaker(0)
			gc := m.track(trace.TrackRuntime, 0, trace.NoDevice)
			for k := range int64(3) {
				m.add(trace.ClassGC, "gc", gc, "GC", 100+200*k, 100)
			}
			m.add(trace.ClassAnnotation, "user_annotation", th, "parse", 150, 100)
			m.Samples = []trace.Sample{{Time: trace.NoTime, Stack: m.stack("main", "makeGarbage"), Kind: trace.SampleAlloc, Weight: 1 << 20, Count: 100}}
			return m.done()
		}, "3 collections run during 30.0% of the time", "GC", 30_000_000, 0.3, Severe},
		{"lock-contention", 100, func() *trace.Trace {
			m, _, _ := gpuMaker(0)
			m.Samples = []trace.Sample{{Time: trace.NoTime, Stack: m.stack("main", "lockIt"), Kind: trace.SampleMutex, Weight: 100_000, Count: 14}}
			return m.done()
		}, "10.000ms for mutexes in 14 contentions", "lockIt", 10_000_000, 0.1, Warning},
		{"lock-contention", 100, func() *trace.Trace {
			m, _, _ := gpuMaker(0)
			g, states := m.track(trace.TrackGoroutine, 7, trace.NoDevice), m.track(trace.TrackOther, 7, trace.NoDevice)
			m.Tracks[states].Name = "goroutine 7 main.work states"
			m.add(trace.ClassAnnotation, "user_annotation", g, "update", 0, 900)
			for k := range int64(10) {
				m.add(trace.ClassState, "goroutine_state", states, "waiting (sync.(*Mutex).Lock)", k*50, 10)
				m.add(trace.ClassState, "goroutine_state", states, "waiting (sync.(*WaitGroup).Wait)", k*50+20, 10)
			}
			return m.done()
		}, "10.000ms for mutexes in 10 contentions", "goroutine 7 main.work in update waits in sync.(*Mutex).Lock", 10_000_000, 0.1, Warning},
		{"goroutine-starvation", 100, func() *trace.Trace {
			m := newMaker()
			for g := range int64(3) {
				tr := m.track(trace.TrackGoroutine, g+1, trace.NoDevice)
				for k := range int64(5) {
					m.add(trace.ClassState, "goroutine_state", tr, "runnable", k*400, 200+g)
					m.add(trace.ClassState, "goroutine_state", tr, "running", k*400+210, 190)
				}
			}
			return m.done()
		}, "ready to run for 301.500ms", "goroutine 3 is runnable", 301_500_000, 3015.0 / 5865, Severe},
		{"allocation-churn", 1, func() *trace.Trace {
			m := newMaker()
			tr := m.track(trace.TrackGoroutine, 1, trace.NoDevice)
			m.add(trace.ClassCall, "go_call", tr, "compute", 0, 70_000)
			m.add(trace.ClassCall, "go_call", tr, "concat", 70_000, 30_000)
			m.Counters = append(m.Counters, trace.Counter{Name: trace.CounterGoHeap, Unit: "bytes", Track: trace.NoTrack, Device: trace.NoDevice,
				Times: []int64{0, 60_000_000, 80_000_000, 95_000_000, 100_000_000}, Values: []float64{5, 5, 30, 60, 2}})
			m.Meta.Values = []trace.KeyValue{{Key: "alloc_bytes", Value: "60000000"}, {Key: "alloc_objects", Value: "1000"}}
			return m.done()
		}, "57.22 MB in 1000 objects", "the heap grows during concat", 0, 0, Warning},
		{"allocation-churn", 100, func() *trace.Trace {
			m, th, _ := gpuMaker(0)
			m.op(th, "aten::cat", 0, 1000, 1, trace.OpArgs{})
			for k := range int64(1000) {
				m.memory(th, k, 1, 4096)
				m.memory(th, k, 1, -4096)
			}
			return m.done()
		}, "1000 allocations of 3.91 MB", "aten::cat", 0, 0, Info},
	}
	for _, tt := range tests {
		t.Run(tt.kind, func(t *testing.T) {
			list := Advise(stretched(tt.build(), tt.slow))
			ad := find(list, tt.kind)
			if ad == nil {
				var kinds []string
				for _, a := range list {
					kinds = append(kinds, a.Kind)
				}
				t.Fatalf("not among %q", kinds)
			}
			if !strings.Contains(ad.Text, tt.text) || ad.Remedy == "" || ad.Title == "" {
				t.Errorf("text %q", ad.Text)
			}
			if tt.evidence != "" && (len(ad.Evidence) == 0 || !strings.Contains(ad.Evidence[0].Text, tt.evidence)) {
				t.Errorf("evidence %+v", ad.Evidence)
			}
			if ad.Time != tt.time && fmt.Sprintf("%.3f", float64(ad.Time)/1000) != fmt.Sprintf("%.3f", float64(tt.time)/1000) {
				t.Errorf("time %d, want %d", ad.Time, tt.time)
			}
			if !close2(ad.Share, tt.share) || ad.Severity != tt.severity {
				t.Errorf("share %v, severity %v; want %v, %v", ad.Share, ad.Severity, tt.share, tt.severity)
			}
		})
	}
}

// stretched multiplies all times of t.
func stretched(t *trace.Trace, by int64) *trace.Trace {
	for i := range t.Slices {
		t.Slices[i].Start *= by
		t.Slices[i].Dur *= by
	}
	for i := range t.Memory {
		t.Memory[i].Time *= by
	}
	for i := range t.Samples {
		if k := t.Samples[i].Kind; k != trace.SampleAlloc && k != trace.SampleInUse {
			t.Samples[i].Weight *= by
		}
	}
	t.Meta.End *= by
	return t
}

// Each kind of advice is given at its least evidence and not below it, in any of the three measures; the plugin's own rules ask for none.
func TestLeastEvidence(t *testing.T) {
	for kind, l := range leastOf {
		given := func(c Convention, window, time, count int64) bool {
			b := &adviser{c: c, window: span{1000, 1000 + window}}
			return b.enough(kind, time, count)
		}
		if !given(Exact, l.window, l.time, l.count) {
			t.Errorf("%s: not given with just enough", kind)
		}
		if l.window > 0 && given(Exact, l.window-1, l.time, l.count) || l.time > 0 && given(Exact, l.window, l.time-1, l.count) ||
			l.count > 0 && given(Exact, l.window, l.time, l.count-1) {
			t.Errorf("%s: given with too little", kind)
		}
		if !given(Plugin, 0, 0, 0) {
			t.Errorf("%s: the plugin asks for no evidence", kind)
		}
	}
}

// On both sides of the shares: a trace that gives advice, with the time of one event made shorter until there is none.
func TestAdviceShares(t *testing.T) {
	tests := []struct {
		kind       string
		give, keep int64 // us of a recording of 100 ms: the least that gives advice, and the most that does not
		build      func(m *maker, th, st trace.TrackID, us int64)
	}{
		{"gc-pressure", 10_000, 9_999, func(m *maker, _, _ trace.TrackID, us int64) {
			gc := m.track(trace.TrackRuntime, 0, trace.NoDevice)
			for k := range int64(3) {
				m.add(trace.ClassGC, "gc", gc, "GC", k*30_000, us/3+us%3*((2-k)/2))
			}
		}},
		{"gc-pressure", 1000, 999, func(m *maker, _, _ trace.TrackID, us int64) {
			stw := m.track(trace.TrackRuntime, 1, trace.NoDevice)
			m.add(trace.ClassSTW, "stw", stw, "stop the world", 30_000, us)
			m.Meta.Values = []trace.KeyValue{{Key: "gc_cycles", Value: "3"}}
		}},
		{"lock-contention", 5000, 4999, func(m *maker, _, _ trace.TrackID, us int64) {
			m.Samples = []trace.Sample{{Time: trace.NoTime, Stack: m.stack("lockIt"), Kind: trace.SampleMutex, Weight: us * 1000, Count: 10}}
		}},
		{"goroutine-starvation", 10_000, 9_999, func(m *maker, _, _ trace.TrackID, us int64) {
			tr := m.track(trace.TrackGoroutine, 9, trace.NoDevice)
			m.add(trace.ClassState, "goroutine_state", tr, "running", 0, 90_000)
			for k := range int64(10) {
				n := us / 10
				if k == 0 {
					n += us % 10
				}
				m.add(trace.ClassState, "goroutine_state", tr, "runnable", 90_000+k*1000, n)
			}
		}},
		{"data-loading", 5_001, 5_000, func(m *maker, th, _ trace.TrackID, us int64) {
			m.add(trace.ClassAnnotation, "user_annotation", th, "enumerate(DataLoader)#x.__next__", 0, us)
		}},
		{"communication", 10_001, 10_000, func(m *maker, th, st trace.TrackID, us int64) {
			m.launch(th, st, "ncclDevKernel_AllReduce", 0, 5, 10, us, 0)
		}},
		{"low-gpu-utilization", 49_999, 50_000, func(m *maker, th, st trace.TrackID, us int64) {
			m.launch(th, st, "k", 0, 5, 10, us, 0)
		}},
		{"host-device-sync", 5_000, 4_990, func(m *maker, th, st trace.TrackID, us int64) {
			m.launch(th, st, "k", 0, 2, 5, 90_000, 0)
			for k := range int64(10) {
				m.add(trace.ClassRuntime, "cuda_runtime", th, "cudaStreamSynchronize", 10+k*2000, us/10)
			}
		}},
		{"device-allocation", 2_000, 1_990, func(m *maker, th, st trace.TrackID, us int64) {
			m.launch(th, st, "k", 0, 2, 5, 90_000, 0)
			for k := range int64(10) {
				m.add(trace.ClassRuntime, "cuda_runtime", th, "cudaMalloc", 10+k*2000, us/10)
			}
		}},
		{"pageable-copies", 2_000, 1_999, func(m *maker, th, st trace.TrackID, us int64) {
			m.launch(th, st, "k", 0, 2, 5, 90_000, 0)
			m.add(trace.ClassMemcpy, "gpu_memcpy", st, "Memcpy HtoD (Pageable -> Device)", 95_000, us)
		}},
	}
	for _, tt := range tests {
		for _, us := range []int64{tt.give, tt.keep} {
			m, th, st := gpuMaker(0)
			m.Slices[0].Dur *= 100
			if tt.kind == "communication" || tt.kind == "low-gpu-utilization" {
				m.Slices[0].Start = 0
			}
			tt.build(m, th, st, us)
			if ad := find(Advise(m.done()), tt.kind); (ad != nil) != (us == tt.give) {
				t.Errorf("%s at %d us of 100 ms: %+v", tt.kind, us, ad)
			}
		}
	}
}

func TestNoAdviceForGoodRuns(t *testing.T) {
	m, th, st := gpuMaker(1 << 30)
	m.op(th, "aten::mm", 10, 50, 5, trace.OpArgs{})
	m.launch(th, st, "cutlass_80_tensorop_f16_s16816gemm", 20, 5, 30, 950, 5)
	m.memory(th, 15, 1, 4096)
	if list := Advise(m.done()); len(list) != 0 {
		t.Errorf("%+v", list)
	}
	if list := Advise(&trace.Trace{}); len(list) != 0 {
		t.Errorf("%+v", list)
	}
}

func TestAdviceOrder(t *testing.T) {
	m, th, st := gpuMaker(0)
	m.add(trace.ClassAnnotation, "user_annotation", th, "enumerate(DataLoader)#x.__next__", 100, 300)
	m.launch(th, st, "k", 0, 5, 10, 60, 0)
	list := Advise(stretched(m.done(), 100))
	for i := 1; i < len(list); i++ {
		if list[i].Severity > list[i-1].Severity || list[i].Severity == list[i-1].Severity && list[i].Share > list[i-1].Share {
			t.Errorf("%s before %s", list[i-1].Kind, list[i].Kind)
		}
	}
	if len(list) < 2 {
		t.Errorf("%d pieces of advice", len(list))
	}
}
