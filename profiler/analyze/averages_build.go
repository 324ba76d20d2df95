package analyze

import (
	"sort"
	"strings"

	"github.com/gander-go/gander/profiler/trace"
)

// KeyAverages groups the events of the trace as o says.
//
//  1. Every event becomes a member of one row, by name, side and whatever else o groups by.
//  2. Device work adds to the operator that launched it (by external id, else, in Exact, by the launching call).
//  3. Memory events add to the events around them: those that contain their time (Torch), or the innermost one on the
//     thread that did it and its callers (Exact).
//  4. Totals flow up the call tree; self is total minus children.
//
// Steps 2 to 4 are one pass each over the slices; nothing is kept per event but a few numbers.
func (a *Analysis) KeyAverages(o KeyOptions) *Averages {
	b := &builder{x: a.index(), o: o, t: a.Trace, torch: o.Convention == Torch}
	b.names()
	b.deviceWork()
	b.tree = buildTree(b.x, b.host, b.twice)
	b.tree.settle(b.own, b.torch)
	b.memory()
	b.totals()
	b.rows()
	if !b.torch {
		b.unions()
		b.distributions()
	}
	b.countUntimed()
	return b.finish()
}

type builder struct {
	t     *trace.Trace
	x     *index
	o     KeyOptions
	torch bool
	tree  *tree

	name []trace.StringID // by StringID: the name a row is known by (every ProfilerStep#N is one row)
	skip []bool           // by StringID: events that torch hides

	own    []int64 // by slice: device time of the work launched by it directly
	dev    []int64 // by slice: device time with callees
	self   []int64 // by slice: host time without callees
	mem    [2]memoryOf
	loose  []int32 // memory events that belong to no slice
	stacks *stackReader

	flops     *shapeFLOPs             // nil when FLOPs are only the source's
	osCounted bool                    // spans may have the operating system's counts
	about     map[trace.StringID]bool // by other arguments of operators: they say that FLOPs are an estimate

	sameShapes  map[trace.StringID]trace.StringID // see listless
	firstShapes map[string]trace.StringID

	row    []int32 // by slice: its row, or NoSlice
	keys   keyTable
	out    []Average
	starts []int64 // by row: start of the first member
	ends   []int64
}

// memoryOf is the memory of one space by slice, nil when there is none.
type memoryOf struct{ total, self []int64 }

// host reports whether class c is a host event with a row.
func (b *builder) host(c trace.Class) bool {
	switch c {
	case trace.ClassOp, trace.ClassAnnotation, trace.ClassStep, trace.ClassRuntime, trace.ClassDriver,
		trace.ClassOverhead, trace.ClassCall, trace.ClassComm:
		return true
	case trace.ClassOther:
		return !b.torch
	case trace.ClassPython:
		return b.torch && b.o.Python
	}
	return false
}

// deviceRow reports whether class c is a device event with a row.
func deviceRow(c trace.Class) bool { return c.OnDevice() || c == trace.ClassSync }

func (b *builder) names() {
	list := b.t.Strings.List()
	b.name = make([]trace.StringID, b.t.Strings.Len())
	b.skip = make([]bool, b.t.Strings.Len())
	step := trace.StringID(0)
	for i, s := range list {
		id := trace.StringID(i)
		if strings.HasPrefix(s, stepPrefix) {
			if step == 0 {
				step = id
			}
			id = step
		}
		b.name[i] = id
		switch s {
		case "profiler::_record_function_enter", "profiler::_record_function_enter_new", "profiler::_record_function_exit",
			"aten::is_leaf", "aten::output_nr", "aten::_version":
			b.skip[i] = true
		}
	}
	if len(list) == 0 {
		return
	}
	for i := range b.x.class {
		if b.skip[b.t.Slices[i].Name] && b.host(b.x.class[i]) {
			return
		}
	}
	b.skip = nil
}

// twice reports whether an only child of that name is its caller seen again. torch takes any event for that; only
// operators are dispatched twice, a function or a range that calls itself is called twice.
func (b *builder) twice(parent, child int32) bool {
	return b.name[b.t.Slices[parent].Name] == b.name[b.t.Slices[child].Name] &&
		(b.torch || b.x.class[parent] == trace.ClassOp && b.x.class[child] == trace.ClassOp)
}

