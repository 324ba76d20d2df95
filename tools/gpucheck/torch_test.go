//go:build linux && cgo && (amd64 || arm64)

package main

import (
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gander-go/gander/profiler/trace"
)

func TestMatchTorch(t *testing.T) {
	kernels := map[string][]float64{"gc_saxpy": {5000, 5000}, "gc_spin": {2e6, 2.1e6, 2e6}}
	same := maps.Clone(kernels)
	if err := matchTorch(kernels, same, 0.05); err != nil {
		t.Error(err)
	}
	same["gc_saxpy"] = []float64{9000, 9000} // too short to compare
	if err := matchTorch(kernels, same, 0.05); err != nil {
		t.Error(err)
	}
	same["gc_spin"] = []float64{3e6, 3e6, 3e6}
	if err := matchTorch(kernels, same, 0.05); err == nil {
		t.Error("durations that differ by half match")
	}
	if err := matchTorch(kernels, map[string][]float64{"gc_saxpy": {1, 1}}, 0.05); err == nil {
		t.Error("a kernel that torch has not matches")
	}
}

// TestTorch has a script play Python: it says that torch is there and hands back what torch.profiler would, in whole or in part.
func TestTorch(t *testing.T) {
	dir := t.TempDir()
	python, ours := filepath.Join(dir, "python3"), filepath.Join(dir, "trace.json")
	if err := writeTrace(ours, &trace.Trace{Meta: trace.Meta{Rank: trace.NoRank}}); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ name, script, kernels, table string }{
		{"both fail", `echo '{"kernels_error": "no context", "torch": "2.9.0"}'; echo '{"model_error": "out of memory"}'`, "FAILED no context", "FAILED out of memory"},
		{"it ends early", `echo noise; echo '{"kernels": {"gc_spin": [1]}}'; exit 9`, "FAILED gc_spin: 1 are expected, the profile has 0", "FAILED exit status 9"},
		{"a table of no trace", `echo '{"kernels": {}}'; echo '{"model": {"file": "/nonexistent", "rows": []}}'`, "passed torch : the same kernels, medians within 5%", "FAILED open /nonexistent"},
	} {
		script := "#!/bin/sh\nif [ \"$1\" = -c ]; then echo 2.9.0; exit; fi\n[ -s \"$1\" ] && [ -s \"$2\" ] || exit 8\n" + c.script + "\n"
		if err := os.WriteFile(python, []byte(script), 0o755); err != nil {
			t.Fatal(err)
		}
		var r Report
		if err := compareTorch(&r, options{python: python, trace: ours, tolerance: 0.05}); err != nil || len(r.Checks) != 2 {
			t.Errorf("%s: %v %+v", c.name, err, r.Checks)
			continue
		}
		for i, want := range []string{c.kernels, c.table} {
			if got := r.Checks[i].Status + " " + r.Checks[i].Detail; !strings.HasPrefix(got, want) {
				t.Errorf("%s: %q, want %q", c.name, got, want)
			}
		}
	}
	if err := os.WriteFile(python, []byte("#!/bin/sh\n[ \"$1\" = -c ] || exit 3\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	var r Report
	if err := compareTorch(&r, options{python: python, trace: ours}); err == nil || !strings.Contains(err.Error(), "exit status 3") {
		t.Errorf("%v", err)
	}
}

// TestTorchOnTheHost runs the script itself, which trains on the host where it is told to, with the Python of GPUCHECK_PYTHON.
func TestTorchOnTheHost(t *testing.T) {
	python := os.Getenv("GPUCHECK_PYTHON")
	if python == "" {
		t.Skip("SKIPPED: GPUCHECK_PYTHON names no Python with torch; the script of the comparison with torch.profiler was NOT run")
	}
	if err := exec.Command(python, "-c", "import torch").Run(); err != nil {
		t.Fatalf("%s has no torch: %v", python, err)
	}
	t.Setenv("GPUCHECK_DEVICE", "cpu")
	dir := t.TempDir()
	got, err := runTorch(python, dir, filepath.Join(dir, "torch"))
	if err != nil || got.Model == nil {
		t.Fatalf("%v %+v", err, got)
	}
	n, err := got.Model.compare()
	if err != nil || n < 20 {
		t.Errorf("%d rows: %v", n, err)
	}
	t.Logf("torch %s: %d rows", got.Torch, n)
	got.Model.Rows[0].Count++
	got.Model.Rows[1].SelfCPU *= 2
	if _, err := got.Model.compare(); err == nil || !strings.Contains(err.Error(), "by torch") {
		t.Errorf("differences are not found: %v", err)
	}
}
