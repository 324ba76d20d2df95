package analyze

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/gander-go/gander/profiler/trace"
)

// everything computes every view, as text and JSON too.
func everything(t *testing.T, tr *trace.Trace) {
	t.Helper()
	a := Of(tr)
	path, err := a.CriticalPath(PathOptions{})
	if err != nil {
		t.Fatal(err)
	}
	averages := a.KeyAverages(KeyOptions{ByShape: true, ByStack: 3, ByOverload: true, ByTrack: true, ByStep: true})
	for _, c := range []Convention{Exact, Torch} {
		if _, err := averages.Table(TableOptions{Columns: c}); err != nil {
			t.Fatal(err)
		}
	}
	views := []any{averages, path, a.Flame(FlameOptions{Metric: FlameDevice}), a.Flame(FlameOptions{Metric: FlameCPU}), a.Flame(FlameOptions{From: 5, To: 30})}
	for _, c := range []Convention{Exact, HTA, Plugin} {
		steps := a.StepsAs(c)
		for _, s := range steps.Steps {
			sum := int64(0)
			for _, p := range s.Parts {
				sum += p
			}
			if sum != s.Total() {
				t.Fatalf("parts of step %s sum to %d of %d", s.Name, sum, s.Total())
			}
		}
		temporal := a.Temporal(c)
		if temporal.Idle+temporal.Compute+temporal.NonCompute != temporal.Kernel {
			t.Fatalf("temporal breakdown %+v does not sum up", temporal)
		}
		idle := a.Idle(IdleOptions{Convention: c})
		for _, s := range idle.Streams {
			if c == Exact && s.Busy+s.Time[0]+s.Time[1]+s.Time[2] != s.Span {
				t.Fatalf("idle time of a stream does not sum up: %+v", s)
			}
		}
		views = append(views, steps, temporal, idle, a.OverviewAs(c), a.Operators(OperatorOptions{Convention: c, ByShape: true}), a.KernelsAs(c),
			a.MemoryAs(MemoryOptions{}, c), a.ModulesAs(c), a.Launches(LaunchOptions{Convention: c}), a.QueueLength(2, c), a.Overlap(c),
			a.KernelBreakdown(BreakdownOptions{Convention: c, PerType: 2}), a.AdviseAs(c), DistributedAs([]*trace.Trace{tr, tr}, c))
	}
	d := Diff(tr, tr)
	for _, r := range d.Rows {
		if r.Base != r.New || r.Status != "unchanged" {
			t.Fatalf("a trace differs from itself: %+v", r)
		}
	}
	for _, n := range d.Tree {
		if !n.Matched || n.Base != n.New {
			t.Fatalf("a trace does not match itself: %+v", n)
		}
	}
	for _, v := range append(views, d) {
		if _, err := json.Marshal(v); err != nil {
			t.Fatalf("%T: %v", v, err)
		}
		switch v := v.(type) {
		case interface{ Text() string }:
			v.Text()
		case interface{ Text(int) string }:
			v.Text(3)
		}
	}
	for _, metric := range stackMetrics {
		if err := a.WriteStacks(&bytes.Buffer{}, metric); err != nil {
			t.Fatal(err)
		}
	}
}

func TestEveryViewOfRandomTraces(t *testing.T) {
	everything(t, &trace.Trace{})
	for seed := range uint64(400) {
		everything(t, randomTrace(rand.New(rand.NewPCG(seed, 11))))
	}
}

