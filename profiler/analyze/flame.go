package analyze

import (
	"slices"

	"github.com/gander-go/gander/profiler/trace"
)

// FlameMetric is what the width of a flame graph's node means.
type FlameMetric uint8

const (
	FlameTime   FlameMetric = iota // ns of host time by nesting of slices
	FlameDevice                    // ns of device time of the work launched below
	FlameCPU                       // CPU samples, ns
	FlameAlloc                     // bytes allocated
	FlameInUse                     // bytes in use
	FlameBlock                     // ns blocked
	FlameMutex                     // ns waiting for mutexes
)

// FlameOptions choose what Flame counts.
type FlameOptions struct {
	Metric   FlameMetric
	Track    trace.TrackID // with OneTrack
	OneTrack bool
	From, To int64 // ns; both 0 is everything
	// MinShare drops nodes below that share of the whole; their weight stays in their parents' self. 0 keeps all.
	MinShare float64
}

// FlameNode is a node of FlameGraph.
type FlameNode struct {
	Name   int32 `json:"n"` // index in FlameGraph.Names
	Parent int32 `json:"p"` // -1 for the root
	Total  int64 `json:"t"`
	Self   int64 `json:"s"`
	Count  int64 `json:"c"` // calls or samples
	Depth  int32 `json:"d"`
}

// FlameGraph is a merged call tree in pre-order: children follow their parent, largest first. Node 0 is the root.
type FlameGraph struct {
	Metric FlameMetric `json:"metric"`
	Unit   string      `json:"unit"` // "ns", "bytes"
	Names  []string    `json:"names"`
	Nodes  []FlameNode `json:"nodes"`
}

// Flame returns the flame graph of t.
func Flame(t *trace.Trace, o FlameOptions) *FlameGraph { return Of(t).Flame(o) }

// Flame returns the flame graph. By time, each thread or goroutine is a branch of its own unless one is asked for; a call is
// a node under its caller's, calls of one name under one caller are one node.
func (a *Analysis) Flame(o FlameOptions) *FlameGraph {
	b := &flameBuilder{a: a, o: o, t: a.Trace, g: &FlameGraph{Metric: o.Metric, Unit: "ns"}}
	b.name("all")
	b.g.Nodes = append(b.g.Nodes, FlameNode{Parent: -1})
	switch o.Metric {
	case FlameTime, FlameDevice:
		b.nested()
	case FlameAlloc, FlameInUse:
		b.g.Unit = "bytes"
		b.sampled()
	default:
		b.sampled()
	}
	return b.finish()
}

type flameBuilder struct {
	a     *Analysis
	t     *trace.Trace
	o     FlameOptions
	g     *FlameGraph
	names map[string]int32
	byID  []int32 // by StringID: name+1
	index pairTable
}

func (b *flameBuilder) name(s string) int32 {
	if n, ok := b.names[s]; ok {
		return n
	}
	if b.names == nil {
		b.names = map[string]int32{}
	}
	n := int32(len(b.g.Names))
	b.names[s] = n
	b.g.Names = append(b.g.Names, s)
	return n
}

func (b *flameBuilder) nameID(id trace.StringID) int32 {
	if b.byID == nil {
		b.byID = make([]int32, b.t.Strings.Len())
	}
	if b.byID[id] == 0 {
		b.byID[id] = b.name(b.t.Strings.Get(id)) + 1
	}
	return b.byID[id] - 1
}

func (b *flameBuilder) child(parent, name int32) int32 {
	n, isNew := b.index.find(uint64(parent)<<32|uint64(name), int32(len(b.g.Nodes)))
	if isNew {
		b.g.Nodes = append(b.g.Nodes, FlameNode{Name: name, Parent: parent, Depth: b.g.Nodes[parent].Depth + 1})
	}
	return n
}

// clip returns how much of a slice lies in the range asked for.
func (b *flameBuilder) clip(s *trace.Slice) int64 {
	if b.o.From == 0 && b.o.To == 0 {
		return s.Dur
	}
	return max(0, min(s.End(), b.o.To)-max(s.Start, b.o.From))
}

func (b *flameBuilder) nested() {
	x := b.a.index()
	tr := buildTree(x, nests, nil)
	node := filled(len(b.t.Slices))
	tracks := make([]int32, len(b.t.Tracks))
	for _, i := range tr.order {
		s := &b.t.Slices[i]
		if b.o.OneTrack && s.Track != b.o.Track {
			continue
		}
		d := b.clip(s)
		if d == 0 && (b.o.From != 0 || b.o.To != 0) {
			continue
		}
		parent := int32(0)
		if p := tr.parent[i]; p >= 0 {
			parent = node[p]
		} else if !b.o.OneTrack && s.Track >= 0 {
			if tracks[s.Track] == 0 {
				tracks[s.Track] = b.child(0, b.name(trackName(b.t, s.Track)))
			}
			parent = tracks[s.Track]
		}
		n := b.child(parent, b.nameID(s.Name))
		node[i] = n
		b.g.Nodes[n].Count++
		if b.o.Metric == FlameTime {
			b.g.Nodes[n].Self += d
			if p := tr.parent[i]; p >= 0 {
				b.g.Nodes[parent].Self -= d
			}
		}
	}
	if b.o.Metric == FlameTime || !x.device {
		return
	}
	for i, c := range x.class {
		if !c.DeviceWork() {
			continue
		}
		s := &b.t.Slices[i]
		parent := int32(0)
		if o := x.callOf(int32(i)); o >= 0 && node[o] >= 0 {
			parent = node[o]
		} else if o := x.launcher(int32(i)); o >= 0 && node[o] >= 0 {
			parent = node[o]
		} else if b.o.OneTrack {
			continue
		}
		n := b.child(parent, b.nameID(s.Name))
		b.g.Nodes[n].Self += b.clip(s)
		b.g.Nodes[n].Count++
	}
}

