package nn

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"os"
	"testing"
)

// fill repeats fill of testdata/reference.py.
func fill(seed uint64, scale float64, shape ...int) *Tensor {
	t := New(shape...)
	for i := range t.Data {
		h := (uint64(i)*2654435761 + seed*40503 + 12345) % (1 << 32)
		h ^= h >> 15
		h = (h * 2246822519) % (1 << 32)
		h ^= h >> 13
		t.Data[i] = float32((float64(h)/(1<<32) - 0.5) * scale)
	}
	return t
}

type summary struct {
	Name    string
	Shape   []int
	Sum     float64
	Squares float64
	At      []int
	Values  []float64
}

// check compares a float32 result with torch's in float64. The tolerance is relative to the root mean square of the
// values, so that numbers near zero are not held to their own size.
func (s summary) check(t *testing.T, what string, got *Tensor, tol float64) {
	t.Helper()
	if len(got.Shape) != len(s.Shape) {
		t.Errorf("%s: shape %v, want %v", what, got.Shape, s.Shape)
		return
	}
	n := float64(len(got.Data))
	rms := math.Sqrt(s.Squares / n)
	var sum, squares float64
	for _, v := range got.Data {
		sum += float64(v)
		squares += float64(v) * float64(v)
	}
	if d := math.Abs(sum-s.Sum) / (rms*n + 1e-12); d > tol {
		t.Errorf("%s: sum %g, want %g", what, sum, s.Sum)
	}
	if d := math.Abs(squares-s.Squares) / (s.Squares + 1e-12); d > tol {
		t.Errorf("%s: sum of squares %g, want %g (off by %.2g)", what, squares, s.Squares, d)
	}
	for i, at := range s.At {
		if d := math.Abs(float64(got.Data[at])-s.Values[i]) / (rms + 1e-12); d > 20*tol {
			t.Errorf("%s[%d] = %g, want %g", what, at, got.Data[at], s.Values[i])
		}
	}
}

type reference struct {
	Conv []struct {
		Args          [9]int
		Y, DX, DW, DB summary
	}
	BatchNorm []struct {
		Args                           [4]int
		Y, DX, DW, DB, Mean, Var, Eval summary
	}
	MaxPool []struct {
		Args  [7]int
		Y, DX summary
	}
	Loss []struct {
		Args [2]int
		Loss float64
		DX   summary
	}
	SGD      struct{ P summary }
	ResNet18 []struct {
		Args  [3]int
		Y, DX summary
		Loss  float64
		Grads []summary
	}
}

func loadReference(t *testing.T) reference {
	t.Helper()
	b, err := os.ReadFile("testdata/reference.json")
	if err != nil {
		t.Fatal(err)
	}
	var r reference
	if err := json.Unmarshal(b, &r); err != nil {
		t.Fatal(err)
	}
	return r
}

func TestConv2dAgreesWithTorch(t *testing.T) {
	for _, c := range loadReference(t).Conv {
		n, in, h, w, out, k, stride, pad, bias := c.Args[0], c.Args[1], c.Args[2], c.Args[3], c.Args[4], c.Args[5], c.Args[6], c.Args[7], c.Args[8] == 1
		l := NewConv2d(rand.New(rand.NewPCG(1, 1)), in, out, k, stride, pad, bias)
		l.Weight.Value = fill(2, 1, out, in, k, k)
		if bias {
			l.Bias.Value = fill(3, 1, out)
		}
		y := l.Forward(fill(1, 1, n, in, h, w))
		c.Y.check(t, "y", y, 1e-6)
		dx := l.Backward(fill(4, 1, y.Shape...))
		c.DX.check(t, "dx", dx, 1e-6)
		c.DW.check(t, "dw", l.Weight.Grad, 1e-6)
		if bias {
			c.DB.check(t, "db", l.Bias.Grad, 1e-6)
		}
	}
}

