package gonum

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"reflect"
	"testing"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/blas/cblas128"
	"gonum.org/v1/gonum/blas/cblas64"
	"gonum.org/v1/gonum/blas/gonum"
	"gonum.org/v1/gonum/lapack"
	"gonum.org/v1/gonum/mat"

	"github.com/gander-go/gander/profiler"
	"github.com/gander-go/gander/profiler/trace"
)

// recorded returns the operators that f causes, in order of their start.
type operator struct {
	name, shapes, types string
	flops, bytes        int64
}

func recorded(t *testing.T, f func()) (list []operator) {
	t.Helper()
	p, err := profiler.Start(profiler.Options{Activities: profiler.CPU, RecordShapes: true, WithFLOPs: true})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Stop()
	f()
	p.Stop()
	x := p.Trace()
	if err := x.Validate(); err != nil {
		t.Fatal(err)
	}
	for i := range x.Slices {
		s := &x.Slices[i]
		if x.Class(s) != trace.ClassOp {
			continue
		}
		o := operator{name: x.Name(s)}
		if s.Kind == trace.ArgOp {
			a := x.Ops[s.Args]
			o.shapes, o.types, o.flops, o.bytes = x.Strings.Get(a.Dims), x.Strings.Get(a.Types), a.FLOPs, a.Bytes
		}
		list = append(list, o)
	}
	return list
}

// The counters below count the operations of textbook loops one by one.

type ops struct{ mul, add int64 }

func (o ops) real() int64    { return o.mul + o.add }
func (o ops) complex() int64 { return 6*o.mul + 2*o.add }

func loopGemm(m, n, k int) (o ops) {
	for range m * n * k {
		o.mul++
		o.add++
	}
	return o
}

func loopTriangle(n, r, kd int, unit bool) (o ops) {
	for range r {
		for i := range n {
			first := true
			for j := max(0, i-kd); j <= i; j++ {
				if i != j || !unit {
					o.mul++
				}
				if !first {
					o.add++
				}
				first = false
			}
		}
	}
	return o
}

func loopRankUpdate(n, k, products int) (o ops) {
	for i := range n {
		for range i + 1 {
			o.mul += int64(products * k)
			o.add += int64(products * k)
		}
	}
	return o
}

func loopBand(m, n, kL, kU int) (elems int64) {
	for i := range m {
		for j := range n {
			if j >= i-kL && j <= i+kU {
				elems++
			}
		}
	}
	return elems
}

func loopLU(m, n int) (o ops) {
	for k := range min(m, n) {
		o.mul++ // reciprocal of the pivot
		for range m - k - 1 {
			o.mul++
			for range n - k - 1 {
				o.mul++
				o.add++
			}
		}
	}
	return o
}

func loopCholesky(n, kd int) (o ops) {
	for j := range n {
		o.mul++ // square root
		l := min(kd, n-1-j)
		for i := range l {
			o.mul++
			for range i + 1 {
				o.mul++
				o.add++
			}
		}
	}
	return o
}

