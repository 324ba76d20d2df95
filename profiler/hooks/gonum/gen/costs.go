package main

// cost is what a routine costs, as Go expressions over its parameters: FLOPs, elements read and written, and the shapes of
// its operands as a list of []int. FLOPs that begin with ~ are an estimate. K stands for the element type's kind. The functions are those of flops.go.
type cost struct{ flops, elems, shapes string }

const (
	vec1 = "[]int{n}"
	vec2 = "[]int{n}, []int{n}"
)

// costs of all routines by name without the letter of the element type.
var costs = map[string]cost{
	// BLAS level 1
	"dot":      {"K.muladd(prod(n))", "2*prod(n)", vec2},
	"dotu":     {"K.muladd(prod(n))", "2*prod(n)", vec2},
	"dotc":     {"K.muladd(prod(n))", "2*prod(n)", vec2},
	"nrm2":     {"2*K.parts*prod(n)", "prod(n)", vec1},
	"asum":     {"K.parts*prod(n)", "prod(n)", vec1},
	"iamax":    {"0", "prod(n)", vec1},
	"swap":     {"0", "4*prod(n)", vec2},
	"copy":     {"0", "2*prod(n)", vec2},
	"axpy":     {"K.muladd(prod(n))", "3*prod(n)", vec2},
	"rotg":     {"0", "0", ""},
	"rotmg":    {"0", "0", ""},
	"rot":      {"6*prod(n)", "4*prod(n)", vec2},
	"rotm":     {"rotm(n, p.Flag)", "4*prod(n)", vec2},
	"scal":     {"K.mul*prod(n)", "2*prod(n)", vec1},
	"realscal": {"K.parts*prod(n)", "2*prod(n)", vec1},

	// BLAS level 2
	"gemv": {"K.muladd(prod(m, n))", "prod(m, n)+prod(pick(tA, n, m))+prod(pick(tA, m, n))+if1(beta != 0, prod(pick(tA, m, n)))", "[]int{m, n}, []int{pick(tA, n, m)}, []int{pick(tA, m, n)}"},
	"gbmv": {"K.muladd(band(m, n, kL, kU))", "band(m, n, kL, kU)+prod(pick(tA, n, m))+prod(pick(tA, m, n))+if1(beta != 0, prod(pick(tA, m, n)))", "[]int{m, n}, []int{pick(tA, n, m)}, []int{pick(tA, m, n)}"},
	"trmv": {"K.triangle(d, half(n), n, 1)", "half(n)+2*prod(n)", "[]int{n, n}, []int{n}"},
	"tpmv": {"K.triangle(d, half(n), n, 1)", "half(n)+2*prod(n)", "[]int{n, n}, []int{n}"},
	"trsv": {"K.triangle(d, half(n), n, 1)", "half(n)+2*prod(n)", "[]int{n, n}, []int{n}"},
	"tpsv": {"K.triangle(d, half(n), n, 1)", "half(n)+2*prod(n)", "[]int{n, n}, []int{n}"},
	"tbmv": {"K.triangle(d, bandHalf(n, k), n, 1)", "bandHalf(n, k)+2*prod(n)", "[]int{n, n}, []int{n}"},
	"tbsv": {"K.triangle(d, bandHalf(n, k), n, 1)", "bandHalf(n, k)+2*prod(n)", "[]int{n, n}, []int{n}"},
	"symv": symv, "hemv": symv, "spmv": symv, "hpmv": symv,
	"sbmv": sbmv, "hbmv": sbmv,
	"ger": ger, "geru": ger, "gerc": ger,
	"syr": syr, "spr": syr, "her": syr, "hpr": syr,
	"syr2": syr2, "spr2": syr2, "her2": syr2, "hpr2": syr2,

	// BLAS level 3
	"gemm": {"K.muladd(prod(m, n, k))", "prod(m, k)+prod(k, n)+prod(m, n)+if1(beta != 0, prod(m, n))", "op(tA, m, k), op(tB, k, n), []int{m, n}"},
	"symm": symm, "hemm": symm,
	"syrk": syrk, "herk": syrk,
	"syr2k": syr2k, "her2k": syr2k,
	"trmm": trmm, "trsm": trmm,

	// LAPACK; 0 FLOPs where there are none, or nothing is known
	"gecon":  {"~inverseNorm(2*prod(n, n))", "prod(n, n)", "[]int{n, n}"},
	"geev":   {"~geev(jobvl, jobvr, n)", "2*prod(n, n)", "[]int{n, n}"},
	"gels":   {"gels(m, n, nrhs)", "2*prod(m, n)+2*prod(max(m, n), nrhs)", "[]int{m, n}, []int{max(m, n), nrhs}"},
	"gelqf":  {"gelqf(m, n)", "2*prod(m, n)", "[]int{m, n}"},
	"geqp3":  {"geqrf(m, n)", "2*prod(m, n)", "[]int{m, n}"},
	"geqrf":  {"geqrf(m, n)", "2*prod(m, n)", "[]int{m, n}"},
	"gesvd":  {"~gesvd(jobU, jobVT, m, n)", "2*prod(m, n)", "[]int{m, n}"},
	"getrf":  {"getrf(m, n)", "2*prod(m, n)", "[]int{m, n}"},
	"getri":  {"getri(n)", "2*prod(n, n)", "[]int{n, n}"},
	"getrs":  {"prod(nrhs)*(prod(n, n)+prod(n, n-1))", "prod(n, n)+2*prod(n, nrhs)", "[]int{n, n}, []int{n, nrhs}"},
	"ggsvd3": {"0", "2*prod(m, n)+2*prod(p, n)", "[]int{m, n}, []int{p, n}"},
	"lantr":  {"normFLOPs(norm, trapezoid(uplo, m, n))", "trapezoid(uplo, m, n)", "[]int{m, n}"},
	"lange":  {"normFLOPs(norm, prod(m, n))", "prod(m, n)", "[]int{m, n}"},
	"lansy":  {"normFLOPs(norm, prod(n, n))", "half(n)", "[]int{n, n}"},
	"lapmr":  {"0", "2*prod(m, n)", "[]int{m, n}"},
	"lapmt":  {"0", "2*prod(m, n)", "[]int{m, n}"},
	"orgqr":  {"orgqr(m, n, k)", "2*prod(m, n)", "[]int{m, n}"},
	"ormqr":  {"ormqr(side, m, n, k)", "prod(order(side, m, n), k)+2*prod(m, n)", "[]int{order(side, m, n), k}, []int{m, n}"},
	"orglq":  {"orglq(m, n, k)", "2*prod(m, n)", "[]int{m, n}"},
	"ormlq":  {"ormqr(side, m, n, k)", "prod(order(side, m, n), k)+2*prod(m, n)", "[]int{k, order(side, m, n)}, []int{m, n}"},
	"pbcon":  {"~inverseNorm(4*bandHalf(n, kd))", "bandHalf(n, kd)", "[]int{n, n}"},
	"pbtrf":  {"potrf(n, kd)", "2*bandHalf(n, kd)", "[]int{n, n}"},
	"pbtrs":  {"2*K.triangle(blas.NonUnit, bandHalf(n, kd), n, nrhs)", "bandHalf(n, kd)+2*prod(n, nrhs)", "[]int{n, n}, []int{n, nrhs}"},
	"pocon":  {"~inverseNorm(2*prod(n, n))", "half(n)", "[]int{n, n}"},
	"potrf":  {"potrf(n, n)", "2*half(n)", "[]int{n, n}"},
	"potri":  {"potri(n)", "2*half(n)", "[]int{n, n}"},
	"potrs":  {"2*K.triangle(blas.NonUnit, half(n), n, nrhs)", "half(n)+2*prod(n, nrhs)", "[]int{n, n}, []int{n, nrhs}"},
	"pstrf":  {"~potrf(n, n)", "2*half(n)", "[]int{n, n}"},
	"syev":   {"~syev(jobz, n)", "2*prod(n, n)", "[]int{n, n}"},
	"tbtrs":  {"K.triangle(diag, bandHalf(n, kd), n, nrhs)", "bandHalf(n, kd)+2*prod(n, nrhs)", "[]int{n, n}, []int{n, nrhs}"},
	"trcon":  {"~inverseNorm(prod(n, n))", "half(n)", "[]int{n, n}"},
	"trtri":  {"trtri(n)", "2*half(n)", "[]int{n, n}"},
	"trtrs":  {"K.triangle(diag, half(n), n, nrhs)", "half(n)+2*prod(n, nrhs)", "[]int{n, n}, []int{n, nrhs}"},
}

