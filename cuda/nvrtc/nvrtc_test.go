//go:build linux && cgo && (amd64 || arm64)

package nvrtc

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
)

func TestParse(t *testing.T) {
	log := `In[3](4): error: identifier "foo" is undefined
      foo = 1;
      ^

In[3](7): warning #177-D: variable "x" was declared but never referenced
/usr/include/x(y).h(12): catastrophic error: cannot open source file "none.h"
nvrtc: error: invalid value for --gpu-architecture (-arch)
2 errors detected in the compilation of "In[3]".
`
	want := []Diagnostic{
		{"In[3]", 4, true, `identifier "foo" is undefined`},
		{"In[3]", 7, false, `variable "x" was declared but never referenced`},
		{"/usr/include/x(y).h", 12, true, `cannot open source file "none.h"`},
		{"", 0, true, "invalid value for --gpu-architecture (-arch)"},
	}
	if got := Parse(log); !reflect.DeepEqual(got, want) {
		t.Errorf("%+v", got)
	}
}

func FuzzParse(f *testing.F) {
	f.Add("In[3](4): error: x\nnvrtc: error : y\n")
	f.Fuzz(func(t *testing.T, s string) {
		for _, d := range Parse(s) {
			if d.Line < 0 || strings.Contains(d.Message, "\n") {
				t.Errorf("%+v", d)
			}
		}
	})
}

func TestMissing(t *testing.T) {
	t.Setenv("GANDER_LIBNVRTC", "/nonexistent/libnvrtc.so.12")
	_, err := Open(0)
	var m *Missing
	if !errors.As(err, &m) || strings.Contains(err.Error(), "\n") || !strings.Contains(err.Error(), "no NVRTC") || !strings.Contains(err.Error(), "/nonexistent/libnvrtc.so.12: cannot open") {
		t.Errorf("%v", err)
	}
	t.Setenv("GANDER_LIBNVRTC", "libc.so.6")
	if _, err := Open(0); err == nil || !strings.Contains(err.Error(), "functions are missing") {
		t.Errorf("%v", err)
	}
}

// versions are the compilers that the tests run, of PyPI.
var versions = []struct {
	spec         string
	major, minor int
}{{"nvidia-cuda-nvrtc-cu11==11.8.89", 11, 8}, {"cu12", 12, 9}, {"cu13", 13, 0}}

// each runs f with every version that can be had here.
func each(t *testing.T, f func(t *testing.T, l *Library)) {
	if testing.Short() {
		t.Skip("SKIPPED: NVRTC is downloaded (-short)")
	}
	for _, v := range versions {
		t.Run(v.spec, func(t *testing.T) {
			cmd := exec.Command(filepath.Join("..", "..", "tools", "nvrtc.sh"), v.spec)
			cmd.Stderr = os.Stderr
			out, err := cmd.Output()
			if err != nil {
				t.Skipf("SKIPPED: NVRTC %d.%d cannot be had here (%v); compiling CUDA C with it was NOT tested", v.major, v.minor, err)
			}
			t.Setenv("GANDER_LIBNVRTC", strings.TrimSpace(string(out)))
			l, err := Open(0)
			if err != nil {
				t.Fatal(err)
			}
			if l.Major != v.major || l.Minor != v.minor {
				t.Errorf("version %d.%d", l.Major, l.Minor)
			}
			f(t, l)
		})
	}
}

const saxpy = `
namespace la { template <typename T> __global__ void axpy(int n, T a, const T *x, T *y) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) y[i] += a * x[i]; } }
__global__ void saxpy(int n, float a, const float *x, float *y) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) y[i] += a * x[i]; }
extern "C" __global__ void plain(float *x) { x[threadIdx.x] = 1; }
`

func TestCompile(t *testing.T) {
	each(t, func(t *testing.T, l *Library) {
		archs := l.Architectures()
		if !slices.Contains(archs, 75) || !slices.Contains(archs, 90) {
			t.Errorf("architectures %v", archs)
		}
		q := Request{Name: "In[1]", Source: saxpy, Arch: "compute_75", Kernels: []string{"saxpy", "plain", "la::axpy<double>"}}
		r, err := l.Compile(q)
		if err != nil {
			t.Fatal(err)
		}
		want := map[string]string{"saxpy": "_Z5saxpyifPKfPf", "plain": "plain", "la::axpy<double>": "_ZN2la4axpyIdEEviT_PKS1_PS1_"}
		if !reflect.DeepEqual(r.Names, want) {
			t.Errorf("names %v", r.Names)
		}
		if text := string(r.Image); !r.PTX || !strings.Contains(text, ".target sm_75") || !strings.Contains(text, ".entry _Z5saxpyifPKfPf(") || strings.HasSuffix(text, "\x00") {
			t.Errorf("PTX:\n%.400s", text)
		}
		q.Arch = "sm_90"
		r, err = l.Compile(q)
		if err != nil || r.PTX || !strings.HasPrefix(string(r.Image), "\x7fELF") {
			t.Errorf("CUBIN: %v", err)
		}
	})
}

func TestErrorsAreAtTheirLines(t *testing.T) {
	each(t, func(t *testing.T, l *Library) {
		_, err := l.Compile(Request{Name: "In[7]", Source: "\n\n__global__ void k(int *x) {\n  int unused;\n  *x = nothing;\n  *x = ;\n}\n", Arch: "compute_75", Options: []string{"--std=c++17"}})
		var e *CompileError
		if !errors.As(err, &e) {
			t.Fatal(err)
		}
		var lines []int
		for _, d := range e.Diagnostics {
			if d.Error {
				lines = append(lines, d.Line)
			}
		}
		if !slices.Equal(lines, []int{5, 6}) || e.Error() != `In[7]:5: identifier "nothing" is undefined` {
			t.Errorf("%v %v\n%s", lines, e, e.Log)
		}
		for _, q := range []Request{
			{Name: "x", Source: saxpy, Arch: "compute_1"},
			{Name: "x", Source: saxpy, Arch: "compute_75", Options: []string{"--nonsense"}},
			{Name: "x", Source: saxpy, Arch: "compute_75", Kernels: []string{"none"}},
			{Name: "x", Source: "#include <none.h>\n", Arch: "compute_75"},
		} {
			if r, err := l.Compile(q); err == nil || err.Error() == "" {
				t.Errorf("%+v: %v %v", q, r, err)
			}
		}
		r, err := l.Compile(Request{Name: "w", Source: "__global__ void k() {\n  int unused;\n}", Arch: "compute_75"})
		if err != nil || len(r.Notes) != 1 || r.Notes[0].Line != 2 || r.Notes[0].Error {
			t.Errorf("warnings %+v %v", r, err)
		}
	})
}

func TestConcurrentCompiles(t *testing.T) {
	each(t, func(t *testing.T, l *Library) {
		var wg sync.WaitGroup
		for range 4 {
			wg.Go(func() {
				if r, err := l.Compile(Request{Name: "x", Source: saxpy, Arch: "compute_80", Kernels: []string{"saxpy"}}); err != nil || r.Names["saxpy"] == "" {
					t.Error(err)
				}
			})
		}
		wg.Wait()
	})
}

func BenchmarkCompile(b *testing.B) {
	l, err := Open(0)
	if err != nil {
		b.Skipf("SKIPPED: %v", err)
	}
	for b.Loop() {
		if _, err := l.Compile(Request{Name: "x", Source: saxpy, Arch: "compute_80"}); err != nil {
			b.Fatal(err)
		}
	}
}
