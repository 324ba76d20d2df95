package analyze

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/gander-go/gander/internal/shared"
	"github.com/gander-go/gander/profiler/trace"
)

// The figures below are those that the plugin's own unit tests assert on its own little traces (odd/tb_plugin,
// known_answers.json), times in microseconds.

func oddTrace(t *testing.T, name string) *trace.Trace {
	t.Helper()
	return readTrace(t, shared.Path(t, "data", "odd", "tb_plugin", name+".pt.trace.json"))
}

func TestPluginUnitSteps(t *testing.T) {
	// Kernel, Memcpy, Memset, Communication, Runtime, DataLoader, CPU Exec, Other; -1 where nothing is asserted.
	tests := []struct {
		name  string
		steps [][NumStepParts]int64
		total []int64
	}{
		{"test_all_categories.1", [][NumStepParts]int64{{15, 10, 5, 0, 30, 180, 35, 125}}, nil},
		{"test_runtime_called_by_profilerstep.1", [][NumStepParts]int64{{8, 0, 0, 0, 20, 0, 0, 272}}, nil},
		{"test_no_profilerstep.1", [][NumStepParts]int64{{100, 0, 0, 0, 10, 0, 70, 140}}, []int64{320}},
		{"test_multiple_profilersteps_no_overlap.1", [][NumStepParts]int64{{0, 40, 0, 0, 5, 0, 55, 120}, {200, 0, 0, 0, 5, 0, 45, 10}}, []int64{220, 260}},
		{"test_multiple_profilersteps_with_overlap.1", [][NumStepParts]int64{{0, 100, 0, 0, 5, 0, -1, 20}, {200, 0, 0, 0, 5, 0, -1, 0}}, []int64{-1, 230}},
		{"test_last_steps_no_kernel.1", [][NumStepParts]int64{{-1, -1, -1, -1, -1, -1, -1, -1}}, nil},
		{"test_pure_cpu.1", [][NumStepParts]int64{{0, 0, 0, 0, 0, 0, 10, 190}, {0, 0, 0, 0, 0, 0, 40, 60}}, []int64{200, 100}},
		{"test_distributed_nccl.1", [][NumStepParts]int64{{105, 0, 0, 75, 0, 0, 20, 35}}, []int64{235}},
		{"test_distributed_nccl.2", [][NumStepParts]int64{{-1, -1, -1, 74, -1, -1, -1, -1}}, nil},
		{"test_distributed_gloo_gpu.1", [][NumStepParts]int64{{101, 0, 0, 39, 0, 0, 16, 0}}, []int64{156}},
		{"test_distributed_gloo_gpu.2", [][NumStepParts]int64{{70, 0, 0, 44, 0, 0, 20, 12}}, []int64{146}},
		{"test_distributed_gloo_cpu.1", [][NumStepParts]int64{{0, 0, 0, 109, 0, 0, 47, 0}}, []int64{156}},
		{"test_distributed_gloo_cpu.2", [][NumStepParts]int64{{0, 0, 0, 98, 0, 0, 36, 12}}, []int64{146}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			for _, c := range []Convention{Plugin, Exact} {
				r := Of(oddTrace(t, tt.name)).StepsAs(c)
				if len(r.Steps) != len(tt.steps) {
					t.Fatalf("%d steps, want %d", len(r.Steps), len(tt.steps))
				}
				for i, want := range tt.steps {
					for p, w := range want {
						if got := r.Steps[i].Parts[p]; w >= 0 && got != w*1000 {
							t.Errorf("convention %d, step %d, %s: %d ns, want %d us", c, i, StepPart(p), got, w)
						}
					}
					if tt.total != nil && tt.total[i] >= 0 && r.Steps[i].Total() != tt.total[i]*1000 {
						t.Errorf("convention %d, step %d: %d ns, want %d us", c, i, r.Steps[i].Total(), tt.total[i])
					}
				}
			}
		})
	}
}

