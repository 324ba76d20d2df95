package gonum

import (
	"math/rand/v2"
	"strings"
	"testing"

	"gonum.org/v1/gonum/lapack"
	"gonum.org/v1/gonum/mat"

	"github.com/gander-go/gander/profiler"
	"github.com/gander-go/gander/profiler/analyze"
)

// The figures of the books, typed in again.
func TestEstimates(t *testing.T) {
	const n = 30
	for _, c := range []struct {
		name      string
		got, want int64
	}{
		{"syev values", syev(lapack.EVNone, n), 36_000},
		{"syev vectors", syev(lapack.EVCompute, n), 243_000},
		{"geev values", geev(lapack.LeftEVNone, lapack.RightEVNone, n), 270_000},
		{"geev right", geev(lapack.LeftEVNone, lapack.RightEVCompute, n), 711_000},
		{"geev both", geev(lapack.LeftEVCompute, lapack.RightEVCompute, n), 747_000},
		{"gesvd values", gesvd(lapack.SVDNone, lapack.SVDNone, n, n), 72_000},
		{"gesvd values, tall", gesvd(lapack.SVDNone, lapack.SVDNone, 60, n), 162_000},
		{"gesvd thin", gesvd(lapack.SVDStore, lapack.SVDStore, n, n), 594_000},
		{"gesvd full", gesvd(lapack.SVDAll, lapack.SVDAll, n, n), 567_000},
		{"gesvd full, tall", gesvd(lapack.SVDAll, lapack.SVDAll, 60, n), 1_026_000},
		{"inverse norm", inverseNorm(2 * n * n), 9000},
	} {
		if c.got != c.want {
			t.Errorf("%s: %d, want %d", c.name, c.got, c.want)
		}
	}
	for _, u := range []lapack.SVDJob{lapack.SVDNone, lapack.SVDStore, lapack.SVDAll} {
		for _, v := range []lapack.SVDJob{lapack.SVDNone, lapack.SVDStore} {
			if a, b := gesvd(u, v, 50, 20), gesvd(v, u, 20, 50); a != b && v == lapack.SVDNone {
				t.Errorf("gesvd(%c, %c) of a matrix is %d, of its transpose %d", u, v, a, b)
			}
		}
	}
}

// An estimate must hold what the BLAS calls in the routine are known to compute, and be of that order: rotations, which
// gonum applies without BLAS, are most of the rest.
func TestEstimatesHoldTheirCalls(t *testing.T) {
	const n = 96
	random := rand.New(rand.NewPCG(1, 2))
	dense := func(r, c int) *mat.Dense {
		a := mat.NewDense(r, c, nil)
		for i := range r {
			for j := range c {
				a.Set(i, j, random.NormFloat64())
			}
		}
		return a
	}
	sym := mat.NewSymDense(n, nil)
	for i := range n {
		for j := i; j < n; j++ {
			sym.SetSym(i, j, random.NormFloat64())
		}
	}
	for _, c := range []struct {
		name, op string
		run      func()
	}{
		{"svd values", "lapack.Dgesvd", func() { new(mat.SVD).Factorize(dense(n, n), mat.SVDNone) }},
		{"svd thin", "lapack.Dgesvd", func() { new(mat.SVD).Factorize(dense(n, n), mat.SVDThin) }},
		{"svd thin, tall", "lapack.Dgesvd", func() { new(mat.SVD).Factorize(dense(3*n, n), mat.SVDThin) }},
		{"svd full, wide", "lapack.Dgesvd", func() { new(mat.SVD).Factorize(dense(n, 2*n), mat.SVDFull) }},
		{"symmetric values", "lapack.Dsyev", func() { new(mat.EigenSym).Factorize(sym, false) }},
		{"symmetric vectors", "lapack.Dsyev", func() { new(mat.EigenSym).Factorize(sym, true) }},
		{"values", "lapack.Dgeev", func() { new(mat.Eigen).Factorize(dense(n, n), mat.EigenNone) }},
		{"vectors", "lapack.Dgeev", func() { new(mat.Eigen).Factorize(dense(n, n), mat.EigenBoth) }},
		{"condition", "lapack.Dgecon", func() { new(mat.LU).Factorize(dense(n, n)) }},
	} {
		p, err := profiler.Start(profiler.Options{Activities: profiler.CPU, WithFLOPs: true})
		if err != nil {
			t.Fatal(err)
		}
		c.run()
		p.Stop()
		var about, known int64
		for _, r := range p.KeyAverages().Rows {
			switch {
			case r.Key == c.op:
				about = r.FLOPs
				if r.About != r.FLOPs || r.Count != 1 {
					t.Errorf("%s: %d of %d FLOPs are marked as an estimate, in %d calls", c.name, r.About, r.FLOPs, r.Count)
				}
			case strings.HasPrefix(r.Key, "blas.") && c.op != "lapack.Dgecon":
				known += r.FLOPs
			}
			if r.Key != c.op && r.About != 0 && !strings.HasSuffix(r.Key, "con") {
				t.Errorf("%s: FLOPs of %s are an estimate", c.name, r.Key)
			}
		}
		t.Logf("%s: %d FLOPs, %d of them in BLAS", c.name, about, known)
		if about == 0 || float64(about) < 0.7*float64(known) || known > 0 && about > 6*known {
			t.Errorf("%s: an estimate of %d FLOPs, of which the BLAS calls are %d", c.name, about, known)
		}
		if table, err := (&analyze.Averages{Rows: p.KeyAverages().Rows, HasFLOPs: true}).Table(analyze.TableOptions{}); err != nil || !strings.Contains(table, "~0.0") {
			t.Errorf("%s: the table does not mark the estimate (%v):\n%s", c.name, err, table)
		}
	}
}
