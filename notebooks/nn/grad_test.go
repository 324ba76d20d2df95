package nn

import (
	"math"
	"math/rand/v2"
	"testing"
)

// TestGradients compares backward passes with central differences of the loss sum(w*y) for fixed random w. The loss is
// summed in float64; what float32 outputs leave of precision sets step and tolerance.
func TestGradients(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 7))
	for _, tc := range []struct {
		name  string
		m     Module
		shape []int
	}{
		{"Conv2d", NewConv2d(r, 2, 3, 3, 1, 1, true), []int{2, 2, 5, 4}},
		{"Conv2d stride 2", NewConv2d(r, 2, 3, 3, 2, 1, true), []int{1, 2, 6, 5}},
		{"Conv2d 1x1", NewConv2d(r, 3, 2, 1, 1, 0, false), []int{2, 3, 3, 3}},
		{"BatchNorm2d", NewBatchNorm2d(2), []int{3, 2, 3, 2}},
		{"Linear", NewLinear(r, 6, 4), []int{3, 6}},
		{"GlobalAvgPool2d", &GlobalAvgPool2d{}, []int{2, 3, 4, 4}},
		{"MLP", Sequential{NewLinear(r, 5, 7), &ReLU{}, NewLinear(r, 7, 3)}, []int{2, 5}},
		{"BasicBlock", NewBasicBlock(r, 2, 3, 2), []int{2, 2, 6, 6}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			x := Randn(r, 1, tc.shape...)
			y := tc.m.Forward(x)
			w := Randn(r, 1, y.Shape...)
			dx := tc.m.Backward(Copy(w))
			loss := func() float64 {
				y := tc.m.Forward(x)
				var s float64
				for i, v := range y.Data {
					s += float64(v) * float64(w.Data[i])
				}
				tc.m.Backward(Like(y))
				return s
			}
			checkGradient(t, "input", x.Data, dx.Data, loss)
			for _, p := range tc.m.Params() {
				checkGradient(t, p.Name, p.Value.Data, append([]float32(nil), p.Grad.Data...), loss)
			}
		})
	}
}

func checkGradient(t *testing.T, what string, values, grad []float32, loss func() float64) {
	t.Helper()
	var scale float64
	for _, g := range grad {
		scale = max(scale, math.Abs(float64(g)))
	}
	// A step that crosses the kink of a ReLU or changes the winner of a pool gives a wrong difference: shorter steps do not cross it.
	steps := []float32{1e-2, 2e-3, 4e-4}
	short := 0
	for i := range values {
		var differences []float64
		for _, step := range steps {
			old := values[i]
			values[i] = old + step
			up := loss()
			values[i] = old - step
			down := loss()
			values[i] = old
			d := (up - down) / (2 * float64(step))
			if math.Abs(d-float64(grad[i])) <= 0.02*scale+1e-3 {
				differences = nil
				break
			}
			differences = append(differences, d)
			short++
		}
		if differences != nil {
			t.Errorf("%s: gradient %d is %g, differences give %g with steps of %g", what, i, grad[i], differences, steps)
		}
	}
	if short > len(values)/4+1 {
		t.Errorf("%s: %d shorter steps for %d gradients", what, short, len(values))
	}
}

func TestCrossEntropyGradient(t *testing.T) {
	x := Randn(rand.New(rand.NewPCG(3, 3)), 2, 4, 6)
	target := []int{0, 5, 2, 2}
	_, grad := CrossEntropy(x, target)
	checkGradient(t, "logits", x.Data, grad.Data, func() float64 {
		l, _ := CrossEntropy(x, target)
		return l
	})
}

// TestFLOPs adds up ResNet-18's convolutions and its last layer by hand from their shapes at 224x224.
func TestFLOPs(t *testing.T) {
	layer := func(out, size, k, in int) int64 { return 2 * int64(size*size) * int64(k*k*in) * int64(out) }
	want := layer(64, 112, 7, 3)
	in := 64
	for i, out := range []int{64, 128, 256, 512} {
		size := 56 >> i
		want += layer(out, size, 3, in) + 3*layer(out, size, 3, out)
		if i > 0 {
			want += layer(out, size, 1, in)
		}
		in = out
	}
	want += 2 * 512 * 1000
	m := NewResNet18(rand.New(rand.NewPCG(1, 1)), 1000)
	if got := m.FLOPs(5, 224, 224); got != 5*want {
		t.Errorf("FLOPs %d, want %d", got, 5*want)
	}
	if want != 3628146688 { // 1.814 GMACs, as published for ResNet-18
		t.Errorf("the sum by hand is %d", want)
	}
	if n := NumParams(m); n != 11689512 {
		t.Errorf("%d parameters, torchvision's resnet18 has 11689512", n)
	}
}