func TestPluginUnitOperators(t *testing.T) {
	// By name: calls, host total, host self, device total, device self; -1 where nothing is asserted.
	tests := []struct {
		trace string
		ops   map[string][5]int64
	}{
		{"test_all_categories.1", map[string][5]int64{"aten::to": {1, 60, 60, 0, 0}, "aten::nll_loss_backward": {1, 70, -1, 30, 30}}},
		{"test_external_id.1", map[string][5]int64{"aten::mat_mul": {1, -1, -1, 5 + 6 + 7 + 8, 6 + 8}, "aten::mm": {1, -1, -1, 12, 12}}},
		{"test_operator_relation.1", map[string][5]int64{"aten::mat_mul": {-1, -1, 30, -1, -1}, "aten::mm": {-1, -1, 70, -1, -1}}},
		{"test_operator_relation.2", map[string][5]int64{"aten::mat_mul": {-1, -1, 30, -1, -1}, "aten::mm": {-1, -1, 70, -1, -1}}},
		{"test_no_profilerstep.1", map[string][5]int64{"aten::to": {1, 60, 60, 0, 0}, "aten::nll_loss_backward": {1, 70, 50, 100, 100}}},
		{"test_multiple_profilersteps_no_overlap.1", map[string][5]int64{"aten::to": {1, 60, 55, 40, 40}, "aten::mm": {1, 50, 45, 200, 200}}},
		{"test_self_time.1", map[string][5]int64{"aten::mat_mul": {-1, 100, 35, 36, 16}, "aten::mm": {-1, 40, 30, 20, 20}}},
		{"test_runtime_called_by_profilerstep.1", map[string][5]int64{}},
		{"test_datapipe.1", map[string][5]int64{}},
	}
	for _, tt := range tests {
		t.Run(tt.trace, func(t *testing.T) {
			r := Of(oddTrace(t, tt.trace)).Operators(OperatorOptions{Convention: Plugin})
			if len(r.Rows) != len(tt.ops) {
				t.Fatalf("operators %+v, want %d", r.Rows, len(tt.ops))
			}
			for _, o := range r.Rows {
				want, ok := tt.ops[o.Name]
				if !ok {
					t.Errorf("operator %q", o.Name)
				}
				for i, got := range [5]int64{o.Calls * 1000, o.HostTotal, o.HostSelf, o.DeviceTotal, o.DeviceSelf} {
					if want[i] >= 0 && got != want[i]*1000 {
						t.Errorf("%s: figure %d is %d, want %d", o.Name, i, got, want[i]*1000)
					}
				}
			}
		})
	}
	if r := Of(oddTrace(t, "test_remove_dup_nodes.1")).Operators(OperatorOptions{Convention: Plugin}); len(r.Rows) != 1 {
		t.Errorf("duplicates not removed: %+v", r.Rows)
	}
	top := Of(oddTrace(t, "test_top_level_runtime.1"))
	if r := top.Operators(OperatorOptions{Convention: Plugin}); r.Rows[0].DeviceTotal != 0 {
		t.Errorf("top-level runtime: device time %d", r.Rows[0].DeviceTotal)
	}
	if k := top.KernelsAs(Plugin); len(k.ByName) != 1 || k.ByName[0].Calls != 1 {
		t.Errorf("top-level runtime: kernels %+v", k.ByName)
	}
	if r := Of(oddTrace(t, "test_datapipe.1")).Steps(); r.Steps[0].Parts[PartDataLoader] != 23000 {
		t.Errorf("data pipe: %+v", r.Steps)
	}
}

