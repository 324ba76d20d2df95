//go:build linux && cgo && (amd64 || arm64)

package main

import (
	_ "embed"
	"errors"
	"fmt"
	"time"

	"github.com/gander-go/gander/cuda/driver"
	"github.com/gander-go/gander/cuda/nvml"
	"github.com/gander-go/gander/profiler"
	"github.com/gander-go/gander/profiler/trace"
)

//go:embed kernels.ptx
var kernels []byte

// The shape of the workload.
const (
	steps      = 5
	elements   = 1 << 20
	side       = 256 // of matrices
	saxpies    = 10  // launches in a step
	spins      = 8   // kernels that are timed by events
	spinTime   = 2 * time.Millisecond
	holdTime   = 500 * time.Microsecond // in which the host puts a spin and its events on the stream
	megabyte   = 1 << 20
	granule    = 2 * megabyte // the driver takes memory in pieces of this size
	keepMemory = 50 * time.Millisecond
)

var allocations = []int{64 * granule, 16 * granule, 100 * granule}

// Expectation is what the workload does: figures that do not depend on the machine.
type Expectation struct {
	Kernels map[string]int         `json:"kernels"` // launches by name
	Copies  map[string]map[int]int `json:"copies"`  // number by direction and bytes
	Sets    map[int]int            `json:"sets"`    // number by bytes
	Spans   map[string]int         `json:"spans"`   // device work by the span that launched it
}

func expectation() Expectation {
	const n = 4 * elements
	return Expectation{
		Kernels: map[string]int{"gc_saxpy": steps * saxpies, "gc_gemm": steps, "gc_reduce": steps, "gc_spin": spins, "gc_hold": spins},
		Copies: map[string]map[int]int{
			"HtoD": {n: steps, 12: steps}, "DtoH": {4: steps, n: steps}, "DtoD": {n / 2: steps},
		},
		Sets: map[int]int{4: steps},
		Spans: map[string]int{
			"upload": steps * 2, "saxpy": steps * saxpies, "gemm": steps, "reduce": steps * 2, "move": steps, "download": steps * 2, "spin": spins * 2,
		},
	}
}

// work is the workload's memory and kernels.
type work struct {
	gpu                        *driver.Context
	stream                     *driver.Stream
	saxpy, reduce, gemm        *driver.Function
	spin, hold                 *driver.Function
	host                       []float32
	x, y, a, b, c, sum, little *driver.Buffer[float32]
}

// done is what a run of the workload measured by itself.
type done struct {
	events []time.Duration // of each spin, by CUDA events
	memory []memoryPoint
	nvml   []int64 // bytes in use as NVML sees them, at the points of memory
}

// memoryPoint is a moment between allocations.
type memoryPoint struct {
	wall int64 // Unix, ns
	used int64 // bytes more in use than at first, by cuMemGetInfo
}

func newWork(gpu *driver.Context) (*work, error) {
	w := &work{gpu: gpu, host: make([]float32, elements)}
	for i := range w.host {
		w.host[i] = 1
	}
	m, err := gpu.Load(kernels)
	if err != nil {
		return nil, err
	}
	for _, k := range []struct {
		name string
		to   **driver.Function
	}{{"gc_saxpy", &w.saxpy}, {"gc_reduce", &w.reduce}, {"gc_gemm", &w.gemm}, {"gc_spin", &w.spin}, {"gc_hold", &w.hold}} {
		if *k.to, err = m.Function(k.name); err != nil {
			return nil, err
		}
	}
	if w.stream, err = gpu.NewStream(); err != nil {
		return nil, err
	}
	for _, b := range []struct {
		n  int
		to **driver.Buffer[float32]
	}{{elements, &w.x}, {elements, &w.y}, {side * side, &w.a}, {side * side, &w.b}, {side * side, &w.c}, {1, &w.sum}, {3, &w.little}} {
		if *b.to, err = driver.Alloc[float32](gpu, b.n); err != nil {
			return nil, err
		}
		if err := (*b.to).Fill(0, nil); err != nil {
			return nil, err
		}
	}
	return w, gpu.Synchronize()
}

// warm runs every kernel once.
func (w *work) warm() error {
	_, err := w.run(1)
	return err
}