func TestBLASAgainstLoops(t *testing.T) {
	const m, n, k = 5, 4, 3
	v := func(n int) []float64 {
		s := make([]float64, n)
		for i := range s {
			s[i] = float64(i + 1)
		}
		return s
	}
	c := func(n int) []complex128 { return make([]complex128, n) }
	b := blas64.Implementation()
	z := cblas128.Implementation()
	for _, x := range []struct {
		name   string
		call   func()
		flops  int64
		bytes  int64
		shapes string
	}{
		{"blas.Ddot", func() { b.Ddot(n, v(n), 1, v(n), 1) }, 2 * n, 8 * 2 * n, "[[4],[4]]"},
		{"blas.Zdotc", func() { z.Zdotc(n, c(n), 1, c(n), 1) }, 8 * n, 16 * 2 * n, "[[4],[4]]"},
		{"blas.Dnrm2", func() { b.Dnrm2(n, v(n), 1) }, 2 * n, 8 * n, "[[4]]"},
		{"blas.Dznrm2", func() { z.Dznrm2(n, c(n), 1) }, 4 * n, 16 * n, "[[4]]"},
		{"blas.Dasum", func() { b.Dasum(n, v(n), 1) }, n, 8 * n, "[[4]]"},
		{"blas.Dzasum", func() { z.Dzasum(n, c(n), 1) }, 2 * n, 16 * n, "[[4]]"},
		{"blas.Idamax", func() { b.Idamax(n, v(n), 1) }, 0, 8 * n, "[[4]]"},
		{"blas.Dswap", func() { b.Dswap(n, v(n), 1, v(n), 1) }, 0, 8 * 4 * n, "[[4],[4]]"},
		{"blas.Daxpy", func() { b.Daxpy(n, 2, v(n), 1, v(n), 1) }, 2 * n, 8 * 3 * n, "[[4],[4]]"},
		{"blas.Zaxpy", func() { z.Zaxpy(n, 2, c(n), 1, c(n), 1) }, 8 * n, 16 * 3 * n, "[[4],[4]]"},
		{"blas.Drot", func() { b.Drot(n, v(n), 1, v(n), 1, 0.6, 0.8) }, 6 * n, 8 * 4 * n, "[[4],[4]]"},
		{"blas.Drotm", func() { b.Drotm(n, v(n), 1, v(n), 1, blas.DrotmParams{Flag: blas.Rescaling}) }, 6 * n, 8 * 4 * n, "[[4],[4]]"},
		{"blas.Drotm", func() { b.Drotm(n, v(n), 1, v(n), 1, blas.DrotmParams{Flag: blas.Diagonal}) }, 4 * n, 8 * 4 * n, "[[4],[4]]"},
		{"blas.Dscal", func() { b.Dscal(n, 2, v(n), 1) }, n, 8 * 2 * n, "[[4]]"},
		{"blas.Zscal", func() { z.Zscal(n, 2, c(n), 1) }, 6 * n, 16 * 2 * n, "[[4]]"},
		{"blas.Zdscal", func() { z.Zdscal(n, 2, c(n), 1) }, 2 * n, 16 * 2 * n, "[[4]]"},

		{"blas.Dgemv", func() { b.Dgemv(blas.NoTrans, m, n, 1, v(m*n), n, v(n), 1, 0, v(m), 1) }, loopGemm(m, 1, n).real(), 8 * (m*n + n + m), "[[5,4],[4],[5]]"},
		{"blas.Dgemv", func() { b.Dgemv(blas.Trans, m, n, 1, v(m*n), n, v(m), 1, 1, v(n), 1) }, loopGemm(m, 1, n).real(), 8 * (m*n + m + 2*n), "[[5,4],[5],[4]]"},
		{"blas.Zgemv", func() { z.Zgemv(blas.NoTrans, m, n, 1, c(m*n), n, c(n), 1, 0, c(m), 1) }, loopGemm(m, 1, n).complex(), 16 * (m*n + n + m), "[[5,4],[4],[5]]"},
		{"blas.Dgbmv", func() { b.Dgbmv(blas.NoTrans, m, n, 1, 2, 1, v(m*4), 4, v(n), 1, 0, v(m), 1) }, 2 * loopBand(m, n, 1, 2), 8 * (loopBand(m, n, 1, 2) + n + m), "[[5,4],[4],[5]]"},
		{"blas.Dtrmv", func() { b.Dtrmv(blas.Upper, blas.NoTrans, blas.NonUnit, n, v(n*n), n, v(n), 1) }, loopTriangle(n, 1, n, false).real(), 8 * (10 + 2*n), "[[4,4],[4]]"},
		{"blas.Dtrsv", func() { b.Dtrsv(blas.Upper, blas.NoTrans, blas.Unit, n, v(n*n), n, v(n), 1) }, loopTriangle(n, 1, n, true).real(), 8 * (10 + 2*n), "[[4,4],[4]]"},
		{"blas.Ztrmv", func() { z.Ztrmv(blas.Upper, blas.NoTrans, blas.NonUnit, n, c(n*n), n, c(n), 1) }, loopTriangle(n, 1, n, false).complex(), 16 * (10 + 2*n), "[[4,4],[4]]"},
		{"blas.Dtbmv", func() { b.Dtbmv(blas.Upper, blas.NoTrans, blas.NonUnit, n, 1, v(n*2), 2, v(n), 1) }, loopTriangle(n, 1, 1, false).real(), 8 * (7 + 2*n), "[[4,4],[4]]"},
		{"blas.Dtbsv", func() { b.Dtbsv(blas.Upper, blas.NoTrans, blas.Unit, n, 1, v(n*2), 2, v(n), 1) }, loopTriangle(n, 1, 1, true).real(), 8 * (7 + 2*n), "[[4,4],[4]]"},
		{"blas.Dsymv", func() { b.Dsymv(blas.Upper, n, 1, v(n*n), n, v(n), 1, 0, v(n), 1) }, loopGemm(n, 1, n).real(), 8 * (10 + 2*n), "[[4,4],[4],[4]]"},
		{"blas.Dsbmv", func() { b.Dsbmv(blas.Upper, n, 1, 1, v(n*2), 2, v(n), 1, 0, v(n), 1) }, 2 * loopBand(n, n, 1, 1), 8 * (7 + 2*n), "[[4,4],[4],[4]]"},
		{"blas.Dger", func() { b.Dger(m, n, 1, v(m), 1, v(n), 1, v(m*n), n) }, loopGemm(m, n, 1).real(), 8 * (2*m*n + m + n), "[[5],[4],[5,4]]"},
		{"blas.Dsyr", func() { b.Dsyr(blas.Upper, n, 1, v(n), 1, v(n*n), n) }, loopRankUpdate(n, 1, 1).real(), 8 * (20 + n), "[[4],[4,4]]"},
		{"blas.Dsyr2", func() { b.Dsyr2(blas.Upper, n, 1, v(n), 1, v(n), 1, v(n*n), n) }, loopRankUpdate(n, 1, 2).real(), 8 * (20 + 2*n), "[[4],[4],[4,4]]"},

		{"blas.Dgemm", func() { b.Dgemm(blas.NoTrans, blas.NoTrans, m, n, k, 1, v(m*k), k, v(k*n), n, 0, v(m*n), n) }, loopGemm(m, n, k).real(), 8 * (m*k + k*n + m*n), "[[5,3],[3,4],[5,4]]"},
		{"blas.Dgemm", func() { b.Dgemm(blas.Trans, blas.Trans, m, n, k, 1, v(k*m), m, v(n*k), k, 1, v(m*n), n) }, loopGemm(m, n, k).real(), 8 * (m*k + k*n + 2*m*n), "[[3,5],[4,3],[5,4]]"},
		{"blas.Zgemm", func() { z.Zgemm(blas.NoTrans, blas.NoTrans, m, n, k, 1, c(m*k), k, c(k*n), n, 0, c(m*n), n) }, loopGemm(m, n, k).complex(), 16 * (m*k + k*n + m*n), "[[5,3],[3,4],[5,4]]"},
		{"blas.Dsymm", func() { b.Dsymm(blas.Left, blas.Upper, m, n, 1, v(m*m), m, v(m*n), n, 0, v(m*n), n) }, loopGemm(m, n, m).real(), 8 * (15 + 2*m*n), "[[5,5],[5,4],[5,4]]"},
		{"blas.Dsymm", func() { b.Dsymm(blas.Right, blas.Upper, m, n, 1, v(n*n), n, v(m*n), n, 0, v(m*n), n) }, loopGemm(m, n, n).real(), 8 * (10 + 2*m*n), "[[4,4],[5,4],[5,4]]"},
		{"blas.Dsyrk", func() { b.Dsyrk(blas.Upper, blas.NoTrans, n, k, 1, v(n*k), k, 0, v(n*n), n) }, loopRankUpdate(n, k, 1).real(), 8 * (n*k + 10), "[[4,3],[4,4]]"},
		{"blas.Dsyr2k", func() { b.Dsyr2k(blas.Upper, blas.Trans, n, k, 1, v(n*k), n, v(n*k), n, 1, v(n*n), n) }, loopRankUpdate(n, k, 2).real(), 8 * (2*n*k + 20), "[[3,4],[3,4],[4,4]]"},
		{"blas.Zherk", func() { z.Zherk(blas.Upper, blas.NoTrans, n, k, 1, c(n*k), k, 0, c(n*n), n) }, loopRankUpdate(n, k, 1).complex(), 16 * (n*k + 10), "[[4,3],[4,4]]"},
		{"blas.Dtrmm", func() { b.Dtrmm(blas.Left, blas.Upper, blas.NoTrans, blas.NonUnit, m, n, 1, v(m*m), m, v(m*n), n) }, loopTriangle(m, n, m, false).real(), 8 * (15 + 2*m*n), "[[5,5],[5,4]]"},
		{"blas.Dtrsm", func() { b.Dtrsm(blas.Right, blas.Upper, blas.NoTrans, blas.Unit, m, n, 1, v(n*n), n, v(m*n), n) }, loopTriangle(n, m, n, true).real(), 8 * (10 + 2*m*n), "[[4,4],[5,4]]"},
	} {
		got := recorded(t, x.call)
		if len(got) == 0 {
			t.Errorf("%s was not recorded", x.name)
			continue
		}
		if o := got[0]; o.name != x.name || o.flops != x.flops || o.bytes != x.bytes || o.shapes != x.shapes {
			t.Errorf("recorded %+v, want %s with %d FLOPs, %d bytes, %s", o, x.name, x.flops, x.bytes, x.shapes)
		}
	}
}

