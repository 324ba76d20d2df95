package render

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/gander-go/gander/profiler/analyze"
)

// topNames is the number of names that pies show before the rest is summed up.
const topNames = 10

// othersSuffix ends the name of the sum of the rest.
const othersSuffix = " others"

// kernels shows device work: by name, by operator and launch parameters, copies, types, idle time, launches, queues.
func (r *report) kernels() error {
	k := r.a.Kernels()
	if k == nil || len(k.ByName) == 0 && len(k.Copies) == 0 {
		return nil
	}
	var parts []any
	names := make([]string, len(k.ByName))
	values := make([]float64, len(k.ByName))
	for i := range k.ByName {
		names[i], values[i] = k.ByName[i].Name, float64(k.ByName[i].Total)
	}
	if r.o.Charts && len(k.ByName) > 0 {
		names, values := top(names, values, topNames)
		a, err := r.pie("Total time", "Kernel time by name", names, values, nil, "@fn:time")
		if err != nil {
			return err
		}
		b, err := r.pie("Tensor cores utilization", "Kernel time by use of tensor cores", []string{"Using tensor cores", "Not using tensor cores"}, []float64{float64(k.TCTime), float64(k.Time - k.TCTime)}, nil, "@fn:time")
		if err != nil {
			return err
		}
		parts = append(parts, a, b)
	}
	byName := kernelGrid("Kernels", k.ByName, false)
	if len(k.ByName) > 0 {
		p := byName.part()
		p.Find = 0
		parts = append(parts, p)
	}
	if len(k.ByOp) > 0 {
		p := kernelGrid("Kernels by operator and launch parameters", k.ByOp, true).part()
		p.Find = 0
		parts = append(parts, p)
	}
	var copies *Grid
	if len(k.Copies) > 0 {
		g := &Grid{Title: "Copies and sets", Sort: -1, Cols: []Column{{Name: "Name"}, {Name: "Calls", Unit: UnitCount}, {Name: "Total duration", Unit: UnitTime, Heat: true}, {Name: "Bytes", Unit: UnitBytes, Heat: true}, {Name: "Bandwidth", Unit: UnitRate, Help: "Bytes over the copies' own time"}}}
		for _, c := range k.Copies {
			g.Rows = append(g.Rows, []any{c.Name, c.Calls, c.Total, orEmpty(c.Bytes), orEmpty(int64(c.Bandwidth * 1e9))})
		}
		copies = g
		p := g.part()
		p.Find = 0
		parts = append(parts, p)
	}
	parts = append(parts, r.deviceTime()...)
	queue, err := r.queues()
	if err != nil {
		return err
	}
	parts = append(parts, queue...)
	r.view(ViewKernels, "Kernels", parts...)
	if len(k.ByName) > 0 {
		r.heading("Kernels")
		r.still.WriteString(byName.html(r.o.limit(), r.o.TimeUnit))
	}
	if copies != nil {
		r.heading("Copies and sets")
		r.still.WriteString(copies.html(r.o.limit(), r.o.TimeUnit))
	}
	return nil
}

// top keeps the n largest values, which come first, and sums up the rest.
func top(names []string, values []float64, n int) ([]string, []float64) {
	if len(names) <= n {
		return names, values
	}
	rest := 0.0
	for _, v := range values[n:] {
		rest += v
	}
	return append(append([]string(nil), names[:n]...), fmt.Sprintf("%d%s", len(names)-n, othersSuffix)), append(append([]float64(nil), values[:n]...), rest)
}

func kernelGrid(title string, list []analyze.Kernel, byOp bool) *Grid {
	g := &Grid{Title: title, Sort: -1, Cols: []Column{{Name: "Name"}}}
	if byOp {
		g.Cols = append(g.Cols, Column{Name: "Operator"}, Column{Name: "Grid"}, Column{Name: "Block"}, Column{Name: "Register per thread", Unit: UnitCount}, Column{Name: "Shared memory", Unit: UnitBytes},
			Column{Name: "Kernel uses tensor cores", Help: "By the TensorBoard plugin's list of kernel names"}, Column{Name: "Op is tensor cores eligible"})
	} else {
		g.Cols = append(g.Cols, Column{Name: "Tensor cores used", Help: "By the TensorBoard plugin's list of kernel names"}, Column{Name: "… current list", Hide: true, Help: "By a list that knows Hopper and later"})
	}
	g.Cols = append(g.Cols, Column{Name: "Calls", Unit: UnitCount}, Column{Name: "Total duration", Unit: UnitTime, Heat: true}, Column{Name: "Mean duration", Unit: UnitTime}, Column{Name: "Max duration", Unit: UnitTime}, Column{Name: "Min duration", Unit: UnitTime},
		Column{Name: "Mean blocks per SM", Unit: UnitNumber, Help: "Weighted by duration"}, Column{Name: "Mean est. achieved occupancy", Unit: UnitPercent, Help: "Estimate, weighted by duration"})
	for i := range list {
		k := &list[i]
		row := []any{k.Name}
		if byOp {
			row = append(row, k.Operator, ints(k.Grid), ints(k.Block), int64(k.Registers), int64(k.SharedMem), k.TensorCores, k.TCEligible)
		} else {
			row = append(row, k.TensorCores, k.TensorCoresNow)
		}
		g.Rows = append(g.Rows, append(row, k.Calls, k.Total, k.Mean(), k.Max, k.Min, known(k.BlocksPerSM), known(k.Occupancy)))
	}
	return g
}

