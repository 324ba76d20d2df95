package analyze

import (
	"fmt"
	"slices"
	"testing"

	"github.com/gander-go/gander/internal/shared"
	"github.com/gander-go/gander/profiler/trace"
)

// What the plugin's unit tests compare with tables of their own is compared here with what the little files plainly say:
// each has a handful of events. Times are microseconds.

func TestPluginUnitKernelGroups(t *testing.T) {
	for _, tt := range []struct {
		trace string
		want  []string // operator, grid, block, registers, shared memory, calls, total, min, max
	}{
		{"test_group_by_kernel_columns.1", []string{
			"op1 [16 1 1] [16 16 16] 18 0: 2 25 10 15", "op1 [16 1 1] [16 16 64] 18 0: 1 13 13 13", "op2 [16 1 1] [16 16 64] 18 0: 1 17 17 17"}},
		{"test_group_by_kernel_columns_invalid_input.1", []string{ // a size that the file lacks is negative
			"op1 [-1 -1 -1] [16 16 16] 18 0: 1 1 1 1", "op1 [16 1 1] [-1 -1 -1] 18 0: 1 2 2 2", "op1 [16 1 1] [16 16 16] 0 0: 1 3 3 3",
			"op1 [16 1 1] [16 16 16] 18 0: 1 4 4 4", "op1 [-1 -1 -1] [-1 -1 -1] 0 0: 1 5 5 5"}},
	} {
		var got []string
		for _, k := range Of(oddTrace(t, tt.trace)).KernelsAs(Plugin).ByOp {
			got = append(got, fmt.Sprint(k.Operator, " ", k.Grid, " ", k.Block, " ", max(0, k.Registers), " ", max(0, k.SharedMem), ": ", k.Calls, " ", k.Total/1000, " ", k.Min/1000, " ", k.Max/1000))
		}
		slices.Sort(got)
		slices.Sort(tt.want)
		if !slices.Equal(got, tt.want) {
			t.Errorf("%s: %q, want %q", tt.trace, got, tt.want)
		}
	}
}

func TestPluginUnitTensorCores(t *testing.T) {
	a := Of(oddTrace(t, "test_tensor_core.1"))
	type op struct {
		eligible    bool
		self, total float64
	}
	want := map[string]op{"aten::conv2d": {true, 0, 15.0 / 25}, "op_no_tc": {}, "aten::cudnn_convolution": {true, 1, 1}}
	rows := a.Operators(OperatorOptions{Convention: Plugin}).Rows
	if len(rows) != len(want) {
		t.Errorf("%d operators, want %d", len(rows), len(want))
	}
	for _, r := range rows {
		w := want[r.Name]
		if r.TCEligible != w.eligible || !close2(r.TCSelf, w.self) || !close2(r.TCTotal, w.total) {
			t.Errorf("%s: %v %v %v, want %+v", r.Name, r.TCEligible, r.TCSelf, r.TCTotal, w)
		}
	}
	k := a.KernelsAs(Plugin)
	if len(k.ByOp) != 2 {
		t.Fatalf("kernels by operator: %+v", k.ByOp)
	}
	for _, r := range k.ByOp {
		tc := r.Operator == "aten::cudnn_convolution"
		if r.TensorCores != tc || r.TCEligible != tc || !tc && r.Operator != "op_no_tc" {
			t.Errorf("%+v", r)
		}
	}
	if got := ratio(k.TCTime, k.Time); !close2(got, 15.0/25) {
		t.Errorf("share of tensor-core kernels: %v", got)
	}
}

func TestPluginUnitMemoryCurves(t *testing.T) {
	for _, name := range []string{"test_memory_curve_no_step_plot.1", "test_memory_curve_step_plot.1"} {
		var file struct {
			Events []struct {
				Name string `json:"name"`
				TS   int64  `json:"ts"`
				Args struct {
					Type      int   `json:"Device Type"`
					Allocated int64 `json:"Total Allocated"`
					Reserved  int64 `json:"Total Reserved"`
				} `json:"args"`
			} `json:"traceEvents"`
		}
		readJSON(t, shared.Path(t, "data", "odd", "tb_plugin", name+".pt.trace.json"), &file)
		want := map[trace.MemSpace][][3]int64{}
		for _, e := range file.Events {
			if e.Name == "[memory]" {
				space := trace.MemHost
				if e.Args.Type == 1 {
					space = trace.MemDevice
				}
				want[space] = append(want[space], [3]int64{e.TS * 1000, e.Args.Allocated, e.Args.Reserved})
			}
		}
		r := Of(oddTrace(t, name)).MemoryAs(MemoryOptions{}, Plugin)
		if len(r.Spaces) != 2 || len(want) != 2 {
			t.Fatalf("%s: %d spaces", name, len(r.Spaces))
		}
		for _, s := range r.Spaces {
			var got [][3]int64
			for i := range s.Times {
				got = append(got, [3]int64{s.Times[i], s.Allocated[i], max(0, s.Reserved[i])})
			}
			if !slices.Equal(got, want[s.Space]) {
				t.Errorf("%s, %s: %v, want %v", name, s.Name, got, want[s.Space])
			}
		}
	}
}

// TestPluginUnitMemoryView: figures are bytes, added up by hand from the file for two operators that do all that can happen.
func TestPluginUnitMemoryView(t *testing.T) {
	r := Of(oddTrace(t, "test_memory_view.1")).MemoryAs(MemoryOptions{}, Plugin)
	if len(r.Spaces) != 2 {
		t.Fatalf("%d spaces", len(r.Spaces))
	}
	// calls, increase, self increase, allocations, self allocations, allocated, self allocated
	want := map[string]map[string][7]int64{
		"GPU0": {"aten::nll_loss_backward": {1, 0, 0, 1, 1, 10, 10}, "aten::addmm": {1, 0, 0, 1, 1, 30, 30},
			"aten::copy_": {1, 0, 0, 1, 1, 100, 100}, "aten::to": {4, 104, 104, 3, 2, 204, 104}},
		"CPU": {"aten::tranas_stride": {1, 50, 50, 1, 1, 50, 50}},
	}
	for _, s := range r.Spaces {
		for op, w := range want[s.Name] {
			i := slices.IndexFunc(s.Stats, func(m MemoryStat) bool { return m.Operator == op })
			if i < 0 {
				t.Errorf("%s: no %s in %+v", s.Name, op, s.Stats)
				continue
			}
			m := s.Stats[i]
			if got := [7]int64{m.Calls, m.Increase, m.SelfIncrease, m.Allocs, m.SelfAllocs, m.Allocated, m.SelfAllocated}; got != w {
				t.Errorf("%s, %s: %v, want %v", s.Name, op, got, w)
			}
		}
	}
}
