package analyze

import (
	"math"
	"slices"

	"github.com/gander-go/gander/profiler/trace"
)

// unions sets DeviceUnion of every row: the time during which device work launched below any of its members ran. The
// work is visited in order of its start, so that each row needs only the end of what it has seen.
func (b *builder) unions() {
	s := b.t.Slices
	reach := make([]int64, len(b.out))
	for i := range reach {
		reach[i] = math.MinInt64
	}
	add := func(row int32, start, end int64) {
		if from := max(start, reach[row]); end > from {
			b.out[row].DeviceUnion += end - from
			reach[row] = end
		}
	}
	for _, i := range b.x.byStart(func(c trace.Class) bool { return deviceRow(c) }) {
		start, end := s[i].Start, s[i].End()
		if r := b.row[i]; r >= 0 {
			add(r, start, end)
		}
		if !b.x.class[i].DeviceWork() {
			continue
		}
		for o := b.tree.self(b.launcher(i)); o >= 0; o = b.tree.parent[o] {
			if r := b.row[o]; r >= 0 {
				add(r, start, end)
			}
		}
	}
}

// byStart returns the slices of the classes that accept, ordered by start.
func (x *index) byStart(accept func(trace.Class) bool) []int32 {
	var in [trace.NumClasses]bool
	for c := range in {
		in[c] = accept(trace.Class(c))
	}
	var list []int32
	sorted := true
	for i, c := range x.class {
		if in[c] {
			if n := len(list); n > 0 && x.t.Slices[list[n-1]].Start > x.t.Slices[i].Start {
				sorted = false
			}
			list = append(list, int32(i))
		}
	}
	if !sorted {
		slices.SortStableFunc(list, func(p, q int32) int { return compareInt(x.t.Slices[p].Start, x.t.Slices[q].Start) })
	}
	return list
}

// busy returns the time during which a device worked, each device by itself and summed, and the time from the first
// start to the last end of anything.
func (x *index) busy() (device, span int64) {
	first, last := x.window()
	span = last - first
	if !x.device {
		return 0, span
	}
	reach := map[trace.DeviceID]int64{}
	for _, i := range x.byStart(trace.Class.DeviceWork) {
		s := &x.t.Slices[i]
		d := x.deviceOf(i)
		from, ok := reach[d]
		if from = max(from, s.Start); !ok {
			from = s.Start
		}
		if s.End() > from {
			device += s.End() - from
			from = s.End()
		}
		reach[d] = from
	}
	return device, span
}

// deviceOf returns the device on which slice i ran.
func (x *index) deviceOf(i int32) trace.DeviceID {
	s := &x.t.Slices[i]
	switch s.Kind {
	case trace.ArgKernel:
		return x.t.Kernels[s.Args].Device
	case trace.ArgCopy:
		return x.t.Copies[s.Args].Device
	}
	if s.Track >= 0 && int(s.Track) < len(x.t.Tracks) {
		return x.t.Tracks[s.Track].Device
	}
	return trace.NoDevice
}

// distributions sets minimum, maximum, percentiles and deviation of every row. Percentiles are of the nearest rank.
func (b *builder) distributions() {
	offset := make([]int, len(b.out)+1)
	for r := range b.out {
		offset[r+1] = offset[r] + int(b.out[r].Count)
	}
	durs := make([]int64, offset[len(b.out)])
	next := slices.Clone(offset)
	for i, r := range b.row {
		if r >= 0 {
			durs[next[r]] = b.t.Slices[i].Dur
			next[r]++
		}
	}
	for r := range b.out {
		d := durs[offset[r]:offset[r+1]]
		if len(d) == 0 {
			continue
		}
		row := &b.out[r]
		row.P50, row.P90, row.P99 = percentile(d, 0.50), percentile(d, 0.90), percentile(d, 0.99)
		row.Min, row.Max = d[0], d[0]
		var mean, square float64
		for i, v := range d {
			row.Min, row.Max = min(row.Min, v), max(row.Max, v)
			delta := float64(v) - mean
			mean += delta / float64(i+1)
			square += delta * (float64(v) - mean)
		}
		if len(d) > 1 {
			row.StdDev = math.Sqrt(square / float64(len(d)-1))
		}
	}
}

// percentile returns the smallest element that at least the share p of d does not exceed. It reorders d.
func percentile(d []int64, p float64) int64 {
	k := max(0, int(math.Ceil(p*float64(len(d))))-1)
	lo, hi := 0, len(d)-1
	for lo < hi {
		pivot := medianOfThree(d[lo], d[(lo+hi)/2], d[hi])
		i, j := lo, hi
		for i <= j {
			for d[i] < pivot {
				i++
			}
			for d[j] > pivot {
				j--
			}
			if i <= j {
				d[i], d[j] = d[j], d[i]
				i++
				j--
			}
		}
		switch {
		case k <= j:
			hi = j
		case k >= i:
			lo = i
		default:
			return d[k]
		}
	}
	return d[k]
}

func medianOfThree(a, b, c int64) int64 { return max(min(a, b), min(max(a, b), c)) }