// deviceWork adds the time of device work to the operators that launched it.
func (b *builder) deviceWork() {
	if !b.x.device && !b.torch || b.x.op == nil && b.x.call == nil {
		return
	}
	b.own = make([]int64, len(b.t.Slices))
	for i, c := range b.x.class {
		if !deviceRow(c) || !b.torch && !c.DeviceWork() {
			continue
		}
		if o := b.launcher(int32(i)); o >= 0 {
			b.own[o] += b.t.Slices[i].Dur
		}
	}
}

// launcher returns the host event that device work i belongs to, or NoSlice.
func (b *builder) launcher(i int32) int32 {
	var o int32
	if b.torch {
		o = b.x.opOf(i)
	} else {
		o = b.x.launcher(i)
	}
	if o >= 0 && b.t.Slices[o].Flags&trace.FlagAsync != 0 {
		return trace.NoSlice
	}
	return o
}

// totals fills dev, self and the memory totals from the tree.
func (b *builder) totals() {
	s := b.t.Slices
	b.self = make([]int64, len(s))
	for _, i := range b.tree.order {
		b.self[i] += s[i].Dur
		if p := b.tree.parent[i]; p >= 0 {
			b.self[p] -= s[i].Dur
		}
	}
	if b.own != nil {
		b.dev = make([]int64, len(s))
		b.sumUp(b.own, b.dev)
	}
	for k := range b.mem {
		m := &b.mem[k]
		if m.self == nil && m.total == nil {
			continue
		}
		if m.total == nil {
			m.total = make([]int64, len(s))
			b.sumUp(m.self, m.total)
			continue
		}
		m.self = make([]int64, len(s))
		for _, i := range b.tree.order {
			m.self[i] += m.total[i]
			if p := b.tree.parent[i]; p >= 0 {
				m.self[p] -= m.total[i]
			}
		}
	}
}

// sumUp sets total to self plus what callees total.
func (b *builder) sumUp(self, total []int64) {
	for k := len(b.tree.order) - 1; k >= 0; k-- {
		i := b.tree.order[k]
		total[i] += self[i]
		if p := b.tree.parent[i]; p >= 0 {
			total[p] += total[i]
		}
	}
}

// rows puts every event into its row and sums.
func (b *builder) rows() {
	s := b.t.Slices
	b.row = filled(len(s))
	b.keys.init(b.t.Strings.Len(), b.o)
	b.flops = b.o.flopsOf(b.t)
	b.osCounted = osCounted(b.t)
	for _, i := range b.tree.order {
		if b.skip != nil && b.skip[s[i].Name] {
			continue
		}
		if b.torch && b.x.class[i] == trace.ClassPython {
			continue // they nest, but have no rows
		}
		r := b.rowFor(i)
		r.SelfCPU += b.self[i]
		r.CPUTotal += s[i].Dur
		b.countOS(r, i)
		if b.own != nil {
			r.SelfDevice += b.own[i]
			r.DeviceTotal += b.dev[i]
		}
		if m := &b.mem[0]; m.total != nil {
			r.CPUMemory += m.total[i]
			r.SelfCPUMemory += m.self[i]
		}
		if m := &b.mem[1]; m.total != nil {
			r.DeviceMemory += m.total[i]
			r.SelfDeviceMemory += m.self[i]
		}
		if s[i].Kind == trace.ArgOp {
			op := &b.t.Ops[s[i].Args]
			b.countFLOPs(r, i, op)
			r.Bytes += op.Bytes
		}
	}
	for i, c := range b.x.class {
		switch {
		case deviceRow(c):
			r := b.rowFor(int32(i))
			r.DeviceTotal += s[i].Dur
			r.SelfDevice += s[i].Dur
		case s[i].Flags&trace.FlagAsync != 0 && b.host(c) && (b.skip == nil || !b.skip[s[i].Name]):
			r := b.rowFor(int32(i))
			r.Async = true
			r.CPUTotal += s[i].Dur
			b.countOS(r, int32(i))
			if m := b.mem[0].total; m != nil {
				r.CPUMemory += m[i]
			}
			if m := b.mem[1].total; m != nil {
				r.DeviceMemory += m[i]
			}
		}
	}
}

