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
		kind  string
		build func() *trace.Trace
		// what the advice has to say: parts of its text and of its first evidence, the time at stake, and the share
		text, evidence string
		time           int64
		share          float64
		severity       Severity
	}{
		{"data-loader-starvation", func() *trace.Trace {
			m, th, st := gpuMaker(0)
			m.add(trace.ClassAnnotation, "user_annotation", th, "enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__", 100, 300)
			m.launch(th, st, "k", 500, 5, 600, 300, 0)
			return m.done()
		}, "30.0% of the step time", "__next__", 300_000, 0.3, Severe},
		{"data-parallel", func() *trace.Trace {
			m, th, st := gpuMaker(0)
			st2 := m.track(trace.TrackStream, 7, m.device(0, 8))
			m.add(trace.ClassAnnotation, "user_annotation", th, "DataParallel.forward", 0, 900)
			m.launch(th, st, "k", 10, 5, 20, 900, 0)
			m.launch(th, st2, "k", 20, 5, 30, 900, 0)
			return m.done()
		}, "2 devices", "DataParallel.forward", 0, 0, Warning},
		{"nccl", func() *trace.Trace {
			m, th, st := gpuMaker(0)
			m.add(trace.ClassAnnotation, "user_annotation", th, "DistributedDataParallel.forward", 0, 900)
			m.launch(th, st, "k", 10, 5, 20, 900, 0)
			return m.done()
		}, "compute capability 8.0", "DistributedDataParallel.forward", 0, 0, Warning},
		{"communication", func() *trace.Trace {
			m, th, st := gpuMaker(0)
			m.launch(th, st, "k", 0, 5, 10, 600, 0)
			m.launch(th, st, "ncclDevKernel_AllReduce", 10, 5, 700, 250, 0)
			return m.done()
		}, "25.0% of the step time", "ncclDevKernel_AllReduce", 250_000, 0.25, Warning},
		{"low-gpu-utilization", func() *trace.Trace {
			m, th, st := gpuMaker(0)
			m.launch(th, st, "k", 0, 5, 10, 400, 0)
			return m.done()
		}, "during 40.0% of the steps", "Runtime", 600_000, 0.6, Warning},
		{"tensor-cores", func() *trace.Trace {
			m, th, st := gpuMaker(0)
			m.op(th, "aten::mm", 10, 50, 5, trace.OpArgs{})
			m.op(th, "aten::add", 100, 50, 6, trace.OpArgs{})
			m.launch(th, st, "sgemm", 20, 5, 30, 600, 5)
			m.launch(th, st, "add", 110, 5, 640, 200, 6)
			return m.done()
		}, "75% of the kernel time", "aten::mm", 600_000, 0.6, Warning},
		{"memory-full", func() *trace.Trace {
			m, th, _ := gpuMaker(1000)
			m.memory(th, 10, 1, 950)
			m.Memory[0].Space, m.Memory[0].Device = trace.MemDevice, 0
			return m.done()
		}, "950 B of the 1000 B", "", 0, 0, Severe},
		{"host-device-sync", func() *trace.Trace {
			m, th, st := gpuMaker(0)
			for k := range int64(12) {
				m.op(th, "aten::item", k*80, 60, 10+k, trace.OpArgs{})
				m.launch(th, st, "k", k*80+1, 2, k*80+5, 40, 10+k)
				m.add(trace.ClassRuntime, "cuda_runtime", th, "cudaStreamSynchronize", k*80+10, 40)
			}
			return m.done()
		}, "12 calls wait 480.000us", "cudaStreamSynchronize in aten::item", 480_000, 0.48, Severe},
		{"device-allocation", func() *trace.Trace {
			m, th, st := gpuMaker(0)
			m.launch(th, st, "k", 1, 2, 5, 900, 0)
			for k := range int64(10) {
				m.add(trace.ClassRuntime, "cuda_runtime", th, "cudaMalloc", 10+k*20, 10)
			}
			return m.done()
		}, "10 allocations and releases", "cudaMalloc", 100_000, 0.1, Warning},
		{"small-kernels", func() *trace.Trace {
			m, th, st := gpuMaker(0)
			for k := range int64(240) {
				m.launch(th, st, "tiny", k*4, 3, k*4+2, 1, 0)
			}
			return m.done()
		}, "240 of 240 kernels (100%)", "tiny", 760_000, 0.76, Warning},
		{"pageable-copies", func() *trace.Trace {
			m, th, st := gpuMaker(0)
			m.launch(th, st, "k", 1, 2, 5, 600, 0)
			m.Copies = append(m.Copies, trace.CopyArgs{Bytes: 1 << 20, Device: 0, Stream: 7})
			s := m.add(trace.ClassMemcpy, "gpu_memcpy", st, "Memcpy HtoD (Pageable -> Device)", 700, 100)
			s.Kind, s.Args = trace.ArgCopy, 1
			return m.done()
		}, "1 copies of 1.00 MB", "Pageable", 100_000, 0.1, Warning},
		{"gc-pressure", func() *trace.Trace {
			m, _, _ := gpuMaker(0)
			gc := m.track(trace.TrackRuntime, 0, trace.NoDevice)
			m.add(trace.ClassGC, "gc", gc, "GC", 100, 300)
			m.Samples = []trace.Sample{{Time: trace.NoTime, Stack: m.stack("main", "makeGarbage"), Kind: trace.SampleAlloc, Weight: 1 << 20, Count: 100}}
			return m.done()
		}, "30.0% of the time", "GC", 300_000, 0.3, Severe},
		{"lock-contention", func() *trace.Trace {
			m, _, _ := gpuMaker(0)
			m.Samples = []trace.Sample{{Time: trace.NoTime, Stack: m.stack("main", "lockIt"), Kind: trace.SampleMutex, Weight: 100_000, Count: 4}}
			return m.done()
		}, "100.000us for mutexes in 4 contentions", "lockIt", 100_000, 0.1, Warning},
		{"goroutine-starvation", func() *trace.Trace {
			m := newMaker()
			for g := range int64(3) {
				tr := m.track(trace.TrackGoroutine, g+1, trace.NoDevice)
				m.add(trace.ClassState, "goroutine_state", tr, "runnable", 0, 1000+g)
				m.add(trace.ClassState, "goroutine_state", tr, "running", 2000, 997)
			}
			return m.done()
		}, "ready to run for 3.003ms", "goroutine 3 is runnable", 3_003_000, 3003.0 / 5994, Severe},
		{"allocation-churn", func() *trace.Trace {
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
			list := Advise(tt.build())
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
	list := Advise(m.done())
	for i := 1; i < len(list); i++ {
		if list[i].Severity > list[i-1].Severity || list[i].Severity == list[i-1].Severity && list[i].Share > list[i-1].Share {
			t.Errorf("%s before %s", list[i-1].Kind, list[i].Kind)
		}
	}
	if len(list) < 2 {
		t.Errorf("%d pieces of advice", len(list))
	}
}