func ints(v [3]int32) string { return fmt.Sprintf("[%d, %d, %d]", v[0], v[1], v[2]) }

// known makes a negative figure, which stands for an unknown one, an empty cell.
func known(v float64) any {
	if v < 0 {
		return nil
	}
	return v
}

// deviceTime splits the time of devices by what ran and why nothing ran.
func (r *report) deviceTime() []any {
	var parts []any
	if tp := r.a.Temporal(analyze.Exact); tp != nil && tp.Kernel > 0 {
		g := &Grid{Title: "Device time", Note: "Between the first and the last device work.", Sort: -1, Cols: []Column{{Name: "Part"}, {Name: "Time", Unit: UnitTime, Heat: true}, {Name: "Share", Unit: UnitPercent}}}
		for _, v := range []struct {
			name string
			time int64
		}{{"Computing", tp.Compute}, {"Copies and communication not hidden by computing", tp.NonCompute}, {"Idle", tp.Idle}} {
			g.Rows = append(g.Rows, []any{v.name, v.time, share(v.time, tp.Kernel)})
		}
		p := g.part()
		p.Half = true
		parts = append(parts, p)
	}
	if b := r.a.KernelBreakdown(analyze.BreakdownOptions{}); b != nil && len(b.Types) > 0 {
		g := &Grid{Title: "Device work by type", Note: "Time in which exactly these types ran.", Sort: -1, Cols: []Column{{Name: "Types"}, {Name: "Time", Unit: UnitTime, Heat: true}, {Name: "Share", Unit: UnitPercent}}}
		for _, t := range b.Types {
			g.Rows = append(g.Rows, []any{strings.ToLower(t.Types), t.Time, 100 * t.Share})
		}
		p := g.part()
		p.Half = true
		parts = append(parts, p)
	}
	if idle := r.a.Idle(analyze.IdleOptions{}); idle != nil && len(idle.Streams) > 0 {
		g := &Grid{Title: "Idle time of streams", Sort: -1, Cols: []Column{{Name: "Stream"}, {Name: "Busy", Unit: UnitTime, Heat: true},
			{Name: "Waiting for the host", Unit: UnitTime, Heat: true, Help: "The next launch came after the previous work had ended"},
			{Name: "Between kernels", Unit: UnitTime, Help: "Gaps below the delay between kernels launched back to back"}, {Name: "Other", Unit: UnitTime}, {Name: "Span", Unit: UnitTime}}}
		for i := range idle.Streams {
			s := &idle.Streams[i]
			g.Rows = append(g.Rows, []any{fmt.Sprintf("GPU %d stream %d", s.Device, s.Stream), s.Busy, s.Time[analyze.IdleHost], s.Time[analyze.IdleKernel], s.Time[analyze.IdleOther], s.Span})
		}
		parts = append(parts, g.part())
	}
	if o := r.a.Overlap(analyze.Exact); o != nil && o.Communication > 0 {
		g := &Grid{Title: "Communication hidden by computation", Sort: -1, Cols: []Column{{Name: "Figure"}, {Name: "Time", Unit: UnitTime}, {Name: "Percentage", Unit: UnitPercent}}}
		g.Rows = [][]any{{"Communication", o.Communication, 100.0}, {"… while computing", o.Both, 100 * o.Ratio}, {"Exposed communication", o.Communication - o.Both, 100 * (1 - o.Ratio)}, {"Computation", o.Computation, nil}}
		p := g.part()
		p.Half = true
		parts = append(parts, p)
	}
	parts = append(parts, r.criticalPath()...)
	if l := r.a.Launches(analyze.LaunchOptions{}); l != nil && len(l.Launches) > 0 {
		n := int64(len(l.Launches))
		g := &Grid{Title: "Launches", Sort: -1, Cols: []Column{{Name: "Figure"}, {Name: "Value"}}}
		for _, v := range [][2]string{
			{"Launches with device work", formatCount(float64(n))},
			{"Mean time of the call", formatTime(float64(l.CPU) / float64(n))},
			{"Mean time of the device work", formatTime(float64(l.Device) / float64(n))},
			{"Mean delay from the end of the call to the start of the work", formatTime(float64(l.Delay) / float64(n))},
			{"Device work shorter than its launch", formatCount(float64(l.Short))},
			{"Slow calls (over 50 µs)", formatCount(float64(l.SlowCalls))},
			{"Long delays (over 100 µs)", formatCount(float64(l.SlowDelays))},
			{"Device work whose launch was not recorded", formatCount(float64(l.Unlinked))},
		} {
			g.Rows = append(g.Rows, []any{v[0], v[1]})
		}
		p := g.part()
		p.Half = true
		parts = append(parts, p)
	}
	return parts
}

