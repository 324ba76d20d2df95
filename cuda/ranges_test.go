package cuda

import (
	"fmt"
	"slices"
	"testing"

	"github.com/gander-go/gander/cuda/cupti"
	"github.com/gander-go/gander/profiler/record"
	"github.com/gander-go/gander/profiler/trace"
)

// TestRanges projects spans on streams: an outer span reaches over the work of the inner ones, an operator's work belongs to
// the span around it, work on two streams makes two ranges, and a span that launched nothing makes none.
func TestRanges(t *testing.T) {
	tr := &trace.Trace{Meta: trace.Meta{Rank: trace.NoRank, End: 1e6}}
	user, step, op := tr.Category("user_annotation", trace.ClassAnnotation), tr.Category("user_annotation", trace.ClassStep), tr.Category("cpu_op", trace.ClassOp)
	kernel := tr.Category("kernel", trace.ClassKernel)
	host := tr.Process(1, "p")
	x := tr.TrackIndex()
	g, other := x.Goroutine(host, 7), x.Goroutine(host, 8)
	one, two := x.ID(host, trace.TrackStream, 7, "stream 7"), x.ID(host, trace.TrackStream, 13, "stream 13")
	tr.Kernels = make([]trace.KernelArgs, 1)
	tr.Kernels[0].GraphID = -1
	slice := func(name string, track trace.TrackID, cat trace.CategoryID, start, end, ext int64) *trace.Slice {
		tr.Slices = append(tr.Slices, trace.Slice{Start: start, Dur: end - start, Ext: ext, Track: track, Cat: cat, Name: tr.Strings.ID(name)})
		return &tr.Slices[len(tr.Slices)-1]
	}
	slice("step", g, step, 0, 1000, 1)
	slice("forward", g, user, 100, 400, 2)
	slice("matmul", g, op, 200, 300, 3)
	slice("idle", g, user, 500, 600, 4)
	slice("late", g, user, 900, 1200, 5).Flags = trace.FlagAsync // overlaps the step
	slice("elsewhere", other, op, 0, 1000, 6)
	for _, k := range []struct {
		track      trace.TrackID
		start, end int64
		ext        int64
	}{{one, 2000, 2100, 3}, {one, 2100, 2300, 2}, {two, 2050, 2060, 2}, {one, 2400, 2500, 1}, {one, 2600, 2700, 5}, {one, 2800, 2900, 6}, {one, 3000, 3100, 77}} {
		slice("k", k.track, kernel, k.start, k.end, k.ext).Kind = trace.ArgKernel
	}
	settle(tr)
	tr.Sort()
	var got []string
	for i := range tr.Slices {
		if s := &tr.Slices[i]; tr.Class(s) == trace.ClassDeviceAnnotation {
			got = append(got, fmt.Sprintf("%s on %d [%d %d] %d", tr.Name(s), tr.Tracks[s.Track].ID, s.Start, s.End(), s.Ext))
		}
	}
	want := []string{"step on 7 [1999 2501] 1", "forward on 7 [1999 2301] 2", "late on 7 [2599 2701] 5", "step on 13 [2049 2061] 1", "forward on 13 [2049 2061] 2"}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%q\nwant\n%q", got, want)
	}
}

