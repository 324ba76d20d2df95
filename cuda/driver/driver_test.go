//go:build linux && cgo && (amd64 || arm64)

package driver

import (
	"errors"
	"fmt"
	"math"
	"math/rand"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

const image = `.version 7.8
.target sm_75
.address_size 64
.visible .entry saxpy(
.visible .entry types(
.visible .entry spin(
.visible .entry gemm(
`

func open(t *testing.T) *Context {
	t.Helper()
	c, err := Open(0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

func function(t *testing.T, c *Context, name string) *Function {
	t.Helper()
	m, err := c.Load([]byte(image))
	if err != nil {
		t.Fatal(err)
	}
	f, err := m.Function(name)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func must[T any](t *testing.T) func(v T, err error) T {
	return func(v T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

func TestDevices(t *testing.T) {
	list, err := Devices()
	if err != nil {
		t.Fatal(err)
	}
	if len(list) != 2 || list[1].Device != 1 || list[1].Name != "Stand-in GPU 1" || list[0].SMs != 4 || list[0].Major != 9 || list[0].TotalMemory != 1<<30 {
		t.Errorf("%+v", list)
	}
	if list[0].UUID != "GPU-00010203-0405-0607-0809-0a0b0c0d0e0f" || list[0].PCI != "0000:65:00.0" {
		t.Errorf("%q %q", list[0].UUID, list[0].PCI)
	}
	if s := list[0].String(); s != "Stand-in GPU 0 (sm_90, 4 SMs, 1.0 GiB)" {
		t.Error(s)
	}
	if _, err := Open(7); !errors.Is(err, InvalidDevice) || !strings.Contains(err.Error(), "CUDA_ERROR_INVALID_DEVICE (101): invalid device ordinal") {
		t.Errorf("%v", err)
	}
	if major, minor := Version(); major != 12 || minor != 4 {
		t.Errorf("version %d.%d", major, minor)
	}
}

func TestCopies(t *testing.T) {
	c := open(t)
	want := make([]float32, 1000)
	for i := range want {
		want[i] = rand.Float32()
	}
	b := must[*Buffer[float32]](t)(Upload(c, want))
	if got := must[[]float32](t)(b.Slice()); !slices.Equal(got, want) {
		t.Error("what comes back differs")
	}
	part := b.Part(10, 20)
	if part.Ptr() != b.Ptr()+40 || part.Len() != 10 || part.Bytes() != 40 {
		t.Errorf("part %d %d", part.Ptr()-b.Ptr(), part.Len())
	}
	if err := part.Fill(0, nil); err != nil {
		t.Fatal(err)
	}
	clear(want[10:20])
	if got := must[[]float32](t)(b.Slice()); !slices.Equal(got, want) {
		t.Error("a part was filled wrongly")
	}
	other := must[*Buffer[float32]](t)(Alloc[float32](c, 1000))
	s := must[*Stream](t)(c.NewStream())
	if err := other.CopyFromBuffer(b, s); err != nil {
		t.Fatal(err)
	}
	pin := must[*Pinned[float32]](t)(AllocPinned[float32](c, 1000))
	if slices.Max(pin.Slice()) != 0 {
		t.Error("pinned memory is not zero")
	}
	if err := errors.Join(other.CopyToPinned(pin, s), s.Synchronize()); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(pin.Slice(), want) {
		t.Error("pinned memory differs")
	}
	pin.Slice()[0] = 42
	if err := errors.Join(b.CopyFromPinned(pin, s), s.Synchronize()); err != nil {
		t.Fatal(err)
	}
	if got := must[[]float32](t)(b.Part(0, 1).Slice()); got[0] != 42 {
		t.Errorf("%v", got)
	}
	for _, err := range []error{b.CopyFrom(want[1:]), b.CopyTo(want[1:]), b.CopyFromBuffer(part, nil), b.CopyFromPinned(pin.Part(0, 1), nil)} {
		if err == nil || !strings.Contains(err.Error(), "do not fit") {
			t.Errorf("lengths that differ: %v", err)
		}
	}
}

func TestManaged(t *testing.T) {
	c := open(t)
	x, y := must[*Managed[float32]](t)(AllocManaged[float32](c, 100)), must[*Managed[float32]](t)(AllocManaged[float32](c, 100))
	for i := range x.Slice() {
		x.Slice()[i] = float32(i)
	}
	if err := x.Prefetch(nil); err != nil {
		t.Fatal(err)
	}
	f := function(t, c, "saxpy")
	if err := errors.Join(f.Launch(Over(100, 32), int32(100), float32(2), x, y), c.Synchronize(), y.PrefetchHost(nil)); err != nil {
		t.Fatal(err)
	}
	for i, v := range y.Slice() {
		if v != 2*float32(i) {
			t.Fatalf("y[%d] is %g", i, v)
		}
	}
}

func TestRefusedElements(t *testing.T) {
	c := open(t)
	type nested struct {
		A int32
		B struct{ S string }
	}
	for _, err := range []error{
		second(Alloc[*int](c, 1)), second(Alloc[string](c, 1)), second(Alloc[nested](c, 1)), second(AllocPinned[[]int](c, 1)),
		second(AllocManaged[any](c, 1)), second(Alloc[struct{}](c, 1)), second(Alloc[int32](c, 0)), second(Alloc[int32](c, -1)), second(Alloc[int64](c, math.MaxInt)),
	} {
		if err == nil {
			t.Error("allocated")
		}
	}
	if err := second(Alloc[nested](c, 1)); !strings.Contains(err.Error(), "field B: field S: a string refers to Go's memory") {
		t.Error(err)
	}
}

func second[T any](_ T, err error) error { return err }

func TestOutOfMemory(t *testing.T) {
	c := open(t)
	_, err := Alloc[byte](c, 2<<30)
	if !errors.Is(err, OutOfMemory) || !strings.Contains(err.Error(), "allocating 2147483648 bytes on device 0: CUDA_ERROR_OUT_OF_MEMORY (2): out of memory") {
		t.Errorf("%v", err)
	}
}

func TestFreeing(t *testing.T) {
	c := open(t)
	before, total, err := c.MemInfo()
	if err != nil || total != 1<<30 {
		t.Fatal(total, err)
	}
	b := must[*Buffer[byte]](t)(Alloc[byte](c, 1<<20))
	p := b.Part(5, 10)
	if now, _, _ := c.MemInfo(); before-now != 1<<20 {
		t.Errorf("%d bytes were taken", before-now)
	}
	if err := errors.Join(b.Free(), b.Free(), p.Free()); err != nil {
		t.Error(err)
	}
	if now, _, _ := c.MemInfo(); now != before {
		t.Errorf("%d bytes are still taken", before-now)
	}
	if _, err := p.Slice(); err == nil || p.Ptr() != 0 {
		t.Errorf("freed memory is used: %v", err)
	}
	f := function(t, c, "saxpy")
	if err := f.Launch(Over(1, 1), int32(1), float32(1), p, p); err == nil {
		t.Error("freed memory was passed to a kernel")
	}
	// What nothing refers to is freed as well.
	for range 10 {
		must[*Buffer[byte]](t)(Alloc[byte](c, 1<<20))
		must[*Managed[byte]](t)(AllocManaged[byte](c, 1<<20))
		must[*Stream](t)(c.NewStream())
		must[*Event](t)(c.NewEvent())
	}
	for deadline := time.Now().Add(10 * time.Second); ; {
		runtime.GC()
		if now, _, _ := c.MemInfo(); now == before {
			break
		} else if time.Now().After(deadline) {
			t.Fatalf("%d bytes were never freed", before-now)
		}
		time.Sleep(time.Millisecond)
	}
}

// TestSlicesOutliveTheirMemory uses a slice of pinned memory that nothing else refers to. The stand-in's memory is the C library's, which
// gives large blocks back to the system at once: using a freed one ends the process.
func TestSlicesOutliveTheirMemory(t *testing.T) {
	c := open(t)
	x := must[*Pinned[byte]](t)(AllocPinned[byte](c, 1<<22)).Slice()
	y := must[*Managed[byte]](t)(AllocManaged[byte](c, 1<<22)).Part(1, 1<<22).Slice()
	for range 5 {
		runtime.GC()
		time.Sleep(time.Millisecond) // cleanups run on a goroutine of their own
		for i := range y {
			x[i], y[i] = 1, 1
		}
	}
}

// TestArguments has a kernel store each of its arguments, and looks at the bytes.
func TestArguments(t *testing.T) {
	c := open(t)
	f := function(t, c, "types")
	out := must[*Buffer[byte]](t)(Alloc[byte](c, 64))
	type pair struct{ A, B float64 }
	if err := f.Launch(Over(1, 1), out, uint8(0xAB), int16(-2), int32(-3), uint64(1)<<63, float32(1.5), math.Pi, pair{2, 3}); err != nil {
		t.Fatal(err)
	}
	got := must[[]byte](t)(out.Slice())
	want := make([]byte, 64)
	for i := range want {
		want[i] = got[i] // bytes between the arguments are not looked at
	}
	put := func(at int, b ...byte) { copy(want[at:], b) }
	put(0, 0xAB)
	put(8, 0xFE, 0xFF)
	put(16, 0xFD, 0xFF, 0xFF, 0xFF)
	put(24, 0, 0, 0, 0, 0, 0, 0, 0x80)
	put(32, 0, 0, 0xC0, 0x3F)
	put(40, 0x18, 0x2D, 0x44, 0x54, 0xFB, 0x21, 0x09, 0x40)
	put(48, 0, 0, 0, 0, 0, 0, 0, 0x40, 0, 0, 0, 0, 0, 0, 0x08, 0x40)
	if !slices.Equal(got, want) {
		t.Errorf("\n% x\n% x", got, want)
	}
	for _, bad := range []any{7, uint(7), "x", []int32{1}, &struct{}{}, (*Buffer[byte])(nil), func() {}} {
		if err := f.Launch(Over(1, 1), bad); err == nil || !strings.Contains(err.Error(), `launching kernel "types": argument 1: `) {
			t.Errorf("%T: %v", bad, err)
		}
	}
}

func TestLaunchShapes(t *testing.T) {
	c := open(t)
	f := function(t, c, "spin")
	ns := int64(0)
	for _, l := range []Launch{{}, Over(1000, 256), Over2(100, 7, 16), {Grid: Dim{1, 2, 3}, Block: Dim{4, 5, 6}, Shared: 1000}} {
		if err := f.Launch(l, ns); err != nil {
			t.Errorf("%v: %v", l, err)
		}
	}
	for _, l := range []Launch{{Grid: Dim{X: -1}}, {Block: Dim{X: 2000}}, {Block: Dim{X: 1 << 20}}, {Shared: -1}, {Shared: 1 << 29}, {Grid: Dim{Y: 70000}}} {
		if err := f.Launch(l, ns); err == nil {
			t.Errorf("%v was launched", l)
		}
	}
	if l := Over(1000, 256); l.Grid.X != 4 || l.Block.X != 256 {
		t.Errorf("%+v", l)
	}
	if l := Over2(100, 7, 16).WithShared(5); l.Grid != (Dim{7, 1, 0}) || l.Block != (Dim{16, 16, 0}) || l.Shared != 5 {
		t.Errorf("%+v", l)
	}
	r, err := f.Resources()
	if err != nil || r.Registers != 32 || r.Shared != 128 || r.ThreadsPerBlock != 1024 || r.Binary != 90 {
		t.Errorf("%+v %v", r, err)
	}
	if n, err := f.BlocksPerSM(256, 0); err != nil || n != 6 {
		t.Errorf("%d %v", n, err)
	}
}

func TestModules(t *testing.T) {
	c := open(t)
	_, err := c.Load([]byte(".version 7.8\nsyntax error"))
	if !errors.Is(err, InvalidPTX) || !strings.Contains(err.Error(), "Parsing error near 'syntax'") {
		t.Errorf("%v", err)
	}
	if _, err := c.Load([]byte("garbage")); !errors.Is(err, InvalidImage) {
		t.Errorf("%v", err)
	}
	if _, err := c.Load(nil); err == nil {
		t.Error("loaded nothing")
	}
	m := must[*Module](t)(c.Load([]byte(image)))
	if _, err := m.Function("nothing"); !errors.Is(err, NotFound) || !strings.Contains(err.Error(), `finding kernel "nothing"`) {
		t.Errorf("%v", err)
	}
	if err := errors.Join(m.Close(), m.Close()); err != nil {
		t.Error(err)
	}
	if _, err := m.Function("saxpy"); err == nil {
		t.Error("a closed module is used")
	}
}

// TestEvents compares the time between events with the time that a kernel took on the host's clock.
func TestEvents(t *testing.T) {
	c := open(t)
	f := function(t, c, "spin")
	s := must[*Stream](t)(c.NewStreamWith(StreamOptions{NonBlocking: true, Priority: -1}))
	from, to := must[*Event](t)(c.NewEvent()), must[*Event](t)(c.NewEvent())
	if _, err := to.Since(from); err == nil {
		t.Error("events that were not recorded have a distance")
	}
	start := time.Now()
	if err := errors.Join(from.Record(s), f.Launch(Launch{}.On(s), int64(2e6)), to.Record(s), to.Synchronize()); err != nil {
		t.Fatal(err)
	}
	outer := time.Since(start)
	if d := must[time.Duration](t)(to.Since(from)); d < 2*time.Millisecond || d > outer+time.Millisecond {
		t.Errorf("%v for a kernel of 2 ms in %v", d, outer)
	}
	if done, err := to.Done(); !done || err != nil {
		t.Error(done, err)
	}
	if done, err := s.Done(); !done || err != nil {
		t.Error(done, err)
	}
	if err := errors.Join(s.Wait(to), s.Close(), s.Close(), to.Close(), to.Close()); err != nil {
		t.Error(err)
	}
	if err := f.Launch(Launch{}.On(s), int64(0)); err == nil {
		t.Error("a closed stream is used")
	}
	if err := to.Record(nil); err == nil {
		t.Error("a closed event is used")
	}
}

// TestGoroutinesMoveThreads uses two devices from many goroutines that are thrown from thread to thread. The stand-in refuses calls on
// threads without a context.
func TestGoroutinesMoveThreads(t *testing.T) {
	var ctx [2]*Context
	for i := range ctx {
		ctx[i] = must[*Context](t)(Open(i))
		defer ctx[i].Close()
	}
	p := NewProgram(image)
	var wg sync.WaitGroup
	errs := make(chan error, 100)
	for g := range 32 {
		wg.Go(func() {
			c := ctx[g%2]
			s, err := c.NewStream()
			if err != nil {
				errs <- err
				return
			}
			for i := range 20 {
				x := []float32{1, 2, 3}
				b, err := Upload(c, x)
				if err == nil {
					runtime.Gosched()
					if i%5 == 0 {
						time.Sleep(time.Microsecond) // resumes on any thread
					}
					err = p.Launch("saxpy", Over(3, 32).On(s), int32(3), float32(g), b, b)
				}
				if err == nil {
					err = s.Synchronize()
				}
				if err == nil {
					x, err = b.Slice()
				}
				if err == nil && x[2] != 3+3*float32(g) {
					err = fmt.Errorf("goroutine %d computed %v", g, x)
				}
				if err != nil {
					errs <- err
					return
				}
				b.Free()
			}
		})
	}
	wg.Wait()
	close(errs)
	for err := range errs {
		t.Error(err)
	}
}

func TestProgramChoosesContext(t *testing.T) {
	one := must[*Context](t)(Open(1))
	defer one.Close()
	p := NewProgram(image)
	b := must[*Buffer[float32]](t)(Upload(one, []float32{1}))
	if err := p.Launch("saxpy", Over(1, 1), int32(1), float32(1), b, b); err != nil {
		t.Fatal(err)
	}
	if p.loaded[one] == nil || len(p.loaded) != 1 {
		t.Errorf("loaded in %d contexts, not in that of the argument", len(p.loaded))
	}
	if err := p.Launch("spin", Launch{}, int64(0)); err != nil || p.open == nil || p.open.Device() != 0 {
		t.Errorf("without an argument: %v", err)
	}
	if f, err := p.Function(one, "saxpy"); err != nil || f.Name() != "saxpy" {
		t.Error(err)
	}
	zero := open(t)
	s := must[*Stream](t)(zero.NewStream())
	if err := b.Fill(0, s); err == nil || !strings.Contains(err.Error(), "another device") {
		t.Errorf("a stream of another device: %v", err)
	}
}

func TestDo(t *testing.T) {
	c := open(t)
	ran := false
	err := c.Do(func() error {
		ran = true
		return errors.New("mine")
	})
	if !ran || err == nil || err.Error() != "mine" {
		t.Error(ran, err)
	}
	c.Close()
	if err := c.Do(func() error { t.Error("ran"); return nil }); err == nil {
		t.Error("a closed context is used")
	}
	if _, err := Alloc[byte](c, 1); err == nil {
		t.Error("a closed context is used")
	}
}

func BenchmarkLaunch(b *testing.B) {
	c, err := Open(0)
	if err != nil {
		b.Fatal(err)
	}
	defer c.Close()
	m, _ := c.Load([]byte(image))
	f, _ := m.Function("saxpy")
	x, _ := Alloc[float32](c, 1)
	b.ReportAllocs()
	for b.Loop() {
		if err := f.Launch(Over(1, 1), int32(1), float32(1), x, x); err != nil {
			b.Fatal(err)
		}
	}
}
