package analyze

import (
	"fmt"
	"slices"
	"sort"
	"strconv"
	"strings"

	"github.com/gander-go/gander/profiler/trace"
)

// Thresholds of advice about Go programs; leastOf has what each needs besides.
const (
	gcShare       = 0.10 // of the time, a collection runs
	stwShare      = 0.01 // of the time, the world is stopped
	lockShare     = 0.05 // waiting for locks, of the recorded time (can exceed 1: several goroutines wait at once)
	starvedShare  = 0.10 // of runnable and running time, goroutines wait for a processor
	churnTurnover = 10   // times the peak is allocated anew
	churnRate     = 500  // MB allocated a second on the Go heap
)

// goRuntime looks at collection, allocation, locks and scheduling.
func (b *adviser) goRuntime() {
	b.collector()
	b.heapChurn()
	b.locks()
	b.starvation()
}

func (b *adviser) collector() {
	running := within(b.x.spans(trace.ClassGC), b.window)
	gc, stw := total(running), total(within(b.x.spans(trace.ClassSTW), b.window))
	share, stopped := ratio(gc, b.whole()), ratio(stw, b.whole())
	is := func(c trace.Class) func(i int32) bool {
		return func(i int32) bool { return b.x.class[i] == c && b.inWindow(i) }
	}
	all := b.byName(1<<30, is(trace.ClassGC), b.sliceName)
	if share < gcShare && stopped < stwShare || !b.enough("gc-pressure", max(gc, stw), b.collections(occurrences(all))) {
		return
	}
	n := b.collections(occurrences(all))
	ad := Advice{Kind: "gc-pressure", Title: "Garbage collection takes time", Severity: severityOf(share), Share: share, Time: gc,
		Text: fmt.Sprintf("%d collections run during %.1f%% of the time (%s), in which they take up to a quarter of the processors, and stop the world for %s.", n, share*100,
			formatTime(float64(gc), ""), formatTime(float64(stw), "")),
		Remedy:   "Allocate less (reuse buffers, sync.Pool, preallocated slices), or let the heap grow (GOGC, GOMEMLIMIT).",
		Evidence: append(all[:min(len(all), 2)], b.byName(1, is(trace.ClassSTW), b.sliceName)...)}
	ad.Evidence = append(ad.Evidence, b.during("during ", running, 3)...)
	if where := b.samples(trace.SampleAlloc, 3); len(where) > 0 {
		ad.Evidence = append(ad.Evidence, where...)
	} else {
		ad.Remedy += " --profile-memory --with-stack shows which code allocates."
	}
	b.add(ad)
}

// collections is the number of collections: what the runtime counted, else the slices there are.
func (b *adviser) collections(slices int64) int64 {
	if n, ok := b.value("gc_cycles"); ok && n > 0 {
		return n
	}
	return slices
}

// value is a number among the trace's metadata.
func (b *adviser) value(key string) (int64, bool) {
	for _, v := range b.t.Meta.Values {
		if v.Key == key {
			n, err := strconv.ParseInt(v.Value, 10, 64)
			return n, err == nil
		}
	}
	return 0, false
}

// during finds the outermost ranges and calls that overlap the given times most. The text of each begins with what.
func (b *adviser) during(what string, times []span, count int) []Evidence {
	rows := map[trace.StringID]int{}
	var list []Evidence
	end, last := int64(0), trace.NoTrack
	for i, c := range b.x.class {
		s := &b.t.Slices[i]
		if c != trace.ClassOp && c != trace.ClassAnnotation && c != trace.ClassCall {
			continue
		}
		if s.Track != last {
			last, end = s.Track, 0
		}
		if s.End() <= end {
			continue // inside the one before
		}
		end = s.End()
		over := total(within(times, span{s.Start, s.End()}))
		if over == 0 {
			continue
		}
		k, ok := rows[s.Name]
		if !ok {
			k = len(list)
			rows[s.Name] = k
			list = append(list, Evidence{Text: what + b.t.Strings.Get(s.Name), Slice: int32(i)})
		}
		list[k].Time += over
		list[k].Count++
	}
	slices.SortStableFunc(list, func(p, q Evidence) int { return compareInt(q.Time, p.Time) })
	return list[:min(len(list), count)]
}

// samples returns the innermost functions of the program with the most weight of one kind of sample.
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

// heapChurn looks at how much the Go heap allocates, by samples or, without them, by the runtime's totals.
func (b *adviser) heapChurn() {
	bytes, count := b.weight(trace.SampleAlloc)
	sampled := count > 0
	if !sampled {
		bytes, _ = b.value("alloc_bytes")
		count, _ = b.value("alloc_objects")
	}
	if float64(bytes)/1e6 <= churnRate*float64(b.whole())/1e9 || !b.enough("allocation-churn", 0, count) {
		return
	}
	ad := Advice{Kind: "allocation-churn", Title: "Much is allocated and thrown away", Severity: Warning,
		Text: fmt.Sprintf("The program allocated %s in %d objects, %s a second.", formatMemory(bytes), count,
			formatMemory(int64(float64(bytes)/float64(b.whole())*1e9))),
		Remedy:   "Reuse buffers across iterations, preallocate slices and maps, pass slices instead of building strings.",
		Evidence: b.samples(trace.SampleAlloc, evidenceLines)}
	if !sampled {
		ad.Remedy += " --profile-memory --with-stack shows which code allocates."
		ad.Evidence = b.during("the heap grows during ", b.heapGrowth(), 3)
	}
	b.add(ad)
}

