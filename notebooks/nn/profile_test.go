package nn

import (
	"math/rand/v2"
	"runtime"
	"testing"

	_ "github.com/gander-go/gander/profiler/hooks/gonum"

	"github.com/gander-go/gander/profiler"
	"github.com/gander-go/gander/profiler/trace"
)

// TestProfile records a forward and backward pass and checks the figures against the network itself: FLOPs of the BLAS
// calls against the layer shapes, and memory that is allocated against what is released.
func TestProfile(t *testing.T) {
	m := NewResNet18(rand.New(rand.NewPCG(1, 1)), 10)
	x := fill(1, 1, 2, 3, 64, 64)
	pass := func() {
		y := m.Forward(x)
		_, grad := CrossEntropy(y, []int{1, 2})
		dx := m.Backward(grad)
		for _, r := range []*Tensor{y, grad, dx} {
			r.Release()
		}
	}
	pass()
	runtime.GC() // what earlier tests dropped goes before the recording
	p, err := profiler.Start(profiler.Options{RecordShapes: true, WithFLOPs: true, ProfileMemory: true})
	if err != nil {
		t.Fatal(err)
	}
	pass()
	p.Stop()

	tr := p.Trace()
	var flops, calls int64
	for i := range tr.Slices {
		s := &tr.Slices[i]
		if tr.Name(s) == "blas.Sgemm" {
			calls++
		}
		if s.Kind == trace.ArgOp {
			flops += tr.Ops[s.Args].FLOPs
		}
	}
	if calls == 0 {
		t.Fatal("no matrix product was recorded")
	}
	// The backward pass multiplies twice for each product of the forward pass: by weights and by inputs.
	if want := 3 * m.FLOPs(2, 64, 64); flops != want {
		t.Errorf("%d FLOPs recorded, the layers do %d", flops, want)
	}
	var live, allocated int64
	for _, e := range tr.Memory {
		live += e.Bytes
		allocated += max(0, e.Bytes)
	}
	if live != 0 {
		t.Errorf("%d bytes of tensors are left of %d", live, allocated)
	}
	if allocated < 10<<20 {
		t.Errorf("only %d bytes of tensors were recorded", allocated)
	}
}
