package analyze

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sort"
	"testing"

	"github.com/gander-go/gander/profiler/trace"
)

// randomTrace makes a small trace in which everything happens that key averages depend on: nesting, partial overlap, equal
// times, recursion that collapses and recursion that does not, calls linked across threads and to nothing, device work with
// and without launch, ranges on the device, asynchronous events, memory inside and outside of events.
func randomTrace(r *rand.Rand) *trace.Trace {
	t := &trace.Trace{Ops: make([]trace.OpArgs, 1)}
	t.Devices = []trace.Device{{ID: 0}}
	threads, streams := 1+r.IntN(3), 1+r.IntN(2)
	for i := range threads {
		t.Tracks = append(t.Tracks, trace.Track{ID: int64(i), Device: trace.NoDevice})
	}
	for i := range streams {
		t.Tracks = append(t.Tracks, trace.Track{ID: int64(i), Kind: trace.TrackStream, Device: 0})
	}
	category := func(c trace.Class) trace.CategoryID { return t.Category(fmt.Sprint("c", c), c) }
	names := []string{"a", "b", "c", "ProfilerStep#1", "ProfilerStep#2", "aten::is_leaf"}
	shapes := []string{"", "[[1,2]]", "[[3]]"}
	interval := func() (int64, int64) {
		start := r.Int64N(40)
		return start, r.Int64N(1 + (40-start)/(1+r.Int64N(3)))
	}
	ext := int64(0)
	for range r.IntN(25) {
		s := trace.Slice{Name: t.Strings.ID(names[r.IntN(len(names))]), Track: trace.TrackID(r.IntN(threads))}
		s.Start, s.Dur = interval()
		ext++
		s.Ext = ext
		s.Cat = category([]trace.Class{trace.ClassOp, trace.ClassOp, trace.ClassOp, trace.ClassAnnotation, trace.ClassCall, trace.ClassOther}[r.IntN(6)])
		if r.IntN(10) == 0 {
			s.Flags = trace.FlagAsync
		}
		if t.Categories[s.Cat].Class == trace.ClassOp {
			s.Kind, s.Args = trace.ArgOp, uint32(len(t.Ops))
			t.Ops = append(t.Ops, trace.OpArgs{Dims: t.Strings.ID(shapes[r.IntN(3)]), FLOPs: r.Int64N(3), Bytes: r.Int64N(5)})
		}
		t.Slices = append(t.Slices, s)
	}
	for corr := range int64(r.IntN(10)) {
		s := trace.Slice{Name: t.Strings.ID("launch"), Track: trace.TrackID(r.IntN(threads)), Corr: corr + 1, Cat: category(trace.ClassRuntime)}
		if r.IntN(4) > 0 {
			s.Ext = r.Int64N(ext + 3)
		}
		s.Start, s.Dur = interval()
		if r.IntN(8) > 0 {
			t.Slices = append(t.Slices, s)
		}
		for range r.IntN(3) {
			k := trace.Slice{Name: t.Strings.ID([]string{"k", "a"}[r.IntN(2)]), Track: trace.TrackID(threads + r.IntN(streams)), Corr: s.Corr, Ext: s.Ext,
				Cat: category([]trace.Class{trace.ClassKernel, trace.ClassKernel, trace.ClassMemcpy, trace.ClassDeviceAnnotation, trace.ClassSync}[r.IntN(5)])}
			k.Start, k.Dur = interval()
			t.Slices = append(t.Slices, k)
		}
	}
	for range r.IntN(12) {
		m := trace.MemEvent{Time: r.Int64N(45), Track: trace.TrackID(r.IntN(threads+1) - 1), Space: trace.MemSpace(r.IntN(3)), Bytes: r.Int64N(9) - 3,
			OOM: r.IntN(10) == 0, Device: trace.NoDevice, Allocated: -1, Reserved: -1}
		t.Memory = append(t.Memory, m)
	}
	t.Sort()
	sort.SliceStable(t.Memory, func(i, j int) bool { return t.Memory[i].Time < t.Memory[j].Time })
	return t
}

