// Package tracegen writes traces like those of PyTorch's profiler, of any size, for tests and benchmarks. It knows what it
// wrote, so that readers and analyses can be checked against something that neither reads nor analyses.
//
// It is not a model of a real program: durations are plausible, not measured. The same options give the same bytes.
package tracegen

import (
	"bufio"
	"fmt"
	"io"
	"math/rand/v2"
)

// Options say what to write. The zero value writes one small step.
type Options struct {
	Steps  int   // training steps; 0 means 1, unless Bytes is given
	Bytes  int64 // write whole steps until this much text has been written
	Layers int   // operators of a forward pass; 0 means 40
	Python bool  // Python functions around every layer, most of a trace with stacks
	Seed   uint64
}

// Totals count what was written.
type Totals struct {
	Events     int64 // all elements of traceEvents
	Categories map[string]Total
	Memory     Total // Sum counts bytes
	Flows      int64 // arrows; each is two events
	Steps      int
	Bytes      int64 // length of the text
}

// Total counts the events of one category.
type Total struct {
	Count int64
	Sum   int64 // of durations, ns
}

const (
	pid       = 4242
	mainTID   = 4242
	gradTID   = 4300
	device    = 0
	stream    = 7
	base      = 1_700_000_000_000_000_000
	operators = 8
)

// layer is one kind of layer: the operator, what it calls, the kernel that it launches.
var layers = [operators]struct{ op, inner, kernel, dims, types string }{
	{"aten::linear", "aten::addmm", "ampere_sgemm_128x64_tn", "[[64, 1024], [4096, 1024], [4096]]", `["float", "float", "float"]`},
	{"aten::layer_norm", "aten::native_layer_norm", "void at::native::(anonymous namespace)::vectorized_layer_norm_kernel<float, float>(int, float, float const*)", "[[64, 1024], [], [1024]]", `["float", "ScalarList", "float"]`},
	{"aten::gelu", "aten::gelu", "void at::native::vectorized_elementwise_kernel<4, at::native::GeluCUDAKernelImpl>(int)", "[[64, 4096]]", `["float"]`},
	{"aten::matmul", "aten::bmm", "cutlass_80_simt_sgemm_256x128_8x4_nn_align1", "[[16, 64, 64], [16, 64, 128]]", `["float", "float"]`},
	{"aten::softmax", "aten::_softmax", "void (anonymous namespace)::softmax_warp_forward<float, float, float, 6, false, false>(float*, float const*)", "[[16, 64, 64], [], []]", `["float", "Scalar", ""]`},
	{"aten::add_", "aten::add_", "void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<float>>(int)", "[[64, 1024], [64, 1024], []]", `["float", "float", "Scalar"]`},
	{"aten::dropout", "aten::native_dropout", "void at::native::(anonymous namespace)::fused_dropout_kernel_vec<float, float, unsigned int, 1, 4, bool>()", "[[64, 1024], [], []]", `["float", "Scalar", "Scalar"]`},
	{"aten::conv2d", "aten::cudnn_convolution", "sm80_xmma_fprop_implicit_gemm_f32f32_tf32f32", "[[64, 3, 224, 224], [64, 3, 7, 7], []]", `["float", "float", ""]`},
}

type generator struct {
	w      *bufio.Writer
	rng    *rand.Rand
	tot    Totals
	err    error
	now    int64 // host time, ns since base
	gpu    int64 // time at which the stream is free
	id     int64 // external and correlation ids
	index  int64
	python int64
	seq    int64
	inUse  int64
}

