package analyze

import (
	"fmt"
	"slices"

	"github.com/gander-go/gander/profiler/trace"
)

// Thresholds of advice about Go programs and about memory.
const (
	gcShare       = 0.10 // of the time, a collection runs
	stwShare      = 0.01 // of the time, the world is stopped
	lockShare     = 0.05 // waiting for locks, of the recorded time (can exceed 1: several goroutines wait at once)
	starvedShare  = 0.10 // of runnable and running time, goroutines wait for a processor
	starvedTime   = 1_000_000
	churnTurnover = 10   // times the peak is allocated anew
	churnCount    = 1000 // allocations
	churnRate     = 500  // MB allocated a second on the Go heap, by samples
	leakLeast     = 1 << 20
)

// goRuntime looks at collection, locks and scheduling.
func (b *adviser) goRuntime() {
	b.collector()
	b.locks()
	b.starvation()
}

func (b *adviser) collector() {
	gc, stw := total(within(b.x.spans(trace.ClassGC), b.window)), total(within(b.x.spans(trace.ClassSTW), b.window))
	share, stopped := ratio(gc, b.whole()), ratio(stw, b.whole())
	if share < gcShare && stopped < stwShare {
		return
	}
	keep := func(i int32) bool {
		return (b.x.class[i] == trace.ClassGC || b.x.class[i] == trace.ClassSTW) && b.inWindow(i)
	}
	ad := Advice{Kind: "gc-pressure", Title: "Garbage collection takes time", Severity: severityOf(share), Share: share, Time: gc,
		Text: fmt.Sprintf("Collections run during %.1f%% of the time (%s) and stop the world for %s.", share*100,
			formatTime(float64(gc), ""), formatTime(float64(stw), "")),
		Remedy:   "Allocate less (reuse buffers, sync.Pool, preallocated slices), or let the heap grow (GOGC, GOMEMLIMIT).",
		Evidence: b.byName(evidenceLines, keep, b.sliceName)}
	ad.Evidence = append(ad.Evidence, b.samples(trace.SampleAlloc, 3)...)
	b.add(ad)
}

// samples returns the innermost functions with the most weight of one kind of sample.
func (b *adviser) samples(kind trace.SampleKind, count int) []Evidence {
	rows := map[trace.StringID]int{}
	var list []Evidence
	for i := range b.t.Samples {
		s := &b.t.Samples[i]
		if s.Kind != kind || s.Stack == 0 || int(s.Stack) >= len(b.t.Stacks) {
			continue
		}
		f := b.t.Stacks[s.Stack].Frame
		if int(f) >= len(b.t.Frames) {
			continue
		}
		id := b.t.Frames[f].Func
		k, ok := rows[id]
		if !ok {
			k = len(list)
			rows[id] = k
			list = append(list, Evidence{Text: b.t.Strings.Get(id), Slice: trace.NoSlice})
		}
		list[k].Time += s.Weight
		list[k].Count += max(1, s.Count)
	}
	slices.SortStableFunc(list, func(p, q Evidence) int { return compareInt(q.Time, p.Time) })
	list = list[:min(len(list), count)]
	if kind == trace.SampleAlloc || kind == trace.SampleInUse {
		for i := range list {
			list[i].Text += ": " + formatMemory(list[i].Time)
			list[i].Time = 0
		}
	}
	return list
}

func (b *adviser) weight(kind trace.SampleKind) (sum, count int64) {
	for i := range b.t.Samples {
		if b.t.Samples[i].Kind == kind {
			sum += b.t.Samples[i].Weight
			count += max(1, b.t.Samples[i].Count)
		}
	}
	return
}

func (b *adviser) locks() {
	time, count := b.weight(trace.SampleMutex)
	share := ratio(time, b.whole())
	if share < lockShare {
		return
	}
	b.add(Advice{Kind: "lock-contention", Title: "Goroutines wait for locks", Severity: severityOf(share), Share: min(share, 1), Time: time,
		Text:     fmt.Sprintf("Goroutines waited %s for mutexes in %d contentions, %.1f%% of the recorded time.", formatTime(float64(time), ""), count, share*100),
		Remedy:   "Hold locks for less, split them, or share less between goroutines.",
		Evidence: b.samples(trace.SampleMutex, evidenceLines)})
}

