// Package gonum records the BLAS and LAPACK calls of gonum as operators with shapes, FLOPs and bytes. Importing it is
// enough:
//
//	import _ "github.com/gander-go/gander/profiler/hooks/gonum"
//
// It wraps the implementations that blas32, blas64, cblas64, cblas128 and lapack64 use at that time; a program that sets
// others later calls Install again or wraps them itself. A call costs under ten nanoseconds more while nothing is recorded.
// Element-wise operations of package mat have loops of their own and are not seen; calls of LAPACK to BLAS are: they
// are children of the LAPACK operator.
//
// # What FLOPs mean
//
// FLOPs are the floating-point operations of the textbook algorithm, from dimensions alone; scaling by alpha and beta is
// not counted, so that gemm is 2mnk as everywhere. A complex multiplication counts 6 and a complex addition 2; divisions
// and square roots count as multiplications. Counts of BLAS and of triangular, Cholesky and LU routines are sums over the
// algorithm's loops; those of QR and LQ are the ones of LAPACK Working Note 41 (Blackford and Dongarra, Installation
// Guide for LAPACK, appendix C). Routines whose work depends on the data (eigenvalues, singular values, condition
// numbers, pivoted Cholesky) have estimates, marked as such, from the tables of Golub and Van Loan, Matrix Computations; see
// estimates.go. Nothing is known of the generalised singular value decomposition: its row shows no FLOPs. FLOPs of a LAPACK operator include those of the BLAS
// calls in it, so rows of both must not be added up.
//
// Bytes are those of the operands, each read or written once; what is read and written counts twice.
//
// The invariant: results are those of the wrapped implementation, bit for bit.
package gonum

//go:generate go run ./gen