// naive computes key averages by definition: no shared passes, no prefix sums, no stacks; cubic and slow.
type naive struct {
	t     *trace.Trace
	torch bool
	evs   []*nev
}

type nev struct {
	i      int
	s      trace.Slice
	class  trace.Class
	name   string
	track  trace.TrackID
	parent *nev
	own    int64
	mem    [2]int64
	gone   *nev
}

func (n *naive) host(c trace.Class) bool {
	switch c {
	case trace.ClassOp, trace.ClassAnnotation, trace.ClassStep, trace.ClassRuntime, trace.ClassCall:
		return true
	case trace.ClassOther:
		return !n.torch
	}
	return false
}

// parents gives every event of list the last event before it, on its thread, that contains all events from there to it.
func parents(list []*nev) {
	slices.SortStableFunc(list, func(a, b *nev) int {
		return cmp.Or(cmp.Compare(a.track, b.track), cmp.Compare(a.s.Start, b.s.Start), cmp.Compare(b.s.End(), a.s.End()))
	})
	for e := range list {
		for k := e - 1; k >= 0 && list[k].track == list[e].track && list[e].parent == nil; k-- {
			all := true
			for j := k + 1; j <= e; j++ {
				all = all && list[j].s.Start < list[k].s.End() && list[j].s.End() <= list[k].s.End()
			}
			if all {
				list[e].parent = list[k]
			}
		}
	}
}

func (n *naive) owner(ext int64) *nev {
	if ext <= 0 {
		return nil
	}
	for _, e := range n.evs {
		if isOperator(e.class) && e.s.Ext == ext {
			return e
		}
	}
	return nil
}

func (n *naive) build() []*nev {
	t := n.t
	for i, s := range t.Slices {
		e := &nev{i: i, s: s, class: t.Categories[s.Cat].Class, name: t.Name(&s), track: s.Track}
		if len(e.name) > 13 && e.name[:13] == "ProfilerStep#" {
			e.name = "ProfilerStep*"
			if e.class == trace.ClassOp || e.class == trace.ClassAnnotation {
				e.class = trace.ClassStep
			}
		}
		n.evs = append(n.evs, e)
	}
	var list []*nev
	for _, e := range n.evs {
		if !n.host(e.class) || e.s.Flags&trace.FlagAsync != 0 {
			continue
		}
		if o := n.owner(e.s.Ext); e.class == trace.ClassRuntime && o != nil && o.s.Flags&trace.FlagAsync == 0 {
			e.track = o.s.Track
		}
		list = append(list, e)
	}
	parents(list)
	return list
}

// launcher is the event that device work d counts for.
func (n *naive) launcher(d *nev) *nev {
	o := n.owner(d.s.Ext)
	if !n.torch {
		var call *nev
		for _, e := range n.evs {
			if call == nil && e.class == trace.ClassRuntime && e.s.Corr == d.s.Corr && d.s.Corr > 0 {
				call = e
			}
		}
		if call != nil {
			o = n.owner(call.s.Ext)
			if o == nil || call.s.Start < o.s.Start || call.s.Start > o.s.End() {
				o = n.around(call)
			}
		} else if o != nil && o.s.Start > d.s.End() {
			o = nil
		}
	}
	if o != nil && o.s.Flags&trace.FlagAsync != 0 {
		return nil
	}
	return o
}

// around is the innermost operator around a call in the tree of what can launch.
func (n *naive) around(call *nev) *nev {
	var list []*nev
	back := map[*nev]*nev{}
	for _, e := range n.evs {
		if (isOperator(e.class) || e.class == trace.ClassRuntime) && e.s.Flags&trace.FlagAsync == 0 {
			c := *e
			c.parent = nil
			back[&c] = e
			list = append(list, &c)
		}
	}
	parents(list)
	for _, e := range list {
		if back[e] == call {
			for p := e.parent; p != nil; p = p.parent {
				if p.class != trace.ClassRuntime {
					return back[p]
				}
			}
		}
	}
	return nil
}

type naiveRow struct {
	count, cpu, selfCPU, dev, selfDev int64
	mem, selfMem                      [2]int64
	flops, bytes                      int64
	durs                              []int64
	busy                              [128]bool
}

