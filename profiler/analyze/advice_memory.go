package analyze

import (
	"fmt"
	"slices"

	"github.com/gander-go/gander/profiler/trace"
)

// leakLeast is the number of bytes below which memory that earlier steps left is no finding.
const leakLeast = 1 << 20

// memoryGrowth looks at allocators of the program: churn, and memory that grows with the steps.
func (b *adviser) memoryGrowth() {
	for _, s := range b.a.Memory(MemoryOptions{}).Spaces {
		var allocated, count int64
		for _, al := range s.Allocs {
			if al.Alloc != trace.NoTime {
				allocated += al.Bytes
				count++
			}
		}
		if s.Peak > 0 && allocated > churnTurnover*s.Peak && s.Space == trace.MemHost && b.enough(memoryChurn, 0, count) {
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