// path is the critical path of the first step, nil without recorded synchronisation.
func (r *report) path() *analyze.PathReport {
	if !r.pathDone {
		r.pathDone, r.pathFound = true, r.a.StepPath(analyze.Exact)
	}
	return r.pathFound
}

// critical are the slices on the critical path.
func (r *report) critical() []int32 {
	if p := r.path(); p != nil {
		return p.Critical
	}
	return nil
}

// criticalPath shows what the longest chain of dependent work is made of.
func (r *report) criticalPath() []any {
	path := r.path()
	if path == nil || len(path.Edges) == 0 {
		return nil
	}
	var whole int64
	for _, v := range path.Time {
		whole += v
	}
	of := func(v int64) float64 { return 100 * float64(v) / float64(max(1, whole)) }
	where := "the recording"
	if path.Range != "" {
		where = path.Range
	}
	bounds := slices.SortedFunc(maps.Keys(path.Time), func(p, q string) int { return cmp.Or(cmp.Compare(path.Time[q], path.Time[p]), cmp.Compare(p, q)) })
	shares := &Grid{Title: "Critical path of " + where, Sort: -1, Note: fmt.Sprintf("%s along %s over %s.", formatTime(float64(whole)), plural(int64(len(path.Edges)), "edge"), plural(int64(len(path.Critical)), "event")),
		Cols: []Column{{Name: "Bound by"}, {Name: "Time", Unit: UnitTime, Heat: true}, {Name: "Percentage", Unit: UnitPercent}}}
	for _, b := range bounds {
		shares.Rows = append(shares.Rows, []any{strings.ReplaceAll(b, "_", " "), path.Time[b], of(path.Time[b])})
	}
	events := &Grid{Title: "What it passes through", Sort: -1, Cols: []Column{{Name: "Name"}, {Name: "Time", Unit: UnitTime, Heat: true}, {Name: "Percentage", Unit: UnitPercent}, {Name: "Bound by"}, {Name: "Times", Unit: UnitCount}}}
	for _, c := range path.Costs(r.a.Trace) {
		if len(events.Rows) == 200 {
			events.Note = "The first 200 rows."
			break
		}
		events.Rows = append(events.Rows, []any{clipText(c.Name, 500), c.Time, of(c.Time), strings.ReplaceAll(c.Bound, "_", " "), c.Count})
	}
	p, q := shares.part(), events.part()
	p.Half, q.Half = true, true
	return []any{p, q}
}

// queues shows how much launched work was waiting on each stream.
func (r *report) queues() ([]any, error) {
	g := Graph{Title: "Launched and not yet started, by stream", Unit: UnitCount, Marks: r.steps}
	for _, q := range r.a.QueueLength(0, analyze.Exact) {
		if len(q.Times) < 2 || len(g.Series) == 8 {
			continue
		}
		s := Series{Name: fmt.Sprintf("GPU %d stream %d", q.Device, q.Stream), Times: q.Times, Values: make([]float64, len(q.Length))}
		for i, v := range q.Length {
			s.Values[i] = float64(v)
		}
		g.Series = append(g.Series, s)
	}
	if len(g.Series) == 0 {
		return nil, nil
	}
	p, err := g.part(r.container, r.base, r.end)
	if err != nil {
		return nil, err
	}
	p.Height, p.Half = 200, true
	return []any{p}, nil
}

