package analyze

import (
	"strings"
	"testing"

	"github.com/gander-go/gander/profiler/kineto"
)

// waitingTrace launches a kernel and waits for it: the path is 5 us of the operator up to the launch, 25 us until the kernel
// starts and its 50 us; what the host did meanwhile is shorter, and the wait itself costs nothing.
const waitingTrace = `{"schemaVersion":1,"traceEvents":[
{"ph":"X","cat":"cpu_op","name":"aten::mm","pid":1,"tid":1,"ts":0,"dur":20,"args":{"External id":1}},
{"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":1,"tid":1,"ts":5,"dur":5,"args":{"External id":1,"correlation":1}},
{"ph":"X","cat":"kernel","name":"gemm","pid":0,"tid":7,"ts":30,"dur":50,"args":{"External id":1,"correlation":1,"device":0,"stream":7}},
{"ph":"X","cat":"cuda_runtime","name":"cudaDeviceSynchronize","pid":1,"tid":1,"ts":25,"dur":60,"args":{"correlation":2}},
{"ph":"X","cat":"cuda_sync","name":"Context Sync","pid":0,"tid":-1,"ts":26,"dur":58,"args":{"correlation":2,"device":0,"stream":-1,"cuda_sync_kind":"Context Sync"}}]}`

func TestStepPath(t *testing.T) {
	tr, err := kineto.Read(strings.NewReader(waitingTrace), kineto.ReadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []Convention{Exact, HTA} {
		r := Of(tr).StepPath(c)
		if r == nil {
			t.Fatal("no path")
		}
		want := []PathCost{{"gemm", "gpu_compute_bound", 50_000, 1}, {"gemm", "gpu_kernel_launch_overhead", 25_000, 1}, {"aten::mm", "cpu_bound", 5_000, 1}}
		got := r.Costs(tr)
		if len(got) != len(want) {
			t.Fatalf("%+v, want %+v", got, want)
		}
		for i := range want {
			if got[i] != want[i] || r.Time[want[i].Bound] != want[i].Time {
				t.Errorf("convention %d: %+v (%v), want %+v", c, got[i], r.Time, want[i])
			}
		}
	}
	without, err := kineto.Read(strings.NewReader(strings.ReplaceAll(waitingTrace, "cuda_sync", "other")), kineto.ReadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if r := Of(without).StepPath(Exact); r != nil {
		t.Errorf("a path without synchronisation events: %+v", r)
	}
}
