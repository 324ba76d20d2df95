package analyze

import (
	"fmt"
	"slices"
	"strings"

	"github.com/gander-go/gander/profiler/trace"
)

const unknownOperator = "<unknown>"

// memoryBuilder builds the memory view space by space.
type memoryBuilder struct {
	t      *trace.Trace
	tree   *opTree
	owner  []int32 // by memory event: the innermost node of its thread
	o      MemoryOptions
	steps  []stepRange
	spaces []*spaceEvents

	threads map[trace.TrackID]bool // Plugin counts calls on threads that did any memory event only; nil is all
}

type spaceEvents struct {
	Space  trace.MemSpace
	Device trace.DeviceID
	events []int32
}

func (b *memoryBuilder) space(m *trace.MemEvent) *spaceEvents {
	for _, s := range b.spaces {
		if s.Space == m.Space && s.Device == m.Device {
			return s
		}
	}
	s := &spaceEvents{Space: m.Space, Device: m.Device}
	b.spaces = append(b.spaces, s)
	return s
}

func (b *memoryBuilder) build(s *spaceEvents) MemorySpace {
	out := MemorySpace{Space: s.Space, Device: s.Device, Name: "CPU"}
	if s.Space == trace.MemOther {
		out.Name = "other"
		if !slices.ContainsFunc(s.events, func(i int32) bool { return b.t.Strings.Get(b.t.Memory[i].Name) != "pinned memory" }) {
			out.Name = "pinned host" // of CUDA's: all that there is of this kind in Go programs
		}
	}
	if d := s.Device; d >= 0 && int(d) < len(b.t.Devices) {
		out.Name = fmt.Sprintf("GPU%d", b.t.Devices[d].ID)
		out.Capacity = b.t.Devices[d].TotalMemory
	}
	b.curve(s, &out)
	b.allocations(s, &out)
	b.stats(s, &out)
	b.leaks(&out)
	return out
}

func (b *memoryBuilder) inRange(m *trace.MemEvent) bool {
	return b.o.From == 0 && b.o.To == 0 || m.Time >= b.o.From && m.Time <= b.o.To
}

func (b *memoryBuilder) curve(s *spaceEvents, out *MemorySpace) {
	var running int64
	for _, i := range s.events {
		m := &b.t.Memory[i]
		if m.OOM {
			if b.inRange(m) {
				out.OOM = append(out.OOM, Allocation{Operator: b.operator(i), Bytes: m.Bytes, Alloc: m.Time, Release: trace.NoTime, Alive: -1, Stack: stackFrames(b.t, m.Stack, 64)})
			}
			continue
		}
		running += m.Bytes
		if m.Allocated >= 0 {
			running = m.Allocated
		}
		if !b.inRange(m) {
			continue
		}
		if len(out.Times) == 0 || running > out.Peak {
			out.Peak, out.PeakTime = running, m.Time
		}
		out.PeakHeld = max(out.PeakHeld, m.Reserved)
		out.Times = append(out.Times, m.Time)
		out.Allocated = append(out.Allocated, running)
		out.Reserved = append(out.Reserved, m.Reserved)
		out.Events++
	}
}

// operator names what did memory event i. Allocations through aten::empty are told apart by who called it.
func (b *memoryBuilder) operator(i int32) string {
	m := &b.t.Memory[i]
	o := b.owner[i]
	for o >= 0 && !b.tree.isOp(o) && b.t.Meta.Tool == "pytorch" {
		o = b.tree.parent[o]
	}
	switch {
	case o < 0 && m.Name != 0:
		return b.t.Strings.Get(m.Name)
	case o < 0:
		return unknownOperator
	}
	name := b.t.Name(&b.t.Slices[o])
	if p := b.tree.parent[o]; p >= 0 && strings.HasPrefix(name, "aten::empty") {
		return b.t.Name(&b.t.Slices[p]) + " (" + name + ")"
	}
	return name
}

// allocations pairs allocations with releases by address.
func (b *memoryBuilder) allocations(s *spaceEvents, out *MemorySpace) {
	open := map[uint64]int{}
	for _, i := range s.events {
		m := &b.t.Memory[i]
		if m.OOM || !b.inRange(m) || m.Bytes == 0 {
			continue
		}
		if m.Bytes > 0 {
			open[m.Addr] = len(out.Allocs)
			out.Allocs = append(out.Allocs, Allocation{Operator: b.operator(i), Bytes: m.Bytes, Alloc: m.Time, Release: trace.NoTime,
				Alive: -1, Addr: m.Addr, Stack: stackFrames(b.t, m.Stack, 64)})
			continue
		}
		n, ok := open[m.Addr]
		if ok && out.Allocs[n].Bytes == -m.Bytes {
			delete(open, m.Addr)
			out.Allocs[n].Release, out.Allocs[n].Alive = m.Time, m.Time-out.Allocs[n].Alloc
			continue
		}
		out.Allocs = append(out.Allocs, Allocation{Operator: b.operator(i), Bytes: -m.Bytes, Alloc: trace.NoTime, Release: m.Time, Alive: -1, Addr: m.Addr})
	}
}

// nodeMemory is what one node did to memory.
type nodeMemory struct{ increase, count, size int64 }

func (n *nodeMemory) add(m nodeMemory) {
	n.increase += m.increase
	n.count += m.count
	n.size += m.size
}

