// Package cuda tests CUDA through the whole of Gander: notebooks with stand-ins for NVIDIA's libraries, and without any.
package cuda

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gander-go/gander/cuda/standin"
)

// gander is the program, built once for all tests.
var gander string

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "gander-cuda-")
	if err != nil {
		panic(err)
	}
	gander = filepath.Join(dir, "gander")
	build := exec.Command("go", "build", "-o", gander, "github.com/gander-go/gander/cmd/gander")
	if out, err := build.CombinedOutput(); err != nil {
		os.Stderr.Write(out)
		os.Exit(1)
	}
	code := m.Run()
	os.RemoveAll(dir)
	os.Exit(code)
}

// bare is a machine without anything of NVIDIA's, whatever this one has.
var bare = []string{"GANDER_LIBCUDA=/nonexistent/libcuda.so.1", "GANDER_LIBCUPTI=/nonexistent/libcupti.so.12", "GANDER_LIBNVML=/nonexistent/libnvidia-ml.so.1", "GANDER_LIBNVRTC=/nonexistent/libnvrtc.so.12"}

// standIns are the environment of a machine with stand-ins for all but NVRTC.
func standIns(t *testing.T) []string {
	t.Helper()
	return append(bare[3:len(bare):len(bare)], "GANDER_LIBCUDA="+standin.For(t, standin.Driver), "GANDER_LIBCUPTI="+standin.For(t, standin.CUPTI), "GANDER_LIBNVML="+standin.For(t, standin.NVML))
}

// nvrtc fetches the compiler, or skips the test.
func nvrtc(t *testing.T) string {
	t.Helper()
	cmd := exec.Command("../../tools/nvrtc.sh", "cu12")
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Skipf("SKIPPED: NVRTC cannot be had here (%v); %%%%cuda was NOT tested with a compiler", err)
	}
	return "GANDER_LIBNVRTC=" + strings.TrimSpace(string(out))
}

// run executes a notebook and returns the text of each code cell's outputs.
func run(t *testing.T, notebook string, env []string, flags ...string) (cells []string, err error) {
	t.Helper()
	if testing.Short() {
		t.Skip("SKIPPED: notebooks compile cells (-short)")
	}
	out := filepath.Join(t.TempDir(), "out.ipynb")
	cmd := exec.Command(gander, append([]string{"run", notebook, "-o", out}, flags...)...)
	cmd.Env = append(os.Environ(), env...)
	said, err := cmd.CombinedOutput()
	if err != nil {
		t.Logf("%s", said)
	}
	b, readErr := os.ReadFile(out)
	if readErr != nil {
		t.Fatalf("%v\n%s", readErr, said)
	}
	var nb struct {
		Cells []struct {
			Type    string `json:"cell_type"`
			Outputs []struct {
				Text      []string
				Ename     string
				Traceback []string
				Data      map[string]json.RawMessage
			}
		}
	}
	if err := json.Unmarshal(b, &nb); err != nil {
		t.Fatal(err)
	}
	for _, c := range nb.Cells {
		if c.Type != "code" {
			continue
		}
		text := ""
		for _, o := range c.Outputs {
			text += strings.Join(o.Text, "") + o.Ename + strings.Join(o.Traceback, "\n")
			var plain []string
			if json.Unmarshal(o.Data["text/plain"], &plain) == nil {
				text += strings.Join(plain, "")
			}
		}
		cells = append(cells, text)
	}
	return cells, err
}

// write makes a notebook of code cells.
func write(t *testing.T, cells ...string) string {
	t.Helper()
	type cell struct {
		Type     string         `json:"cell_type"`
		ID       string         `json:"id"`
		Metadata map[string]any `json:"metadata"`
		Source   string         `json:"source"`
		Outputs  []any          `json:"outputs"`
		Count    *int           `json:"execution_count"`
	}
	var list []cell
	for i, c := range cells {
		list = append(list, cell{"code", string(rune('a' + i)), map[string]any{}, c, []any{}, nil})
	}
	b, err := json.Marshal(map[string]any{"cells": list, "metadata": map[string]any{}, "nbformat": 4, "nbformat_minor": 5})
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "in.ipynb")
	if err := os.WriteFile(file, b, 0o644); err != nil {
		t.Fatal(err)
	}
	return file
}

func has(t *testing.T, cells []string, want ...string) {
	t.Helper()
	if len(cells) < len(want) {
		t.Fatalf("%d cells: %q", len(cells), cells)
	}
	for i, w := range want {
		if !strings.Contains(cells[i], w) {
			t.Errorf("cell %d has no %q:\n%s", i+1, w, cells[i])
		}
	}
}

const notebook = "../../notebooks/cuda.ipynb"

func TestNotebookOnABareMachine(t *testing.T) {
	cells, err := run(t, notebook, bare)
	if err != nil {
		t.Fatal(err)
	}
	has(t, cells, "No GPU here: no CUDA driver: /nonexistent/libcuda.so.1", "There is no GPU to show: no NVML: ", "Not compiled: no NVRTC", "skipped: no GPU", "skipped: no GPU", "", "skipped: no GPU", "skipped: no GPU", "skipped: no GPU")
}

func TestNotebookWithoutCompiler(t *testing.T) {
	cells, err := run(t, notebook, standIns(t))
	if err != nil {
		t.Fatal(err)
	}
	has(t, cells, "Stand-in GPU 0 (sm_90", "Stand-in GPU 0", "Not compiled: no NVRTC", "skipped: no NVRTC", "skipped: no NVRTC", "", "skipped: no NVRTC", "skipped: no NVRTC", "skipped: no NVRTC")
}

