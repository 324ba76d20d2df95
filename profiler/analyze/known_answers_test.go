package analyze

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"io"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/gander-go/gander/internal/shared"
	"github.com/gander-go/gander/profiler/kineto"
	"github.com/gander-go/gander/profiler/trace"
)

// Figures that the test suites of the peers assert on these traces (known_answers.json says where).

func sharedTrace(t *testing.T, name string) *trace.Trace {
	t.Helper()
	return readTrace(t, shared.Path(t, "data", "traces", name))
}

func TestAssertedTemporalBreakdown(t *testing.T) {
	r := Of(sharedTrace(t, "mtia_456k_events.json.gz")).Temporal(HTA)
	for what, got := range map[string][2]float64{
		"idle": {ratio(r.Idle, r.Kernel) * 100, 42.382}, "compute": {ratio(r.Compute, r.Kernel) * 100, 54.812},
		"non-compute": {ratio(r.NonCompute, r.Kernel) * 100, 2.805},
	} {
		if math.Abs(got[0]-got[1]) > 0.01 {
			t.Errorf("%s: %.3f%%, want %.3f%%", what, got[0], got[1])
		}
	}
}

// TestExactDeviceTime checks the default, which rounds nothing, against TraceLens' figures for two traces.
func TestExactDeviceTime(t *testing.T) {
	for name, want := range map[string][3]float64{ // computation, exposed copies, busy: ms
		"bert_small_h100.json.gz":        {0.30719775390625, 0.002239990234375, 0.309437744140625},
		"owlv2_h100_132k_events.json.gz": {552.1892138671875, 14.570259033203126, 566.7594729003906},
	} {
		tr := sharedTrace(t, name)
		r := Of(tr).Temporal(Exact)
		var sets int64 // which TraceLens counts as computation
		for i := range tr.Slices {
			if tr.Class(&tr.Slices[i]) == trace.ClassMemset {
				sets += tr.Slices[i].Dur
			}
		}
		for i, got := range []int64{r.Compute + sets, r.NonCompute - sets, r.Kernel - r.Idle} {
			// TraceLens adds float64 microseconds since boot, which rounds to a quarter of a nanosecond an event.
			if math.Abs(float64(got)/1e6-want[i]) > 0.0001 {
				t.Errorf("%s: figure %d is %v ms, want %v", name, i, float64(got)/1e6, want[i])
			}
		}
	}
}

func TestAssertedLaunch(t *testing.T) {
	for _, l := range Of(sharedTrace(t, "mtia_456k_events.json.gz")).Launches(LaunchOptions{}).Launches {
		if l.Corr == 423 {
			if l.CPU != 435_200 || l.Device != 124_768 || l.Delay != 0 {
				t.Errorf("launch 423: %+v", l)
			}
			return
		}
	}
	t.Error("no launch 423")
}

func TestAssertedQueue(t *testing.T) {
	queues := Of(sharedTrace(t, "mtia_456k_events.json.gz")).QueueLength(1, HTA)
	var full int64
	for _, q := range queues {
		if q.Stream == 102 && (len(q.Times) != 6 || q.Mean != 0.5 || math.Abs(q.StdDev-0.547723) > 1e-6 || q.P25 != 0 || q.P50 != .5 || q.P75 != 1 || q.Max != 1) {
			t.Errorf("queue of stream 102: %+v", q)
		}
		if q.Stream == 102 {
			full = q.Full
		}
	}
	if len(queues) != 2 {
		t.Errorf("%d queues, want those of streams 1 and 102", len(queues))
	}
	if full != 1060_000 {
		t.Errorf("at a length of 1: %d ns, want 1060 us", full)
	}
}