func TestMemoryView(t *testing.T) {
	m := newMaker()
	th := m.thread(1)
	m.Meta.Tool = "pytorch"
	for k := range int64(4) {
		m.add(trace.ClassStep, "user_annotation", th, fmt.Sprintf("ProfilerStep#%d", k), k*100, 100)
		m.op(th, "aten::ones", k*100+10, 50, 0, trace.OpArgs{})
		m.op(th, "aten::empty", k*100+20, 10, 0, trace.OpArgs{})
		m.memory(th, k*100+25, 100+uint64(k), 1<<20) // never released
		m.memory(th, k*100+40, 7, 4096)              // released at once
		m.memory(th, k*100+50, 7, -4096)
	}
	m.memory(th, 399, 9, -10) // allocated before the recording
	r := Memory(m.done(), MemoryOptions{})
	if len(r.Spaces) != 1 {
		t.Fatalf("%d spaces", len(r.Spaces))
	}
	s := &r.Spaces[0]
	if s.Name != "CPU" || s.Peak != 4<<20+4096 || s.PeakTime != 340_000 || s.Events != 13 || len(s.Allocs) != 9 {
		t.Errorf("%s: peak %d at %d, %d events, %d allocations", s.Name, s.Peak, s.PeakTime, s.Events, len(s.Allocs))
	}
	if al := s.Allocs[1]; al.Operator != "aten::ones" || al.Bytes != 4096 || al.Alive != 10_000 || al.Release != 50_000 {
		t.Errorf("%+v", al)
	}
	if al := s.Allocs[0]; al.Operator != "aten::ones (aten::empty)" || al.Release != trace.NoTime || al.Alive != -1 {
		t.Errorf("%+v", al)
	}
	if al := s.Allocs[8]; al.Alloc != trace.NoTime || al.Bytes != 10 || al.Operator != unknownOperator {
		t.Errorf("%+v", al)
	}
	want := MemoryStat{Operator: "aten::ones", Calls: 4, Increase: 4 << 20, SelfIncrease: 0, Allocs: 8, SelfAllocs: 4, Allocated: 4<<20 + 4*4096, SelfAllocated: 4 * 4096}
	if got := s.Stats[1]; got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
	if len(s.Leaks) != 1 || s.Leaks[0].Bytes != 3<<20 || s.Leaks[0].Steps != 3 || s.Leaks[0].PerStep != 1<<20 || s.Leaks[0].Operator != "aten::ones (aten::empty)" {
		t.Errorf("%+v", s.Leaks)
	}
	if part := Memory(m.Trace, MemoryOptions{From: 100_000, To: 199_000}).Spaces[0]; part.Events != 3 || part.Peak != 2<<20+4096 {
		t.Errorf("part: %d events, peak %d", part.Events, part.Peak)
	}
	if ad := find(Advise(m.Trace), "memory-growth"); ad == nil || !strings.Contains(ad.Evidence[0].Text, "aten::ones") {
		t.Errorf("%+v", ad)
	}
}

func find(list []Advice, kind string) *Advice {
	for i := range list {
		if list[i].Kind == kind {
			return &list[i]
		}
	}
	return nil
}

func TestDownsample(t *testing.T) {
	var times, values []int64
	for i := range int64(1000) {
		times, values = append(times, i), append(values, i%2)
	}
	values[500] = 100
	got := Downsample(times, values, 50)
	if len(got) != 50 || got[0] != 0 || got[49] != 999 || !slices.Contains(got, 500) || !slices.IsSorted(got) {
		t.Errorf("%v", got)
	}
	if all := Downsample(times[:10], values[:10], 50); len(all) != 10 {
		t.Errorf("%v", all)
	}
}

func TestIdleAndQueue(t *testing.T) {
	m := newMaker()
	th, st := m.thread(1), m.track(trace.TrackStream, 7, m.device(0, 8))
	m.launch(th, st, "k", 0, 5, 10, 10, 0)       // 10..20, first
	m.launch(th, st, "k", 6, 5, 25, 10, 0)       // launched while busy, gap 5: back to back
	m.launch(th, st, "k", 50, 5, 60, 10, 0)      // launched at 50, idle since 35: the host
	m.launch(th, st, "k", 56, 5, 170, 10, 0)     // gap 100, launched while busy: other
	m.launch(th, st, "nccl", 57, 60, 170, 30, 0) // overlaps the one before
	tr := m.done()
	s := Idle(tr, IdleOptions{}).Streams[0]
	if s.Time != [NumIdleCauses]int64{25_000, 5_000, 100_000} || s.Count != [NumIdleCauses]int64{1, 1, 1} || s.Span != 190_000 || s.Busy != 60_000 {
		t.Errorf("%+v", s)
	}
	if g := s.Longest[0]; g.Start != 70_000 || g.End != 170_000 || g.Cause != IdleOther {
		t.Errorf("%+v", g)
	}
	q := QueueLength(tr, 2)[0]
	// +1 at 0, 6, -1 at 10, 25, +1 at 50, 56, 57, -1 at 60, 170, 170.
	if want := []int32{1, 2, 1, 0, 1, 2, 3, 2, 1, 0}; !slices.Equal(q.Length, want) || q.Max != 3 || q.Full != 4_000+1_000+3_000+110_000 {
		t.Errorf("%v, full %d", q.Length, q.Full)
	}
	l := Launches(tr, LaunchOptions{})
	if len(l.Launches) != 5 || l.SlowCalls != 1 || l.SlowDelays != 1 || l.Delay != (5+14+5+109+53)*1000 {
		t.Errorf("%d launches: %d slow, %d late, delay %d", len(l.Launches), l.SlowCalls, l.SlowDelays, l.Delay)
	}
	o := Overlap(tr, Exact)
	if o.Communication != 30_000 || o.Computation != 40_000 || o.Both != 10_000 || o.Ratio != 1.0/3 {
		t.Errorf("%+v", o)
	}
	b := KernelBreakdown(tr, BreakdownOptions{})
	want := []TypeTime{{"COMPUTATION", 30_000, 0.5}, {"COMMUNICATION", 20_000, 1.0 / 3}, {"COMPUTATION overlapping COMMUNICATION", 10_000, 1.0 / 6}}
	if !slices.Equal(b.Types, want) {
		t.Errorf("%+v", b.Types)
	}
}