func TestTypes(t *testing.T) {
	got := recorded(t, func() {
		blas32.Implementation().Sscal(3, 2, make([]float32, 3), 1)
		cblas64.Implementation().Cdotu(3, make([]complex64, 3), 1, make([]complex64, 3), 1)
	})
	want := []operator{
		{"blas.Sscal", "[[3]]", `["float32"]`, 3, 4 * 6},
		{"blas.Cdotu", "[[3],[3]]", `["complex64","complex64"]`, 24, 8 * 6},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("recorded %+v, want %+v", got, want)
	}
}

func TestLAPACKCounts(t *testing.T) {
	for n := range 12 {
		for m := range 12 {
			if got, want := getrf(m, n), loopLU(m, n).real(); got != want {
				t.Errorf("getrf(%d, %d) = %d, want %d", m, n, got, want)
			}
			if got, want := band(m, n, n/2, m/3), loopBand(m, n, n/2, m/3); got != want {
				t.Errorf("band(%d, %d, %d, %d) = %d, want %d", m, n, n/2, m/3, got, want)
			}
			if got, want := potrf(n, m), loopCholesky(n, m).real(); got != want {
				t.Errorf("potrf(%d, %d) = %d, want %d", n, m, got, want)
			}
		}
		// The closed forms of LAWN 41.
		N := int64(n)
		if got, want := potrf(n, n), (N*(N+1)*(N+2)+(N-1)*N*(N+1))/6; got != want {
			t.Errorf("potrf(%d) = %d, want %d", n, got, want)
		}
		if got, want := potri(n), (2*N*(N+1)*(N+2)+N*(N-1)*(2*N-1))/6; got != want {
			t.Errorf("potri(%d) = %d, want %d", n, got, want)
		}
		if got, want := trtri(n), (N*(N+1)*(N+2)+N*(N-1)*(N-2))/6; got != want {
			t.Errorf("trtri(%d) = %d, want %d", n, got, want)
		}
		if got, want := getri(n), ((4*N*N*N+3*N*N+5*N)+(4*N*N*N-9*N*N+5*N))/6; got != want {
			t.Errorf("getri(%d) = %d, want %d", n, got, want)
		}
	}
	// What QR and LQ tend to for large matrices: 2n^2(m-n/3) to factorise an m by n one, 4mnk-2(m+n)k^2+4k^3/3 to form
	// Q, and 2nk(2m-k) to apply k reflectors from the left.
	const m, n, k = 6000, 4000, 3000
	for _, c := range []struct {
		name string
		got  int64
		want float64
	}{
		{"geqrf", geqrf(m, n), 2 * n * n * (m - n/3.0)},
		{"geqrf wide", geqrf(n, m), 2 * n * n * (m - n/3.0)},
		{"gelqf", gelqf(m, n), 2 * n * n * (m - n/3.0)},
		{"gelqf wide", gelqf(n, m), 2 * n * n * (m - n/3.0)},
		{"orgqr", orgqr(m, n, k), 4*m*n*k - 2*(m+n)*k*k + 4.0/3*k*k*k},
		{"orglq", orglq(m, n, k), 4*m*n*k - 2*(m+n)*k*k + 4.0/3*k*k*k},
		{"ormqr left", ormqr(blas.Left, m, n, k), 2 * n * k * (2*m - k)},
		{"ormqr right", ormqr(blas.Right, m, n, k), 2 * m * k * (2*n - k)},
	} {
		if r := float64(c.got) / c.want; r < 0.999 || r > 1.001 {
			t.Errorf("%s: %d, the leading terms give %.0f", c.name, c.got, c.want)
		}
	}
	for typ, want := range map[lapack.MatrixNorm]int64{lapack.MaxAbs: 0, lapack.MaxColumnSum: 12, lapack.MaxRowSum: 12, lapack.Frobenius: 24} {
		if got := normFLOPs(typ, 12); got != want {
			t.Errorf("norm %c: %d, want %d", typ, got, want)
		}
	}
}