// TestPathAgreesWithHTA compares the path of simple_add_a100 with the one that HTA 0.5 finds: its own tests assert 315 nodes on
// 159 events and 314 edges; the rest was read off its graph.
func TestPathAgreesWithHTA(t *testing.T) {
	const annotation = "[param|pytorch.model.alex_net|0|0|0|measure|forward]"
	tr := sharedTrace(t, "simple_add_a100.json.gz")
	o := PathOptions{Annotation: annotation, Instance: 1, Convention: HTA}
	r, err := CriticalPath(tr, o)
	if err != nil {
		t.Fatal(err)
	}
	type sum struct {
		edges int
		us    int64
	}
	kinds, bounds := map[EdgeKind]sum{}, map[string]sum{}
	for _, e := range r.Edges {
		k, b := kinds[e.Kind], bounds[e.Bound]
		kinds[e.Kind], bounds[e.Bound] = sum{k.edges + 1, k.us + e.Weight/1000}, sum{b.edges + 1, b.us + e.Weight/1000}
	}
	if want := (map[EdgeKind]sum{EdgeWork: {288, 241698}, EdgeLaunch: {1, 17}, EdgeKernelKernel: {5, 9}, EdgeDependency: {20, 0}}); !maps.Equal(kinds, want) {
		t.Errorf("edges by kind: %v, want %v", kinds, want)
	}
	if len(r.Edges) != 314 || len(r.Critical) != 159 {
		t.Errorf("%d edges over %d events, want 314 and 159", len(r.Edges), len(r.Critical))
	}
	for bound, us := range map[string]int64{"cpu_bound": 241190, "gpu_compute_bound": 508, "gpu_kernel_kernel_overhead": 9, "gpu_kernel_launch_overhead": 17} {
		if bounds[bound].us != us {
			t.Errorf("%s: %d us, want %d", bound, bounds[bound].us, us)
		}
	}
	b := &pathBuilder{x: Of(tr).index(), t: tr, c: HTA}
	if err := b.setRange(o, &PathReport{}); err != nil {
		t.Fatal(err)
	}
	b.host()
	b.deviceWork()
	if len(b.edges) != 415 || len(b.events) != 207 {
		t.Errorf("a graph of %d edges and %d events, want 415 and 207", len(b.edges), len(b.events))
	}
}

// TestAssertedPathEdges looks for the edges that HTA's tests assert in its graph of simple_add_a100. By the exact
// convention the path as a whole is another one, of 382 nodes: the time that the range spends between two operators counts,
// so that the host's chain is the longer one more often.
func TestAssertedPathEdges(t *testing.T) {
	tr := sharedTrace(t, "simple_add_a100.json.gz")
	const annotation = "[param|pytorch.model.alex_net|0|0|0|measure|forward]"
	r, err := CriticalPath(tr, PathOptions{Annotation: annotation, Instance: 1})
	if err != nil {
		t.Fatal(err)
	}
	type step struct {
		from, to       string
		fromEnd, toEnd bool
		us             int64
	}
	want := []step{
		{"aten::relu_", "aten::clamp_min_", false, false, 15},
		{"aten::clamp_min_", "cudaLaunchKernel", false, false, 14},
		{"cudaLaunchKernel", "cudaLaunchKernel", false, true, 17},
		{"cudaLaunchKernel", "aten::clamp_min_", true, true, 15},
		{"aten::clamp_min_", "aten::relu_", true, true, 32},
	}
	k := 0
	for _, e := range r.Edges {
		got := step{tr.Name(&tr.Slices[e.From]), tr.Name(&tr.Slices[e.To]), e.FromEnd, e.ToEnd, e.Weight / 1000}
		if got == want[k] {
			if k++; k == len(want) {
				break
			}
		} else {
			k = 0
		}
	}
	if k != len(want) {
		t.Errorf("edges of the first aten::relu_ are not on the path")
	}
	b := &pathBuilder{x: Of(tr).index(), t: tr}
	if err := b.setRange(PathOptions{Annotation: annotation, Instance: 1}, &PathReport{}); err != nil {
		t.Fatal(err)
	}
	b.host()
	b.deviceWork()
	edges := map[EdgeKind][]int64{}
	for _, e := range b.edges {
		edges[e.kind] = append(edges[e.kind], e.weight/1000)
	}
	if !slices.Contains(edges[EdgeLaunch], 27) || !slices.Contains(edges[EdgeLaunch], 0) || !slices.Contains(edges[EdgeKernelKernel], 7) || !slices.Contains(edges[EdgeSync], 0) {
		t.Errorf("launch edges %v, kernel to kernel %v, synchronisation %v", edges[EdgeLaunch], edges[EdgeKernelKernel], edges[EdgeSync])
	}
	if _, err := CriticalPath(sharedTrace(t, "ns_resolution_v100.pt.trace.json.gz"), PathOptions{Annotation: "ProfilerStep", Instance: 1}); err != nil {
		t.Error(err)
	}
	if _, err := CriticalPath(tr, PathOptions{Annotation: "no such range"}); err == nil {
		t.Error("a range that does not occur is no error")
	}
}

