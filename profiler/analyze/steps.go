package analyze

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"github.com/gander-go/gander/profiler/trace"
)

// StepPart is what a moment of a step is put down to. Lower values win where several are true at once.
type StepPart int

const (
	PartKernel StepPart = iota
	PartMemcpy
	PartMemset
	PartComm
	PartRuntime
	PartDataLoader
	PartCPU
	PartOther
	NumStepParts
)

var stepPartNames = [NumStepParts]string{"Kernel", "Memcpy", "Memset", "Communication", "Runtime", "DataLoader", "CPU Exec", "Other"}

// String returns the plugin's name of the part.
func (p StepPart) String() string { return stepPartNames[p] }

// PartTimes holds ns by part. In JSON it is an object with the parts' names.
type PartTimes [NumStepParts]int64

// PartMeans holds mean ns by part. In JSON it is an object with the parts' names.
type PartMeans [NumStepParts]float64

var stepPartKeys = [NumStepParts]string{"kernel", "memcpy", "memset", "communication", "runtime", "data_loader", "cpu_exec", "other"}

// MarshalJSON writes the parts by name.
func (p PartTimes) MarshalJSON() ([]byte, error) { return marshalNamed(stepPartKeys[:], p[:]) }

// marshalNamed writes values as an object, in the order of keys.
func marshalNamed(keys []string, values []int64) ([]byte, error) {
	b := []byte{'{'}
	for i, k := range keys {
		if i > 0 {
			b = append(b, ',')
		}
		v, err := json.Marshal(values[i])
		if err != nil {
			return nil, err
		}
		b = append(append(strconv.AppendQuote(b, k), ':'), v...)
	}
	return append(b, '}'), nil
}

// Step is one step of the schedule, extended to the end of the device work launched in it.
type Step struct {
	Name      string    `json:"name"`  // "5" of ProfilerStep#5
	Start     int64     `json:"start"` // ns
	End       int64     `json:"end"`
	Parts     PartTimes `json:"parts"` // ns; their sum is End-Start
	DeviceOps int       `json:"device_ops"`
	GC        int64     `json:"gc"`  // ns of garbage collection cycles in the step; overlaps the parts
	STW       int64     `json:"stw"` // ns of stop-the-world pauses in the step; overlaps the parts
}

// Total is the wall time of the step in ns.
func (s *Step) Total() int64 { return s.End - s.Start }

// StepReport breaks steps down. Without ProfilerStep events it holds one step "0" that spans the trace.
type StepReport struct {
	Steps   []Step    `json:"steps"`
	Average PartMeans `json:"average"` // ns a step
	Mean    float64   `json:"mean"`    // ns: mean wall time of a step
	Dropped []string  `json:"dropped"` // trailing steps left out because their device work is missing or incomplete
	Real    bool      `json:"real"`    // the steps were recorded, not made up

	HasComm, HasRuntime, HasKernel, HasCopy bool `json:"-"`
}

// Steps returns the steps of t.
func Steps(t *trace.Trace) *StepReport { return Of(t).Steps() }

// Steps returns the steps of the trace.
func (a *Analysis) Steps() *StepReport { return a.StepsAs(Exact) }

// StepsAs returns the steps under convention c. Plugin is the TensorBoard plugin's reading; Exact adds calls into the
// driver, communication known by the kernel's name or category, and the loaders of Go programs.
func (a *Analysis) StepsAs(c Convention) *StepReport {
	b := stepBuilder{x: a.index(), c: c}
	b.collect()
	b.deviceTimes()
	b.stretch()
	r := &StepReport{Real: b.real}
	r.Dropped = b.dropTail()
	r.Steps = b.steps
	for part := range b.ranges {
		b.ranges[part] = union(b.ranges[part])
	}
	r.HasKernel, r.HasComm = len(b.ranges[PartKernel]) > 0, len(b.ranges[PartComm]) > 0
	r.HasRuntime = len(b.ranges[PartRuntime]) > 0
	r.HasCopy = len(b.ranges[PartMemcpy])+len(b.ranges[PartMemset]) > 0
	b.split()
	gc, stw := b.x.spans(trace.ClassGC), b.x.spans(trace.ClassSTW)
	for i := range r.Steps {
		s := &r.Steps[i]
		w := span{s.Start, s.End}
		s.GC, s.STW = total(within(gc, w)), total(within(stw, w))
	}
	r.average()
	return r
}

