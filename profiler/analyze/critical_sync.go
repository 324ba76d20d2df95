package analyze

import (
	"slices"
	"strings"

	"github.com/gander-go/gander/profiler/trace"
)

// hostWaits ties every wait of the host to the device work that it waited for, by the recorded synchronisation events.
func (b *pathBuilder) hostWaits() {
	s := b.t.Slices
	streams := b.x.streams(Exact)
	for _, events := range streams {
		slices.SortFunc(events, func(p, q deviceEvent) int { return compareInt(p.end, q.end) })
	}
	for i, c := range b.x.class {
		if c != trace.ClassSync {
			continue
		}
		b.sync = true
		call := b.x.syncCalls().find(s[i].Corr)
		host, in := b.local[call]
		if call < 0 || !in {
			continue
		}
		switch name := b.t.Name(&s[i]); {
		case strings.HasPrefix(name, "Stream Wait"):
		case strings.HasPrefix(name, "Event Sync"):
			b.waitFor(host, call, b.recorded(&s[i]))
		default:
			for _, events := range streams {
				if strings.HasPrefix(name, "Context") || b.x.streamArg(events[0].slice) == b.x.streamArg(int32(i)) {
					b.waitFor(host, call, lastBefore(events, s[call].End()))
				}
			}
		}
	}
}

// waitFor adds an edge from the end of device work to the end of the call that waited for it.
func (b *pathBuilder) waitFor(host, call, work int32) {
	if work < 0 {
		return
	}
	if k, ok := b.local[work]; ok {
		b.edge(2*k+1, 2*host+1, EdgeSync, true, call)
	}
}

// lastBefore returns the piece of a stream's work, ordered by end, that ended last by a time, or NoSlice.
func lastBefore(byEnd []deviceEvent, at int64) int32 {
	n, _ := slices.BinarySearchFunc(byEnd, at+1, func(e deviceEvent, at int64) int { return compareInt(e.end, at) })
	if n == 0 {
		return trace.NoSlice
	}
	return byEnd[n-1].slice
}

// launched is a piece of device work with the time of its launch.
type launched struct {
	at   int64
	work int32
}

// launchesOn returns what was launched on a stream (any for a negative one), ordered by the launch.
func (b *pathBuilder) launchesOn(stream int64) []launched {
	stream = max(stream, -1)
	if list, ok := b.byStream[stream]; ok {
		return list
	}
	if b.byStream == nil {
		b.byStream = map[int64][]launched{}
	}
	list := []launched{}
	for i, c := range b.x.class {
		if call := b.x.callOf(int32(i)); c.DeviceWork() && call >= 0 && (stream < 0 || b.x.streamArg(int32(i)) == stream) {
			list = append(list, launched{b.t.Slices[call].Start, int32(i)})
		}
	}
	slices.SortStableFunc(list, func(p, q launched) int { return compareInt(p.at, q.at) })
	b.byStream[stream] = list
	return list
}

// recorded returns the device work after which the event was recorded that a synchronisation waited for.
func (b *pathBuilder) recorded(sync *trace.Slice) int32 {
	if sync.Kind != trace.ArgSync {
		return trace.NoSlice
	}
	args := &b.t.Syncs[sync.Args]
	record := b.x.syncCalls().find(args.WaitRecordCorr)
	if record < 0 {
		return trace.NoSlice
	}
	list := b.launchesOn(args.WaitStream)
	n, _ := slices.BinarySearchFunc(list, b.t.Slices[record].Start+1, func(l launched, at int64) int { return compareInt(l.at, at) })
	if n == 0 {
		return trace.NoSlice
	}
	return list[n-1].work
}

// streamWaits are the waits of streams for events of other streams, by stream.
type streamWaits map[trace.TrackID][]streamWait

type streamWait struct {
	at   int64 // when the host asked for it
	work int32 // the device work that has to be done first
}

