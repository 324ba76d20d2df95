//go:build linux && cgo && (amd64 || arm64)

package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/gander-go/gander/cuda/nvrtc"
	"github.com/gander-go/gander/cuda/standin"
	"github.com/gander-go/gander/profiler/trace"
)

// TestMain lets a child process be gpucheck: a process opens each library once.
func TestMain(m *testing.M) {
	if os.Getenv("GPUCHECK_CHILD") != "" {
		main()
		return
	}
	os.Exit(m.Run())
}

// standIns are the environment of a machine with stand-ins for NVIDIA's libraries: what passes here proves the comparisons and
// nothing about a GPU.
func standIns(t *testing.T) []string {
	t.Helper()
	return []string{"GANDER_LIBCUDA=" + standin.For(t, standin.Driver), "GANDER_LIBCUPTI=" + standin.For(t, standin.CUPTI), "GANDER_LIBNVML=" + standin.For(t, standin.NVML),
		"GANDER_LIBNVRTC=/nonexistent/libnvrtc.so.12"}
}

func gpucheck(t *testing.T, env []string, want Expectation, args ...string) (map[string]Check, int, string) {
	t.Helper()
	dir := t.TempDir()
	expected, report := filepath.Join(dir, "expected.json"), filepath.Join(dir, "report.json")
	if err := os.WriteFile(expected, encode(want), 0o644); err != nil {
		t.Fatal(err)
	}
	// On a busy host the stand-in's kernels, which the host runs, take as long as they like.
	args = append([]string{"-expected", expected, "-json", report, "-tolerance", "5", "-overhead", "1000", "-python", "/nonexistent/python", "-limit", "10m"}, args...)
	cmd := exec.Command(os.Args[0], args...)
	cmd.Env = append(append(os.Environ(), "GPUCHECK_CHILD=1"), env...)
	out, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	var r Report
	if b, err := os.ReadFile(report); err == nil {
		if err := json.Unmarshal(b, &r); err != nil {
			t.Fatal(err)
		}
	}
	checks := map[string]Check{}
	for _, c := range r.Checks {
		checks[c.Name] = c
	}
	return checks, cmd.ProcessState.ExitCode(), string(out)
}

func TestAgainstStandIns(t *testing.T) {
	file := filepath.Join(t.TempDir(), "trace.json")
	checks, code, out := gpucheck(t, standIns(t), expectation(), "-trace", file)
	if code != 0 {
		t.Fatalf("exit code %d\n%s", code, out)
	}
	for _, name := range []string{"kernel counts and names", "bytes of copies", "bytes of sets", "durations and CUDA events", "work and spans", "work and calls",
		"nothing lost", "clocks of host and device", "ranges on the stream", "occupancy and the driver's", "memory and cuMemGetInfo", "NVML and cuMemGetInfo", "steps of a schedule", "launches of a graph",
		"kinds of memory", "memory of a pool", "overhead of a capture", "overhead of a launch"} {
		if checks[name].Status != passed {
			t.Errorf("%s: %+v", name, checks[name])
		}
	}
	for _, name := range []string{"torch.profiler", "NVRTC"} {
		if checks[name].Status != skipped {
			t.Errorf("%s: %+v", name, checks[name])
		}
	}
	if st, err := os.Stat(file); err != nil || st.Size() < 10000 {
		t.Errorf("the trace: %v", err)
	}
}