// Write writes one trace to w.
func Write(w io.Writer, opt Options) (Totals, error) {
	g := &generator{w: bufio.NewWriterSize(w, 1<<16), rng: rand.New(rand.NewPCG(opt.Seed, 1)), now: 1_000_000, id: 1}
	g.tot.Categories = make(map[string]Total)
	if opt.Layers == 0 {
		opt.Layers = 40
	}
	g.print("{\n  \"schemaVersion\": 1,\n  \"deviceProperties\": [\n    {\n      \"id\": 0, \"name\": \"Generated GPU\", \"totalGlobalMem\": 42297524224,\n" +
		"      \"computeMajor\": 8, \"computeMinor\": 0,\n      \"maxThreadsPerBlock\": 1024, \"maxThreadsPerMultiprocessor\": 2048,\n" +
		"      \"regsPerBlock\": 65536, \"regsPerMultiprocessor\": 65536, \"warpSize\": 32,\n      \"sharedMemPerBlock\": 49152, \"sharedMemPerMultiprocessor\": 167936,\n" +
		"      \"numSms\": 108, \"sharedMemPerBlockOptin\": 166912\n    }\n  ],\n  \"with_stack\": 1,\n  \"profile_memory\": 1,\n  \"displayTimeUnit\": \"ms\",\n")
	g.print("  \"baseTimeNanoseconds\": %d,\n  \"traceEvents\": [", int64(base))
	for n := 0; n < opt.Steps || g.tot.Bytes < opt.Bytes || n == 0; n++ {
		g.step(n, opt)
	}
	g.metadata()
	g.print("\n  ],\n  \"traceName\": \"generated.json\"\n}\n")
	if g.err == nil {
		g.err = g.w.Flush()
	}
	if g.err != nil {
		return g.tot, fmt.Errorf("generating trace: %w", g.err)
	}
	return g.tot, nil
}

func (g *generator) print(format string, args ...any) {
	if g.err != nil {
		return
	}
	n, err := fmt.Fprintf(g.w, format, args...)
	g.tot.Bytes += int64(n)
	g.err = err
}

// event writes one element; body is what follows the brace.
func (g *generator) event(format string, args ...any) {
	if g.tot.Events > 0 {
		g.print(",")
	}
	g.tot.Events++
	g.print("\n  {\n    "+format+"\n  }", args...)
}

// complete writes an event with a duration.
func (g *generator) complete(cat, name string, pid, tid, start, dur int64, args string) {
	t := g.tot.Categories[cat]
	t.Count++
	t.Sum += dur
	g.tot.Categories[cat] = t
	g.event("\"ph\": \"X\", \"cat\": %q, \"name\": %q, \"pid\": %d, \"tid\": %d,\n    \"ts\": %s, \"dur\": %s,\n    \"args\": {\n      %s\n    }",
		cat, name, pid, tid, us(start), us(dur), args)
}

func us(ns int64) string { return fmt.Sprintf("%d.%03d", ns/1000, ns%1000) }

// flow writes the two ends of an arrow.
func (g *generator) flow(cat string, id, fromTID, from, toPID, toTID, to int64) {
	g.tot.Flows++
	g.event("\"ph\": \"s\", \"id\": %d, \"pid\": %d, \"tid\": %d, \"ts\": %s,\n    \"cat\": %q, \"name\": %q", id, pid, fromTID, us(from), cat, cat)
	g.event("\"ph\": \"f\", \"id\": %d, \"pid\": %d, \"tid\": %d, \"ts\": %s,\n    \"cat\": %q, \"name\": %q, \"bp\": \"e\"", id, toPID, toTID, us(to), cat, cat)
}

func (g *generator) memory(at, bytes int64) {
	g.inUse += bytes
	g.tot.Memory.Count++
	g.tot.Memory.Sum += bytes
	g.event("\"ph\": \"i\", \"cat\": \"cpu_instant_event\", \"s\": \"t\", \"name\": \"[memory]\",\n    \"pid\": %d, \"tid\": %d,\n    \"ts\": %s,\n"+
		"    \"args\": {\n      \"Total Reserved\": 2147483648, \"Total Allocated\": %d, \"Bytes\": %d, \"Addr\": %d, \"Device Id\": 0, \"Device Type\": 1, \"Ev Idx\": %d\n    }",
		pid, mainTID, us(at), g.inUse, bytes, 140000000000000+g.inUse, g.next())
}

func (g *generator) next() int64 { g.index++; return g.index - 1 }

// between returns a duration of low to high ns.
func (g *generator) between(low, high int64) int64 { return low + g.rng.Int64N(high-low+1) }
