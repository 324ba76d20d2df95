package gonum

import (
	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/blas/cblas128"
	"gonum.org/v1/gonum/blas/cblas64"
	"gonum.org/v1/gonum/lapack"
	"gonum.org/v1/gonum/lapack/gonum"
	"gonum.org/v1/gonum/lapack/lapack64"

	"github.com/gander-go/gander/profiler"
)

func init() {
	Install()
	lapack64.Use(Float64LAPACK(gonum.Implementation{}))
}

// Install wraps the BLAS implementations that are in use now, unless they are wrapped already. It must not run while
// other goroutines call BLAS. LAPACK's implementation cannot be asked for: a program that sets its own wraps it with
// Float64LAPACK.
func Install() {
	blas32.Use(Float32(blas32.Implementation()))
	blas64.Use(Float64(blas64.Implementation()))
	cblas64.Use(Complex64(cblas64.Implementation()))
	cblas128.Use(Complex128(cblas128.Implementation()))
}

// Float32 wraps an implementation of BLAS.
func Float32(b blas.Float32) blas.Float32 {
	if w, ok := b.(float32BLAS); ok {
		return w
	}
	return float32BLAS{b}
}

// Float64 wraps an implementation of BLAS.
func Float64(b blas.Float64) blas.Float64 {
	if w, ok := b.(float64BLAS); ok {
		return w
	}
	return float64BLAS{b}
}

// Complex64 wraps an implementation of BLAS.
func Complex64(b blas.Complex64) blas.Complex64 {
	if w, ok := b.(complex64BLAS); ok {
		return w
	}
	return complex64BLAS{b}
}

// Complex128 wraps an implementation of BLAS.
func Complex128(b blas.Complex128) blas.Complex128 {
	if w, ok := b.(complex128BLAS); ok {
		return w
	}
	return complex128BLAS{b}
}

// Float64LAPACK wraps an implementation of LAPACK.
func Float64LAPACK(l lapack.Float64) lapack.Float64 {
	if w, ok := l.(float64LAPACK); ok {
		return w
	}
	return float64LAPACK{l}
}

// recording reports whether a call is worth describing.
func recording() bool { return profiler.Recording() }

// begin starts the operator's span. Elems is the number of elements read and written.
func begin(name string, k *kind, flops, elems int64, shapes ...[]int) profiler.Span {
	return profiler.BeginOp(name, &profiler.Op{
		Shapes: shapes, Types: k.types[:min(len(shapes), len(k.types))], FLOPs: max(0, flops), Bytes: max(0, elems) * k.size,
	})
}

// estimate is begin for a routine whose work depends on the data.
func estimate(name string, k *kind, flops, elems int64, shapes ...[]int) profiler.Span {
	return profiler.BeginOp(name, &profiler.Op{
		Shapes: shapes, Types: k.types[:min(len(shapes), len(k.types))], FLOPs: max(0, flops), Bytes: max(0, elems) * k.size, Estimate: true,
	})
}
