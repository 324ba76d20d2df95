//go:build linux && cgo && (amd64 || arm64)

package main

import (
	"bufio"
	"cmp"
	"fmt"
	"maps"
	"math"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/gander-go/gander/profiler/kineto"
	"github.com/gander-go/gander/profiler/trace"
)

func writeTrace(file string, t *trace.Trace) error {
	f, err := os.Create(file)
	if err != nil {
		return err
	}
	w := bufio.NewWriter(f)
	if err := kineto.Write(w, t, kineto.WriteOptions{}); err != nil {
		f.Close()
		return err
	}
	if err := w.Flush(); err != nil {
		f.Close()
		return err
	}
	return f.Close()
}

// compare checks device work against what is expected and what CUDA's events say.
func compare(r *Report, want Expectation, d *done, t *trace.Trace, tolerance float64) {
	kernels, copies, sets := map[string]int{}, map[string]map[int]int{}, map[int]int{}
	var spinTimes []int64
	n := 0
	for i := range t.Slices {
		s := &t.Slices[i]
		switch t.Class(s) {
		case trace.ClassKernel:
			kernels[t.Name(s)]++
			if t.Name(s) == "gc_spin" {
				spinTimes = append(spinTimes, s.Dur)
			}
		case trace.ClassMemcpy:
			dir := direction(t.Name(s))
			if copies[dir] == nil {
				copies[dir] = map[int]int{}
			}
			copies[dir][int(t.Copies[s.Args].Bytes)]++
		case trace.ClassMemset:
			sets[int(t.Copies[s.Args].Bytes)]++
		default:
			continue
		}
		n++
	}
	if n == 0 {
		err := errNothing
		for _, p := range t.Problems {
			err = fmt.Errorf("%w; %s", err, p.Text)
		}
		r.add("capture", err, "")
		return
	}
	r.add("kernel counts and names", differs(want.Kernels, kernels), "%d kernels of %d names", total(kernels), len(kernels))
	var err error
	for _, dir := range slices.Sorted(maps.Keys(want.Copies)) {
		if e := differs(want.Copies[dir], copies[dir]); e != nil && err == nil {
			err = fmt.Errorf("%s: %w", dir, e)
		}
	}
	if err == nil && len(copies) != len(want.Copies) {
		err = fmt.Errorf("copies in directions %v", slices.Sorted(maps.Keys(copies)))
	}
	r.add("bytes of copies", err, "exact, in %d directions", len(copies))
	r.add("bytes of sets", differs(want.Sets, sets), "exact")
	r.compareDurations(spinTimes, d.events, tolerance)
	r.compareSpans(want, t)
	r.problems(t)
}

// direction is "HtoD" of "Memcpy HtoD (Pageable -> Device)".
func direction(name string) string {
	for _, d := range []string{"HtoD", "DtoH", "DtoD", "HtoH", "PtoP"} {
		if strings.Contains(name, d) {
			return d
		}
	}
	return name
}

func total[K comparable](m map[K]int) int {
	n := 0
	for _, v := range m {
		n += v
	}
	return n
}

// differs names the first difference between two counts.
func differs[K cmp.Ordered](want, got map[K]int) error {
	all := map[K]bool{}
	for k := range want {
		all[k] = true
	}
	for k := range got {
		all[k] = true
	}
	for _, k := range slices.Sorted(maps.Keys(all)) {
		if want[k] != got[k] {
			return fmt.Errorf("%v: %d are expected, the profile has %d", k, want[k], got[k])
		}
	}
	return nil
}

// compareDurations compares kernels with the events around them, in order of time: both are of one stream.
func (r *Report) compareDurations(kernels []int64, events []time.Duration, tolerance float64) {
	const name = "durations and CUDA events"
	if len(kernels) != len(events) {
		r.add(name, fmt.Errorf("%d kernels and %d pairs of events", len(kernels), len(events)), "")
		return
	}
	worst := 0.0
	for i, k := range kernels {
		e := float64(events[i])
		off := math.Abs(float64(k)-e) / e
		worst = max(worst, off)
		if off > tolerance {
			r.add(name, fmt.Errorf("kernel %d lasted %v by the profile and %v by events: %.1f%% apart", i, time.Duration(k), events[i], 100*off), "")
			return
		}
	}
	r.add(name, nil, "at most %.2f%% apart", 100*worst)
}