// rowFor returns the row of slice i and counts it there.
func (b *builder) rowFor(i int32) *Average {
	s := &b.t.Slices[i]
	r := b.keys.find(b, i)
	if r < 0 {
		r = b.newRow(i)
		b.keys.set(b, i, r)
	}
	b.row[i] = r
	row := &b.out[r]
	row.Count++
	row.Untimed += b.untimed(s)
	if s.Start < b.starts[r] || s.Start == b.starts[r] && s.End() > b.ends[r] {
		b.starts[r], b.ends[r] = s.Start, s.End()
		row.First = i
	}
	return row
}

func (b *builder) newRow(i int32) int32 {
	s := &b.t.Slices[i]
	c := b.x.class[i]
	row := Average{
		Key: b.t.Strings.Get(b.name[s.Name]), Class: c, Track: trace.NoTrack, First: i,
		User: c == trace.ClassAnnotation || c == trace.ClassStep || c == trace.ClassDeviceAnnotation,
	}
	if c == trace.ClassStep || strings.HasPrefix(row.Key, stepPrefix) {
		row.Key = "ProfilerStep*"
	}
	if deviceRow(c) {
		row.Side = SideDevice
	}
	b.out = append(b.out, row)
	b.starts = append(b.starts, s.Start)
	b.ends = append(b.ends, s.End())
	return int32(len(b.out) - 1)
}

// finish orders the rows by first appearance and adds what concerns them all.
func (b *builder) finish() *Averages {
	res := &Averages{Options: b.o, Losses: b.t.Problems}
	if b.x.device {
		res.DeviceName = deviceName(b.t)
	}
	res.HasMemory = len(b.t.Memory) > 0
	b.looseRows()
	order := make([]int, len(b.out))
	for i := range order {
		order[i] = i
	}
	sort.SliceStable(order, func(i, j int) bool {
		p, q := order[i], order[j]
		if b.starts[p] != b.starts[q] {
			return b.starts[p] < b.starts[q]
		}
		return b.ends[p] > b.ends[q]
	})
	res.Rows = make([]Average, len(order))
	for i, r := range order {
		row := b.out[r]
		b.describe(&row)
		res.Rows[i] = row
		if res.Counts(&row) {
			res.SelfCPUTotal += row.SelfCPU
			if row.Side == SideDevice {
				res.SelfDeviceTotal += row.SelfDevice
			}
		}
		res.HasFLOPs = res.HasFLOPs || row.FLOPs > 0
		res.HasOS = res.HasOS || row.OS != nil
		res.HasStacks = res.HasStacks || len(row.Stack) > 0
	}
	res.FromShapes = res.HasFLOPs && b.flops != nil
	res.DeviceBusy, res.Span = b.x.busy()
	return res
}

// describe fills the texts of a row from its first member.
func (b *builder) describe(row *Average) {
	row.Device = "CPU"
	if row.Side == SideDevice {
		row.Device = deviceName(b.t)
	}
	if row.First < 0 {
		return
	}
	s := &b.t.Slices[row.First]
	row.TopLevel = b.tree.parent[row.First] < 0
	if b.o.ByShape {
		shapes := b.t.Strings.Get(b.shapesOf(row.First))
		if b.torch {
			shapes = withoutLists(shapes)
		}
		row.Shapes = spacedJSON(shapes)
	}
	if b.o.ByOverload {
		row.Overload = b.stacks.overload(b.t, row.First)
	}
	if b.o.ByStack > 0 {
		row.Stack = b.stacks.frames(row.First)
	}
	if b.o.ByTrack {
		row.Track = s.Track
		row.Thread = trackName(b.t, s.Track)
	}
	if b.o.ByStep {
		row.Step = b.keys.stepName(b.keys.stepOf(b, row.First))
	}
}