// starvation finds goroutines that could run but had no processor.
func (b *adviser) starvation() {
	var runnable, running int64
	waiting := map[trace.TrackID]*Evidence{}
	var order []trace.TrackID
	for i, c := range b.x.class {
		if c != trace.ClassState {
			continue
		}
		s := &b.t.Slices[i]
		switch b.t.Name(s) {
		case "running":
			running += s.Dur
		case "runnable":
			runnable += s.Dur
			e := waiting[s.Track]
			if e == nil {
				e = &Evidence{Text: trackName(b.t, s.Track) + " is runnable", Slice: int32(i)}
				waiting[s.Track] = e
				order = append(order, s.Track)
			}
			e.Time += s.Dur
			e.Count++
			if s.Dur > b.t.Slices[e.Slice].Dur {
				e.Slice = int32(i)
			}
		}
	}
	share := ratio(runnable, runnable+running)
	if share < starvedShare || runnable < starvedTime {
		return
	}
	ad := Advice{Kind: "goroutine-starvation", Title: "Goroutines wait for a processor", Severity: severityOf(share), Share: share, Time: runnable,
		Text: fmt.Sprintf("Goroutines were ready to run for %s without a processor, against %s of running.",
			formatTime(float64(runnable), ""), formatTime(float64(running), "")),
		Remedy: "Start fewer goroutines at once (a pool of GOMAXPROCS workers for work that computes), or give the process more processors."}
	for _, tr := range order {
		ad.Evidence = append(ad.Evidence, *waiting[tr])
	}
	slices.SortStableFunc(ad.Evidence, func(p, q Evidence) int { return compareInt(q.Time, p.Time) })
	ad.Evidence = ad.Evidence[:min(len(ad.Evidence), evidenceLines)]
	b.add(ad)
}

// memoryGrowth looks at allocation churn and at memory that grows with the steps.
func (b *adviser) memoryGrowth() {
	if bytes, count := b.weight(trace.SampleAlloc); float64(bytes)/1e6 > churnRate*float64(b.whole())/1e9 && count > churnCount {
		b.add(Advice{Kind: "allocation-churn", Title: "Much is allocated and thrown away", Severity: Warning,
			Text: fmt.Sprintf("The program allocated %s in %d objects, %s a second.", formatMemory(bytes), count,
				formatMemory(int64(float64(bytes)/float64(b.whole())*1e9))),
			Remedy:   "Reuse buffers across iterations, preallocate slices and maps, pass slices instead of building strings.",
			Evidence: b.samples(trace.SampleAlloc, evidenceLines)})
	}
	for _, s := range b.a.Memory(MemoryOptions{}).Spaces {
		var allocated, count int64
		for _, al := range s.Allocs {
			if al.Alloc != trace.NoTime {
				allocated += al.Bytes
				count++
			}
		}
		if s.Peak > 0 && count >= churnCount && allocated > churnTurnover*s.Peak && s.Space == trace.MemHost {
			ad := Advice{Kind: "allocation-churn", Title: "Memory is allocated over and over", Severity: Info,
				Text:   fmt.Sprintf("%s: %d allocations of %s in all, %.0f times the peak of %s.", s.Name, count, formatMemory(allocated), ratio(allocated, s.Peak), formatMemory(s.Peak)),
				Remedy: "Allocate once and reuse, in place where the operation allows it."}
			for _, st := range topAllocators(s.Stats) {
				ad.Evidence = append(ad.Evidence, Evidence{Text: fmt.Sprintf("%s: %s", st.Operator, formatMemory(st.SelfAllocated)), Slice: trace.NoSlice, Count: st.SelfAllocs})
			}
			b.add(ad)
		}
		b.leak(&s)
	}
}

func topAllocators(stats []MemoryStat) []MemoryStat {
	list := slices.Clone(stats)
	slices.SortStableFunc(list, func(p, q MemoryStat) int { return compareInt(q.SelfAllocated, p.SelfAllocated) })
	return list[:min(len(list), evidenceLines)]
}

func (b *adviser) leak(s *MemorySpace) {
	var bytes int64
	for _, l := range s.Leaks {
		bytes += l.Bytes
	}
	if bytes < leakLeast {
		return
	}
	ad := Advice{Kind: "memory-growth", Title: "Memory grows from step to step", Severity: Warning,
		Text:   fmt.Sprintf("%s: %s that earlier steps allocated is still held after the last.", s.Name, formatMemory(bytes)),
		Remedy: "Look for what keeps results of earlier steps: lists of losses with their graphs, caches without a bound, goroutines that never end."}
	for _, l := range s.Leaks[:min(len(s.Leaks), evidenceLines)] {
		ad.Evidence = append(ad.Evidence, Evidence{Text: fmt.Sprintf("%s: %s in %d steps", l.Operator, formatMemory(l.Bytes), l.Steps), Slice: trace.NoSlice, Count: l.Count})
	}
	b.add(ad)
}