func TestAssertedDiff(t *testing.T) {
	r := Diff(onlyStep(sharedTrace(t, "compare_base.json.gz"), "ProfilerStep#1010"), onlyStep(sharedTrace(t, "compare_test.json.gz"), "ProfilerStep#1010"))
	got := map[string][]string{}
	for _, row := range r.Rows {
		if row.Side == SideCPU {
			got[row.Status] = append(got[row.Status], row.Name)
		}
	}
	want := map[string][]string{
		"added": {"AddmmBackward0", "All2All_Pooled_Req", "CatBackward0"}, "deleted": {"nccl:all_reduce"},
		"unchanged": {"ProfilerStep*", "aten::as_strided", "aten::empty", "cudaEventQuery", "cudaLaunchKernel"},
	}
	for status, names := range want {
		slices.Sort(got[status])
		if !slices.Equal(got[status], names) {
			t.Errorf("%s: %q, want %q", status, got[status], names)
		}
	}
	if len(got["increased"])+len(got["decreased"]) > 0 {
		t.Errorf("%v", got)
	}
}

// onlyStep cuts a trace to the host events of one step.
func onlyStep(tr *trace.Trace, name string) *trace.Trace {
	out := *tr
	out.Slices = nil
	for _, s := range tr.Slices {
		if tr.Name(&s) != name {
			continue
		}
		for _, v := range tr.Slices {
			if v.Start >= s.Start && v.End() <= s.End() && !tr.Categories[v.Cat].Class.OnDevice() {
				out.Slices = append(out.Slices, v)
			}
		}
	}
	return &out
}

func TestPluginRecommendations(t *testing.T) {
	want := map[string]string{
		"bert_small_h100": "low-gpu-utilization", "compare_base": "low-gpu-utilization", "compare_test": "low-gpu-utilization",
		"cpu_only_rank34": "communication 85.1%", "mtia_456k_events": "", "ns_resolution_v100": "tensor-cores 19%",
		"owlv2_h100_132k_events": "data-loading 51.1% low-gpu-utilization", "qwen_mi300x": "tensor-cores 39%",
		"resnet50_workers0_v100": "data-loading 33.4% tensor-cores 68%", "simple_add_a100": "low-gpu-utilization",
	}
	for stem, file := range traceFiles(t) {
		kinds := []string{}
		for _, ad := range Of(readTrace(t, file)).AdviseAs(Plugin) {
			kinds = append(kinds, ad.Kind)
			for _, w := range strings.Fields(want[stem]) {
				if strings.HasSuffix(w, "%") && strings.Contains(ad.Text, " "+w) || strings.HasPrefix(ad.Text, w) {
					kinds = append(kinds, w)
				}
			}
		}
		slices.Sort(kinds)
		wanted := strings.Fields(want[stem])
		slices.Sort(wanted)
		if !slices.Equal(kinds, wanted) {
			t.Errorf("%s: %q, want %q", stem, kinds, wanted)
		}
	}
}

