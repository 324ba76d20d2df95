//go:build linux && cgo && (amd64 || arm64)

package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/gander-go/gander/cuda/driver"
	"github.com/gander-go/gander/cuda/nvrtc"
	"github.com/gander-go/gander/profiler"
	"github.com/gander-go/gander/profiler/trace"
)

// prepared opens the device and runs the workload once, because what the first launch loads is not measured.
func prepared() (*work, error) {
	gpu, err := driver.Open(0)
	if err != nil {
		return nil, err
	}
	w, err := newWork(gpu)
	if err != nil {
		return nil, err
	}
	return w, w.warm()
}

// workload compares a profile of the whole workload with what it does. A run that fails is a failed check, and what was
// recorded until then is compared all the same.
func workload(r *Report, o options) error {
	text, err := os.ReadFile(o.expected)
	if err != nil {
		return fmt.Errorf("reading what is expected: %w", err)
	}
	var want Expectation
	if err := json.Unmarshal(text, &want); err != nil {
		return fmt.Errorf("reading what is expected: %w", err)
	}
	w, err := prepared()
	if err != nil {
		return err
	}
	done, t, err := w.profiled()
	if err != nil {
		r.add("run of the workload", err, "")
	}
	if t == nil {
		return nil
	}
	if err := t.Validate(); err != nil {
		r.add("form of the trace", err, "")
	}
	if o.trace != "" {
		if err := writeTrace(o.trace, t); err != nil {
			r.add("trace", err, "")
		}
	}
	compare(r, want, done, t, o.tolerance)
	compareClocks(r, t)
	compareRanges(r, t)
	compareOccupancy(r, w, t)
	compareMemory(r, done, t)
	compareNVML(r, done)
	return nil
}

// schedule has a schedule cut steps: each cycle has the work of its own steps, in whatever state the device is when it ends.
func schedule(r *Report, _ options) error {
	w, err := prepared()
	if err != nil {
		return err
	}
	const name = "steps of a schedule"
	perStep := 0
	for span, n := range expectation().Spans {
		if span != "spin" {
			perStep += n / steps
		}
	}
	var got []int
	lost := error(nil)
	p, err := profiler.Start(profiler.Options{
		Activities: profiler.CPU | profiler.CUDA, Schedule: profiler.Schedule{SkipFirst: 1, Wait: 1, Warmup: 1, Active: 2, Repeat: 2},
		OnTraceReady: func(p *profiler.Profile) {
			n := 0
			t := p.Trace()
			for i := range t.Slices {
				if t.Class(&t.Slices[i]).DeviceWork() {
					n++
				}
			}
			got = append(got, n)
			lost = errors.Join(lost, t.Validate(), problems(t))
		},
	})
	if err != nil {
		return err
	}
	for range 10 {
		if err := w.step(); err != nil {
			p.Stop()
			return err
		}
		p.Step()
	}
	p.Stop()
	if want := []int{2 * perStep, 2 * perStep}; !slices.Equal(got, want) {
		lost = errors.Join(lost, fmt.Errorf("the cycles have %v pieces of work, and not %v", got, want))
	}
	r.add(name, lost, "%d cycles of two steps with %d pieces of work each", len(got), 2*perStep)
	return nil
}

// record runs f under the profiler.
func record(f func() error) (*trace.Trace, error) {
	p, err := profiler.Start(profiler.Options{Activities: profiler.CPU | profiler.CUDA})
	if err != nil {
		return nil, err
	}
	err = f()
	p.Stop()
	return p.Trace(), errors.Join(err, p.Trace().Validate(), problems(p.Trace()))
}

// graphs launches captured graphs, each launch in a span of its own: one that was captured before CUPTI was attached, and one
// that was captured under the profiler.
func graphs(r *Report, _ options) error {
	w, err := prepared()
	if err != nil {
		return err
	}
	const launches, nodes = 3, 4
	capture := func() (*driver.Graph, error) {
		return w.stream.Capture(func() error {
			return errors.Join(w.spin.Launch(driver.Launch{Stream: w.stream}, int64(50*time.Microsecond)), w.sum.Fill(0, w.stream),
				w.saxpy.Launch(driver.Over(elements, 256).On(w.stream), int32(elements), float32(0), w.x, w.y), w.y.Part(0, 1).CopyFromBuffer(w.x.Part(0, 1), w.stream))
		})
	}
	launch := func(g *driver.Graph) (err error) {
		for n := range launches {
			err = errors.Join(err, in(fmt.Sprint("launch ", n), func() error { return g.Launch(w.stream) }))
		}
		return errors.Join(err, w.stream.Synchronize())
	}
	check := func(name string, t *trace.Trace, err error) {
		if err == nil {
			want := map[string]int{}
			for n := range launches {
				want[fmt.Sprint("launch ", n)] = nodes
			}
			err = differs(want, bySpan(t))
			for i := range t.Slices {
				if s := &t.Slices[i]; t.Class(s) == trace.ClassKernel && t.Kernels[s.Args].GraphID < 1 && err == nil {
					err = fmt.Errorf("%s is of no graph", t.Name(s))
				}
			}
		}
		r.add(name, err, "%d launches of %d nodes, each tied to its span", launches, nodes)
	}
	g, err := capture()
	if err != nil {
		r.add("launches of a graph", err, "")
		return nil
	}
	t, err := record(func() error { return launch(g) })
	check("launches of an older graph", t, err)
	t, err = record(func() error {
		g, err := capture()
		if err != nil {
			return err
		}
		return launch(g)
	})
	check("launches of a graph", t, err)
	return nil
}