var sampleKinds = map[FlameMetric]trace.SampleKind{
	FlameCPU: trace.SampleCPU, FlameAlloc: trace.SampleAlloc, FlameInUse: trace.SampleInUse, FlameBlock: trace.SampleBlock,
	FlameMutex: trace.SampleMutex,
}

func (b *flameBuilder) sampled() {
	kind := sampleKinds[b.o.Metric]
	node := filled(len(b.t.Stacks))
	if len(node) > 0 {
		node[0] = 0
	}
	var path []trace.StackID
	for i := range b.t.Samples {
		s := &b.t.Samples[i]
		if s.Kind != kind || b.o.OneTrack && s.Track != b.o.Track || int(s.Stack) >= len(node) {
			continue
		}
		if (b.o.From != 0 || b.o.To != 0) && (s.Time == trace.NoTime || s.Time < b.o.From || s.Time > b.o.To) {
			continue
		}
		path = path[:0]
		at := s.Stack
		for at != 0 && node[at] < 0 && len(path) <= len(node) {
			path = append(path, at)
			at = b.t.Stacks[at].Parent
		}
		n := node[at]
		for k := len(path) - 1; k >= 0; k-- {
			name := int32(0)
			if f := b.t.Stacks[path[k]].Frame; int(f) < len(b.t.Frames) {
				name = b.nameID(b.t.Frames[f].Func)
			}
			n = b.child(n, name)
			node[path[k]] = n
		}
		b.g.Nodes[n].Self += s.Weight
		b.g.Nodes[n].Count += max(1, s.Count)
	}
}

// finish sums up, drops what is too small, and puts the nodes in pre-order.
func (b *flameBuilder) finish() *FlameGraph {
	nodes := b.g.Nodes
	for i := len(nodes) - 1; i >= 0; i-- { // parents come before their children
		nodes[i].Total += nodes[i].Self
		if p := nodes[i].Parent; p >= 0 {
			nodes[p].Total += nodes[i].Total
		}
	}
	least := int64(b.o.MinShare * float64(nodes[0].Total))
	first, next := filled(len(nodes)), filled(len(nodes)) // children as linked lists
	order := make([]int32, len(nodes))
	for i := range order {
		order[i] = int32(i)
	}
	slices.SortStableFunc(order, func(p, q int32) int { return compareInt(nodes[p].Total, nodes[q].Total) })
	for _, i := range order { // smallest first, so that the lists end up largest first
		p := nodes[i].Parent
		switch {
		case p < 0:
		case nodes[i].Total < least:
			nodes[p].Self += nodes[i].Total
		default:
			next[i], first[p] = first[p], i
		}
	}
	out := make([]FlameNode, 0, len(nodes))
	type item struct{ node, parent int32 }
	todo := []item{{0, -1}}
	for len(todo) > 0 {
		it := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		n := nodes[it.node]
		n.Parent = it.parent
		me := int32(len(out))
		out = append(out, n)
		at := len(todo)
		for c := first[it.node]; c >= 0; c = next[c] {
			todo = append(todo, item{c, me})
		}
		slices.Reverse(todo[at:])
	}
	b.g.Nodes = out
	return b.g
}

// pairTable maps pairs of node and name to nodes by open addressing.
type pairTable struct {
	keys   []uint64 // key+1, 0 is free
	values []int32
	used   int
}

func (t *pairTable) find(key uint64, fresh int32) (value int32, isNew bool) {
	if t.used*3 >= len(t.keys)*2 {
		old := *t
		n := max(64, 2*len(old.keys))
		t.keys, t.values = make([]uint64, n), make([]int32, n)
		for i, k := range old.keys {
			if k != 0 {
				j := t.slot(k)
				t.keys[j], t.values[j] = k, old.values[i]
			}
		}
	}
	i := t.slot(key + 1)
	if t.keys[i] == 0 {
		t.keys[i], t.values[i] = key+1, fresh
		t.used++
		return fresh, true
	}
	return t.values[i], false
}

func (t *pairTable) slot(key uint64) int {
	mask := len(t.keys) - 1
	for i := int((key*0x9e3779b97f4a7c15)>>32) & mask; ; i = (i + 1) & mask {
		if k := t.keys[i]; k == 0 || k == key {
			return i
		}
	}
}