// TestThroughMat uses gonum as programs do.
func TestThroughMat(t *testing.T) {
	a := mat.NewDense(3, 2, []float64{1, 2, 3, 4, 5, 6})
	var c, plain mat.Dense
	plain.Mul(a, a.T())
	var chol mat.Cholesky
	s := mat.NewSymDense(2, []float64{4, 1, 1, 3})
	got := recorded(t, func() {
		c.Mul(a, a.T())
		chol.Factorize(s)
	})
	if !mat.Equal(&c, &plain) {
		t.Error("the result differs from the unrecorded one")
	}
	if len(got) == 0 || got[0].name != "blas.Dgemm" || got[0].flops != loopGemm(3, 3, 2).real() {
		t.Errorf("recorded %+v", got)
	}
	found := map[string]int64{}
	for _, o := range got {
		found[o.name] = o.flops
	}
	if found["lapack.Dpotrf"] != loopCholesky(2, 2).real() {
		t.Errorf("recorded %+v", got)
	}
}

func TestPanicsPassThrough(t *testing.T) {
	got := recorded(t, func() {
		defer func() {
			if recover() == nil {
				t.Error("no panic")
			}
		}()
		blas64.Implementation().Dscal(-1, 2, nil, 1)
	})
	if len(got) != 1 || got[0].name != "blas.Dscal" || got[0].flops != 0 {
		t.Errorf("recorded %+v", got)
	}
}