func TestBatchNorm2dAgreesWithTorch(t *testing.T) {
	for _, c := range loadReference(t).BatchNorm {
		ch := c.Args[1]
		l := NewBatchNorm2d(ch)
		l.Weight.Value, l.Bias.Value = fill(6, 1, ch), fill(7, 1, ch)
		for i := range l.Weight.Value.Data {
			l.Weight.Value.Data[i]++
		}
		x := fill(5, 4, c.Args[:]...)
		y := l.Forward(x)
		c.Y.check(t, "y", y, 1e-6)
		c.DX.check(t, "dx", l.Backward(fill(8, 1, y.Shape...)), 1e-6)
		c.DW.check(t, "dw", l.Weight.Grad, 1e-6)
		c.DB.check(t, "db", l.Bias.Grad, 1e-6)
		c.Mean.check(t, "mean", l.Mean, 1e-6)
		c.Var.check(t, "var", l.Var, 1e-6)
		l.Training = false
		c.Eval.check(t, "eval", l.Forward(x), 1e-6)
	}
}

func TestMaxPool2dAgreesWithTorch(t *testing.T) {
	for _, c := range loadReference(t).MaxPool {
		l := &MaxPool2d{Kernel: c.Args[4], Stride: c.Args[5], Pad: c.Args[6]}
		y := l.Forward(fill(9, 1, c.Args[:4]...))
		c.Y.check(t, "y", y, 1e-7)
		c.DX.check(t, "dx", l.Backward(fill(10, 1, y.Shape...)), 1e-7)
	}
}

func TestCrossEntropyAgreesWithTorch(t *testing.T) {
	for _, c := range loadReference(t).Loss {
		loss, grad := CrossEntropy(fill(11, 6, c.Args[:]...), targets(c.Args[0], c.Args[1]))
		if math.Abs(loss-c.Loss) > 1e-6 {
			t.Errorf("loss %v, want %v", loss, c.Loss)
		}
		c.DX.check(t, "dx", grad, 1e-6)
	}
}

func targets(n, classes int) []int {
	var ts []int
	for i := range n {
		ts = append(ts, (7*i+3)%classes)
	}
	return ts
}

func TestSGDAgreesWithTorch(t *testing.T) {
	p := &Param{Value: fill(12, 1, 6), Grad: New(6)}
	opt := &SGD{Rate: 0.1, Momentum: 0.9, Decay: 0.01, params: []*Param{p}}
	for step := range 3 {
		copy(p.Grad.Data, fill(uint64(13+step), 1, 6).Data)
		opt.Step()
	}
	loadReference(t).SGD.P.check(t, "p", p.Value, 1e-6)
}

// TestResNet18AgreesWithTorch runs the whole network forward and backward. Rounding of float32 through 18 layers moves a few
// activations over the kink of a ReLU, which changes their gradients whole: the sums of squares of the smallest gradients
// differ from those in float64 by up to 1.4e-3 (so do torch's own in float32).
func TestResNet18AgreesWithTorch(t *testing.T) {
	for _, c := range loadReference(t).ResNet18 {
		n, size, classes := c.Args[0], c.Args[1], c.Args[2]
		if testing.Short() && size > 64 {
			continue
		}
		m := NewResNet18(rand.New(rand.NewPCG(1, 1)), classes)
		if len(m.Params()) != len(c.Grads) {
			t.Fatalf("%d parameters, want %d", len(m.Params()), len(c.Grads))
		}
		for i, p := range m.Params() {
			seed := uint64(100 + i)
			switch v := p.Value; {
			case len(v.Shape) > 1:
				fan := len(v.Data) / v.Dim(0)
				p.Value = fill(seed, 2*math.Sqrt(6/float64(fan)), v.Shape...)
			default:
				p.Value = fill(seed, 0.2, v.Shape...)
				if p.Name[len(p.Name)-6:] == "weight" {
					for j := range p.Value.Data {
						p.Value.Data[j]++
					}
				}
			}
		}
		y := m.Forward(fill(99, 2, n, 3, size, size))
		c.Y.check(t, "logits", y, 1e-5)
		loss, grad := CrossEntropy(y, targets(n, classes))
		if math.Abs(loss-c.Loss) > 1e-4*c.Loss {
			t.Errorf("loss %v, want %v", loss, c.Loss)
		}
		c.DX.check(t, "dx", m.Backward(grad), 3e-3)
		for i, p := range m.Params() {
			c.Grads[i].check(t, c.Grads[i].Name, p.Grad, 3e-3)
		}
	}
}