// TestEightRanks runs every view over a real job of eight ranks and checks what must hold of any job.
func TestEightRanks(t *testing.T) {
	f, err := os.Open(shared.Path(t, "data", "traces", "dlrm_8_ranks_v100.tar.gz"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	ranks := map[string]*trace.Trace{}
	for r := tar.NewReader(z); ; {
		h, err := r.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if !strings.HasSuffix(h.Name, ".json") {
			continue
		}
		b, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		tr, err := kineto.Read(bytes.NewReader(b), kineto.ReadOptions{})
		if err != nil {
			t.Fatal(err)
		}
		ranks[filepath.Base(h.Name)[:7]] = tr
	}
	var ts []*trace.Trace
	for n := range 8 {
		ts = append(ts, ranks["worker"+string(rune('0'+n))])
	}
	r := Distributed(ts)
	if len(r.Workers) != 8 {
		t.Fatalf("%d workers: %s", len(r.Workers), r.Reason)
	}
	// Calls, bytes, latency and data transfer (us) of all_reduce and all_to_all, summed by a script from the files: kernels
	// by the thread and time of the call of their correlation id, transfer the shortest of the eight at each position.
	want := [8][2][4]int64{
		{{3, 2485252, 1799, 175}, {5, 64448, 3999, 42}}, {{3, 2485252, 1830, 175}, {5, 64448, 9506, 42}},
		{{3, 2485252, 1685, 175}, {5, 64448, 1807, 42}}, {{3, 2485252, 1772, 175}, {5, 64448, 8002, 42}},
		{{3, 2485252, 234, 175}, {5, 64448, 6353, 42}}, {{3, 2485252, 195, 175}, {5, 64448, 6056, 42}},
		{{3, 2485252, 1735, 175}, {5, 64448, 1823, 42}}, {{3, 2485252, 1357, 175}, {5, 64448, 389, 42}},
	}
	if r.Reason != "" {
		t.Errorf("no comparison: %s", r.Reason)
	}
	for i, w := range r.Workers {
		for _, o := range w.Ops {
			k := 0
			if o.Name == "nccl:all_to_all" {
				k = 1
			}
			if got := [4]int64{o.Calls, o.Bytes, o.Latency / 1000, o.DataTransfer / 1000}; got != want[i][k] {
				t.Errorf("worker %d: %s is %v, want %v", i, o.Name, got, want[i][k])
			}
		}
		if len(w.Ops) != 2 {
			t.Errorf("worker %d: operations %+v", i, w.Ops)
		}
		steps := Of(ts[i]).Steps()
		if sum := w.Computation + w.Overlap + w.Communication + w.Other; math.Abs(sum-steps.Mean) > 1 {
			t.Errorf("worker %d: parts sum to %.0f of %.0f ns", i, sum, steps.Mean)
		}
		if o := Overlap(ts[i], Exact); o.Both > o.Communication || o.Communication == 0 {
			t.Errorf("worker %d: %+v", i, o)
		}
	}
}

func TestAssertedAnnotations(t *testing.T) {
	tr := sharedTrace(t, "ns_resolution_v100.pt.trace.json.gz")
	a := Of(tr)
	if host, device := a.Annotations(SideCPU, HTA), a.Annotations(SideDevice, HTA); len(host) != 12 || len(device) != 3 {
		t.Errorf("%d kinds of ranges on the host, want 12; %d on the device, want 3", len(host), len(device))
	}
	work, ranges := a.AnnotatedWork(HTA)
	names := map[string]int{}
	for i, w := range work {
		name := ""
		if ranges[i] >= 0 {
			name = tr.Name(&tr.Slices[ranges[i]])
		}
		names[name]++
		switch corr := tr.Slices[w].Corr; {
		case corr == 135139 && name != "DistributedDataParallel.forward", corr == 164926 && name != "Optimizer.step#SGD.step":
			t.Errorf("work of correlation %d is in %q", corr, name)
		}
	}
	if len(work) != 4876 || len(names) != 4 || names["Optimizer.step#SGD.step"] != 27 {
		t.Errorf("%d pieces of work in %v", len(work), names)
	}
}

func TestAssertedOperatorLaunches(t *testing.T) {
	got := Of(sharedTrace(t, "mtia_456k_events.json.gz")).OperatorLaunches(HTA)[0]
	// HTA's test allows 2 us for its rounding.
	if got.Operator != "aten::mul" || got.Work != "customized_fba_mul_const-dtype_Float" || got.Calls != 822 ||
		math.Abs(got.ToLaunch/1000-1092.545) > 2 || math.Abs(got.ToDevice/1000-293.113) > 2 {
		t.Errorf("%+v", got)
	}
}
