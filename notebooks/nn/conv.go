package nn

import (
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas32"
)

// Conv2d is a two-dimensional convolution over [N, Cin, H, W], as a matrix product of the weights [Cout, Cin*K*K] with
// the unfolded image [Cin*K*K, Hout*Wout], image by image.
type Conv2d struct {
	In, Out, Kernel, Stride, Pad int
	Weight                       *Param // [Out, In, Kernel, Kernel]
	Bias                         *Param // [Out], or nil

	x *Tensor
}

// NewConv2d makes a convolution with He-initialised weights.
func NewConv2d(r *rand.Rand, in, out, kernel, stride, pad int, bias bool) *Conv2d {
	c := &Conv2d{In: in, Out: out, Kernel: kernel, Stride: stride, Pad: pad, Weight: newParam("weight", out, in, kernel, kernel)}
	initNormal(r, c.Weight.Value, math.Sqrt(2/float64(in*kernel*kernel)))
	if bias {
		c.Bias = newParam("bias", out)
	}
	return c
}

func initNormal(r *rand.Rand, t *Tensor, std float64) {
	for i := range t.Data {
		t.Data[i] = float32(r.NormFloat64() * std)
	}
}

// OutSize is the output height or width for an input of size n.
func (c *Conv2d) OutSize(n int) int { return (n+2*c.Pad-c.Kernel)/c.Stride + 1 }

// Forward implements Module.
func (c *Conv2d) Forward(x *Tensor) *Tensor {
	x.mustBe("Conv2d", 4)
	defer begin("nn.Conv2d", x, c.Weight.Value).End()
	c.x = x
	n, h, w := x.Dim(0), x.Dim(2), x.Dim(3)
	oh, ow := c.OutSize(h), c.OutSize(w)
	y := New(n, c.Out, oh, ow)
	weight := matrix(c.Out, c.In*c.Kernel*c.Kernel, c.Weight.Value.Data)
	cols := c.columns(oh, ow)
	defer cols.Release()
	for i := range n {
		image := c.unfold(x.Data[i*c.In*h*w:(i+1)*c.In*h*w], h, w, oh, ow, cols)
		out := matrix(c.Out, oh*ow, y.Data[i*c.Out*oh*ow:(i+1)*c.Out*oh*ow])
		blas32.Gemm(blas.NoTrans, blas.NoTrans, 1, weight, image, 0, out)
		if c.Bias != nil {
			addRows(out, c.Bias.Value.Data)
		}
	}
	return y
}

// Backward implements Module.
func (c *Conv2d) Backward(dy *Tensor) *Tensor {
	x := c.x
	defer begin("nn.Conv2d.backward", dy, c.Weight.Value).End()
	n, h, w := x.Dim(0), x.Dim(2), x.Dim(3)
	oh, ow := dy.Dim(2), dy.Dim(3)
	dx := Like(x)
	weight := matrix(c.Out, c.In*c.Kernel*c.Kernel, c.Weight.Value.Data)
	dweight := matrix(c.Out, c.In*c.Kernel*c.Kernel, c.Weight.Grad.Data)
	cols, dcols := c.columns(oh, ow), c.columns(oh, ow)
	defer cols.Release()
	defer dcols.Release()
	for i := range n {
		out := matrix(c.Out, oh*ow, dy.Data[i*c.Out*oh*ow:(i+1)*c.Out*oh*ow])
		image := c.unfold(x.Data[i*c.In*h*w:(i+1)*c.In*h*w], h, w, oh, ow, cols)
		blas32.Gemm(blas.NoTrans, blas.Trans, 1, out, image, 1, dweight)
		into := dx.Data[i*c.In*h*w : (i+1)*c.In*h*w]
		if c.pointwise() {
			blas32.Gemm(blas.Trans, blas.NoTrans, 1, weight, out, 0, matrix(c.In, h*w, into))
		} else {
			d := matrix(c.In*c.Kernel*c.Kernel, oh*ow, dcols.Data)
			blas32.Gemm(blas.Trans, blas.NoTrans, 1, weight, out, 0, d)
			c.fold(dcols.Data, h, w, oh, ow, into)
		}
		if c.Bias != nil {
			sumRows(out, c.Bias.Grad.Data)
		}
	}
	x.done()
	c.x = nil
	return dx
}