// run is the workload, with n steps.
func (w *work) run(n int) (*done, error) {
	d := &done{}
	for range n {
		if err := w.step(); err != nil {
			return d, err
		}
		profiler.Step()
	}
	return d, errors.Join(w.time(d), w.allocate(d))
}

// in runs f inside a span.
func in(name string, f func() error) error {
	s := profiler.Begin(name)
	defer s.End()
	return f()
}

func (w *work) step() error {
	var total float32
	back := make([]float32, elements)
	one := make([]float32, 1)
	err := errors.Join(
		in("upload", func() error { return errors.Join(w.x.CopyFrom(w.host), w.little.CopyFrom([]float32{1, 2, 3})) }),
		in("saxpy", func() error {
			for range saxpies {
				if err := w.saxpy.Launch(driver.Over(elements, 256).On(w.stream), int32(elements), float32(2), w.x, w.y); err != nil {
					return err
				}
			}
			return nil
		}),
		in("gemm", func() error {
			return w.gemm.Launch(driver.Over2(side, side, 16).On(w.stream), int32(side), int32(side), int32(side), w.a, w.b, w.c)
		}),
		in("reduce", func() error {
			l := driver.Launch{Grid: driver.Dim{X: 128}, Block: driver.Dim{X: 256}, Stream: w.stream}
			return errors.Join(w.sum.Fill(0, w.stream), w.reduce.Launch(l, w.x, int32(elements), w.sum))
		}),
		in("move", func() error { return w.y.Part(0, elements/2).CopyFromBuffer(w.x.Part(elements/2, elements), w.stream) }),
		in("download", func() error { return errors.Join(w.stream.Synchronize(), w.sum.CopyTo(one), w.y.CopyTo(back)) }),
	)
	total = one[0]
	if err == nil && total != elements {
		err = fmt.Errorf("the sum of %d ones is %g", elements, total)
	}
	return err
}

// time runs spins, each between two events on its stream. The stream is kept busy until all three are on it: so the time
// between the events is the kernel's, and none of the host's is in it.
func (w *work) time(d *done) error {
	return in("spin", func() error {
		for range spins {
			from, err := w.gpu.NewEvent()
			if err != nil {
				return err
			}
			to, err := w.gpu.NewEvent()
			if err != nil {
				return err
			}
			if err := errors.Join(w.hold.Launch(driver.Launch{Stream: w.stream}, int64(holdTime)), from.Record(w.stream), w.spin.Launch(driver.Launch{Stream: w.stream}, int64(spinTime)), to.Record(w.stream), to.Synchronize()); err != nil {
				return err
			}
			took, err := to.Since(from)
			if err != nil {
				return err
			}
			d.events = append(d.events, took)
		}
		return nil
	})
}

// allocate takes memory piece by piece and gives it back in the same order.
func (w *work) allocate(d *done) error {
	first, _, err := w.gpu.MemInfo()
	if err != nil {
		return err
	}
	lib, _ := nvml.Open() // without it there are no figures of its own
	point := func() error {
		free, _, err := w.gpu.MemInfo()
		d.memory = append(d.memory, memoryPoint{time.Now().UnixNano(), first - free})
		if lib != nil && len(lib.Devices()) > 0 {
			time.Sleep(keepMemory)
			d.nvml = append(d.nvml, lib.Read(0).Used)
		}
		return err
	}
	if err := point(); err != nil {
		return err
	}
	var held []*driver.Buffer[byte]
	for _, n := range allocations {
		b, err := driver.Alloc[byte](w.gpu, n)
		if err != nil {
			return err
		}
		held = append(held, b)
		if err := point(); err != nil {
			return err
		}
	}
	for _, b := range held {
		if err := errors.Join(b.Free(), point()); err != nil {
			return err
		}
	}
	return nil
}

// profiled runs the workload under the profiler. The trace is there also when the run failed.
func (w *work) profiled() (*done, *trace.Trace, error) {
	p, err := profiler.Start(profiler.Options{Activities: profiler.CPU | profiler.CUDA})
	if err != nil {
		return nil, nil, err
	}
	d, err := w.run(steps)
	p.Stop()
	if d == nil {
		d = &done{}
	}
	return d, p.Trace(), err
}
