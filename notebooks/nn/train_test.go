package nn

import (
	"math/rand/v2"
	"testing"
)

// TestTraining lets a small convolutional network learn Blobs: the loss must fall to a tenth.
func TestTraining(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 5))
	m := Sequential{NewConv2d(r, 3, 8, 3, 1, 1, false), NewBatchNorm2d(8), &ReLU{}, &MaxPool2d{Kernel: 2, Stride: 2}, NewConv2d(r, 8, 16, 3, 2, 1, true), &ReLU{}, &Flatten{}, NewLinear(r, 16*4*4, 4)}
	opt := NewSGD(m, 0.02, 0.9, 1e-4)
	loader := &DataLoader{Data: Blobs{Count: 128, Classes: 4, Size: 16}, BatchSize: 16, Workers: 2, Rand: r}
	var first, last float64
	for epoch := range 4 {
		it := loader.Iter()
		for b := it.Next(); b != nil; b = it.Next() {
			opt.ZeroGrad()
			loss, grad := CrossEntropy(m.Forward(b.X), b.Target)
			m.Backward(grad)
			opt.Step()
			if first == 0 {
				first = loss
			}
			last = loss
		}
		it.Close()
		t.Logf("epoch %d: loss %.4f", epoch, last)
	}
	if last > first/10 {
		t.Errorf("loss went from %g to %g only", first, last)
	}
}

func TestDataLoader(t *testing.T) {
	for _, workers := range []int{0, 1, 3} {
		l := &DataLoader{Data: Blobs{Count: 23, Classes: 23, Size: 4}, BatchSize: 5, Workers: workers, Rand: rand.New(rand.NewPCG(1, 2))}
		seen := map[int]int{}
		it := l.Iter()
		batches := 0
		for b := it.Next(); b != nil; b = it.Next() {
			batches++
			if b.X.Dim(0) != 5 || len(b.Target) != 5 {
				t.Fatalf("batch of %v with %d targets", b.X.Shape, len(b.Target))
			}
			for _, c := range b.Target {
				seen[c]++
			}
		}
		it.Close()
		it.Close()
		if batches != 4 || len(seen) != 20 {
			t.Errorf("%d workers: %d batches, %d different samples", workers, batches, len(seen))
		}
		early := l.Iter()
		early.Next()
		early.Close()
	}
}
