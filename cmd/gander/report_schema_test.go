package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/gander-go/gander/internal/shared"
	"github.com/gander-go/gander/internal/tracegen"
)

// promised are the keys of `gander report --json` that scripts rely on, and those of a row of key averages and of trace.
var (
	promised        = []string{"trace", "key_averages", "steps", "overview", "kernels", "memory", "idle", "launches", "advice"}
	promisedAverage = []string{"key", "device", "count", "self_cpu_time_total", "cpu_time_total", "self_device_time_total", "device_time_total",
		"cpu_memory_usage", "self_cpu_memory_usage", "device_memory_usage", "self_device_memory_usage", "flops", "input_shapes"}
	promisedTrace = []string{"tool", "devices", "span", "events", "problems"}
)

// fractions are the keys below which numbers need not be whole: shares, estimates, rates, and statistics of queue lengths.
var fractions = []string{"share", "utilization", "busy", "sm_efficiency", "occupancy", "tensor_cores", "tensor_cores_current", "tc_self", "tc_total",
	"util_curve", "sm_values", "blocks_per_sm", "bandwidth", "ratio", "queues"}

// checkJSON fails for null and for numbers that are not whole where times and sizes are.
func checkJSON(t *testing.T, path string, v any, fraction bool) {
	t.Helper()
	switch v := v.(type) {
	case nil:
		t.Errorf("%s is null", path)
	case json.Number:
		if !fraction && strings.ContainsAny(v.String(), ".eE") {
			t.Errorf("%s is %s, no whole number", path, v)
		}
	case []any:
		for _, e := range v[:min(len(v), 100)] {
			checkJSON(t, path+"[]", e, fraction)
		}
	case map[string]any:
		for k, e := range v {
			checkJSON(t, path+"."+k, e, fraction || slices.Contains(fractions, k))
		}
	}
}

func checkReport(t *testing.T, dir string, files ...string) map[string]any {
	t.Helper()
	code, out, errs := gander(t, dir, append([]string{"report", "--json"}, files...)...)
	if code != 0 || errs != "" {
		t.Fatalf("exit code %d: %s", code, errs)
	}
	d := json.NewDecoder(strings.NewReader(out))
	d.UseNumber()
	var v map[string]any
	if err := d.Decode(&v); err != nil {
		t.Fatal(err)
	}
	checkJSON(t, "", v, false)
	return v
}

func hasKeys(t *testing.T, what string, v any, keys []string) {
	t.Helper()
	m, ok := v.(map[string]any)
	for _, k := range keys {
		if _, has := m[k]; !has || !ok {
			t.Errorf("%s: no %q", what, k)
		}
	}
}

func TestReportJSON(t *testing.T) {
	dir := t.TempDir()
	var text bytes.Buffer
	if _, err := tracegen.Write(&text, tracegen.Options{Bytes: 1 << 20, Python: true}); err != nil {
		t.Fatal(err)
	}
	for name, b := range map[string][]byte{"generated.json": text.Bytes(), "empty.json": []byte(`{"traceEvents":[]}`)} {
		if err := os.WriteFile(filepath.Join(dir, name), b, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	torch, err := filepath.Glob("../../profiler/analyze/testdata/torch/*.json.gz")
	if err != nil || len(torch) == 0 {
		t.Fatalf("no traces: %v", err)
	}
	files := []string{filepath.Join(dir, "generated.json"), filepath.Join(dir, "empty.json")}
	for _, f := range torch {
		abs, err := filepath.Abs(f)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, abs)
	}
	for _, f := range files {
		t.Run(filepath.Base(f), func(t *testing.T) {
			v := checkReport(t, dir, f)
			hasKeys(t, "report", v, promised)
			hasKeys(t, "trace", v["trace"], promisedTrace)
			for _, a := range v["key_averages"].([]any) {
				hasKeys(t, "key average", a, promisedAverage)
			}
		})
	}
	t.Run("ranks", func(t *testing.T) {
		v := checkReport(t, dir, files[0], files[0])
		if n := len(v["ranks"].([]any)); n != 2 {
			t.Errorf("%d ranks", n)
		}
		hasKeys(t, "distributed", v["distributed"], []string{"backend", "workers"})
	})
}

// TestReportFLOPs: shapes are all that is needed.
func TestReportFLOPs(t *testing.T) {
	file, err := filepath.Abs("../../profiler/analyze/testdata/torch/stacks.json.gz") // recorded without with_flops
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		args []string
		want bool
	}{{nil, false}, {[]string{"--with-flops"}, true}} {
		code, out, errs := gander(t, t.TempDir(), append([]string{"report", "--text", file}, tt.args...)...)
		if code != 0 || strings.Contains(out, "GFLOP") != tt.want || strings.Contains(out, "counted from shapes") != tt.want {
			t.Errorf("%v: exit code %d, %s\n%s", tt.args, code, errs, out)
		}
	}
}

// TestOddPluginTraces runs the program over the plugin's little traces; figures are those of its unit tests.
func TestOddPluginTraces(t *testing.T) {
	dir := shared.Path(t, "data", "odd", "tb_plugin")
	files, err := filepath.Glob(filepath.Join(dir, "*.pt.trace.json"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no traces: %v", err)
	}
	for _, f := range files {
		checkReport(t, t.TempDir(), "--convention", "plugin", f)
	}
	var job struct {
		Distributed struct {
			Workers []struct {
				Computation   int64 `json:"computation"`
				Overlap       int64 `json:"overlap"`
				Communication int64 `json:"communication"`
				Other         int64 `json:"other"`
				Synchronizing int64 `json:"synchronizing"`
				DataTransfer  int64 `json:"data_transfer"`
			} `json:"workers"`
		} `json:"distributed"`
	}
	reportOf(t, &job, "--convention", "plugin", filepath.Join(dir, "test_distributed_nccl.1.pt.trace.json"), filepath.Join(dir, "test_distributed_nccl.2.pt.trace.json"))
	want := [][6]int64{{30, 75, 75, 55, 464, 1169}, {121, 40, 74, 0, 3, 1169}}
	for i, w := range job.Distributed.Workers {
		if got := [6]int64{w.Computation / 1000, w.Overlap / 1000, w.Communication / 1000, w.Other / 1000, w.Synchronizing / 1000, w.DataTransfer / 1000}; got != want[i] {
			t.Errorf("worker %d: %v, want %v", i, got, want[i])
		}
	}
}
