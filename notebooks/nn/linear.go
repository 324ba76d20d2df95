package nn

import (
	"fmt"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas32"
)

// Linear is y = x W^T + b over [N, In].
type Linear struct {
	Weight *Param // [Out, In]
	Bias   *Param // [Out]
	x      *Tensor
}

// NewLinear makes a fully connected layer.
func NewLinear(r *rand.Rand, in, out int) *Linear {
	l := &Linear{Weight: newParam("weight", out, in), Bias: newParam("bias", out)}
	initNormal(r, l.Weight.Value, math.Sqrt(1/float64(in)))
	return l
}

// Forward implements Module.
func (l *Linear) Forward(x *Tensor) *Tensor {
	x.mustBe("Linear", 2)
	defer begin("nn.Linear", x, l.Weight.Value).End()
	l.x = x
	n, in, out := x.Dim(0), l.Weight.Value.Dim(1), l.Weight.Value.Dim(0)
	y := New(n, out)
	for i := range n {
		copy(y.Data[i*out:], l.Bias.Value.Data)
	}
	blas32.Gemm(blas.NoTrans, blas.Trans, 1, matrix(n, in, x.Data), matrix(out, in, l.Weight.Value.Data), 1, matrix(n, out, y.Data))
	return y
}

// Backward implements Module.
func (l *Linear) Backward(dy *Tensor) *Tensor {
	defer begin("nn.Linear.backward", dy, l.Weight.Value).End()
	n, in, out := dy.Dim(0), l.Weight.Value.Dim(1), l.Weight.Value.Dim(0)
	blas32.Gemm(blas.Trans, blas.NoTrans, 1, matrix(n, out, dy.Data), matrix(n, in, l.x.Data), 1, matrix(out, in, l.Weight.Grad.Data))
	for i, d := range dy.Data {
		l.Bias.Grad.Data[i%out] += d
	}
	dx := New(n, in)
	blas32.Gemm(blas.NoTrans, blas.NoTrans, 1, matrix(n, out, dy.Data), matrix(out, in, l.Weight.Value.Data), 0, matrix(n, in, dx.Data))
	l.x.done()
	l.x = nil
	return dx
}

// Params implements Module.
func (l *Linear) Params() []*Param { return []*Param{l.Weight, l.Bias} }

// CrossEntropy gives the mean over the batch of -log softmax(logits)[target], and its gradient by the logits [N, classes].
func CrossEntropy(logits *Tensor, target []int) (loss float64, grad *Tensor) {
	logits.mustBe("CrossEntropy", 2)
	n, classes := logits.Dim(0), logits.Dim(1)
	if len(target) != n {
		panic(fmt.Sprintf("nn: CrossEntropy got %d targets for %d rows", len(target), n))
	}
	defer begin("nn.CrossEntropy", logits).End()
	grad = Like(logits)
	for i, t := range target {
		row, g := logits.Data[i*classes:(i+1)*classes], grad.Data[i*classes:(i+1)*classes]
		top := math.Inf(-1)
		for _, v := range row {
			top = max(top, float64(v))
		}
		var sum float64
		for _, v := range row {
			sum += math.Exp(float64(v) - top)
		}
		for j, v := range row {
			g[j] = float32(math.Exp(float64(v)-top) / sum / float64(n))
		}
		g[t] -= float32(1 / float64(n))
		loss += math.Log(sum) + top - float64(row[t])
	}
	return loss / float64(n), grad
}