func TestNotebook(t *testing.T) {
	cells, err := run(t, notebook, append(standIns(t), nvrtc(t)))
	if err != nil {
		t.Fatal(err)
	}
	has(t, cells, "Stand-in GPU 0 (sm_90", "Stand-in GPU 0", "of machine code for sm_90", "the sum of 1048576 numbers is 471858", "256 x 192 x 128 in ", "", "one stream ", "3 * 999 is 2997", "two launches of a graph with two kernels: [100 200 300]")
	for _, w := range []string{"scale", "Memcpy HtoD", "Memcpy DtoH", "GPU 0 memory used"} {
		if !strings.Contains(cells[6], w) {
			t.Errorf("the profile has no %q:\n%s", w, cells[6])
		}
	}
}

func TestMistakesInKernels(t *testing.T) {
	file := write(t,
		"\n%%cuda\n__global__ void k(int *p) {\n\t*p = nothing;\n}",
		"%%cuda\n__global__ void k(params p) {}",
		"%%cuda --arch sm_11\n__global__ void k() {}",
		"%%cuda --arhc sm_90\n__global__ void k() {}",
		"%%cuda\n",
		"%%cuda --arch compute_75 -q\nnamespace a { __global__ void fine(float *x, int n) {} }",
		`import "github.com/gander-go/gander/cuda/driver"`+"\n"+`fmt.Println(a_fine(driver.Over(1, 1), nil, 1))`,
		"a_fine(driver.Over(1, 1), []int{1}, 1)",
	)
	cells, _ := run(t, file, append(standIns(t), nvrtc(t)), "--allow-errors")
	has(t, cells, "In[1]:4: identifier \"nothing\" is undefined", "In[2]:2: kernel k: p has type \"params\", which Go does not know", "In[3]:1: invalid value for --gpu-architecture",
		"did you mean --arch?", "there is no source", "", "<nil>", "driver.Ref[float32]")
	if !strings.Contains(cells[0], "    4 | \t*p = nothing;") {
		t.Errorf("the line is not shown:\n%s", cells[0])
	}
}

// TestTemplates calls an instantiation of a template and a specialisation as the Go functions that they are.
func TestTemplates(t *testing.T) {
	file := write(t, `%%cuda
template <typename T> __global__ void scale(T *x, int n, T f) {
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i < n) x[i] *= f;
}
template __global__ void scale<float>(float *x, int n, float f);
template <> __global__ void scale<double>(double *x, int n, double f) {}
template <int N> __global__ void alone(float *x) { x[0] = N; }`,
		`import "github.com/gander-go/gander/cuda/driver"
gpu, _ := driver.Open(0)
x, _ := driver.Upload(gpu, []float32{1, 2, 3})
fmt.Println(scale_float(driver.Over(3, 32), x, 3, 2))
x.Slice()`)
	cells, err := run(t, file, append(standIns(t), nvrtc(t)))
	if err != nil {
		t.Fatal(err)
	}
	has(t, cells, "scale_float(launch driver.Launch, x driver.Ref[float32], n int32, f float32) error\n"+
		"scale_double(launch driver.Launch, x driver.Ref[float64], n int32, f float64) error\n"+
		"alone is a template: name the types and it is a function, as in template __global__ void alone<float>(…);\n", "<nil>\n")
	if !strings.Contains(cells[1], "2 4 6") {
		t.Errorf("the kernel did not run:\n%s", cells[1])
	}
}

// TestGorgonia imports gorgonia.org/cu, whose init ends the process where cuInit fails and which links libcuda.
func TestGorgonia(t *testing.T) {
	file := write(t,
		"%get gorgonia.org/cu@v0.9.6",
		"import \"gorgonia.org/cu\"\nn, err := cu.NumDevices()\nfmt.Println(n, err, cu.Version())",
		`import ("unsafe"; "github.com/gander-go/gander/cuda/driver")
c, missing := driver.Open(0)
if missing != nil {
	fmt.Println(missing)
} else {
	b, _ := driver.Upload(c, []float32{1, 2, 3})
	c.Do(func() error {
		back := make([]float32, 3)
		err := cu.MemcpyDtoH(unsafe.Pointer(&back[0]), cu.DevicePtr(b.Ptr()), 12)
		fmt.Println("cu reads", back, err)
		return err
	})
}`)
	cells, err := run(t, file, standIns(t), "--allow-errors")
	if err != nil || len(cells) > 0 && strings.Contains(cells[0], "getting \"gorgonia.org/cu") {
		t.Skipf("SKIPPED: gorgonia.org/cu cannot be had here; its use in cells was NOT tested: %q", cells)
	}
	has(t, cells, "", "1 <nil> 12040", "cu reads [1 2 3] <nil>")
	cells, err = run(t, file, bare)
	if err != nil {
		t.Fatal(err)
	}
	has(t, cells, "", "0 NoDevice -1", "no CUDA driver")
}

// TestBinary looks at what the program is linked with, and starts it with immediate binding, as hardened systems do.
func TestBinary(t *testing.T) {
	out, err := exec.Command("ldd", gander).CombinedOutput()
	if err != nil {
		t.Skipf("SKIPPED: ldd: %v; what the program is linked with was NOT tested", err)
	}
	for _, lib := range []string{"cuda", "nvidia", "cupti", "nvrtc"} {
		if strings.Contains(string(out), lib) {
			t.Errorf("the program is linked with %s:\n%s", lib, out)
		}
	}
	cmd := exec.Command(gander, "doctor")
	cmd.Env = append(append(os.Environ(), "LD_BIND_NOW=1"), bare...)
	out, _ = cmd.CombinedOutput()
	for _, w := range []string{"– CUDA driver", "– CUPTI", "– NVML", "– NVRTC"} {
		if !strings.Contains(string(out), w) {
			t.Errorf("the doctor does not say %q:\n%s", w, out)
		}
	}
}
