package bind

import (
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"strings"
	"testing"
)

const source = `#include <cuda_fp16.h>
#define N 100
#define REAL float
// __global__ void commented(int n) {}
/* __global__ void
   commented2() {} */
typedef unsigned long long int word;
using index_t = long;
typedef REAL* realp_is_left_alone;
__device__ float helper(float x) { return x; }
__global__ void announced(int n);
extern "C" __global__ void saxpy(int n, float a, const float *x, float *__restrict__ y) { if (n) { y[0] = a; } }
const char *s = "__global__ void text(int n) {";
namespace la { namespace {
__global__ __launch_bounds__(256, 2) void gemm(const unsigned m, long unsigned int n, size_t k,
	double const* const __restrict__ a, REAL b[], void *out, struct opaque *o, float **rows) {
	__shared__ float tile[16][16];
}
} }
namespace x::y { __global__ static void __launch_bounds__(128) deep() {} }
template <typename T, int K = (3 > 2)> __global__ void generic(T *x, int n) {}
template __global__ void generic<float>(float *x, int n);
template<> __global__ void generic<double, 3>(double *x, int n) {}
namespace la { template <class T> __global__ void scale(T *x, T f) {} template __global__ void scale<unsigned int>(unsigned *x, unsigned f); }
template __global__ void la::scale<float*>(float **x, float *f);
template class Other<int>;
__global__ void vectors(float4 v, uchar3 u, ulonglong2 w, dim3 d, __half h, const half2 *p, bool flag, char c, signed char sc, unsigned char uc) {}
__global__ void aliases(word w, index_t i, const index_t *p, uint32_t q, std::size_t z, int = 7, float unused) {}
extern "C" {
__global__ void type(int func, int range, int launch, int func_, int) {}
}
__global__ void announced(int n) {}
auto raw = R"x(__global__ void rawtext(int n) { )x" ; __global__ void afterRaw(void) {}
`

func TestParse(t *testing.T) {
	kernels, err := Parse(source)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, k := range kernels {
		if k.Template {
			got = append(got, "template "+k.Name)
			continue
		}
		got = append(got, k.Signature())
	}
	want := []string{
		"saxpy(launch driver.Launch, n int32, a float32, x driver.Ref[float32], y driver.Ref[float32]) error",
		"la_gemm(launch driver.Launch, m uint32, n uint64, k uint64, a driver.Ref[float64], b driver.Ref[float32], out driver.Ptr, o driver.Ptr, rows driver.Ref[driver.Ptr]) error",
		"x_y_deep(launch driver.Launch) error",
		"template generic",
		"generic_float(launch driver.Launch, x driver.Ref[float32], n int32) error",
		"generic_double_3(launch driver.Launch, x driver.Ref[float64], n int32) error",
		"template la::scale",
		"la_scale_unsigned_int(launch driver.Launch, x driver.Ref[uint32], f uint32) error",
		"la_scale_float_ptr(launch driver.Launch, x driver.Ref[driver.Ptr], f driver.Ref[float32]) error",
		"vectors(launch driver.Launch, v [4]float32, u [3]uint8, w [2]uint64, d [3]uint32, h uint16, p driver.Ref[[2]uint16], flag bool, c int8, sc int8, uc uint8) error",
		"aliases(launch driver.Launch, w uint64, i int64, p driver.Ref[int64], q uint32, z uint64, p6 int32, unused float32) error",
		"type_(launch driver.Launch, func_ int32, range_ int32, launch_ int32, func__ int32, p5 int32) error",
		"announced(launch driver.Launch, n int32) error",
		"afterRaw(launch driver.Launch) error",
	}
	if g, w := strings.Join(got, "\n"), strings.Join(want, "\n"); g != w {
		t.Errorf("\n%s\nwant\n%s", g, w)
	}
	for name, line := range map[string]int{"saxpy": 12, "la::gemm": 15, "x::y::deep": 20, "afterRaw": 33, "generic<float>": 22, "la::scale<float*>": 25} {
		for _, k := range kernels {
			if k.Name == name && k.Line != line {
				t.Errorf("%s is on line %d, not %d", name, k.Line, line)
			}
		}
	}
}

func TestRefusals(t *testing.T) {
	for _, c := range []struct {
		source, want string
		line         int
	}{
		{"\n\n__global__ void k(int n,\n  params p) {}", `kernel k: p has type "params", which Go does not know`, 4},
		{"__global__ void k(float &x) {}", `kernel k: x has type "float", and kernels take no references`, 1},
		{"__global__ void k(long double x) {}", `which Go does not know`, 1},
		{"typedef a b; typedef b a; __global__ void k(a x) {}", `which Go does not know`, 1},
		{"template <class T> __global__ void k(T *x) {}\ntemplate __global__ void k(int *x);", "an instantiation names its arguments: template __global__ void k<float>(…);", 2},
		{"template <class T> __global__ void k(T x) {}\ntemplate __global__ void k<S>(S x);", `kernel k<S>: x has type "S", which Go does not know`, 2},
		{"__global__ void k_int(int x) {}\ntemplate __global__ void k<int>(int x);", "kernels k_int and k<int> would both be k_int in Go", 2},
		{"__global__ void k(std::array<float, 3> x) {}", `which Go does not know`, 1},
	} {
		_, err := Parse(c.source)
		var e *Error
		if !errors.As(err, &e) || !strings.Contains(e.Text, c.want) || e.Line != c.line {
			t.Errorf("%s: %v", c.source, err)
		}
	}
}

// TestGeneratedGo parses what is generated and looks for one function of each kernel, on one line.
func TestGeneratedGo(t *testing.T) {
	kernels, err := Parse(source)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range []Program{
		{Var: "prog", Image: []byte(".version 7.8\n\"quoted\" \\ \x00\xff `"), Kernels: kernels, Names: map[string]string{"la::gemm": "_ZN2la4gemm"}},
		{Var: "prog", Missing: "no \"NVRTC\"\n", Kernels: kernels},
	} {
		text := p.Go()
		if strings.Contains(text, "\n") {
			t.Error("more than one line")
		}
		f, err := parser.ParseFile(token.NewFileSet(), "x.go", "package p; "+text, 0)
		if err != nil {
			t.Fatal(err)
		}
		n := 0
		for _, d := range f.Decls {
			if _, ok := d.(*ast.FuncDecl); ok {
				n++
			}
		}
		if n != len(kernels)-2 { // templates have none
			t.Errorf("%d functions of %d kernels", n, len(kernels))
		}
		if p.Missing == "" && !strings.Contains(text, `prog.Launch("_ZN2la4gemm", launch, m, n`) {
			t.Error(text)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add(source)
	for _, s := range []string{"__global__", "__global__ void k(", "template<", "#define", "R\"(", "/*", "'", "namespace a::", "__global__ void k(,) {}", "typedef", "using x ="} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		kernels, err := Parse(s)
		if err != nil {
			return
		}
		for _, k := range kernels {
			if !k.Template && k.Line < 1 {
				t.Errorf("kernel %q on line %d", k.Name, k.Line)
			}
		}
		p := Program{Var: "v", Kernels: kernels}
		if _, err := parser.ParseFile(token.NewFileSet(), "x.go", "package p; "+p.Go(), parser.SkipObjectResolution); err != nil {
			t.Errorf("%v\n%s", err, p.Go())
		}
	})
}
