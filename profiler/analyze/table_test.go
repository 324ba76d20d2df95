package analyze

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"strings"
	"testing"

	"github.com/gander-go/gander/profiler/trace"
)

// tableTrace is a linear layer that calls addmm, whose kernel takes 2 ms, and an asynchronous event.
func tableTrace() *trace.Trace {
	m := newMaker()
	d := m.device(0, 8)
	th, st := m.thread(1), m.track(trace.TrackStream, 7, d)
	m.op(th, "aten::linear", 0, 1000, 1, trace.OpArgs{Dims: m.Strings.ID("[[2,3],[]]")})
	m.op(th, "aten::addmm", 100, 500, 2, trace.OpArgs{FLOPs: 3_500_000, Dims: m.Strings.ID("[[4,4]]")})
	m.launch(th, st, "gemm", 200, 100, 700, 2000, 2)
	m.add(trace.ClassOp, "cpu_op", th, "wait", 0, 250).Flags = trace.FlagAsync
	m.memory(th, 150, 1, 3<<20)
	m.memory(th, 900, 1, -512)
	return m.done()
}

// The table is written down from torch's rules: columns 12 wide and two apart, names as wide as the longest and four more.
const wantTorch = `--------------------  ------------  ------------  ------------  ------------  ------------  ------------  ------------  ------------  ------------  ------------  ------------  ------------  ------------  
                Name    Self CPU %      Self CPU   CPU total %     CPU total  CPU time avg     Self CUDA   Self CUDA %    CUDA total  CUDA time avg       CPU Mem  Self CPU Mem    # of Calls  Total MFLOPs  
--------------------  ------------  ------------  ------------  ------------  ------------  ------------  ------------  ------------  ------------  ------------  ------------  ------------  ------------  
        aten::linear        50.00%     500.000us       100.00%       1.000ms       1.000ms       0.000us         0.00%       2.000ms       2.000ms       3.00 MB        -512 B             1            --  
                wait         0.00%       0.000us             0     250.000us     250.000us       0.000us         0.00%       0.000us       0.000us       3.00 MB           0 B             1            --  
         aten::addmm        40.00%     400.000us        50.00%     500.000us     500.000us       2.000ms       100.00%       2.000ms       2.000ms       3.00 MB       3.00 MB             1         3.500  
    cudaLaunchKernel        10.00%     100.000us        10.00%     100.000us     100.000us       0.000us         0.00%       0.000us       0.000us           0 B           0 B             1            --  
                gemm         0.00%       0.000us         0.00%       0.000us       0.000us       2.000ms       100.00%       2.000ms       2.000ms           0 B           0 B             1            --  
--------------------  ------------  ------------  ------------  ------------  ------------  ------------  ------------  ------------  ------------  ------------  ------------  ------------  ------------  
Self CPU time total: 1.000ms
Self CUDA time total: 2.000ms
`

func TestTorchTable(t *testing.T) {
	a := KeyAverages(tableTrace(), KeyOptions{Convention: Torch})
	got, err := a.Table(TableOptions{Columns: Torch, RowLimit: -1})
	if err != nil {
		t.Fatal(err)
	}
	if got != wantTorch {
		t.Errorf("got\n%s\nwant\n%s", got, wantTorch)
	}
}

func TestTorchTableOptions(t *testing.T) {
	a := KeyAverages(tableTrace(), KeyOptions{Convention: Torch, ByShape: true})
	got, err := a.Table(TableOptions{Columns: Torch, Sort: "self_cuda_time_total", RowLimit: 1, Header: "Title", TopLevelOnly: true, TimeUnit: "us", MaxNameWidth: 12})
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(got, "\n")
	if !strings.HasPrefix(lines[0], "====") || lines[1] != "Title" || !strings.HasPrefix(lines[2], "====") || lines[3] != "This report only display top-level ops statistics" {
		t.Errorf("header: %q", lines[:4])
	}
	// The kernel has no caller: it is the first of the top-level rows, and the only one printed.
	if f := strings.Fields(lines[7]); f[0] != "gemm" || f[6] != "2000.000us" || len(lines) != 12 {
		t.Errorf("row %q of %d lines", lines[7], len(lines))
	}
	if len([]rune(lines[0])) != len([]rune(lines[4]))-2 {
		t.Errorf("ruler of %d, table of %d", len(lines[0]), len(lines[4]))
	}
	if !strings.Contains(got, "Self CPU time total: 1000.000us") {
		t.Error("the unit is not kept in the footer")
	}
	if all, err := a.Table(TableOptions{Columns: Torch, MaxNameWidth: 12}); err != nil || !strings.Contains(all, "cudaLaunc...") || !strings.Contains(all, "[[2, 3], []]") {
		t.Errorf("%v\n%s", err, all)
	}
}

func TestTableErrors(t *testing.T) {
	a := KeyAverages(tableTrace(), KeyOptions{})
	for key, suggestion := range map[string]string{"cuda_time_totl": `"cuda_time_total"`, "self_cpu": `"self_cpu_time_total"`, "cout": `"count"`, "nam": `"name"`} {
		if err := a.Sort(key); err == nil || !strings.Contains(err.Error(), suggestion) || !strings.Contains(err.Error(), key) {
			t.Errorf("sorting by %q: %v", key, err)
		}
	}
	if _, err := a.Table(TableOptions{TimeUnit: "min"}); err == nil {
		t.Error("a wrong unit is no error")
	}
	if s, err := (&Averages{}).Table(TableOptions{}); s != "" || err != nil {
		t.Errorf("no rows: %q %v", s, err)
	}
}