var (
	symv  = cost{"K.muladd(prod(n, n))", "half(n)+2*prod(n)+if1(beta != 0, prod(n))", "[]int{n, n}, []int{n}, []int{n}"}
	sbmv  = cost{"K.muladd(2*bandHalf(n, k)-prod(n))", "bandHalf(n, k)+2*prod(n)+if1(beta != 0, prod(n))", "[]int{n, n}, []int{n}, []int{n}"}
	ger   = cost{"K.muladd(prod(m, n))", "2*prod(m, n)+prod(m)+prod(n)", "[]int{m}, []int{n}, []int{m, n}"}
	syr   = cost{"K.muladd(half(n))", "2*half(n)+prod(n)", "[]int{n}, []int{n, n}"}
	syr2  = cost{"K.muladd(2*half(n))", "2*half(n)+2*prod(n)", "[]int{n}, []int{n}, []int{n, n}"}
	symm  = cost{"K.symmetric(s, m, n)", "half(order(s, m, n))+2*prod(m, n)+if1(beta != 0, prod(m, n))", "[]int{order(s, m, n), order(s, m, n)}, []int{m, n}, []int{m, n}"}
	syrk  = cost{"K.muladd(half(n)*prod(k))", "prod(n, k)+half(n)+if1(beta != 0, half(n))", "op(t, n, k), []int{n, n}"}
	syr2k = cost{"K.muladd(2*half(n)*prod(k))", "2*prod(n, k)+half(n)+if1(beta != 0, half(n))", "op(t, n, k), op(t, n, k), []int{n, n}"}
	trmm  = cost{"K.triangular(s, d, m, n)", "half(order(s, m, n))+2*prod(m, n)", "[]int{order(s, m, n), order(s, m, n)}, []int{m, n}"}
)