// stats sums by operator, its own share and with its callees.
func (b *memoryBuilder) stats(s *spaceEvents, out *MemorySpace) {
	self, sum := map[int32]nodeMemory{}, map[int32]nodeMemory{}
	for _, i := range s.events {
		m := &b.t.Memory[i]
		if m.OOM || !b.inRange(m) {
			continue
		}
		v := nodeMemory{increase: m.Bytes}
		if m.Bytes > 0 {
			v.count, v.size = 1, m.Bytes
		}
		o := b.owner[i]
		if o < 0 {
			continue
		}
		n := self[o]
		n.add(v)
		self[o] = n
		for ; o >= 0; o = b.tree.parent[o] {
			n := sum[o]
			n.add(v)
			sum[o] = n
		}
	}
	nodes := make([]int32, 0, len(sum))
	for o := range sum {
		nodes = append(nodes, o)
	}
	slices.Sort(nodes)
	rows := map[trace.StringID]int{}
	for _, o := range nodes {
		if b.t.Meta.Tool == "pytorch" && !b.tree.isOp(o) {
			continue
		}
		id := b.t.Slices[o].Name
		n, ok := rows[id]
		if !ok {
			n = len(out.Stats)
			rows[id] = n
			out.Stats = append(out.Stats, MemoryStat{Operator: b.t.Strings.Get(id)})
		}
		row, all, own := &out.Stats[n], sum[o], self[o]
		row.Increase += all.increase
		row.Allocs += all.count
		row.Allocated += all.size
		row.SelfIncrease += own.increase
		row.SelfAllocs += own.count
		row.SelfAllocated += own.size
	}
	for _, o := range b.tree.order {
		if b.threads != nil && !b.threads[b.t.Slices[o].Track] {
			continue
		}
		if n, ok := rows[b.t.Slices[o].Name]; ok && (b.t.Meta.Tool != "pytorch" || b.tree.isOp(o)) {
			out.Stats[n].Calls++
		}
	}
	slices.SortStableFunc(out.Stats, func(p, q MemoryStat) int { return compareInt(q.SelfIncrease, p.SelfIncrease) })
}

// Thresholds of leaks: an operator is suspected when memory that it allocated in at least leakSteps steps, and in at least
// half of them, is still held when the last step is over. The last step itself does not count, nor does what is done once.
const (
	leakSteps = 2
	leakShare = 0.5

	leakGrowth = 0.5 // of what seems to be held, by which the total must have grown from the first step to the last
)

func (b *memoryBuilder) leaks(out *MemorySpace) {
	n := len(b.steps) - 1
	if n < leakSteps {
		return
	}
	type held struct {
		bytes, count int64
		steps        int
		last         int
	}
	byOp := map[string]*held{}
	var names []string
	var sum int64
	for i := range out.Allocs {
		al := &out.Allocs[i]
		if al.Alloc == trace.NoTime || al.Release != trace.NoTime && al.Release <= b.steps[n].end {
			continue
		}
		k, found := slices.BinarySearchFunc(b.steps[:n], al.Alloc, func(s stepRange, at int64) int {
			switch {
			case s.end <= at:
				return -1
			case s.start > at:
				return 1
			}
			return 0
		})
		if !found {
			continue
		}
		h := byOp[al.Operator]
		if h == nil {
			h = &held{last: -1}
			byOp[al.Operator] = h
			names = append(names, al.Operator)
		}
		h.bytes += al.Bytes
		h.count++
		sum += al.Bytes
		if h.last != k {
			h.steps, h.last = h.steps+1, k
		}
	}
	if float64(out.growth(b.steps[0].end, b.steps[n].end)) < leakGrowth*float64(sum) {
		return // releases happened that cannot be paired (no addresses): nothing grew
	}
	for _, name := range names {
		h := byOp[name]
		if h.steps >= leakSteps && float64(h.steps) >= leakShare*float64(n) {
			out.Leaks = append(out.Leaks, Leak{Operator: name, Bytes: h.bytes, Count: h.count, PerStep: h.bytes / int64(h.steps), Steps: h.steps, Share: ratio(h.bytes, sum)})
		}
	}
	slices.SortStableFunc(out.Leaks, func(p, q Leak) int { return compareInt(q.Bytes, p.Bytes) })
}

// growth is how much more was in use at one time than at another.
func (s *MemorySpace) growth(from, to int64) int64 {
	at := func(t int64) int64 {
		i, _ := slices.BinarySearch(s.Times, t+1)
		if i == 0 {
			return 0
		}
		return s.Allocated[i-1]
	}
	return at(to) - at(from)
}

// Downsample returns at most n indexes of the curve (times, values) that keep its shape: the first, the last and, per
// bucket, the point that spans the largest triangle with the point chosen before it and the mean of the bucket after it
// (Steinarsson's largest triangle three buckets).
func Downsample(times, values []int64, n int) []int {
	if len(times) <= n || n < 3 {
		all := make([]int, len(times))
		for i := range all {
			all[i] = i
		}
		return all
	}
	out := make([]int, 0, n)
	out = append(out, 0)
	size := float64(len(times)-2) / float64(n-2)
	for k := range n - 2 {
		from, to := 1+int(float64(k)*size), 1+int(float64(k+1)*size)
		next := min(1+int(float64(k+2)*size), len(times)-1)
		var meanX, meanY float64
		for i := to; i <= max(to, next-1); i++ {
			meanX += float64(times[i])
			meanY += float64(values[i])
		}
		count := float64(max(to, next-1) - to + 1)
		meanX, meanY = meanX/count, meanY/count
		px, py := float64(times[out[len(out)-1]]), float64(values[out[len(out)-1]])
		best, area := from, -1.0
		for i := from; i < to; i++ {
			a := (px-meanX)*(float64(values[i])-py) - (px-float64(times[i]))*(meanY-py)
			if a < 0 {
				a = -a
			}
			if a > area {
				best, area = i, a
			}
		}
		out = append(out, best)
	}
	return append(out, len(times)-1)
}