func TestHTARounding(t *testing.T) {
	m := newMaker()
	th, st := m.thread(1), m.track(trace.TrackStream, 7, m.device(0, 8))
	m.launch(th, st, "k", 0, 5, 10, 1, 0)
	m.launch(th, st, "k", 6, 5, 20, 1, 0)
	tr := m.done()
	for i := range tr.Slices {
		if tr.Name(&tr.Slices[i]) == "k" {
			tr.Slices[i].Start += 700
			tr.Slices[i].Dur = 1600 // 10.7..12.3: 11..12 in HTA's eyes
		}
	}
	if r := Temporal(tr, Exact); r.Compute != 3200 || r.Kernel != 11600 || r.Idle != 8400 {
		t.Errorf("exact: %+v", r)
	}
	if r := Temporal(tr, HTA); r.Compute != 2000 || r.Kernel != 11000 || r.Idle != 9000 {
		t.Errorf("HTA: %+v", r)
	}
}

func TestFlameGraph(t *testing.T) {
	m := newMaker()
	th := m.thread(1)
	st := m.track(trace.TrackStream, 7, m.device(0, 8))
	m.add(trace.ClassCall, "go_call", th, "main", 0, 100)
	m.add(trace.ClassCall, "go_call", th, "f", 10, 30)
	m.add(trace.ClassCall, "go_call", th, "f", 50, 20)
	m.add(trace.ClassCall, "go_call", th, "g", 15, 5)
	m.launch(th, st, "kern", 55, 5, 60, 40, 0)
	a := Of(m.done())
	g := a.Flame(FlameOptions{})
	var lines []string
	for _, n := range g.Nodes {
		lines = append(lines, fmt.Sprintf("%d %s %d %d %d", n.Depth, g.Names[n.Name], n.Total, n.Self, n.Count))
	}
	want := []string{"0 all 100000 0 0", "1 thread 1 100000 0 0", "2 main 100000 50000 1", "3 f 50000 40000 2", "4 g 5000 5000 1", "4 cudaLaunchKernel 5000 5000 1"}
	if !slices.Equal(lines, want) && !slices.Equal(lines, append(slices.Clone(want[:4]), want[5], want[4])) {
		t.Errorf("%q", lines)
	}
	d := a.Flame(FlameOptions{Metric: FlameDevice})
	if last := d.Nodes[len(d.Nodes)-1]; d.Nodes[0].Total != 40_000 || d.Nodes[2].Total != 40_000 || last.Total > 40_000 {
		t.Errorf("%+v", d.Nodes)
	}
	part := a.Flame(FlameOptions{From: 20_000, To: 60_000, OneTrack: true, Track: th})
	if part.Nodes[0].Total != 40_000 || part.Names[part.Nodes[1].Name] != "main" {
		t.Errorf("%+v", part.Nodes)
	}
	cut := a.Flame(FlameOptions{MinShare: 0.1})
	if len(cut.Nodes) != 4 || cut.Nodes[3].Self != 50_000 {
		t.Errorf("%+v", cut.Nodes)
	}
	var b bytes.Buffer
	if err := a.WriteStacks(&b, "self_cpu_time_total"); err != nil || b.String() != "main 50\nmain;f 25\nmain;f;g 5\nmain;f 15\nmain;f;cudaLaunchKernel 5\n" {
		t.Errorf("%q %v", b.String(), err)
	}
	if err := a.WriteStacks(&b, "self_cpu_time_totl"); err == nil || !strings.Contains(err.Error(), `"self_cpu_time_total"`) {
		t.Errorf("wrong metric: %v", err)
	}
}

