//go:build linux && cgo && (amd64 || arm64)

package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/gander-go/gander/cuda/driver"
	"github.com/gander-go/gander/profiler/trace"
)

// maxEarly is how much earlier than its launch a kernel may seem to start, and later than the wait for it to end: the error of
// CUPTI's own conversion of the device's clock.
const maxEarly = 5 * time.Microsecond

// compareClocks checks the order of what the host and the device did: a kernel starts after its launch has begun, and a wait
// for the device ends after the work that it waited for.
func compareClocks(r *Report, t *trace.Trace) {
	const name = "clocks of host and device"
	calls := map[int64]*trace.Slice{}
	var waits []*trace.Slice
	for i := range t.Slices {
		s := &t.Slices[i]
		switch c := t.Class(s); {
		case c != trace.ClassDriver && c != trace.ClassRuntime:
		case strings.HasPrefix(t.Name(s), "cuEventSynchronize"), strings.HasPrefix(t.Name(s), "cuStreamSynchronize"), strings.HasPrefix(t.Name(s), "cuCtxSynchronize"):
			waits = append(waits, s)
		default:
			calls[s.Corr] = s
		}
	}
	slices.SortFunc(waits, func(a, b *trace.Slice) int { return cmp.Compare(a.Start, b.Start) })
	first, last := int64(math.MaxInt64), int64(math.MaxInt64)
	for i := range t.Slices {
		s := &t.Slices[i]
		if t.Class(s) != trace.ClassKernel {
			continue
		}
		call := calls[s.Corr]
		if call == nil {
			continue
		}
		first = min(first, s.Start-call.Start)
		// All work of the workload is on one stream, so the next wait waits for it.
		if n, _ := slices.BinarySearchFunc(waits, call.End(), func(w *trace.Slice, at int64) int { return cmp.Compare(w.Start, at) }); n < len(waits) {
			last = min(last, waits[n].End()-s.End())
		}
	}
	if first == math.MaxInt64 {
		r.skip(name, "no kernel has a call")
		return
	}
	var err error
	if first < -int64(maxEarly) || last < -int64(maxEarly) {
		err = fmt.Errorf("a kernel starts %v after its launch began, or a wait ends %v after the work it waited for", time.Duration(first), time.Duration(last))
	}
	if last == math.MaxInt64 {
		r.add(name, err, "kernels start %v or more after their launch began", time.Duration(first))
		return
	}
	r.add(name, err, "kernels start %v or more after their launch began, and waits end %v or more after them", time.Duration(first), time.Duration(last))
}

// compareRanges has each span that launched work show as a range on the stream, around that work.
func compareRanges(r *Report, t *trace.Trace) {
	type key struct {
		ext   int64
		track trace.TrackID
	}
	ranges := map[key]*trace.Slice{}
	for i := range t.Slices {
		if s := &t.Slices[i]; t.Class(s) == trace.ClassDeviceAnnotation {
			ranges[key{s.Ext, s.Track}] = s
		}
	}
	var err error
	n := 0
	for i := range t.Slices {
		s := &t.Slices[i]
		if !t.Class(s).DeviceWork() || s.Ext == 0 {
			continue
		}
		n++
		if k := ranges[key{s.Ext, s.Track}]; k == nil || k.Start > s.Start || k.End() < s.End() {
			err = fmt.Errorf("%s lies in no range of its span", t.Name(s))
		}
	}
	r.add("ranges on the stream", err, "%d ranges around %d pieces of work", len(ranges), n)
}

// compareOccupancy compares how many blocks fit on a multiprocessor at once, by the profile's estimate and by the driver.
func compareOccupancy(r *Report, w *work, t *trace.Trace) {
	functions := map[string]*driver.Function{"gc_saxpy": w.saxpy, "gc_reduce": w.reduce, "gc_gemm": w.gemm, "gc_spin": w.spin}
	var err error
	seen := map[string]bool{}
	for i := range t.Slices {
		s := &t.Slices[i]
		f := functions[t.Name(s)]
		if t.Class(s) != trace.ClassKernel || f == nil || seen[t.Name(s)] {
			continue
		}
		seen[t.Name(s)] = true
		k := t.Kernels[s.Args]
		var extra struct {
			Occupancy struct {
				Active int `json:"activeBlocksPerMultiprocessor"`
			}
		}
		if e := json.Unmarshal([]byte(t.Strings.Get(k.Extra)), &extra); e != nil {
			err = e
			continue
		}
		blocks, e := f.BlocksPerSM(int(k.Block[0])*int(k.Block[1])*int(k.Block[2]), 0)
		if e == nil && blocks != extra.Occupancy.Active {
			e = fmt.Errorf("%s: %d blocks fit on a multiprocessor by the profile, and %d by the driver", t.Name(s), extra.Occupancy.Active, blocks)
		}
		if e != nil {
			err = e
		}
	}
	if len(seen) == 0 {
		r.skip("occupancy and the driver's", "there are no kernels")
		return
	}
	r.add("occupancy and the driver's", err, "blocks per multiprocessor of %d kernels", len(seen))
}