func TestPluginUnitKernels(t *testing.T) {
	for trace, calls := range map[string]int64{
		"test_all_categories.1": 1, "test_runtime_called_by_profilerstep.1": 1, "test_runtime_launch_multipe_kernels.1": 2,
		"test_no_profilerstep.1": 1, "test_multiple_profilersteps_no_overlap.1": 1,
	} {
		k := Of(oddTrace(t, trace)).KernelsAs(Plugin)
		if len(k.ByName) != 1 || len(k.ByOp) != 1 || k.ByName[0].Calls != calls {
			t.Errorf("%s: %+v", trace, k)
		}
	}
	for trace, us := range map[string]int64{"test_all_categories.1": 15, "test_no_profilerstep.1": 100, "test_multiple_profilersteps_no_overlap.1": 200} {
		k := Of(oddTrace(t, trace)).Kernels().ByName[0]
		if k.Total != us*1000 || k.Mean() != float64(us*1000) || k.Min != us*1000 || k.Max != us*1000 {
			t.Errorf("%s: %+v", trace, k)
		}
	}

	a := Of(oddTrace(t, "test_gpu_utilization.1"))
	o := a.OverviewAs(Plugin)
	if len(o.GPUs) != 1 || o.GPUs[0].ID != 1 || !close2(o.GPUs[0].Utilization, (40.0+20)/120) {
		t.Errorf("utilization: %+v", o.GPUs)
	}
	weighted := func(list []Kernel, name, op string) (blocks, occupancy float64, calls int64) {
		i := slices.IndexFunc(list, func(k Kernel) bool { return k.Name == name && (op == "" || k.Operator == op) })
		if i < 0 {
			t.Fatalf("no kernel %s of %q", name, op)
		}
		return list[i].BlocksPerSM, list[i].Occupancy, list[i].Calls
	}
	k := a.KernelsAs(Plugin)
	if b, occ, n := weighted(k.ByName, "void gemmSN_TN_kernel_64addr", ""); !close2(b, 0.6) || !close2(occ, 0.1) || n != 2 {
		t.Errorf("means by duration: %v %v %v", b, occ, n)
	}

	a = Of(oddTrace(t, "test_gpu_utilization_kernel_out_of_step.1"))
	if g := a.OverviewAs(Plugin).GPUs; len(g) != 1 || g[0].Utilization != 0 || g[0].SMEfficiency >= 0 || g[0].Occupancy >= 0 {
		t.Errorf("kernels out of steps: %+v", g)
	}
	k = a.KernelsAs(Plugin)
	if len(k.ByName) != 1 || !close2(k.ByName[0].BlocksPerSM, (20*0.5+25*10.5)/45) || !close2(k.ByName[0].Occupancy, (20*0.6+25*0.3)/45) {
		t.Errorf("kernels out of steps: %+v", k.ByName)
	}

	a = Of(oddTrace(t, "test_tensor_core.1"))
	if g := a.OverviewAs(Plugin).GPUs; !close2(g[0].TensorCores, 15.0/25) {
		t.Errorf("tensor cores: %+v", g)
	}
}

func close2(a, b float64) bool { return math.Abs(a-b) < 1e-6 }

func TestPluginUnitDistributed(t *testing.T) {
	tests := []struct {
		name    string
		overlap [2][4]float64
		wait    [2][2]float64 // all communication, data transfer
	}{
		{"nccl", [2][4]float64{{30, 75, 75, 55}, {121, 40, 74, 0}}, [2][2]float64{{1169, 464}, {1169, 3}}},
		{"gloo_gpu", [2][4]float64{{31, 70, 39, 16}, {16, 54, 44, 32}}, [2][2]float64{{75, 34}, {78, 20}}},
		{"gloo_cpu", [2][4]float64{{47, 74, 35, 0}, {36, 64, 34, 12}}, [2][2]float64{{75, 34}, {78, 20}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var ts []*trace.Trace
			for n := 1; n <= 2; n++ {
				ts = append(ts, oddTrace(t, fmt.Sprintf("test_distributed_%s.%d", tt.name, n)))
			}
			r := DistributedAs(ts, Plugin)
			if r.Reason != "" || len(r.Workers) != 2 {
				t.Fatalf("%+v", r)
			}
			for i, w := range r.Workers {
				if got := [4]float64{w.Computation / 1000, w.Overlap / 1000, w.Communication / 1000, w.Other / 1000}; got != tt.overlap[i] {
					t.Errorf("worker %d: overlap %v, want %v", i, got, tt.overlap[i])
				}
				if got := [2]float64{w.DataTransfer / 1000, w.Synchronizing / 1000}; got != tt.wait[i] {
					t.Errorf("worker %d: waiting %v, want %v", i, got, tt.wait[i])
				}
			}
		})
	}
	if !Of(oddTrace(t, "test_distributed_nccl_user_annotation_has_communication.1")).StepsAs(Plugin).HasComm {
		t.Error("an annotated collective is not seen")
	}
}

func TestPluginUnitModules(t *testing.T) {
	r := Of(oddTrace(t, "test_build_module_hierarchy.1")).Modules()
	if len(r.Roots) != 2 || r.Roots[0].Name != "Conv2" || r.Roots[1].Name != "MyModule" {
		t.Fatalf("%+v", r.Roots)
	}
	if c := r.Roots[1].Children; len(c) != 1 || c[0].Name != "Linear" || c[0].Calls != 3 {
		t.Errorf("%+v", c)
	}
}
