package gonum

import "gonum.org/v1/gonum/lapack"

// Estimates of work that depends on the data, by orders of magnitude of the dimensions. Iterations of the QR algorithm converge in
// about two steps for each value on matrices that nobody made to be difficult; that is in the figures. Sources: Golub and Van Loan,
// Matrix Computations, 4th edition (GVL), and Higham, Accuracy and Stability of Numerical Algorithms, 2nd edition.

// syev is the symmetric QR algorithm, GVL 8.3: 4n^3/3 for the values, 9n^3 with the vectors.
func syev(job lapack.EVJob, n int) int64 {
	if job == lapack.EVNone {
		return 4 * prod(n, n, n) / 3
	}
	return 9 * prod(n, n, n)
}

// geev is the unsymmetric QR algorithm, GVL 7.5.6: 10n^3 for the values, 25n^3 with the Schur form and its basis. Vectors come
// from the Schur form by back substitution and a product with the basis, 4n^3/3 for each side.
func geev(left lapack.LeftEVJob, right lapack.RightEVJob, n int) int64 {
	cube := prod(n, n, n)
	sides := int64(0)
	if left == lapack.LeftEVCompute {
		sides++
	}
	if right == lapack.RightEVCompute {
		sides++
	}
	if sides == 0 {
		return 10 * cube
	}
	return 25*cube + 4*sides*cube/3
}

// gesvd is the singular value decomposition, GVL figure 8.6.1: by Golub and Reinsch, or after a QR factorisation where LAPACK
// begins with one (m >= 1.6n). A wide matrix is decomposed as its transpose.
func gesvd(jobU, jobVT lapack.SVDJob, m, n int) int64 {
	if m < n {
		m, n, jobU, jobVT = n, m, jobVT, jobU
	}
	tall := 10*m >= 16*n
	mnn, nnn, mmn := prod(m, n, n), prod(n, n, n), prod(m, m, n)
	pick := func(reinsch, qr int64) int64 {
		if tall {
			return qr
		}
		return reinsch
	}
	v := jobVT != lapack.SVDNone
	switch {
	case jobU == lapack.SVDNone && !v:
		return pick(4*mnn-4*nnn/3, 2*mnn+2*nnn)
	case jobU == lapack.SVDNone:
		return pick(4*mnn+8*nnn, 2*mnn+11*nnn)
	case jobU == lapack.SVDAll && v:
		return pick(4*mmn+8*mnn+9*nnn, 4*mmn+22*nnn)
	case jobU == lapack.SVDAll:
		return pick(4*mmn+8*mnn, 4*mmn+13*nnn)
	case v:
		return pick(14*mnn+8*nnn, 6*mnn+20*nnn)
	}
	return pick(14*mnn-2*nnn, 6*mnn+11*nnn)
}

// inverseNorm is the estimate of a norm of the inverse by products with it, each of which costs that many FLOPs: four or five on average,
// Higham 15.3.
func inverseNorm(product int64) int64 { return 5 * product }
