package nn

import "math"

// ReLU is max(x, 0).
type ReLU struct{ y *Tensor }

// Forward implements Module.
func (r *ReLU) Forward(x *Tensor) *Tensor {
	defer begin("nn.ReLU", x).End()
	y := Like(x)
	for i, v := range x.Data {
		if v > 0 {
			y.Data[i] = v
		}
	}
	r.y = y
	return y
}

// Backward implements Module.
func (r *ReLU) Backward(dy *Tensor) *Tensor {
	defer begin("nn.ReLU.backward", dy).End()
	dx := Like(dy)
	for i, v := range r.y.Data {
		if v > 0 {
			dx.Data[i] = dy.Data[i]
		}
	}
	r.y.Release()
	r.y = nil
	return dx
}

// Params implements Module.
func (*ReLU) Params() []*Param { return nil }

// MaxPool2d takes the maximum of each window; padding never wins.
type MaxPool2d struct {
	Kernel, Stride, Pad int
	shape               []int
	winner              []int32 // index of the maximum in its plane
}

// Forward implements Module.
func (p *MaxPool2d) Forward(x *Tensor) *Tensor {
	x.mustBe("MaxPool2d", 4)
	defer begin("nn.MaxPool2d", x).End()
	h, w := x.Dim(2), x.Dim(3)
	oh, ow := (h+2*p.Pad-p.Kernel)/p.Stride+1, (w+2*p.Pad-p.Kernel)/p.Stride+1
	planes := x.Dim(0) * x.Dim(1)
	y := New(x.Dim(0), x.Dim(1), oh, ow)
	p.shape, p.winner = x.Shape, make([]int32, planes*oh*ow)
	for pl := range planes {
		src := x.Data[pl*h*w : (pl+1)*h*w]
		for oy := range oh {
			for ox := range ow {
				best, at := float32(math.Inf(-1)), -1
				for ky := max(0, oy*p.Stride-p.Pad); ky < min(h, oy*p.Stride-p.Pad+p.Kernel); ky++ {
					for kx := max(0, ox*p.Stride-p.Pad); kx < min(w, ox*p.Stride-p.Pad+p.Kernel); kx++ {
						if v := src[ky*w+kx]; v > best || at < 0 {
							best, at = v, ky*w+kx
						}
					}
				}
				o := (pl*oh+oy)*ow + ox
				y.Data[o], p.winner[o] = best, int32(at)
			}
		}
	}
	return y
}

// Backward implements Module.
func (p *MaxPool2d) Backward(dy *Tensor) *Tensor {
	defer begin("nn.MaxPool2d.backward", dy).End()
	dx := New(append([]int(nil), p.shape...)...)
	hw, ohw := p.shape[2]*p.shape[3], dy.Dim(2)*dy.Dim(3)
	for o, d := range dy.Data {
		dx.Data[o/ohw*hw+int(p.winner[o])] += d
	}
	p.winner = nil
	return dx
}

// Params implements Module.
func (*MaxPool2d) Params() []*Param { return nil }

// GlobalAvgPool2d averages each plane: [N, C, H, W] to [N, C].
type GlobalAvgPool2d struct{ shape []int }

// Forward implements Module.
func (p *GlobalAvgPool2d) Forward(x *Tensor) *Tensor {
	x.mustBe("GlobalAvgPool2d", 4)
	defer begin("nn.GlobalAvgPool2d", x).End()
	p.shape = x.Shape
	hw := x.Dim(2) * x.Dim(3)
	y := New(x.Dim(0), x.Dim(1))
	for i := range y.Data {
		var s float64
		for _, v := range x.Data[i*hw : (i+1)*hw] {
			s += float64(v)
		}
		y.Data[i] = float32(s / float64(hw))
	}
	return y
}

// Backward implements Module.
func (p *GlobalAvgPool2d) Backward(dy *Tensor) *Tensor {
	defer begin("nn.GlobalAvgPool2d.backward", dy).End()
	dx := New(append([]int(nil), p.shape...)...)
	hw := p.shape[2] * p.shape[3]
	for i, d := range dy.Data {
		v := d / float32(hw)
		plane := dx.Data[i*hw : (i+1)*hw]
		for j := range plane {
			plane[j] = v
		}
	}
	return dx
}

// Params implements Module.
func (*GlobalAvgPool2d) Params() []*Param { return nil }

// Flatten turns [N, ...] into [N, product of the rest].
type Flatten struct{ shape []int }

// Forward implements Module. The output shares x's data.
func (f *Flatten) Forward(x *Tensor) *Tensor {
	f.shape = x.Shape
	return x.View(x.Dim(0), len(x.Data)/max(1, x.Dim(0)))
}

// Backward implements Module.
func (f *Flatten) Backward(dy *Tensor) *Tensor {
	dx := New(append([]int(nil), f.shape...)...)
	copy(dx.Data, dy.Data)
	return dx
}

// Params implements Module.
func (*Flatten) Params() []*Param { return nil }