// average fills the means over the steps.
func (r *StepReport) average() {
	r.Average, r.Mean = PartMeans{}, 0
	for i := range r.Steps {
		s := &r.Steps[i]
		for p, v := range s.Parts {
			r.Average[p] += float64(v) / float64(len(r.Steps))
		}
		r.Mean += float64(s.Total()) / float64(len(r.Steps))
	}
}

// without returns the report less the named steps, or r when that leaves none or changes nothing.
func (r *StepReport) without(names []string) *StepReport {
	out := *r
	out.Steps, out.Dropped = nil, slices.Clone(r.Dropped)
	for _, s := range r.Steps {
		if slices.Contains(names, s.Name) {
			out.Dropped = append(out.Dropped, s.Name)
		} else {
			out.Steps = append(out.Steps, s)
		}
	}
	if len(out.Steps) == 0 || len(out.Steps) == len(r.Steps) {
		return r
	}
	out.average()
	return &out
}

// stepBuilder follows the plugin:
//
//  1. collect the steps and, by part, the ranges of time;
//  2. find the device work that calls inside each step launched;
//  3. stretch each step to the end of its device work, and start it where the one before ends;
//  4. drop steps at the end whose device work was not captured;
//  5. give each moment of a step to the first part that claims it.
type stepBuilder struct {
	x      *index
	c      Convention
	real   bool
	steps  []Step
	ranges [PartOther][]span
	device []span // by step: its device work, empty when none
	any    bool   // some step launched device work
	before int64  // end of the device work launched before the first step and done before its device work
}

func (b *stepBuilder) collect() {
	x, s := b.x, b.x.t.Slices
	commIDs := map[int64]bool{}
	loader := dataLoader
	if b.c != Plugin {
		loader = loaderCall
	}
	kind := make([]uint8, x.t.Strings.Len()) // 1 communication, 2 data loader, 3 a kernel's communication
	for i, name := range x.t.Strings.List() {
		switch {
		case collectiveAs(name, b.c):
			kind[i] = 1
		case loader(name):
			kind[i] = 2
		case b.c != Plugin && kernelType(name) == TypeComm:
			kind[i] = 3
		}
	}
	first, last := int64(1<<63-1), int64(-1<<63)
	for i, class := range x.class {
		host := class == trace.ClassOp || class == trace.ClassStep
		if b.c != Plugin {
			host = host || class == trace.ClassAnnotation || class == trace.ClassCall || class == trace.ClassOther
		}
		if host {
			first, last = min(first, s[i].Start), max(last, s[i].End())
		}
		if kind[s[i].Name] == 1 && s[i].Ext > 0 && (class == trace.ClassOp || class == trace.ClassAnnotation) {
			commIDs[s[i].Ext] = true
		}
	}
	for i, class := range x.class {
		part := PartOther
		switch class {
		case trace.ClassKernel:
			part = PartKernel
			if commIDs[s[i].Ext] || kind[s[i].Name] == 3 {
				part = PartComm
			}
		case trace.ClassMemcpy:
			part = PartMemcpy
		case trace.ClassMemset:
			part = PartMemset
		case trace.ClassRuntime:
			part = PartRuntime
		case trace.ClassDriver:
			if b.c != Plugin {
				part = PartRuntime
			}
		case trace.ClassComm:
			if b.c != Plugin {
				part = PartComm
			}
		case trace.ClassStep:
			b.steps = append(b.steps, Step{Name: strings.TrimPrefix(x.t.Name(&s[i]), stepPrefix), Start: s[i].Start, End: s[i].End()})
		case trace.ClassOp, trace.ClassAnnotation, trace.ClassCall, trace.ClassOther:
			if class == trace.ClassOther && b.c == Plugin {
				continue
			}
			switch kind[s[i].Name] {
			case 1:
				part = PartComm
			case 2:
				part = PartDataLoader
			default:
				part = PartCPU
			}
		}
		if part != PartOther {
			b.ranges[part] = append(b.ranges[part], span{s[i].Start, s[i].End()})
		}
	}
	b.real = len(b.steps) > 0
	if !b.real {
		if first > last {
			first, last = x.window()
		}
		b.steps = []Step{{Name: "0", Start: first, End: last}}
	}
	slices.SortStableFunc(b.steps, func(p, q Step) int { return compareInt(p.Start, q.Start) })
}