// TestDifferencesAreFound changes what is expected, or what the libraries do, and looks for the check that fails.
func TestDifferencesAreFound(t *testing.T) {
	env := standIns(t)
	for _, c := range []struct {
		name, check, want string
		change            func(w *Expectation)
		env               []string
	}{
		{"count", "kernel counts and names", "gc_saxpy: 51 are expected, the profile has 50", func(w *Expectation) { w.Kernels["gc_saxpy"]++ }, nil},
		{"name", "kernel counts and names", "gc_gemm: 0 are expected, the profile has 5", func(w *Expectation) { w.Kernels["gc_other"] = 5; delete(w.Kernels, "gc_gemm") }, nil},
		{"bytes", "bytes of copies", "HtoD: 12: 0 are expected, the profile has 5", func(w *Expectation) { w.Copies["HtoD"] = map[int]int{13: 5, 4 * elements: 5} }, nil},
		{"set", "bytes of sets", "4: 4 are expected", func(w *Expectation) { w.Sets[4] = 4 }, nil},
		{"span", "work and spans", "gemm: 6 are expected, the profile has 5", func(w *Expectation) { w.Spans["gemm"]++ }, nil},
		{"dropped", "nothing lost", "3", func(*Expectation) {}, []string{"STANDIN_CUPTI_DROPPED=3"}},
		{"no kernels", "kernel counts and names", "the profile has 0", func(*Expectation) {}, []string{"STANDIN_CUPTI_REFUSE=10:27"}},
		{"no CUPTI", "capture", "no device work; ", func(*Expectation) {}, []string{"GANDER_LIBCUPTI=/nonexistent/libcupti.so.12"}},
		{"somebody else", "capture", "no device work; ", func(*Expectation) {}, []string{"STANDIN_CUPTI_SUBSCRIBE=39"}},
		{"a run that fails", "workload", "CUDA_ERROR_OUT_OF_MEMORY", func(*Expectation) {}, []string{"STANDIN_MEMORY=300000000"}},
		{"a part that crashes", "graphs", "SIGABRT: abort", func(*Expectation) {}, []string{"STANDIN_FAIL=cuGraphLaunch:crash"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := expectation()
			c.change(&w)
			checks, code, out := gpucheck(t, append(env, c.env...), w, "-parts", "workload,graphs")
			if len(checks) < 2 {
				t.Errorf("what failed cost other parts: %+v", checks)
			}
			if got := checks[c.check]; code != 1 || got.Status != failed || !strings.Contains(got.Detail, c.want) {
				t.Errorf("exit code %d, %+v\n%s", code, got, out)
			}
		})
	}
}

func TestWithoutDriver(t *testing.T) {
	_, code, out := gpucheck(t, []string{"GANDER_LIBCUDA=/nonexistent/libcuda.so.1"}, expectation())
	if code != 2 || !strings.HasPrefix(out, "gpucheck: no CUDA driver: /nonexistent/libcuda.so.1") || strings.Count(out, "\n") != 1 {
		t.Errorf("exit code %d: %q", code, out)
	}
}

func TestDurations(t *testing.T) {
	for _, c := range []struct {
		kernels []int64
		events  []time.Duration
		want    string
	}{
		{[]int64{1000, 2000}, []time.Duration{1010, 2090}, passed},
		{[]int64{1000, 2000}, []time.Duration{1010, 2200}, failed},
		{[]int64{1000}, []time.Duration{1010, 2090}, failed},
	} {
		var r Report
		r.compareDurations(c.kernels, c.events, 0.05)
		if r.Checks[0].Status != c.want {
			t.Errorf("%v %v: %+v", c.kernels, c.events, r.Checks[0])
		}
	}
}

func TestMemory(t *testing.T) {
	x := &trace.Trace{Meta: trace.Meta{Epoch: 1000}, Memory: []trace.MemEvent{{Time: 5, Space: trace.MemDevice, Bytes: 100 << 20}, {Time: 6, Space: trace.MemHost, Bytes: 1 << 30}, {Time: 20, Space: trace.MemDevice, Bytes: -(100 << 20)}}}
	for _, c := range []struct {
		used int64
		want string
	}{{100 << 20, passed}, {102 << 20, passed}, {110 << 20, failed}, {0, failed}} {
		var r Report
		compareMemory(&r, &done{memory: []memoryPoint{{1001, 0}, {1010, c.used}, {1030, 0}}}, x)
		if r.Checks[0].Status != c.want {
			t.Errorf("%d: %+v", c.used, r.Checks[0])
		}
	}
	var r Report
	compareNVML(&r, &done{memory: []memoryPoint{{1, 0}, {2, 500 << 20}}, nvml: []int64{7, 7 + 500<<20}})
	compareNVML(&r, &done{memory: []memoryPoint{{1, 0}, {2, 500 << 20}}, nvml: []int64{7, 7}})
	if r.Checks[0].Status != passed || r.Checks[1].Status != failed {
		t.Errorf("%+v", r.Checks)
	}
}