func TestInstallTwice(t *testing.T) {
	Install()
	got := recorded(t, func() { blas64.Implementation().Dscal(1, 2, []float64{1}, 1) })
	if len(got) != 1 {
		t.Errorf("recorded %+v", got)
	}
}

func TestWorkspaceQueriesAreNotRecorded(t *testing.T) {
	l := Float64LAPACK(fakeLAPACK{})
	got := recorded(t, func() {
		l.Dgeqrf(4, 4, nil, 4, nil, make([]float64, 1), -1)
		l.Dgeqrf(4, 4, nil, 4, nil, make([]float64, 1), 4)
	})
	if len(got) != 1 || got[0].flops != geqrf(4, 4) {
		t.Errorf("recorded %+v", got)
	}
}

// fakeLAPACK computes nothing.
type fakeLAPACK struct{ lapack.Float64 }

func (fakeLAPACK) Dgeqrf(m, n int, a []float64, lda int, tau, work []float64, lwork int) {}

// TestEveryMethodRecords: the wrappers hold their implementations in a field instead of embedding them, so the compiler
// makes sure that there is a wrapper for every method; here each must begin an operator of its own name.
func TestEveryMethodRecords(t *testing.T) {
	methods := 0
	for _, file := range []string{"blas_gen.go", "lapack_gen.go"} {
		f, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range f.Decls {
			fn, ok := d.(*ast.FuncDecl)
			if !ok {
				continue
			}
			methods++
			found := false
			ast.Inspect(fn, func(n ast.Node) bool {
				if c, ok := n.(*ast.CallExpr); ok {
					if id, ok := c.Fun.(*ast.Ident); ok && (id.Name == "begin" || id.Name == "estimate") {
						name := c.Args[0].(*ast.BasicLit).Value
						found = name == fmt.Sprintf("%q", "blas."+fn.Name.Name) || name == fmt.Sprintf("%q", "lapack."+fn.Name.Name)
					}
				}
				return true
			})
			if !found {
				t.Errorf("%s does not record itself", fn.Name.Name)
			}
		}
	}
	want := 0
	for _, i := range []any{(*blas.Float32)(nil), (*blas.Float64)(nil), (*blas.Complex64)(nil), (*blas.Complex128)(nil), (*lapack.Float64)(nil)} {
		want += reflect.TypeOf(i).Elem().NumMethod()
	}
	if methods != want {
		t.Errorf("%d wrappers for %d methods", methods, want)
	}
}

func BenchmarkDscal(b *testing.B) {
	x := make([]float64, 8)
	plain := gonum.Implementation{}
	wrapped := Float64(plain)
	b.Run("plain", func(b *testing.B) {
		for b.Loop() {
			plain.Dscal(len(x), 1, x, 1)
		}
	})
	b.Run("off", func(b *testing.B) {
		for b.Loop() {
			wrapped.Dscal(len(x), 1, x, 1)
		}
	})
	b.Run("on", func(b *testing.B) {
		p, err := profiler.Start(profiler.Options{Activities: profiler.CPU, RecordShapes: true, WithFLOPs: true, MaxEvents: 1 << 16})
		if err != nil {
			b.Fatal(err)
		}
		defer p.Stop()
		b.ReportAllocs()
		for b.Loop() {
			wrapped.Dscal(len(x), 1, x, 1)
		}
	})
}