func (n *naive) rows(key func(*nev) string) map[string]*naiveRow {
	list := n.build()
	for _, d := range n.evs {
		if !deviceRow(d.class) || !n.torch && !d.class.DeviceWork() {
			continue
		}
		if o := n.launcher(d); o != nil {
			o.own += d.s.Dur
		}
	}
	for changed := true; changed; {
		changed = false
		for k, e := range list {
			p := e.parent
			if p == nil || p.name != e.name || !n.torch && (p.class != trace.ClassOp || e.class != trace.ClassOp) {
				continue
			}
			siblings := 0
			for _, v := range list {
				if v.parent == p {
					siblings++
				}
			}
			if siblings != 1 {
				continue
			}
			for _, v := range list {
				if v.parent == e {
					v.parent = p
				}
			}
			if n.torch {
				p.own = e.own
			} else {
				p.own += e.own
			}
			e.gone = p
			list = slices.Delete(slices.Clone(list), k, k+1)
			changed = true
			break
		}
	}
	rows := map[string]*naiveRow{}
	row := func(e *nev) *naiveRow {
		if rows[key(e)] == nil {
			rows[key(e)] = &naiveRow{}
		}
		return rows[key(e)]
	}
	n.memory(list, rows)
	hidden := func(e *nev) bool { return e.name == "aten::is_leaf" }
	for _, e := range list {
		if hidden(e) {
			continue
		}
		r := row(e)
		r.count++
		r.durs = append(r.durs, e.s.Dur)
		r.cpu += e.s.Dur
		r.selfCPU += e.s.Dur
		r.selfDev += e.own
		r.dev += total2(list, e, func(v *nev) int64 { return v.own })
		for k := range r.mem {
			r.mem[k] += e.mem[k]
			r.selfMem[k] += e.mem[k]
		}
		for _, v := range list {
			if v.parent == e {
				r.selfCPU -= v.s.Dur
				for k := range r.mem {
					r.selfMem[k] -= v.mem[k]
				}
			}
		}
		if e.s.Kind == trace.ArgOp {
			r.flops += n.t.Ops[e.s.Args].FLOPs
			r.bytes += n.t.Ops[e.s.Args].Bytes
		}
	}
	for _, e := range n.evs {
		switch {
		case deviceRow(e.class):
			r := row(e)
			r.count++
			r.dev += e.s.Dur
			r.selfDev += e.s.Dur
			r.durs = append(r.durs, e.s.Dur)
			mark(r, e)
		case n.host(e.class) && e.s.Flags&trace.FlagAsync != 0 && !hidden(e):
			r := row(e)
			r.count++
			r.cpu += e.s.Dur
			r.durs = append(r.durs, e.s.Dur)
			for k := range r.mem {
				r.mem[k] += e.mem[k]
			}
		}
		if !e.class.DeviceWork() || n.torch {
			continue
		}
		for o := n.launcher(e); o != nil; o = o.parent {
			for o.gone != nil {
				o = o.gone
			}
			if !hidden(o) && n.host(o.class) {
				mark(row(o), e)
			}
		}
	}
	return rows
}

func mark(r *naiveRow, e *nev) {
	for t := e.s.Start; t < e.s.End(); t++ {
		r.busy[t] = true
	}
}

func total2(list []*nev, e *nev, value func(*nev) int64) int64 {
	sum := value(e)
	for _, v := range list {
		if v.parent == e {
			sum += total2(list, v, value)
		}
	}
	return sum
}

