package analyze

import (
	"fmt"
	"math"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// torchSays is what torch itself printed of a trace (testdata/make_traces.py); times are microseconds.
type torchSays struct {
	Torch   string            `json:"torch"`
	Rows    []torchRow        `json:"rows"`
	ByShape []torchRow        `json:"rows_by_shape"`
	Tables  map[string]string `json:"tables"` // by sort key; all rows
	Shapes  string            `json:"table_by_shape"`
	Top     string            `json:"table_top_level"`
}

type torchRow struct {
	Key        string  `json:"key"`
	Shapes     string  `json:"input_shapes"`
	Count      int64   `json:"count"`
	SelfCPU    float64 `json:"self_cpu_time_total"`
	CPU        float64 `json:"cpu_time_total"`
	CPUMem     int64   `json:"cpu_memory_usage"`
	SelfCPUMem int64   `json:"self_cpu_memory_usage"`
	FLOPs      float64 `json:"flops"`
}

// TestTablesAreTorchs compares rows and whole tables with those that torch 2.x made in the process that wrote the trace.
func TestTablesAreTorchs(t *testing.T) {
	files, err := filepath.Glob("testdata/torch/*.json")
	if err != nil || len(files) == 0 {
		t.Fatalf("no traces: %v", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".json"), func(t *testing.T) {
			var want torchSays
			readJSON(t, file, &want)
			a := Of(readTrace(t, file+".gz"))
			plain := a.KeyAverages(KeyOptions{Convention: Torch, Python: true})
			checkTorchRows(t, plain, want.Rows)
			shaped := a.KeyAverages(KeyOptions{Convention: Torch, Python: true, ByShape: true})
			checkTorchRows(t, shaped, want.ByShape)
			for sort, text := range want.Tables {
				checkTorchTable(t, plain, TableOptions{Columns: Torch, Sort: sort, RowLimit: -1}, text)
			}
			checkTorchTable(t, shaped, TableOptions{Columns: Torch, Sort: "self_cpu_time_total", RowLimit: 10}, want.Shapes)
			checkTorchTable(t, plain, TableOptions{Columns: Torch, Sort: "cpu_time_total", RowLimit: 10, TopLevelOnly: true}, want.Top)
		})
	}
}

func checkTorchRows(t *testing.T, got *Averages, want []torchRow) {
	t.Helper()
	if len(got.Rows) != len(want) {
		t.Errorf("%d rows, want %d", len(got.Rows), len(want))
	}
	for i := range min(len(got.Rows), len(want)) {
		g, w := &got.Rows[i], &want[i]
		// Torch adds float64 microseconds.
		near := func(ns int64, us float64) bool {
			return fmt.Sprintf("%.3f", float64(ns)/1000) == fmt.Sprintf("%.3f", us)
		}
		if g.Key != fileName(w.Key) || g.Shapes != w.Shapes || g.Count != w.Count || !near(g.SelfCPU, w.SelfCPU) || !near(g.CPUTotal, w.CPU) ||
			g.CPUMemory != w.CPUMem || g.SelfCPUMemory != w.SelfCPUMem || float64(g.FLOPs) != w.FLOPs {
			t.Errorf("row %d is %+v, want %+v", i, *g, *w)
		}
	}
}

func checkTorchTable(t *testing.T, a *Averages, o TableOptions, want string) {
	t.Helper()
	got, err := a.Table(o)
	if err != nil {
		t.Fatal(err)
	}
	g, w := strings.Split(got, "\n"), strings.Split(fileName(want), "\n")
	if len(g) != len(w) {
		t.Errorf("table by %q: %d lines, want %d", o.Sort, len(g), len(w))
		return
	}
	for i := range g {
		if g[i] != w[i] && !tie(g[i], w[i]) {
			t.Errorf("table by %q differs in line %d:\ngot  %q\nwant %q", o.Sort, i+1, g[i], w[i])
			return
		}
	}
}

// fileName is what the trace says for a name: Kineto writes quotes in names as apostrophes.
func fileName(s string) string { return strings.ReplaceAll(s, `"`, "'") }

// tie reports whether two lines differ only in the last digit of mean times. Torch divides a sum of float64 microseconds,
// whose error decides how a mean in the middle between two nanoseconds is rounded.
func tie(got, want string) bool {
	g, w := strings.Fields(got), strings.Fields(want)
	if len(g) != len(w) || len(got) != len(want) {
		return false
	}
	for i := range g {
		if g[i] == w[i] {
			continue
		}
		a, err1 := strconv.ParseFloat(strings.TrimRight(g[i], "ums"), 64)
		b, err2 := strconv.ParseFloat(strings.TrimRight(w[i], "ums"), 64)
		if err1 != nil || err2 != nil || math.Abs(a-b) > 0.0011 {
			return false
		}
	}
	return true
}
