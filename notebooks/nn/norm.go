package nn

import "math"

// BatchNorm2d normalises each channel of [N, C, H, W] over the batch in training and by running statistics otherwise.
type BatchNorm2d struct {
	Weight, Bias  *Param // [C]
	Mean, Var     *Tensor
	Momentum, Eps float64
	Training      bool
	xhat          *Tensor
	inverse       []float64
}

// NewBatchNorm2d makes the identity with eps 1e-5 and momentum 0.1, in training.
func NewBatchNorm2d(channels int) *BatchNorm2d {
	b := &BatchNorm2d{Weight: newParam("weight", channels), Bias: newParam("bias", channels), Mean: New(channels), Var: New(channels), Momentum: 0.1, Eps: 1e-5, Training: true}
	for i := range channels {
		b.Weight.Value.Data[i], b.Var.Data[i] = 1, 1
	}
	return b
}

// Forward implements Module. In training the statistics are those of the batch (variance over N*H*W), and the running
// ones move towards them by Momentum (variance over N*H*W-1), as in Ioffe and Szegedy, arXiv:1502.03167.
func (b *BatchNorm2d) Forward(x *Tensor) *Tensor {
	x.mustBe("BatchNorm2d", 4)
	defer begin("nn.BatchNorm2d", x, b.Weight.Value).End()
	n, ch, hw := x.Dim(0), x.Dim(1), x.Dim(2)*x.Dim(3)
	y := Like(x)
	if b.Training {
		b.xhat, b.inverse = Like(x), make([]float64, ch)
	}
	m := float64(n * hw)
	for c := range ch {
		mean, variance := float64(b.Mean.Data[c]), float64(b.Var.Data[c])
		if b.Training {
			mean, variance = moments(x.Data, n, ch, hw, c)
			b.Mean.Data[c] += float32(b.Momentum * (mean - float64(b.Mean.Data[c])))
			b.Var.Data[c] += float32(b.Momentum * (variance*m/(m-1) - float64(b.Var.Data[c])))
		}
		inverse := 1 / math.Sqrt(variance+b.Eps)
		mu, iv, g, s := float32(mean), float32(inverse), b.Weight.Value.Data[c], b.Bias.Value.Data[c]
		if b.Training {
			b.inverse[c] = inverse
		}
		for i := range n {
			at := (i*ch + c) * hw
			src, dst := x.Data[at:at+hw], y.Data[at:at+hw]
			if b.Training {
				hat := b.xhat.Data[at : at+hw]
				for j, v := range src {
					h := (v - mu) * iv
					hat[j] = h
					dst[j] = g*h + s
				}
				continue
			}
			for j, v := range src {
				dst[j] = g*(v-mu)*iv + s
			}
		}
	}
	return y
}

// moments gives mean and variance of channel c.
func moments(data []float32, n, ch, hw, c int) (mean, variance float64) {
	m := float64(n * hw)
	for i := range n {
		for _, v := range data[(i*ch+c)*hw : (i*ch+c+1)*hw] {
			mean += float64(v)
		}
	}
	mean /= m
	for i := range n {
		for _, v := range data[(i*ch+c)*hw : (i*ch+c+1)*hw] {
			d := float64(v) - mean
			variance += d * d
		}
	}
	return mean, variance / m
}

// Backward implements Module, for training:
// dx = weight/sqrt(var+eps) * (dy - mean(dy) - xhat*mean(dy*xhat)).
func (b *BatchNorm2d) Backward(dy *Tensor) *Tensor {
	if b.xhat == nil {
		panic("nn: BatchNorm2d.Backward needs a Forward in training before it")
	}
	defer begin("nn.BatchNorm2d.backward", dy, b.Weight.Value).End()
	n, ch, hw := dy.Dim(0), dy.Dim(1), dy.Dim(2)*dy.Dim(3)
	dx := Like(dy)
	m := float64(n * hw)
	for c := range ch {
		var sum, dot float64
		for i := range n {
			at := (i*ch + c) * hw
			hat := b.xhat.Data[at : at+hw]
			for j, d := range dy.Data[at : at+hw] {
				sum += float64(d)
				dot += float64(d) * float64(hat[j])
			}
		}
		b.Bias.Grad.Data[c] += float32(sum)
		b.Weight.Grad.Data[c] += float32(dot)
		k := float32(float64(b.Weight.Value.Data[c]) * b.inverse[c])
		meanD, meanDot := float32(sum/m), float32(dot/m)
		for i := range n {
			at := (i*ch + c) * hw
			hat, dst := b.xhat.Data[at:at+hw], dx.Data[at:at+hw]
			for j, d := range dy.Data[at : at+hw] {
				dst[j] = k * (d - meanD - hat[j]*meanDot)
			}
		}
	}
	b.xhat.Release()
	b.xhat = nil
	return dx
}

// Params implements Module.
func (b *BatchNorm2d) Params() []*Param { return []*Param{b.Weight, b.Bias} }