func (n *naive) memory(list []*nev, rows map[string]*naiveRow) {
	loose := func(key string, m *trace.MemEvent) {
		if rows[key] == nil {
			rows[key] = &naiveRow{}
		}
		rows[key].count++
		if !m.OOM && m.Space != trace.MemOther {
			rows[key].mem[m.Space] += m.Bytes
			rows[key].selfMem[m.Space] += m.Bytes
		}
	}
	for i := range n.t.Memory {
		m := &n.t.Memory[i]
		if m.OOM {
			loose("[OutOfMemory]", m)
			continue
		}
		found := false
		if n.torch {
			for _, e := range n.evs {
				if n.host(e.class) && e.name != "aten::is_leaf" && e.s.Start <= m.Time && m.Time <= e.s.End() {
					found = true
					if m.Space != trace.MemOther {
						e.mem[m.Space] += m.Bytes
					}
				}
			}
		} else {
			// The last event begun on the thread, or the innermost of those around it, that has not ended.
			var o *nev
			for _, e := range list {
				if m.Track != trace.NoTrack && e.s.Track == m.Track && e.track == m.Track && e.s.Start <= m.Time {
					o = e
				}
			}
			for o != nil && o.s.End() < m.Time {
				o = o.parent
			}
			for ; o != nil; o = o.parent {
				found = true
				if m.Space != trace.MemOther {
					o.mem[m.Space] += m.Bytes
				}
			}
		}
		if !found {
			loose("[memory]", m)
		}
	}
}

func TestKeyAveragesAgainstNaive(t *testing.T) {
	const traces = 4000
	for seed := range uint64(traces) {
		r := rand.New(rand.NewPCG(seed, 7))
		tr := randomTrace(r)
		o := KeyOptions{Convention: []Convention{Exact, Torch}[seed%2], ByShape: seed%3 == 0, ByTrack: seed%5 == 0}
		n := &naive{t: tr, torch: o.Convention == Torch}
		shapes := func(e *nev) string {
			if !o.ByShape || e.s.Kind != trace.ArgOp {
				return ""
			}
			return spacedJSON(tr.Strings.Get(tr.Ops[e.s.Args].Dims))
		}
		track := func(id trace.TrackID) string {
			if !o.ByTrack {
				return ""
			}
			return trackName(tr, id)
		}
		want := n.rows(func(e *nev) string {
			return fmt.Sprint(e.name, "|", deviceRow(e.class), "|", rowKind(e.class) >= 2, "|", shapes(e), "|", track(e.s.Track))
		})
		got := KeyAverages(tr, o)
		for i := range got.Rows {
			g := &got.Rows[i]
			key := fmt.Sprint(g.Key, "|", g.Side == SideDevice, "|", g.User, "|", g.Shapes, "|", g.Thread)
			if g.Class == trace.ClassMemory {
				key = g.Key
			}
			w := want[key]
			if w == nil {
				t.Fatalf("trace %d: extra row %s %+v", seed, key, g)
			}
			delete(want, key)
			have := [12]int64{g.Count, g.CPUTotal, g.SelfCPU, g.DeviceTotal, g.SelfDevice, g.CPUMemory, g.DeviceMemory, g.SelfCPUMemory, g.SelfDeviceMemory, g.FLOPs, g.Bytes, 0}
			wanted := [12]int64{w.count, w.cpu, w.selfCPU, w.dev, w.selfDev, w.mem[0], w.mem[1], w.selfMem[0], w.selfMem[1], w.flops, w.bytes, 0}
			if have != wanted {
				t.Fatalf("trace %d, %v: row %s:\ngot  %v\nwant %v", seed, o.Convention, key, have, wanted)
			}
			if o.Convention == Exact && g.Class != trace.ClassMemory {
				checkSpread(t, seed, key, g, w)
			}
		}
		for k := range want {
			t.Fatalf("trace %d: no row %s", seed, k)
		}
	}
}

func checkSpread(t *testing.T, seed uint64, key string, g *Average, w *naiveRow) {
	t.Helper()
	slices.Sort(w.durs)
	at := func(p float64) int64 { return w.durs[max(0, int(math.Ceil(p*float64(len(w.durs))))-1)] }
	if g.Min != w.durs[0] || g.Max != w.durs[len(w.durs)-1] || g.P50 != at(.5) || g.P90 != at(.9) || g.P99 != at(.99) {
		t.Fatalf("trace %d: row %s: min %d p50 %d p90 %d p99 %d max %d of %v", seed, key, g.Min, g.P50, g.P90, g.P99, g.Max, w.durs)
	}
	busy := int64(0)
	for _, b := range w.busy {
		if b {
			busy++
		}
	}
	if g.DeviceUnion != busy {
		t.Fatalf("trace %d: row %s: busy %d, want %d", seed, key, g.DeviceUnion, busy)
	}
}