// TestGraphLaunches has the work of each launch of a graph tied to the one call that launched it, and in one range on each
// stream; two launches of one graph are two ranges.
func TestGraphLaunches(t *testing.T) {
	records := &cupti.Records{External: []cupti.External{{Kind: cupti.ExternalSpan, ID: 5, Correlation: 1}}}
	for launch := range uint32(2) {
		at := uint64(1000 + 1000*launch)
		records.Calls = append(records.Calls, cupti.Call{ID: 514, Driver: true, Start: at, End: at + 50, Correlation: launch + 1})
		for node := range uint64(3) {
			records.Kernels = append(records.Kernels, cupti.Kernel{
				Name: "node", Start: at + 100 + 100*node, End: at + 150 + 100*node, Stream: uint32(7 + node/2), Correlation: launch + 1, Graph: 4, GraphNode: node + 1,
				Grid: [3]int32{1, 1, 1}, Block: [3]int32{32, 1, 1},
			})
		}
	}
	records.Copies = []cupti.Copy{{Kind: 1, From: 2, To: 3, Bytes: 8, Start: 1400, End: 1410, Stream: 7, Correlation: 1, Graph: 4, GraphNode: 9}}
	tr := build(t, records, record.Window{End: 9000})
	want := []string{"CUDA graph 4 [1099+312]", "CUDA graph 4 [1299+52]", "CUDA graph 4 [2099+152]", "CUDA graph 4 [2299+52]"}
	if got := names(tr, trace.ClassDeviceAnnotation); !slices.Equal(got, want) {
		t.Errorf("ranges %q", got)
	}
	if len(tr.Flows) != 7 {
		t.Errorf("%d arrows for 7 pieces of work", len(tr.Flows))
	}
	for i := range tr.Slices {
		if s := &tr.Slices[i]; tr.Class(s).DeviceWork() && s.Corr == 1 && s.Ext != 5 {
			t.Errorf("%s is not tied to the span of its launch", tr.Name(s))
		}
	}
}

// TestRuntimeOverDriver has one launch that the runtime made and the driver was asked for, with one id: it is one launch, from
// the runtime's call, in whatever order the records come.
func TestRuntimeOverDriver(t *testing.T) {
	runtime := cupti.Call{ID: 211, Start: 100, End: 200, Correlation: 3}
	driver := cupti.Call{ID: 307, Driver: true, Start: 120, End: 180, Correlation: 3}
	kernel := cupti.Kernel{Name: "k", Start: 300, End: 400, Correlation: 3, Grid: [3]int32{1, 1, 1}, Block: [3]int32{32, 1, 1}}
	for _, calls := range [][]cupti.Call{{runtime, driver}, {driver, runtime}} {
		tr := build(t, &cupti.Records{Calls: calls, Kernels: []cupti.Kernel{kernel}}, record.Window{End: 9000})
		if len(tr.Flows) != 1 || tr.Flows[0].FromTime != 100 {
			t.Errorf("arrows %+v", tr.Flows)
		}
	}
}

// BenchmarkRanges projects nested spans of which the inner ones launch ten kernels each.
func BenchmarkRanges(b *testing.B) {
	const spans, each = 10_000, 10
	tr := &trace.Trace{Meta: trace.Meta{Rank: trace.NoRank, End: 1e9}}
	user, kernel := tr.Category("user_annotation", trace.ClassAnnotation), tr.Category("kernel", trace.ClassKernel)
	p := tr.Process(1, "p")
	x := tr.TrackIndex()
	g, stream := x.Goroutine(p, 7), x.ID(p, trace.TrackStream, 7, "stream 7")
	tr.Kernels = []trace.KernelArgs{{GraphID: -1}}
	for depth := range int64(5) {
		tr.Slices = append(tr.Slices, trace.Slice{Start: depth, Dur: 1e9 - 2*depth, Ext: depth + 1, Track: g, Cat: user})
	}
	for i := range int64(spans) {
		tr.Slices = append(tr.Slices, trace.Slice{Start: 100 + 1000*i, Dur: 900, Ext: i + 10, Track: g, Cat: user})
		for k := range int64(each) {
			tr.Slices = append(tr.Slices, trace.Slice{Start: 200 + 1000*i + 50*k, Dur: 40, Ext: i + 10, Track: stream, Cat: kernel, Kind: trace.ArgKernel})
		}
	}
	n := len(tr.Slices)
	b.ReportAllocs()
	for b.Loop() {
		tr.Slices = tr.Slices[:n]
		ranges(tr)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(spans*each), "ns/kernel")
}
