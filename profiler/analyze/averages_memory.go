package analyze

import (
	"slices"
	"sort"

	"github.com/gander-go/gander/profiler/trace"
)

// memory gives the memory events to slices.
func (b *builder) memory() {
	if len(b.t.Memory) == 0 {
		return
	}
	if b.torch {
		b.memoryByTime()
	} else {
		b.memoryByThread()
	}
}

func spaceIndex(s trace.MemSpace) int {
	if s == trace.MemDevice {
		return 1
	}
	return 0
}

// memoryByTime follows torch: an event's memory is that of all memory events within its time, whatever thread did them.
func (b *builder) memoryByTime() {
	mem := b.t.Memory
	times := make([]int64, 0, len(mem))
	index := make([]int32, 0, len(mem))
	for i := range mem {
		if !mem[i].OOM {
			times = append(times, mem[i].Time)
			index = append(index, int32(i))
		}
	}
	var sums [2][]int64
	for k := range sums {
		sums[k] = make([]int64, len(times)+1)
	}
	for j, i := range index {
		for k := range sums {
			sums[k][j+1] = sums[k][j]
		}
		if mem[i].Space != trace.MemOther {
			sums[spaceIndex(mem[i].Space)][j+1] += mem[i].Bytes
		}
	}
	covered := make([]int32, len(times)+1) // differences of how many events contain a memory event
	for k := range b.mem {
		b.mem[k].total = make([]int64, len(b.t.Slices))
	}
	for i, c := range b.x.class {
		if !b.host(c) {
			continue
		}
		s := &b.t.Slices[i]
		if b.skip != nil && b.skip[s.Name] {
			continue
		}
		lo, _ := slices.BinarySearch(times, s.Start)
		hi := lo + sort.Search(len(times)-lo, func(j int) bool { return times[lo+j] > s.End() })
		if lo == hi {
			continue
		}
		covered[lo]++
		covered[hi]--
		for k := range b.mem {
			b.mem[k].total[i] = sums[k][hi] - sums[k][lo]
		}
	}
	depth := int32(0)
	for j, i := range index {
		if depth += covered[j]; depth == 0 {
			b.loose = append(b.loose, i)
		}
	}
}

// memoryByThread gives each memory event to the innermost event of the thread that did it.
func (b *builder) memoryByThread() {
	mem := b.t.Memory
	for k := range b.mem {
		b.mem[k].self = make([]int64, len(b.t.Slices))
	}
	owner := innermost(b.x, b.tree.order, b.tree.parent, b.tree.thread, mem)
	for i := range mem {
		switch o := owner[i]; {
		case mem[i].OOM:
		case o < 0:
			b.loose = append(b.loose, int32(i))
		case mem[i].Space != trace.MemOther:
			b.mem[spaceIndex(mem[i].Space)].self[o] += mem[i].Bytes
		}
	}
}

// innermost returns for each memory event the innermost of the events of its own thread that contain its time, or
// NoSlice. order holds the events by thread, callers first; those that count as of another thread than they ran on are
// nobody's memory.
func innermost(x *index, order, parent []int32, thread func(int32) trace.TrackID, mem []trace.MemEvent) []int32 {
	owner := filled(len(mem))
	s := x.t.Slices
	byTrack := make([]int32, 0, len(mem))
	for i := range mem {
		if mem[i].Track != trace.NoTrack {
			byTrack = append(byTrack, int32(i))
		}
	}
	slices.SortStableFunc(byTrack, func(p, q int32) int { return int(mem[p].Track - mem[q].Track) })
	k := 0
	for len(byTrack) > 0 && k < len(order) {
		track := mem[byTrack[0]].Track
		for k < len(order) && thread(order[k]) < track {
			k++
		}
		last := trace.NoSlice
		for len(byTrack) > 0 && mem[byTrack[0]].Track == track {
			i := byTrack[0]
			byTrack = byTrack[1:]
			at := mem[i].Time
			for ; k < len(order) && thread(order[k]) == track && s[order[k]].Start <= at; k++ {
				if s[order[k]].Track == track {
					last = order[k]
				}
			}
			o := last
			for o >= 0 && s[o].End() < at {
				o = parent[o]
			}
			owner[i] = o
		}
	}
	return owner
}

// looseRows adds what torch shows for memory that belongs to no event: one row for all of it, one for failed allocations.
func (b *builder) looseRows() {
	add := func(key string, events func(func(*trace.MemEvent))) {
		row := Average{Key: key, Class: trace.ClassMemory, Track: trace.NoTrack, First: trace.NoSlice, TopLevel: true}
		first := int64(0)
		events(func(m *trace.MemEvent) {
			if row.Count == 0 {
				first = m.Time
			}
			row.Count++
			switch {
			case m.OOM || m.Space == trace.MemOther:
			case m.Space == trace.MemDevice:
				row.DeviceMemory += m.Bytes
				row.SelfDeviceMemory += m.Bytes
			default:
				row.CPUMemory += m.Bytes
				row.SelfCPUMemory += m.Bytes
			}
		})
		if row.Count > 0 {
			b.out = append(b.out, row)
			b.starts = append(b.starts, first)
			b.ends = append(b.ends, first)
		}
	}
	add("[memory]", func(yield func(*trace.MemEvent)) {
		for _, i := range b.loose {
			yield(&b.t.Memory[i])
		}
	})
	add("[OutOfMemory]", func(yield func(*trace.MemEvent)) {
		for i := range b.t.Memory {
			if b.t.Memory[i].OOM {
				yield(&b.t.Memory[i])
			}
		}
	})
}
