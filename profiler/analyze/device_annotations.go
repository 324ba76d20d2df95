package analyze

import (
	"math"
	"slices"
	"strings"

	"github.com/gander-go/gander/profiler/trace"
)

// Annotations sums the user's ranges by name, those on the host or those on the device, longest first.
func (a *Analysis) Annotations(side Side, c Convention) []NamedTime {
	x := a.index()
	limit, filter := x.lastStep(c)
	fraction := c == HTA && x.fractional()
	rows := map[trace.StringID]int{}
	var squares []float64
	out := []NamedTime{}
	for i, class := range x.class {
		host := class == trace.ClassAnnotation || class == trace.ClassStep
		if side == SideCPU && !host || side == SideDevice && class != trace.ClassDeviceAnnotation {
			continue
		}
		s := &a.Trace.Slices[i]
		if filter && s.Start >= limit {
			continue
		}
		d := s.Dur
		if fraction {
			d = floorMicro(s.End()) - ceilMicro(s.Start)
		}
		n, ok := rows[s.Name]
		if !ok {
			n = len(out)
			rows[s.Name] = n
			out = append(out, NamedTime{Name: a.Trace.Name(s), Min: math.MaxInt64, Max: math.MinInt64})
			squares = append(squares, 0)
		}
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

// AnnotatedWork returns for each piece of device work of convention c, in order of its start, its slice and the innermost
// (shortest) range on its stream that overlaps it, or NoSlice.
func (a *Analysis) AnnotatedWork(c Convention) (work, ranges []int32) {
	x := a.index()
	s := a.Trace.Slices
	byTrack := map[trace.TrackID][]int32{}
	limit, filter := x.lastStep(c)
	for _, i := range x.byStart(func(c trace.Class) bool { return c == trace.ClassDeviceAnnotation }) {
		if filter && s[i].Start >= limit {
			continue
		}
		byTrack[s[i].Track] = append(byTrack[s[i].Track], i)
	}
	open := map[trace.TrackID][]int32{}
	for _, e := range x.deviceEvents(c) {
		if e.sync {
			continue
		}
		track := s[e.slice].Track
		for len(byTrack[track]) > 0 && s[byTrack[track][0]].Start < s[e.slice].End() {
			open[track] = append(open[track], byTrack[track][0])
			byTrack[track] = byTrack[track][1:]
		}
		open[track] = slices.DeleteFunc(open[track], func(r int32) bool { return s[r].End() <= s[e.slice].Start })
		found := trace.NoSlice
		for _, r := range open[track] {
			if found < 0 || s[r].Dur < s[found].Dur {
				found = r
			}
		}
		work, ranges = append(work, e.slice), append(ranges, found)
	}
	return work, ranges
}

// OperatorLaunch is a sequence of device work that calls of one operator launched. Delays are mean ns a call.
type OperatorLaunch struct {
	Operator string  `json:"operator"`
	Work     string  `json:"work"` // names joined by " -> "
	Calls    int64   `json:"calls"`
	ToLaunch float64 `json:"to_launch"` // from the operator's start to the launching call's
	ToDevice float64 `json:"to_device"` // from the launching call's start to the device work's
}

// OperatorLaunches returns what the operators launched directly and how long that took to reach the device, most calls first.
func (a *Analysis) OperatorLaunches(c Convention) []OperatorLaunch {
	x := a.index()
	s := a.Trace.Slices
	around := buildTree(x, func(c trace.Class) bool { return c == trace.ClassOp || isCall(c) }, nil)
	type call struct {
		work               []string
		toLaunch, toDevice int64
	}
	calls := map[int32]*call{}
	var order []int32
	for _, e := range x.deviceEvents(c) {
		if e.sync || e.call < 0 {
			continue
		}
		o := around.parent[e.call]
		for o >= 0 && isCall(x.class[o]) {
			o = around.parent[o]
		}
		if o < 0 {
			continue
		}
		v := calls[o]
		if v == nil {
			v = &call{}
			calls[o] = v
			order = append(order, o)
		}
		v.work = append(v.work, a.Trace.Name(&s[e.slice]))
		v.toLaunch += s[e.call].Start - s[o].Start
		v.toDevice += e.start - s[e.call].Start
	}
	type key struct {
		op   trace.StringID
		work string
	}
	rows := map[key]int{}
	out := []OperatorLaunch{}
	for _, o := range order {
		v := calls[o]
		k := key{s[o].Name, strings.Join(v.work, " -> ")}
		n, ok := rows[k]
		if !ok {
			n = len(out)
			rows[k] = n
			out = append(out, OperatorLaunch{Operator: a.Trace.Strings.Get(k.op), Work: k.work})
		}
		out[n].Calls++
		out[n].ToLaunch += ratio(v.toLaunch, int64(len(v.work)))
		out[n].ToDevice += ratio(v.toDevice, int64(len(v.work)))
	}
	for n := range out {
		out[n].ToLaunch /= float64(out[n].Calls)
		out[n].ToDevice /= float64(out[n].Calls)
	}
	slices.SortStableFunc(out, func(p, q OperatorLaunch) int { return compareInt(q.Calls, p.Calls) })
	return out
}
