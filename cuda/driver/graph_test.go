//go:build linux && cgo && (amd64 || arm64)

package driver

import (
	"errors"
	"slices"
	"strings"
	"testing"
)

// TestGraph captures a kernel, a copy and a fill, and launches them twice: nothing runs before, and each launch does all of it.
func TestGraph(t *testing.T) {
	c := open(t)
	saxpy := function(t, c, "saxpy")
	x := must[*Buffer[float32]](t)(Upload(c, []float32{1, 2, 3, 4}))
	y := must[*Buffer[float32]](t)(Upload(c, []float32{0, 0, 0, 0}))
	z := must[*Buffer[float32]](t)(Upload(c, []float32{9, 9, 9, 9}))
	s := must[*Stream](t)(c.NewStream())
	g, err := s.Capture(func() error {
		return errors.Join(saxpy.Launch(Over(4, 32).On(s), int32(4), float32(10), x, y), z.CopyFromBuffer(y, s), y.Part(0, 1).Fill(0, s))
	})
	if err != nil {
		t.Fatal(err)
	}
	if got := must[[]float32](t)(y.Slice()); !slices.Equal(got, []float32{0, 0, 0, 0}) {
		t.Errorf("work ran while it was captured: %v", got)
	}
	for range 2 {
		if err := g.Launch(s); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Synchronize(); err != nil {
		t.Fatal(err)
	}
	if y, z := must[[]float32](t)(y.Slice()), must[[]float32](t)(z.Slice()); !slices.Equal(y, []float32{0, 40, 60, 80}) || !slices.Equal(z, []float32{10, 40, 60, 80}) {
		t.Errorf("after two launches %v and %v", y, z)
	}
	if err := errors.Join(g.Close(), g.Close()); err != nil {
		t.Error(err)
	}
	if err := g.Launch(s); err == nil {
		t.Error("a closed graph was launched")
	}
}

// TestCaptureThatFails leaves the stream usable: after an error of the function, a panic, and a call that cannot be captured.
func TestCaptureThatFails(t *testing.T) {
	c := open(t)
	s := must[*Stream](t)(c.NewStream())
	mine := errors.New("mine")
	if _, err := s.Capture(func() error { return mine }); !errors.Is(err, mine) {
		t.Errorf("%v", err)
	}
	if _, err := s.Capture(func() error { return s.Synchronize() }); err == nil || !strings.Contains(err.Error(), "CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED") {
		t.Errorf("%v", err)
	}
	func() {
		defer func() { recover() }()
		s.Capture(func() error { panic("mine") }) //nolint:errcheck // it panics
	}()
	if err := s.Synchronize(); err != nil {
		t.Errorf("the stream is still in capture: %v", err)
	}
	if _, err := (*Stream)(nil).Capture(func() error { return nil }); err == nil {
		t.Error("the default stream was captured")
	}
}

// TestPool takes memory from the pool and gives it back, on the stream and without.
func TestPool(t *testing.T) {
	c := open(t)
	s := must[*Stream](t)(c.NewStream())
	want := []int32{1, 2, 3}
	b := must[*Buffer[int32]](t)(AllocOn[int32](s, 3))
	if err := b.CopyFrom(want); err != nil {
		t.Fatal(err)
	}
	if got := must[[]int32](t)(b.Slice()); !slices.Equal(got, want) {
		t.Errorf("got %v", got)
	}
	if err := errors.Join(b.FreeOn(s), b.FreeOn(s), b.Free()); err != nil {
		t.Error(err)
	}
	if err := b.CopyFrom(want); !errors.Is(err, errFreed) {
		t.Errorf("%v", err)
	}
	if err := must[*Buffer[int32]](t)(AllocOn[int32](s, 3)).Free(); err != nil {
		t.Error(err)
	}
	none := must[*Buffer[int32]](t)(Alloc[int32](c, 3))
	if err := none.FreeOn(s); err == nil {
		t.Error("memory of no pool was given to one")
	}
	if err := errors.Join(none.CopyFrom(want), none.Free()); err != nil {
		t.Errorf("what was not freed is gone: %v", err)
	}
	if _, err := AllocOn[int32](nil, 3); err == nil {
		t.Error("memory was allocated on no stream")
	}
}
