package analyze

import (
	"fmt"
	"slices"
	"strings"

	"github.com/gander-go/gander/profiler/trace"
)

// maxKernelGap is the longest gap in ns between two kernels of a stream that counts as caused by the first of them.
const maxKernelGap = 1_500_000

// pathBuilder builds the graph of one range. Node 2*k is the start of event k, 2*k+1 its end.
type pathBuilder struct {
	x      *index
	t      *trace.Trace
	c      Convention
	window span
	sync   bool // synchronisation events were recorded

	events   []int32 // slices
	byStream map[int64][]launched
	local    map[int32]int32 // event by slice
	edges    []pathEdge
}

type pathEdge struct {
	from, to int32 // nodes
	weight   int64
	kind     EdgeKind
	owner    int32 // the slice that it is spent in
}

func (b *pathBuilder) setRange(o PathOptions, r *PathReport) error {
	start, end := b.x.window()
	if o.Annotation != "" {
		var found []int32
		for i, c := range b.x.class {
			if (c == trace.ClassAnnotation || c == trace.ClassStep || c == trace.ClassOp || c == trace.ClassCall) &&
				strings.HasPrefix(b.t.Name(&b.t.Slices[i]), o.Annotation) {
				found = append(found, int32(i))
			}
		}
		slices.SortStableFunc(found, func(p, q int32) int { return compareInt(b.t.Slices[p].Start, b.t.Slices[q].Start) })
		if o.Instance < 0 || o.Instance >= len(found) {
			return fmt.Errorf("finding the critical path: there are %d ranges %q, none of number %d", len(found), o.Annotation, o.Instance)
		}
		s := &b.t.Slices[found[o.Instance]]
		start, end = s.Start, s.End()
		r.Range = b.t.Name(s)
	}
	b.window = span{start, end}
	r.Start, r.End = start, end
	return nil
}

func (b *pathBuilder) event(i int32) int32 {
	if k, ok := b.local[i]; ok {
		return k
	}
	k := int32(len(b.events))
	b.events = append(b.events, i)
	b.local[i] = k
	return k
}

func (b *pathBuilder) time(node int32) int64 {
	s := &b.t.Slices[b.events[node/2]]
	if node%2 == 0 {
		return s.Start
	}
	return s.End()
}

// edge adds an edge; one against time (clocks that disagree) is left out.
func (b *pathBuilder) edge(from, to int32, kind EdgeKind, free bool, owner int32) {
	d := b.time(to) - b.time(from)
	if d < 0 {
		return
	}
	if free {
		d = 0
	}
	b.edges = append(b.edges, pathEdge{from, to, d, kind, owner})
}

// blockingCalls are the calls whose time HTA gives to what they wait for.
var blockingCalls = map[string]bool{
	"cudaDeviceSynchronize": true, "cudaStreamSynchronize": true, "cudaEventQuery": true, "cudaEventSynchronize": true,
	"cudaMemcpy": true, "cudaMemcpyAsync": true,
}

// hosts reports whether host work of class c is on the path.
func (b *pathBuilder) hosts(c trace.Class) bool {
	if b.c == HTA {
		return c == trace.ClassOp || isCall(c)
	}
	return launches(c)
}

// blocks reports whether slice i is a call that waits.
func (b *pathBuilder) blocks(i int32) bool {
	name := b.t.Name(&b.t.Slices[i])
	if b.c == HTA {
		return blockingCalls[name]
	}
	return isCall(b.x.class[i]) && syncCall(name)
}

// host adds the threads.
func (b *pathBuilder) host() {
	b.local = map[int32]int32{}
	tr := buildTree(b.x, b.hosts, nil)
	s := b.t.Slices
	var stack []int32
	last, track := int32(-1), trace.NoTrack
	pop := func(start int64, parent int32) {
		for len(stack) > 0 && stack[len(stack)-1] != parent {
			i := stack[len(stack)-1]
			stack = stack[:len(stack)-1]
			end := b.local[i]*2 + 1
			b.edge(last, end, EdgeWork, b.blocks(i), i)
			last = end
		}
	}
	for _, i := range tr.order {
		if s[i].Start < b.window.start || s[i].End() > b.window.end || b.c == HTA && s[i].Dur == 0 {
			continue
		}
		parent := tr.parent[i]
		if parent >= 0 {
			if _, in := b.local[parent]; !in {
				parent = trace.NoSlice
			}
		}
		if s[i].Track != track && !(isCall(b.x.class[i]) && parent >= 0) {
			pop(0, trace.NoSlice)
			last, track = -1, s[i].Track
		}
		pop(s[i].Start, parent)
		start := b.event(i) * 2
		switch {
		case last < 0:
		case len(stack) == 0:
			b.edge(last, start, EdgeDependency, true, i)
		default:
			b.edge(last, start, EdgeWork, false, stack[len(stack)-1])
		}
		last = start
		stack = append(stack, i)
	}
	pop(0, trace.NoSlice)
}

// deviceWork adds the streams, their launches and the waits for them.
func (b *pathBuilder) deviceWork() {
	s := b.t.Slices
	waits := b.waits()
	for _, events := range b.x.streams(Exact) {
		var starts, ends []int64 // of the stream, to tell what was queued at a launch
		last := int32(-1)
		for n, e := range events {
			call, in := b.local[e.call]
			if e.call < 0 || !in {
				continue
			}
			k := b.event(e.slice)
			b.edge(2*k, 2*k+1, EdgeWork, false, e.slice)
			launched := s[e.call].Start
			started, _ := slices.BinarySearch(starts, launched+1)
			idle := started == len(starts) && (len(ends) == 0 || ends[len(ends)-1] <= launched)
			if b.c == HTA {
				next := n + 1
				queue := next < len(events) && events[next].call >= 0 && s[events[next].call].Start <= e.start
				idle = started == len(starts) && !queue && (len(ends) == 0 || ends[len(ends)-1] < launched)
			}
			source := waits.before(s[e.slice].Track, launched, e.start, s)
			if source >= 0 && s[source].End() > launched {
				idle = false
			}
			if idle || b.c != HTA {
				b.edge(2*call, 2*k, EdgeLaunch, !idle, e.slice)
			}
			if !idle && last >= 0 {
				prev := b.events[last]
				if gap := e.start - s[prev].End(); gap >= 0 && (gap < maxKernelGap || b.c == HTA) && (source < 0 || s[source].End() <= s[prev].End()) {
					b.edge(2*last+1, 2*k, EdgeKernelKernel, false, e.slice)
				}
			}
			if source >= 0 {
				if w, ok := b.local[source]; ok {
					b.edge(2*w+1, 2*k, EdgeSync, true, e.slice)
				}
			}
			starts, ends = append(starts, e.start), append(ends, e.end)
			last = k
		}
	}
	b.hostWaits()
}