func (b *pathBuilder) waits() streamWaits {
	out := streamWaits{}
	s := b.t.Slices
	for i, c := range b.x.class {
		if c != trace.ClassSync || !strings.HasPrefix(b.t.Name(&s[i]), "Stream Wait") {
			continue
		}
		b.sync = true
		call := b.x.syncCalls().find(s[i].Corr)
		work := b.recorded(&s[i])
		if call >= 0 && work >= 0 {
			out[s[i].Track] = append(out[s[i].Track], streamWait{s[call].Start, work})
		}
	}
	for _, list := range out {
		slices.SortFunc(list, func(p, q streamWait) int { return compareInt(p.at, q.at) })
	}
	return out
}

// before returns the work that a kernel launched at a time on a stream had to wait for, or NoSlice.
func (w streamWaits) before(track trace.TrackID, launched, started int64, s []trace.Slice) int32 {
	found := trace.NoSlice
	for _, v := range w[track] {
		if v.at > launched {
			break
		}
		if s[v.work].End() <= started {
			found = v.work
		}
	}
	return found
}

// longest finds the longest path by visiting nodes after all they depend on.
func (b *pathBuilder) longest(r *PathReport) {
	n := 2 * len(b.events)
	if n == 0 {
		return
	}
	degree := make([]int32, n)
	out := make([][]int32, n)
	for k, e := range b.edges {
		degree[e.to]++
		out[e.from] = append(out[e.from], int32(k))
	}
	dist, via := make([]int64, n), filled(n)
	var ready []int32
	for v := range n {
		if degree[v] == 0 {
			ready = append(ready, int32(v))
		}
	}
	best := int32(0)
	for len(ready) > 0 {
		v := ready[len(ready)-1]
		ready = ready[:len(ready)-1]
		// Edges without cost at the end of the path are part of it, save for HTA.
		if dist[v] > dist[best] || b.c != HTA && dist[v] == dist[best] && b.time(v) >= b.time(best) {
			best = v
		}
		for _, k := range out[v] {
			e := &b.edges[k]
			if d := dist[v] + e.weight; via[e.to] < 0 || d > dist[e.to] {
				dist[e.to], via[e.to] = d, k
			}
			if degree[e.to]--; degree[e.to] == 0 {
				ready = append(ready, e.to)
			}
		}
	}
	seen := map[int32]bool{}
	mark := func(i int32) {
		if !seen[i] {
			seen[i] = true
			r.Critical = append(r.Critical, i)
		}
	}
	mark(b.events[best/2])
	for k := via[best]; k >= 0; k = via[b.edges[k].from] {
		e := &b.edges[k]
		edge := PathEdge{Kind: e.kind, Owner: e.owner, From: b.events[e.from/2], To: b.events[e.to/2], FromEnd: e.from%2 == 1, ToEnd: e.to%2 == 1,
			Start: b.time(e.from), End: b.time(e.to), Weight: e.weight, Bound: b.bound(e)}
		r.Edges = append(r.Edges, edge)
		r.Time[edge.Bound] += e.weight
		mark(edge.From)
	}
	slices.Reverse(r.Edges)
	slices.SortFunc(r.Critical, func(p, q int32) int {
		s, u := &b.t.Slices[p], &b.t.Slices[q]
		switch {
		case s.Start != u.Start:
			return compareInt(s.Start, u.Start)
		case s.Dur != u.Dur:
			return compareInt(u.Dur, s.Dur)
		}
		return int(p - q)
	})
	delete(r.Time, "")
}

// bound names what an edge's time is bound by, in HTA's words; edges without cost by nothing.
func (b *pathBuilder) bound(e *pathEdge) string {
	switch {
	case e.weight == 0:
		return ""
	case e.kind == EdgeLaunch:
		return "gpu_kernel_launch_overhead"
	case e.kind == EdgeKernelKernel:
		return "gpu_kernel_kernel_overhead"
	case b.x.class[e.owner].DeviceWork():
		if kernelType(b.t.Name(&b.t.Slices[e.owner])) == TypeComm {
			return "gpu_communication_bound"
		}
		return "gpu_compute_bound"
	case loaderCall(b.t.Name(&b.t.Slices[e.owner])):
		return "data_loading"
	}
	return "cpu_bound"
}