// heapGrowth are the times between two readings of the Go heap of which the second is larger. It is silent about what was
// allocated and collected between two readings.
func (b *adviser) heapGrowth() []span {
	var grows []span
	for i := range b.t.Counters {
		c := &b.t.Counters[i]
		if c.Name != trace.CounterGoHeap {
			continue
		}
		for k := 1; k < len(c.Values); k++ {
			if c.Values[k] > c.Values[k-1] {
				grows = append(grows, span{c.Times[k-1], c.Times[k]})
			}
		}
		break
	}
	return within(grows, b.window)
}

// lockWait reports whether a state of a goroutine is waiting for a lock, as execution traces of this project name it.
func lockWait(state string) bool {
	return strings.HasPrefix(state, "waiting (sync.") && (strings.Contains(state, "Mutex).Lock") || strings.Contains(state, "Mutex).RLock"))
}

// locks finds contention: in a mutex profile, or in the states of an execution trace.
func (b *adviser) locks() {
	time, count := b.weight(trace.SampleMutex)
	evidence := b.samples(trace.SampleMutex, evidenceLines)
	if count == 0 {
		evidence = b.states(lockWait, func(i int32) string {
			what := strings.TrimSuffix(strings.TrimPrefix(b.sliceName(i), "waiting ("), ")")
			return b.placeOf(i) + " waits in " + what
		})
		for i := range evidence {
			time += evidence[i].Time
		}
		count = occurrences(evidence)
		evidence = evidence[:min(len(evidence), evidenceLines)]
	}
	share := ratio(time, b.whole())
	if share < lockShare || !b.enough("lock-contention", time, count) {
		return
	}
	b.add(Advice{Kind: "lock-contention", Title: "Goroutines wait for locks", Severity: severityOf(share), Share: min(share, 1), Time: time,
		Text:     fmt.Sprintf("Goroutines waited %s for mutexes in %d contentions, %.1f%% of the recorded time.", formatTime(float64(time), ""), count, share*100),
		Remedy:   "Hold locks for less, split them, or share less between goroutines.",
		Evidence: evidence})
}

// starvation finds goroutines that could run but had no processor.
func (b *adviser) starvation() {
	var runnable, running int64
	for i, c := range b.x.class {
		if c == trace.ClassState {
			switch s := &b.t.Slices[i]; b.t.Name(s) {
			case "running":
				running += s.Dur
			case "runnable":
				runnable += s.Dur
			}
		}
	}
	share := ratio(runnable, runnable+running)
	if share < starvedShare {
		return
	}
	evidence := b.states(func(state string) bool { return state == "runnable" }, func(i int32) string { return b.placeOf(i) + " is runnable" })
	if !b.enough("goroutine-starvation", runnable, occurrences(evidence)) {
		return
	}
	b.add(Advice{Kind: "goroutine-starvation", Title: "Goroutines wait for a processor", Severity: severityOf(share), Share: share, Time: runnable,
		Text: fmt.Sprintf("Goroutines were ready to run for %s without a processor, against %s of running.",
			formatTime(float64(runnable), ""), formatTime(float64(running), "")),
		Remedy:   "Start fewer goroutines at once (a pool of GOMAXPROCS workers for work that computes), or give the process more processors.",
		Evidence: evidence[:min(len(evidence), evidenceLines)]})
}

// states sums goroutine states into evidence, those with the most time first.
func (b *adviser) states(keep func(state string) bool, name func(i int32) string) []Evidence {
	wanted := map[trace.StringID]bool{}
	return b.byName(1<<30, func(i int32) bool {
		if b.x.class[i] != trace.ClassState {
			return false
		}
		id := b.t.Slices[i].Name
		want, known := wanted[id]
		if !known {
			want = keep(b.t.Strings.Get(id))
			wanted[id] = want
		}
		return want
	}, name)
}

// placeOf says where the goroutine of a state is: its name, and the innermost span that it had open.
func (b *adviser) placeOf(i int32) string {
	s := &b.t.Slices[i]
	name := strings.TrimSuffix(trackName(b.t, s.Track), " states")
	if open := b.openAt(b.t.Tracks[s.Track].ID, s.Start); open != "" {
		name += " in " + open
	}
	return name
}

// openAt is the name of the innermost span that goroutine id had open at a time; empty when it had none.
func (b *adviser) openAt(id, at int64) string {
	if b.goroutines == nil {
		b.goroutines = map[int64]trace.TrackID{}
		for k := range b.t.Tracks {
			if b.t.Tracks[k].Kind == trace.TrackGoroutine {
				b.goroutines[b.t.Tracks[k].ID] = trace.TrackID(k)
			}
		}
	}
	tr, ok := b.goroutines[id]
	if !ok {
		return ""
	}
	const looks = 64 // spans before the time that may have ended
	list := b.t.Slices
	k := sort.Search(len(list), func(k int) bool { return list[k].Track > tr || list[k].Track == tr && list[k].Start > at })
	for n := 0; k > 0 && n < looks; n++ {
		k--
		if list[k].Track != tr {
			break
		}
		if c := b.x.class[k]; list[k].End() > at && (c == trace.ClassOp || c == trace.ClassAnnotation || c == trace.ClassCall) {
			if name := b.t.Name(&list[k]); !strings.HasPrefix(name, "sync.") { // the wait itself says nothing of where it is
				return name
			}
		}
	}
	return ""
}
