package gonum

import (
	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/lapack"
)

// kind is an element type and what its arithmetic costs.
type kind struct {
	size     int64 // bytes
	mul, add int64 // FLOPs of one multiplication and one addition
	parts    int64 // real numbers of an element
	types    [4]string
}

var (
	f32  = &kind{4, 1, 1, 1, [4]string{"float32", "float32", "float32", "float32"}}
	f64  = &kind{8, 1, 1, 1, [4]string{"float64", "float64", "float64", "float64"}}
	c64  = &kind{8, 6, 2, 2, [4]string{"complex64", "complex64", "complex64", "complex64"}}
	c128 = &kind{16, 6, 2, 2, [4]string{"complex128", "complex128", "complex128", "complex128"}}
)

// muladd is n multiplications and n additions; elements are counted in int64 because products of dimensions are.
func (k *kind) muladd(n int64) int64 { return n * (k.mul + k.add) }

func prod(dims ...int) int64 {
	p := int64(1)
	for _, d := range dims {
		p *= int64(d)
	}
	return p
}

// half is the number of elements of a triangle with its diagonal: n(n+1)/2.
func half(n int) int64 { return prod(n, n+1) / 2 }

// band is the number of elements of an m by n matrix within kL diagonals below and kU above the main one.
func band(m, n, kL, kU int) (elems int64) {
	for d := -kL; d <= kU; d++ {
		elems += int64(max(0, min(m, n-d)-max(0, -d)))
	}
	return elems
}

// bandHalf is band for a triangle of order n with k diagonals beside the main one.
func bandHalf(n, k int) int64 { return band(n, n, 0, min(k, max(0, n-1))) }

// triangle is the product of a triangle of elems elements and order n with r vectors, or the solution of such a system:
// a multiplication for each element and an addition for each but the first of a row. A unit diagonal is not multiplied.
func (k *kind) triangle(d blas.Diag, elems int64, n, r int) int64 {
	off := elems - int64(n)
	if d == blas.Unit {
		return int64(r) * (off*k.mul + off*k.add)
	}
	return int64(r) * (elems*k.mul + off*k.add)
}

// sided is the order of the square operand of symm, trmm and their kin, and the number of vectors it works on.
func sided(s blas.Side, m, n int) (order, vectors int) {
	if s == blas.Left {
		return m, n
	}
	return n, m
}

func (k *kind) symmetric(s blas.Side, m, n int) int64 {
	order, vectors := sided(s, m, n)
	return k.muladd(prod(order, order, vectors))
}

func (k *kind) triangular(s blas.Side, d blas.Diag, m, n int) int64 {
	order, vectors := sided(s, m, n)
	return k.triangle(d, half(order), order, vectors)
}

// order is the first result of sided.
func order(s blas.Side, m, n int) int {
	o, _ := sided(s, m, n)
	return o
}

// rotm applies a modified Givens rotation to n pairs. A diagonal of ones (OffDiagonal) and off-diagonals of plus and
// minus one (Diagonal) are not multiplied.
func rotm(n int, f blas.Flag) int64 {
	switch f {
	case blas.Identity:
		return 0
	case blas.Rescaling:
		return 6 * int64(n)
	}
	return 4 * int64(n)
}

// if1 is n when the operand is read as well as written.
func if1(read bool, n int64) int64 {
	if read {
		return n
	}
	return 0
}

// op is the stored shape of an operand that is r by c after the transposition.
func op(t blas.Transpose, r, c int) []int {
	if t == blas.NoTrans {
		return []int{r, c}
	}
	return []int{c, r}
}

// pick is a without transposition, b with it.
func pick(t blas.Transpose, a, b int) int {
	if t == blas.NoTrans {
		return a
	}
	return b
}

// getrf is LU factorisation by columns: step k takes a reciprocal, scales m-k elements and updates (m-k)(n-k).
func getrf(m, n int) (flops int64) {
	for k := 1; k <= min(m, n); k++ {
		flops += 1 + int64(m-k) + 2*prod(m-k, n-k)
	}
	return flops
}

// potrf is Cholesky factorisation within kd diagonals: step j takes a square root, scales l elements and updates a
// triangle of order l. For a full matrix that is n(n+1)(n+2)/6 multiplications and (n-1)n(n+1)/6 additions.
func potrf(n, kd int) (flops int64) {
	for j := range n {
		l := min(kd, n-1-j)
		flops += 1 + int64(l) + 2*half(l)
	}
	return flops
}