// memoryKinds has copies say what kind of memory they are of, and pools what they hold.
func memoryKinds(r *Report, _ options) error {
	w, err := prepared()
	if err != nil {
		return err
	}
	const n, rounds = 16 << 20, 3
	host, err := driver.AllocPinned[byte](w.gpu, n)
	if err != nil {
		return err
	}
	defer host.Free()
	pageable := make([]byte, n)
	dev, err := driver.Alloc[byte](w.gpu, n)
	if err != nil {
		return err
	}
	t, err := record(func() (err error) {
		for range rounds {
			err = errors.Join(err, dev.CopyFromPinned(host, w.stream), dev.CopyToPinned(host, w.stream), w.stream.Synchronize(), dev.CopyFrom(pageable), dev.CopyTo(pageable))
		}
		return err
	})
	detail := ""
	if err == nil {
		got, rate := map[string]int{}, map[string]float64{}
		for i := range t.Slices {
			if s := &t.Slices[i]; t.Class(s) == trace.ClassMemcpy {
				got[t.Name(s)] += int(t.Copies[s.Args].Bytes)
				rate[t.Name(s)] = max(rate[t.Name(s)], t.Copies[s.Args].Bandwidth)
			}
		}
		want := map[string]int{}
		for _, name := range []string{"Memcpy HtoD (Pinned -> Device)", "Memcpy DtoH (Device -> Pinned)", "Memcpy HtoD (Pageable -> Device)", "Memcpy DtoH (Device -> Pageable)"} {
			want[name] = rounds * n
			detail += fmt.Sprintf("%s %.1f GB/s; ", strings.TrimPrefix(name, "Memcpy "), rate[name])
		}
		err = differs(want, got)
	}
	r.add("kinds of memory", err, "%s", strings.TrimSuffix(detail, "; "))

	peak, reserved := int64(0), int64(0)
	t, err = record(func() error {
		b, err := driver.AllocOn[byte](w.stream, n)
		if err != nil {
			return err
		}
		return errors.Join(b.Fill(0, w.stream), b.FreeOn(w.stream), w.stream.Synchronize())
	})
	if err == nil {
		for _, m := range t.Memory {
			if m.Space == trace.MemDevice {
				peak, reserved = max(peak, m.Allocated), max(reserved, m.Reserved)
			}
		}
		if peak != n || reserved < n {
			err = fmt.Errorf("the profile has %d bytes allocated and %d reserved, of %d", peak, reserved, n)
		}
	}
	r.add("memory of a pool", err, "%d MiB of a pool that holds %d MiB", peak/megabyte, reserved/megabyte)
	return nil
}

// compiler compiles CUDA C++ on this machine, as %%cuda does, and runs it.
func compiler(r *Report, _ options) error {
	const name = "NVRTC"
	gpu, err := driver.Open(0)
	if err != nil {
		return err
	}
	major, _ := driver.Version()
	l, err := nvrtc.Open(major)
	if err != nil {
		r.skip(name, "%v", err)
		return nil
	}
	info, err := gpu.Device().Info()
	if err != nil {
		return err
	}
	const source = "template <typename T> __global__ void scale(T *x, int n, T f) {\n\tint i = blockIdx.x * blockDim.x + threadIdx.x;\n\tif (i < n)\n\t\tx[i] *= f;\n}\n"
	for _, arch := range []string{"sm_", "compute_"} {
		arch = fmt.Sprintf("%s%d%d", arch, info.Major, info.Minor)
		c, err := l.Compile(nvrtc.Request{Name: "scale.cu", Source: source, Arch: arch, Kernels: []string{"scale<float>"}})
		if err == nil {
			err = runScale(gpu, c)
		}
		r.add(name+" for "+arch, err, "%d.%d made %d bytes, and the kernel computes", l.Major, l.Minor, func() int {
			if c == nil {
				return 0
			}
			return len(c.Image)
		}())
	}
	return nil
}

func runScale(gpu *driver.Context, c *nvrtc.Result) error {
	x, err := driver.Upload(gpu, []float32{1, 2, 3})
	if err != nil {
		return err
	}
	if err := driver.NewProgram(string(c.Image)).Launch(c.Names["scale<float>"], driver.Over(3, 32), x, int32(3), float32(2)); err != nil {
		return err
	}
	got, err := x.Slice()
	if err == nil && !slices.Equal(got, []float32{2, 4, 6}) {
		err = fmt.Errorf("twice 1, 2, 3 is %v", got)
	}
	return err
}