// Params implements Module.
func (c *Conv2d) Params() []*Param {
	if c.Bias == nil {
		return []*Param{c.Weight}
	}
	return []*Param{c.Weight, c.Bias}
}

// pointwise reports whether an image is its own unfolding.
func (c *Conv2d) pointwise() bool { return c.Kernel == 1 && c.Stride == 1 && c.Pad == 0 }

// columns makes the workspace for one unfolded image, nil where none is needed.
func (c *Conv2d) columns(oh, ow int) *Tensor {
	if c.pointwise() {
		return nil
	}
	return New(c.In*c.Kernel*c.Kernel, oh*ow)
}

// unfold lays the patch under each output position out as a column.
func (c *Conv2d) unfold(x []float32, h, w, oh, ow int, cols *Tensor) blas32.General {
	if c.pointwise() {
		return matrix(c.In, h*w, x)
	}
	row := 0
	for ch := range c.In {
		for ky := range c.Kernel {
			for kx := range c.Kernel {
				dst := cols.Data[row*oh*ow : (row+1)*oh*ow]
				row++
				for oy := range oh {
					line := dst[oy*ow : (oy+1)*ow]
					y := oy*c.Stride + ky - c.Pad
					if y < 0 || y >= h {
						clear(line)
						continue
					}
					src := x[(ch*h+y)*w : (ch*h+y+1)*w]
					lo, hi := c.inside(kx, w, ow)
					clear(line[:lo])
					clear(line[hi:])
					if c.Stride == 1 {
						copy(line[lo:hi], src[lo+kx-c.Pad:])
						continue
					}
					for ox := lo; ox < hi; ox++ {
						line[ox] = src[ox*c.Stride+kx-c.Pad]
					}
				}
			}
		}
	}
	return matrix(c.In*c.Kernel*c.Kernel, oh*ow, cols.Data)
}

// fold adds the columns back into an image: the transpose of unfold.
func (c *Conv2d) fold(cols []float32, h, w, oh, ow int, x []float32) {
	row := 0
	for ch := range c.In {
		for ky := range c.Kernel {
			for kx := range c.Kernel {
				src := cols[row*oh*ow : (row+1)*oh*ow]
				row++
				lo, hi := c.inside(kx, w, ow)
				for oy := range oh {
					y := oy*c.Stride + ky - c.Pad
					if y < 0 || y >= h {
						continue
					}
					line, dst := src[oy*ow:(oy+1)*ow], x[(ch*h+y)*w:(ch*h+y+1)*w]
					for ox := lo; ox < hi; ox++ {
						dst[ox*c.Stride+kx-c.Pad] += line[ox]
					}
				}
			}
		}
	}
}

// inside gives the range of output columns whose input column under kernel column kx lies in the image.
func (c *Conv2d) inside(kx, w, ow int) (lo, hi int) {
	if d := c.Pad - kx; d > 0 {
		lo = (d + c.Stride - 1) / c.Stride
	}
	hi = ow
	if last := w - 1 + c.Pad - kx; last < (ow-1)*c.Stride {
		hi = max(0, last/c.Stride+1)
		if last < 0 {
			hi = 0
		}
	}
	return min(lo, hi), hi
}

func matrix(rows, cols int, data []float32) blas32.General {
	return blas32.General{Rows: rows, Cols: cols, Stride: cols, Data: data}
}

func addRows(m blas32.General, v []float32) {
	for r := range m.Rows {
		row := m.Data[r*m.Stride : r*m.Stride+m.Cols]
		for i := range row {
			row[i] += v[r]
		}
	}
}

func sumRows(m blas32.General, into []float32) {
	for r := range m.Rows {
		var s float64
		for _, x := range m.Data[r*m.Stride : r*m.Stride+m.Cols] {
			s += float64(x)
		}
		into[r] += float32(s)
	}
}