// getri inverts from the LU factors; LAWN 41: 2n^3/3+n^2/2+5n/6 multiplications, 2n^3/3-3n^2/2+5n/6 additions.
func getri(n int) int64 { return (8*prod(n, n, n) - 6*prod(n, n) + 10*int64(n)) / 6 }

// potri inverts from the Cholesky factor; LAWN 41: n^3/3+n^2+2n/3 multiplications, n^3/3-n^2/2+n/6 additions.
func potri(n int) int64 { return (4*prod(n, n, n) + 3*prod(n, n) + 5*int64(n)) / 6 }

// trtri inverts a triangle; LAWN 41: n^3/6+n^2/2+n/3 multiplications, n^3/6-n^2/2+n/3 additions.
func trtri(n int) int64 { return (prod(n, n, n) + 2*int64(n)) / 3 }

// geqrf is QR factorisation; LAWN 41, times 6 to stay in integers.
func geqrf(m, n int) int64 {
	M, N := int64(m), int64(n)
	if m >= n {
		return (N*(N*(3-2*N+6*M)+6*M+23) + N*(N*(3-2*N+6*M)+5)) / 6
	}
	return (M*(M*(-3-2*M+6*N)+12*N+23) + M*(M*(-3-2*M+6*N)+6*N+5)) / 6
}

// gelqf is LQ factorisation; LAWN 41, times 6.
func gelqf(m, n int) int64 {
	M, N := int64(m), int64(n)
	if m >= n {
		return (N*(N*(3-2*N+6*M)+6*M+29) + N*(N*(-3-2*N+6*M)+6*M+5)) / 6
	}
	return (M*(M*(-3-2*M+6*N)+12*N+29) + M*(M*(3-2*M+6*N)+5)) / 6
}

// orgqr forms Q of a QR factorisation with k reflectors; LAWN 41, times 3.
func orgqr(m, n, k int) int64 {
	M, N, K := int64(m), int64(n), int64(k)
	return (K*(6*M*N+6*N-5+K*(2*K-3*(M+N)-3)) + K*(6*M*N+3*N-3*M+1+K*(2*K-3*(M+N)))) / 3
}

// orglq forms Q of an LQ factorisation with k reflectors; LAWN 41, times 3.
func orglq(m, n, k int) int64 {
	M, N, K := int64(m), int64(n), int64(k)
	return (K*(6*M*N+3*M+3*N-2+K*(2*K-3*(M+N)-3)) + K*(6*M*N+3*M-3*N+1+K*(2*K-3*(M+N)))) / 3
}

// ormqr applies Q with k reflectors to an m by n matrix; LAWN 41, times 2. It holds for LQ too.
func ormqr(s blas.Side, m, n, k int) int64 {
	M, N, K := int64(m), int64(n), int64(k)
	if s == blas.Left {
		return K*N*(2*M+2-K) + K*N*(2*M+1-K)
	}
	return K*(2*(M*(2*N-K)+M+N)+1-K)/2 + K*M*(2*N+1-K)
}

// gels solves least squares by QR or LQ: factorise, apply Q, solve a triangle.
func gels(m, n, nrhs int) int64 {
	if m >= n {
		return geqrf(m, n) + ormqr(blas.Left, m, nrhs, n) + f64.triangle(blas.NonUnit, half(n), n, nrhs)
	}
	return gelqf(m, n) + ormqr(blas.Left, n, nrhs, m) + f64.triangle(blas.NonUnit, half(m), m, nrhs)
}

// trapezoid is the number of elements of the upper or lower part of an m by n matrix.
func trapezoid(u blas.Uplo, m, n int) int64 {
	if u == blas.Upper {
		return band(m, n, 0, max(0, n-1))
	}
	return band(m, n, max(0, m-1), 0)
}

// normFLOPs is a matrix norm of elems elements: an addition for each, with a multiplication for the Frobenius norm; maxima
// have none.
func normFLOPs(t lapack.MatrixNorm, elems int64) int64 {
	switch t {
	case lapack.MaxAbs:
		return 0
	case lapack.Frobenius:
		return 2 * elems
	}
	return elems
}