// TestPTXIsThatOfTheSource compiles kernels.cu again, where the compiler can be had.
func TestPTXIsThatOfTheSource(t *testing.T) {
	if testing.Short() {
		t.Skip("SKIPPED: NVRTC is downloaded (-short)")
	}
	cmd := exec.Command("../nvrtc.sh", "nvidia-cuda-nvrtc-cu11==11.8.89")
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Skipf("SKIPPED: NVRTC 11.8 cannot be had here (%v); that kernels.ptx is made of kernels.cu was NOT tested", err)
	}
	t.Setenv("GANDER_LIBNVRTC", strings.TrimSpace(string(out)))
	l, err := nvrtc.Open(0)
	if err != nil {
		t.Fatal(err)
	}
	src, err := os.ReadFile("kernels.cu")
	if err != nil {
		t.Fatal(err)
	}
	r, err := l.Compile(nvrtc.Request{Name: "kernels.cu", Source: string(src), Arch: "compute_75"})
	if err != nil {
		t.Fatal(err)
	}
	if string(r.Image) != string(kernels) {
		t.Error("kernels.ptx is not made of kernels.cu: run gen")
	}
	for name := range expectation().Kernels {
		if !strings.Contains(string(kernels), fmt.Sprintf(".entry %s(", name)) {
			t.Errorf("there is no kernel %s", name)
		}
	}
}

// TestFolder builds the folder and runs it as on another machine: elsewhere, without Go, against the stand-ins.
func TestFolder(t *testing.T) {
	if testing.Short() {
		t.Skip("SKIPPED: building the folder takes a while (-short)")
	}
	folder := filepath.Join(t.TempDir(), "gpu-check")
	build := exec.Command("../gpu-check.sh", folder)
	build.Env = append(os.Environ(), "GPU_CHECK_CUPTI=", "GPU_CHECK_GO=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, c := range []struct {
		name string
		env  []string
		code int
		want []string
	}{
		{"stand-ins", standIns(t), 0, []string{"say nothing about a GPU", "✓ CUDA driver", "passed   kernel counts and names", "passed   work and spans", "skipped  notebooks", "results in "}},
		{"no driver", []string{"GANDER_LIBCUDA=/nonexistent/libcuda.so.1"}, 2, []string{"gpucheck: no CUDA driver: /nonexistent/libcuda.so.1"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			cmd := exec.Command(filepath.Join(folder, "run.sh"))
			cmd.Dir = "/"
			cmd.Env = append([]string{"PATH=/usr/bin:/bin", "HOME=" + t.TempDir(), "GPU_CHECK_FLAGS=-tolerance 5 -overhead 1000 -python /nonexistent/python"}, c.env...)
			out, err := cmd.CombinedOutput()
			if cmd.ProcessState.ExitCode() != c.code {
				t.Fatalf("%v\n%s", err, out)
			}
			for _, w := range c.want {
				if !strings.Contains(string(out), w) {
					t.Errorf("without %q:\n%s", w, out)
				}
			}
		})
	}
	for _, f := range []string{"trace.html", "results.tar.gz"} {
		if st, err := os.Stat(filepath.Join(folder, "out", f)); err != nil || st.Size() < 10000 {
			t.Errorf("%s: %v", f, err)
		}
	}
}