func TestSampledFlameGraph(t *testing.T) {
	m := newMaker()
	leaf := m.stack("main", "work", "inner loop")
	m.Samples = []trace.Sample{
		{Time: 1, Track: trace.NoTrack, Stack: leaf, Kind: trace.SampleCPU, Weight: 30, Count: 3},
		{Time: 2, Track: trace.NoTrack, Stack: m.Stacks[leaf].Parent, Kind: trace.SampleCPU, Weight: 10, Count: 1},
		{Time: 2, Track: trace.NoTrack, Stack: leaf, Kind: trace.SampleAlloc, Weight: 512, Count: 2},
	}
	a := Of(m.done())
	var b bytes.Buffer
	if err := a.WriteStacks(&b, "samples"); err != nil || b.String() != "main;work 10\nmain;work;inner_loop 30\n" {
		t.Errorf("%q %v", b.String(), err)
	}
	if g := a.Flame(FlameOptions{Metric: FlameAlloc}); g.Unit != "bytes" || g.Nodes[0].Total != 512 || g.Nodes[3].Count != 2 {
		t.Errorf("%+v", g)
	}
}

func TestRecordedStacks(t *testing.T) {
	m := newMaker()
	th := m.thread(1)
	m.op(th, "aten::add", 0, 10, 1, trace.OpArgs{StackText: m.Strings.ID("inner.py(3): f;outer.py(9): main")})
	m.op(th, "aten::mul", 20, 10, 2, trace.OpArgs{})
	var b bytes.Buffer
	if err := WriteStacks(&b, m.done(), "self_cpu_time_total"); err != nil || b.String() != "outer.py(9):_main;inner.py(3):_f 10\n" {
		t.Errorf("%q %v", b.String(), err)
	}
	a := KeyAverages(m.Trace, KeyOptions{ByStack: 1})
	if !a.HasStacks || !slices.Equal(a.Rows[0].Stack, []string{"inner.py(3): f"}) {
		t.Errorf("%+v", a.Rows)
	}
}

func TestStepsOfGoPrograms(t *testing.T) {
	m := newMaker()
	th, gc := m.track(trace.TrackGoroutine, 1, trace.NoDevice), m.track(trace.TrackRuntime, 0, trace.NoDevice)
	for k := range int64(2) {
		m.add(trace.ClassStep, "user_annotation", th, fmt.Sprintf("ProfilerStep#%d", k), k*100, 100)
		m.add(trace.ClassCall, "go_call", th, "nn.(*DataLoader).Next", k*100+10, 30)
		m.add(trace.ClassCall, "go_call", th, "nn.(*Linear).Forward", k*100+50, 20)
	}
	m.add(trace.ClassGC, "gc", gc, "GC", 90, 20)
	m.add(trace.ClassSTW, "stw", gc, "STW", 95, 2)
	r := Steps(m.done())
	want := [NumStepParts]int64{PartDataLoader: 30_000, PartCPU: 20_000, PartOther: 50_000}
	for i, s := range r.Steps {
		if s.Parts != want || s.GC != 10_000 || s.Name != fmt.Sprint(i) {
			t.Errorf("%+v", s)
		}
	}
	if r.Steps[0].STW != 2_000 || r.Mean != 100_000 || !r.Real {
		t.Errorf("%+v", r)
	}
	if ad := find(Advise(stretched(m.Trace, 100)), "data-loader-starvation"); ad == nil || ad.Share != 0.3 || ad.Evidence[0].Time != 6_000_000 || ad.Evidence[0].Count != 2 {
		t.Errorf("%+v", ad)
	}
}

