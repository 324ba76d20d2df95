package render

import "testing"

func TestShorten(t *testing.T) {
	for in, want := range map[string]string{
		"github.com/gander-go/gander/profiler/analyze.(*index).fractional":                  "analyze.(*index).fractional",
		"github.com/gander-go/gander/profiler/kineto.endOfValue":                            "kineto.endOfValue",
		"slices.pdqsortCmpFunc[go.shape.struct { example.org/m/p.X int }]":                  "slices.pdqsortCmpFunc[go.shape.struct { example.org/m/p.X int }]",
		"runtime.(*mheap).allocNeedsZero":                                                   "runtime.(*mheap).allocNeedsZero",
		"void at::native::vectorized_elementwise_kernel<4, at::native::AddFunctor>(int, T)": "vectorized_elementwise_kernel<4, AddFunctor>",
		"torch/nn/modules/module.py(1194): _call_impl":                                      "torch/nn/modules/module.py(1194): _call_impl",
		"void (anonymous namespace)::softmax_warp_forward<float, float>(float*, int)":       "softmax_warp_forward<float, float>",
		"Memcpy HtoD (Pageable -> Device)":                                                  "Memcpy HtoD (Pageable -> Device)",
	} {
		if got := shorten(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}