// operators is the TensorBoard plugin's operator view.
func (r *report) operators() error {
	rep := r.a.Operators(analyze.OperatorOptions{ByShape: r.o.GroupByShape})
	if rep == nil || len(rep.Rows) == 0 {
		return nil
	}
	g := &Grid{Title: "Operators", Sort: -1, Cols: []Column{{Name: "Name"}}}
	if r.o.GroupByShape {
		g.Cols = append(g.Cols, Column{Name: "Input shape"})
	}
	g.Cols = append(g.Cols, Column{Name: "Calls", Unit: UnitCount})
	if rep.HasDevice {
		g.Cols = append(g.Cols, Column{Name: "Device self duration", Unit: UnitTime, Heat: true}, Column{Name: "Device total duration", Unit: UnitTime, Heat: true})
	}
	g.Cols = append(g.Cols, Column{Name: "Host self duration", Unit: UnitTime, Heat: true, Help: "Without what it called and without runtime calls"}, Column{Name: "Host total duration", Unit: UnitTime, Heat: true})
	if rep.HasDevice {
		g.Cols = append(g.Cols, Column{Name: "Tensor cores eligible"}, Column{Name: "Tensor cores self", Unit: UnitPercent}, Column{Name: "Tensor cores total", Unit: UnitPercent})
	}
	g.Cols = append(g.Cols, Column{Name: "Call stacks", Unit: UnitCount, Hide: true})
	for i := range rep.Rows {
		o := &rep.Rows[i]
		row := []any{o.Name}
		if r.o.GroupByShape {
			row = append(row, o.Shapes)
		}
		row = append(row, o.Calls)
		if rep.HasDevice {
			row = append(row, o.DeviceSelf, o.DeviceTotal)
		}
		row = append(row, o.HostSelf, o.HostTotal)
		if rep.HasDevice {
			row = append(row, o.TCEligible, 100*o.TCSelf, 100*o.TCTotal)
		}
		g.Rows = append(g.Rows, append(row, orEmpty(int64(len(o.Stacks)))))
	}
	var parts []any
	if r.o.Charts {
		pies, err := r.operatorPies(rep)
		if err != nil {
			return err
		}
		parts = append(parts, pies...)
	}
	p := g.part()
	p.Find = 0
	parts = append(parts, p)
	if s := stacksGrid(rep); len(s.Rows) > 0 {
		parts = append(parts, s.part())
	}
	r.view(ViewOperators, "Operators", parts...)
	r.heading("Operators")
	r.still.WriteString(g.html(r.o.limit(), r.o.TimeUnit))
	return nil
}

// operatorPies are the plugin's four.
func (r *report) operatorPies(rep *analyze.OperatorReport) ([]any, error) {
	var out []any
	for _, m := range []struct {
		title  string
		device bool
		value  func(o *analyze.Operator) int64
	}{
		{"Device self time", true, func(o *analyze.Operator) int64 { return o.DeviceSelf }},
		{"Device total time", true, func(o *analyze.Operator) int64 { return o.DeviceTotal }},
		{"Host self time", false, func(o *analyze.Operator) int64 { return o.HostSelf }},
		{"Host total time", false, func(o *analyze.Operator) int64 { return o.HostTotal }},
	} {
		if m.device && !rep.HasDevice {
			continue
		}
		names, values := largest(rep.Rows, m.value)
		names, values = top(names, values, topNames)
		p, err := r.pie(m.title, m.title+" by operator", names, values, nil, "@fn:time")
		if err != nil {
			return nil, err
		}
		out = append(out, p)
	}
	return out, nil
}

// stacksGrid lists operators by where they were called from.
func stacksGrid(rep *analyze.OperatorReport) *Grid {
	g := &Grid{Title: "Operators by call stack", Sort: -1, Cols: []Column{{Name: "Name"}, {Name: "Call stack"}, {Name: "Calls", Unit: UnitCount}, {Name: "Device self duration", Unit: UnitTime}, {Name: "Device total duration", Unit: UnitTime, Heat: true}, {Name: "Host self duration", Unit: UnitTime}, {Name: "Host total duration", Unit: UnitTime, Heat: true}}}
	for i := range rep.Rows {
		for k := range rep.Rows[i].Stacks {
			s := &rep.Rows[i].Stacks[k]
			if len(g.Rows) == 5000 {
				g.Note = "The first 5,000 rows."
				return g
			}
			g.Rows = append(g.Rows, []any{rep.Rows[i].Name, clipText(strings.Join(s.Stack, " › "), 2000), s.Calls, s.DeviceSelf, s.DeviceTotal, s.HostSelf, s.HostTotal})
		}
	}
	return g
}