func TestSortSpellings(t *testing.T) {
	a := KeyAverages(tableTrace(), KeyOptions{Convention: Torch})
	for _, key := range append(SortKeys(), "cuda_time", "cuda_time_total", "xpu_time_total", "self_cuda_memory_usage", "cuda_memory_usage", "self_privateuse1_time_total") {
		if err := a.Sort(key); err != nil {
			t.Errorf("%s: %v", key, err)
		}
	}
	if err := a.Sort("cuda_time_total"); err != nil || a.Rows[0].DeviceTotal != 2_000_000 {
		t.Errorf("%+v %v", a.Rows[0], err)
	}
	if err := a.Sort("name"); err != nil || a.Rows[0].Key != "aten::addmm" {
		t.Errorf("%+v %v", a.Rows[0], err)
	}
}

func TestExactTable(t *testing.T) {
	tr := tableTrace()
	tr.Problems = []trace.Problem{{Kind: "dropped", Count: 3, Text: "Events were dropped.", Remedy: "record less"}}
	a := KeyAverages(tr, KeyOptions{})
	got, err := a.Table(TableOptions{RowLimit: 2})
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"Host\n", "CUDA\n", "... and 2 more", "Self CPU time total: 1.000ms", "busy 2.000ms of 2.700ms", "Note: Events were dropped (3); record less", "GFLOP/s"} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
	if strings.Contains(got, "\x1b") {
		t.Error("control characters")
	}
}

func TestTableIsSafe(t *testing.T) {
	m := newMaker()
	m.op(m.thread(1), "evil\x1b[31m\nname\u202e", 0, 10, 1, trace.OpArgs{})
	tr := m.done()
	for _, c := range []Convention{Exact, Torch} {
		got, err := KeyAverages(tr, KeyOptions{}).Table(TableOptions{Columns: c})
		if err != nil || strings.ContainsAny(got, "\x1b\u202e") || !strings.Contains(got, "evil?[31m?name?") {
			t.Errorf("%q %v", got, err)
		}
	}
}

func TestFilterAndTotal(t *testing.T) {
	a := KeyAverages(tableTrace(), KeyOptions{Convention: Torch})
	f := a.Filter(func(r *Average) bool { return strings.HasPrefix(r.Key, "aten::") })
	if len(f.Rows) != 2 || len(a.Rows) != 5 || f.SelfCPUTotal != a.SelfCPUTotal {
		t.Errorf("%d of %d rows, total %d", len(f.Rows), len(a.Rows), f.SelfCPUTotal)
	}
	if sum := a.Total(); sum.Key != "Total" || sum.Count != 5 || sum.SelfCPU != 1_000_000 || sum.CPUTotal != 1_850_000 || sum.FLOPs != 3_500_000 {
		t.Errorf("%+v", sum)
	}
}

func TestAveragesCSVAndJSON(t *testing.T) {
	m := newMaker()
	m.op(m.thread(1), `=cmd("x"),y`, 0, 10, 1, trace.OpArgs{FLOPs: 7})
	a := KeyAverages(m.done(), KeyOptions{})
	var b bytes.Buffer
	if err := a.WriteCSV(&b); err != nil {
		t.Fatal(err)
	}
	rows, err := csv.NewReader(&b).ReadAll()
	if err != nil || len(rows) != 2 || rows[1][0] != `'=cmd("x"),y` || rows[1][7] != "1" || rows[1][8] != "10000" {
		t.Errorf("%q %v", rows, err)
	}
	b.Reset()
	if err := a.WriteJSON(&b); err != nil {
		t.Fatal(err)
	}
	var back []map[string]any
	if err := json.Unmarshal(b.Bytes(), &back); err != nil {
		t.Fatal(err)
	}
	for _, key := range []string{"key", "device", "count", "self_cpu_time_total", "cpu_time_total", "self_device_time_total", "device_time_total",
		"cpu_memory_usage", "self_cpu_memory_usage", "device_memory_usage", "self_device_memory_usage", "flops"} {
		if _, ok := back[0][key]; !ok {
			t.Errorf("no %q in %v", key, back[0])
		}
	}
	if back[0]["cpu_time_total"] != 10000.0 || back[0]["flops"] != 7.0 || back[0]["device"] != "CPU" {
		t.Errorf("%v", back[0])
	}
	b.Reset()
	if err := (&Averages{}).WriteJSON(&b); err != nil || strings.TrimSpace(b.String()) != "[]" {
		t.Errorf("no rows: %q %v", b.String(), err)
	}
}

func TestSortByColumnWithoutAnything(t *testing.T) {
	for _, tt := range []struct {
		convention Convention
		device     int64 // of row b
		want       string
	}{{Exact, 0, "cab"}, {Exact, 1, "bac"}, {Torch, 0, "abc"}} {
		a := &Averages{Options: KeyOptions{Convention: tt.convention}, Rows: []Average{
			{Key: "a", SelfCPU: 2}, {Key: "b", SelfCPU: 1, DeviceTotal: tt.device}, {Key: "c", SelfCPU: 3}}}
		if err := a.Sort("cuda_time_total"); err != nil {
			t.Fatal(err)
		}
		if got := a.Rows[0].Key + a.Rows[1].Key + a.Rows[2].Key; got != tt.want {
			t.Errorf("%v, device time %d: %s, want %s", tt.convention, tt.device, got, tt.want)
		}
	}
}