// spansOf returns the names of spans by their ids.
func spansOf(t *trace.Trace) map[int64]string {
	spans := map[int64]string{}
	for i := range t.Slices {
		s := &t.Slices[i]
		switch c := t.Class(s); {
		case s.Ext == 0:
		case c == trace.ClassAnnotation || c == trace.ClassOp || c == trace.ClassStep || c == trace.ClassCall:
			spans[s.Ext] = t.Name(s)
		}
	}
	return spans
}

// bySpan counts device work by the span that launched it.
func bySpan(t *trace.Trace) map[string]int {
	spans, got := spansOf(t), map[string]int{}
	for i := range t.Slices {
		if s := &t.Slices[i]; t.Class(s).DeviceWork() {
			got[spans[s.Ext]]++
		}
	}
	return got
}

// compareSpans follows each piece of device work to the span that launched it.
func (r *Report) compareSpans(want Expectation, t *trace.Trace) {
	got := bySpan(t)
	all, calls := 0, map[int64]bool{}
	for i := range t.Slices {
		if c := t.Class(&t.Slices[i]); c == trace.ClassDriver || c == trace.ClassRuntime {
			calls[t.Slices[i].Corr] = true
		}
	}
	uncalled := 0
	for i := range t.Slices {
		s := &t.Slices[i]
		switch t.Class(s) {
		case trace.ClassKernel, trace.ClassMemcpy, trace.ClassMemset:
			all++
			if !calls[s.Corr] {
				uncalled++
			}
		}
	}
	r.add("work and spans", differs(want.Spans, got), "all %d pieces of device work are tied to the span that launched them", all)
	var err error
	if uncalled > 0 {
		err = fmt.Errorf("%d of %d pieces of device work have no call that launched them", uncalled, all)
	}
	r.add("work and calls", err, "all %d pieces have their call", all)
}

// problems returns what was lost: there must be nothing.
func problems(t *trace.Trace) error {
	for _, p := range t.Problems {
		if p.Kind != "cuda-refused" {
			return fmt.Errorf("%s (%d): %s", p.Kind, p.Count, p.Text)
		}
	}
	return nil
}

func (r *Report) problems(t *trace.Trace) {
	remarks := ""
	for _, p := range t.Problems {
		remarks += "; " + p.Text
	}
	r.add("nothing lost", problems(t), "%d remarks%s", len(t.Problems), remarks)
}

// compareMemory compares the memory in use by the profile with cuMemGetInfo, at the moments between allocations.
func compareMemory(r *Report, d *done, t *trace.Trace) {
	const name = "memory and cuMemGetInfo"
	if len(d.memory) == 0 {
		r.skip(name, "nothing was allocated")
		return
	}
	at := func(wall int64) (used int64) {
		for _, m := range t.Memory {
			if m.Time+t.Meta.Epoch <= wall && m.Space == trace.MemDevice && !m.OOM {
				used += m.Bytes
			}
		}
		return used
	}
	base := at(d.memory[0].wall)
	var err error
	peak := int64(0)
	for i, p := range d.memory {
		used := at(p.wall) - base
		peak = max(peak, used)
		if diff := used - p.used; max(diff, -diff) > granule {
			err = fmt.Errorf("at point %d the profile has %d bytes in use, cuMemGetInfo %d", i, used, p.used)
			break
		}
	}
	if err == nil && peak == 0 {
		err = fmt.Errorf("the profile has no allocation")
	}
	r.add(name, err, "equal within %d MiB at %d points, up to %d MiB", granule/megabyte, len(d.memory), peak/megabyte)
}

// compareNVML compares cuMemGetInfo with NVML, which may lag and sees other processes too.
func compareNVML(r *Report, d *done) {
	const name = "NVML and cuMemGetInfo"
	if len(d.nvml) != len(d.memory) || len(d.nvml) == 0 {
		r.skip(name, "there is no NVML")
		return
	}
	const slack = 32 * granule
	for i := range d.nvml {
		byNVML, byDriver := d.nvml[i]-d.nvml[0], d.memory[i].used
		if diff := byNVML - byDriver; max(diff, -diff) > slack {
			r.add(name, fmt.Errorf("at point %d NVML has %d bytes more in use than at first, cuMemGetInfo %d", i, byNVML, byDriver), "")
			return
		}
	}
	r.add(name, nil, "equal within %d MiB at %d points", slack/megabyte, len(d.nvml))
}
