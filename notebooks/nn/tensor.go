package nn

import (
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
)

// Tensor is a dense float32 array in row-major order.
type Tensor struct {
	Shape []int
	Data  []float32

	released bool // or not its own memory
	passed   bool // nobody but the layer that takes it needs it: that layer's backward pass releases it
	mem      memory
	cleanup  runtime.Cleanup
}

// New makes a zero tensor. The profiler sees its memory until Release.
func New(shape ...int) *Tensor {
	n := 1
	for _, d := range shape {
		if d < 0 {
			panic(fmt.Sprintf("nn: shape %v has a negative dimension", shape))
		}
		n *= d
	}
	t := &Tensor{Shape: shape, Data: make([]float32, n)}
	track(t)
	return t
}

// Like makes a zero tensor of t's shape.
func Like(t *Tensor) *Tensor { return New(append([]int(nil), t.Shape...)...) }

// Copy makes a tensor with the same shape and data.
func Copy(t *Tensor) *Tensor {
	c := Like(t)
	copy(c.Data, t.Data)
	return c
}

// Randn makes a tensor of normally distributed numbers with the given standard deviation.
func Randn(r *rand.Rand, std float64, shape ...int) *Tensor {
	t := New(shape...)
	for i := range t.Data {
		t.Data[i] = float32(r.NormFloat64() * std)
	}
	return t
}

// Release tells the profiler that the tensor's memory is free. The tensor must not be used afterwards; a second Release
// does nothing, and so does Release of nil.
func (t *Tensor) Release() {
	if t == nil || t.released {
		return
	}
	t.released = true
	untrack(t)
	t.Data = nil
}

// done releases a layer's kept input when nobody else needs it.
func (t *Tensor) done() {
	if t != nil && t.passed {
		t.Release()
	}
}

// Bytes is the size of the tensor's data.
func (t *Tensor) Bytes() int64 { return int64(len(t.Data)) * 4 }

// Dim returns dimension i.
func (t *Tensor) Dim(i int) int { return t.Shape[i] }

// View returns a tensor of another shape over the same data.
func (t *Tensor) View(shape ...int) *Tensor {
	n := 1
	for _, d := range shape {
		n *= d
	}
	if n != len(t.Data) {
		panic(fmt.Sprintf("nn: %v cannot be viewed as %v", t.Shape, shape))
	}
	return &Tensor{Shape: shape, Data: t.Data, released: true}
}

// String gives shape, mean and range rather than every number.
func (t *Tensor) String() string {
	if len(t.Data) == 0 {
		return fmt.Sprintf("Tensor%v", t.Shape)
	}
	lo, hi, sum := math.Inf(1), math.Inf(-1), 0.0
	for _, v := range t.Data {
		lo, hi, sum = min(lo, float64(v)), max(hi, float64(v)), sum+float64(v)
	}
	return fmt.Sprintf("Tensor%v mean %.4g in [%.4g, %.4g]", t.Shape, sum/float64(len(t.Data)), lo, hi)
}

func (t *Tensor) mustBe(layer string, dims int) {
	if len(t.Shape) != dims {
		panic(fmt.Sprintf("nn: %s takes a tensor of %d dimensions, not %v", layer, dims, t.Shape))
	}
}