func TestGroupings(t *testing.T) {
	m := newMaker()
	a, b := m.track(trace.TrackGoroutine, 7, trace.NoDevice), m.track(trace.TrackGoroutine, 9, trace.NoDevice)
	st := m.track(trace.TrackStream, 7, m.device(0, 8))
	for k := range int64(2) {
		m.add(trace.ClassStep, "user_annotation", a, fmt.Sprintf("ProfilerStep#%d", k), k*100, 100)
		m.add(trace.ClassCall, "go_call", a, "f", k*100+10, 10)
	}
	m.add(trace.ClassCall, "go_call", b, "f", 20, 30)
	m.launch(a, st, "k", 15, 2, 150, 10, 0) // launched in step 0, runs in step 1
	tr := m.done()
	rows := func(o KeyOptions, text func(*Average) string) string {
		var out []string
		for _, r := range KeyAverages(tr, o).Rows {
			if r.Key == "f" || r.Key == "k" {
				out = append(out, fmt.Sprint(r.Key, " ", text(&r), " ", r.Count, " ", r.CPUTotal))
			}
		}
		return strings.Join(out, ", ")
	}
	if got := rows(KeyOptions{}, func(*Average) string { return "" }); got != "f  3 50000, k  1 0" {
		t.Error(got)
	}
	if got := rows(KeyOptions{ByTrack: true}, func(r *Average) string { return r.Thread }); got != "f goroutine 7 2 20000, f goroutine 9 1 30000, k stream 7 1 0" {
		t.Error(got)
	}
	if got := rows(KeyOptions{ByStep: true}, func(r *Average) string { return r.Step }); got != "f 0 2 40000, f 1 1 10000, k 0 1 0" {
		t.Error(got)
	}
	if got := rows(KeyOptions{ByStack: 1}, func(r *Average) string { return strings.Join(r.Stack, " ") }); got != "f ProfilerStep#0 1 10000, f  1 30000, f ProfilerStep#1 1 10000, k  1 0" {
		t.Error(got)
	}
}

func TestRecursionCounts(t *testing.T) {
	m := newMaker()
	th := m.track(trace.TrackGoroutine, 1, trace.NoDevice)
	for depth := range int64(3) {
		m.add(trace.ClassCall, "go_call", th, "fib", depth*10, 100-depth*20)
	}
	m.op(th, "aten::to", 200, 30, 1, trace.OpArgs{})
	m.op(th, "aten::to", 205, 20, 2, trace.OpArgs{})
	tr := m.done()
	for c, want := range map[Convention][2]int64{Exact: {3, 1}, Torch: {1, 1}} {
		a := KeyAverages(tr, KeyOptions{Convention: c})
		if got := [2]int64{a.Rows[0].Count, a.Rows[1].Count}; got != want {
			t.Errorf("convention %d: calls %v, want %v", c, got, want)
		}
		if a.SelfCPUTotal != 130_000 {
			t.Errorf("convention %d: self CPU %d", c, a.SelfCPUTotal)
		}
	}
}

func TestCriticalPathFollowsTheDevice(t *testing.T) {
	m := newMaker()
	th := m.thread(1)
	d := m.device(0, 8)
	st, other := m.track(trace.TrackStream, 7, d), m.track(trace.TrackStream, 9, d)
	m.add(trace.ClassAnnotation, "user_annotation", th, "step", 0, 500)
	m.launch(th, st, "long", 10, 5, 30, 300, 0)
	m.launch(th, st, "next", 20, 5, 340, 50, 0)
	m.launch(th, other, "short", 40, 5, 50, 10, 0)
	call := m.add(trace.ClassRuntime, "cuda_runtime", th, "cudaStreamSynchronize", 60, 340)
	call.Corr = 99
	m.Syncs = append(m.Syncs, trace.SyncArgs{Stream: 7, WaitRecordCorr: 0})
	s := m.add(trace.ClassSync, "cuda_sync", st, "Stream Sync", 60, 335)
	s.Corr, s.Kind, s.Args = 99, trace.ArgSync, 1
	r, err := CriticalPath(m.done(), PathOptions{Annotation: "step"})
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, i := range r.Critical {
		names = append(names, m.Name(&m.Slices[i]))
	}
	if got := strings.Join(names, " "); got != "step cudaLaunchKernel long cudaStreamSynchronize next" {
		t.Errorf("path %s", got)
	}
	// 10 us until the launch, 20 of delay, 300, 10 between the kernels, 50, and the range's last 100.
	want := map[string]int64{"cpu_bound": 110_000, "gpu_kernel_launch_overhead": 20_000, "gpu_compute_bound": 350_000, "gpu_kernel_kernel_overhead": 10_000}
	if fmt.Sprint(r.Time) != fmt.Sprint(want) || r.Note != "" {
		t.Errorf("%v, want %v; %s", r.Time, want, r.Note)
	}
	if text := r.Text(); !strings.Contains(text, "gpu_compute_bound") {
		t.Error(text)
	}
}
