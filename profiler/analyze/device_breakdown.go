package analyze

import (
	"math"
	"slices"
	"strings"
)

// KernelBreakdown splits device time by type and by kernel.
func (a *Analysis) KernelBreakdown(o BreakdownOptions) *BreakdownReport {
	events := slices.DeleteFunc(a.index().deviceEvents(o.Convention), func(e deviceEvent) bool { return e.sync })
	r := &BreakdownReport{Types: []TypeTime{}, Kernels: []NamedTime{}}
	r.Types = typeTimes(events)
	perType := orDefault(o.PerType, 10)
	for kind := range NumKernelTypes {
		list := a.namedTimes(events, kind)
		var sum, named int64
		for i := range list {
			sum += list[i].Sum
		}
		n := 0
		for n < len(list) && n < perType && (o.Ratio == 0 || float64(named) < o.Ratio*float64(sum)) {
			named += list[n].Sum
			n++
		}
		r.Kernels = append(r.Kernels, list[:n]...)
		if n == len(list) {
			continue
		}
		rest := NamedTime{Name: "others", Type: kind, Min: math.MaxInt64}
		for _, k := range list[n:] {
			rest.Sum += k.Sum
			rest.Count += k.Count
			rest.Min, rest.Max = min(rest.Min, k.Min), max(rest.Max, k.Max)
		}
		rest.Mean = ratio(rest.Sum, rest.Count)
		r.Kernels = append(r.Kernels, rest)
	}
	return r
}

// typeTimes returns for every set of types that ran at the same time how long exactly these ran, longest first.
func typeTimes(events []deviceEvent) []TypeTime {
	var ranges [NumKernelTypes][]span
	for kind := range ranges {
		ranges[kind] = times(events, func(e *deviceEvent) bool { return int(e.kind) == kind })
	}
	type edge struct {
		at    int64
		kind  uint
		delta int
	}
	var edges []edge
	for kind, list := range ranges {
		for _, s := range list {
			edges = append(edges, edge{s.start, uint(kind), 1}, edge{s.end, uint(kind), -1})
		}
	}
	slices.SortFunc(edges, func(p, q edge) int { return compareInt(p.at, q.at) })
	var sums [1 << NumKernelTypes]int64
	var set uint
	var all, at int64
	for _, e := range edges {
		if set != 0 {
			sums[set] += e.at - at
			all += e.at - at
		}
		at = e.at
		if e.delta > 0 {
			set |= 1 << e.kind
		} else {
			set &^= 1 << e.kind
		}
	}
	out := []TypeTime{}
	for set, sum := range sums {
		var names []string
		for kind := range NumKernelTypes {
			if set&(1<<kind) != 0 {
				names = append(names, kind.String())
			}
		}
		if len(names) > 0 && (sum > 0 || len(names) == 1 && len(ranges[singleKind(uint(set))]) > 0) {
			out = append(out, TypeTime{Types: strings.Join(names, " overlapping "), Time: sum, Share: ratio(sum, all)})
		}
	}
	slices.SortStableFunc(out, func(p, q TypeTime) int { return compareInt(q.Time, p.Time) })
	return out
}

func singleKind(set uint) int {
	kind := 0
	for set > 1 {
		set >>= 1
		kind++
	}
	return kind
}

// namedTimes sums the events of one type by name, longest first.
func (a *Analysis) namedTimes(events []deviceEvent, kind KernelType) []NamedTime {
	rows := map[string]int{}
	var out []NamedTime
	var squares []float64
	for i := range events {
		e := &events[i]
		if e.kind != kind {
			continue
		}
		name := a.Trace.Name(&a.Trace.Slices[e.slice])
		n, ok := rows[name]
		if !ok {
			n = len(out)
			rows[name] = n
			out = append(out, NamedTime{Name: name, Type: kind, Min: math.MaxInt64})
			squares = append(squares, 0)
		}
		d := e.end - e.start
		k := &out[n]
		k.Sum += d
		k.Count++
		k.Min, k.Max = min(k.Min, d), max(k.Max, d)
		squares[n] += float64(d) * float64(d)
	}
	for n := range out {
		k := &out[n]
		k.Mean = ratio(k.Sum, k.Count)
		if k.Count > 1 {
			k.StdDev = math.Sqrt(max(0, (squares[n]-k.Mean*float64(k.Sum))/float64(k.Count-1)))
		}
	}
	slices.SortStableFunc(out, func(p, q NamedTime) int { return compareInt(q.Sum, p.Sum) })
	return out
}