// deviceTimes walks calls and steps together in order of time.
func (b *stepBuilder) deviceTimes() {
	x, s := b.x, b.x.t.Slices
	b.device = make([]span, len(b.steps))
	if x.call == nil {
		return
	}
	step := filled(len(s)) // by call
	k := 0
	for _, i := range x.byStart(func(c trace.Class) bool { return c == trace.ClassRuntime || c == trace.ClassDriver && b.c != Plugin }) {
		for k < len(b.steps) && s[i].Start >= b.steps[k].End {
			k++
		}
		if k == len(b.steps) {
			break
		}
		if s[i].Start >= b.steps[k].Start && s[i].End() <= b.steps[k].End {
			step[i] = int32(k)
		}
	}
	for i, class := range x.class {
		if !class.DeviceWork() || x.call[i] < 0 {
			continue
		}
		n := step[x.call[i]]
		if n < 0 {
			continue
		}
		d := &b.device[n]
		if b.steps[n].DeviceOps == 0 {
			*d = span{s[i].Start, s[i].End()}
		}
		b.steps[n].DeviceOps++
		d.start, d.end = min(d.start, s[i].Start), max(d.end, s[i].End())
		b.any = true
	}
	if !b.any {
		return
	}
	b.before = b.steps[0].Start
	if b.steps[0].DeviceOps == 0 {
		return
	}
	for i, class := range x.class {
		if class.DeviceWork() && (x.call[i] < 0 || step[x.call[i]] < 0) && s[i].End() < b.device[0].start {
			b.before = max(b.before, s[i].End())
		}
	}
}

func (b *stepBuilder) stretch() {
	if !b.any {
		return
	}
	end := b.before
	for i := range b.steps {
		s := &b.steps[i]
		s.Start = max(end, s.Start)
		s.End = max(s.End, s.Start)
		if s.DeviceOps > 0 {
			s.End = max(s.End, b.device[i].end)
		}
		end = s.End
	}
}

// tailShare is the least share of the previous step's device work that the last step must have to count as captured.
const tailShare = 0.8

func (b *stepBuilder) dropTail() []string {
	dropped := []string{}
	if !b.any || len(b.steps) < 2 {
		return dropped
	}
	last := len(b.steps) - 1
	for last >= 0 && b.steps[last].DeviceOps == 0 {
		last--
	}
	keep := last + 1
	if last > 0 && float64(b.steps[last-1].DeviceOps)*tailShare > float64(b.steps[last].DeviceOps) {
		keep = last
	}
	for _, s := range b.steps[keep:] {
		dropped = append(dropped, s.Name)
	}
	b.steps = b.steps[:keep]
	return dropped
}

func (b *stepBuilder) split() {
	var claimed []span
	for part, ranges := range b.ranges {
		mine := subtract(ranges, claimed)
		for i := range b.steps {
			s := &b.steps[i]
			s.Parts[part] = total(within(mine, span{s.Start, s.End}))
		}
		claimed = union(append(slices.Clone(claimed), mine...))
	}
	for i := range b.steps {
		s := &b.steps[i]
		rest := s.Total()
		for _, v := range s.Parts {
			rest -= v
		}
		s.Parts[PartOther] = rest
	}
}

// loaderCall reports whether name is the wait for a batch, in torch or in Go ("nn.(*DataLoader).Next").
func loaderCall(name string) bool {
	return dataLoader(name) || strings.Contains(name, "DataLoader") && strings.HasSuffix(strings.ToLower(name), "next")
}

// spans returns the union of the slices of one class.
func (x *index) spans(class trace.Class) []span {
	var out []span
	for i, c := range x.class {
		if c == class {
			s := &x.t.Slices[i]
			out = append(out, span{s.Start, s.End()})
		}
	}
	return union(out)
}

// window returns the first start and the last end of anything recorded, zeros when there is nothing.
func (x *index) window() (start, end int64) {
	first, last := int64(1<<63-1), int64(-1<<63)
	for i := range x.t.Slices {
		if x.class[i] != trace.ClassTool {
			first, last = min(first, x.t.Slices[i].Start), max(last, x.t.Slices[i].End())
		}
	}
	if first > last {
		return 0, 0
	}
	return first, last
}
