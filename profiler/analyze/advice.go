package analyze

import (
	"fmt"
	"slices"

	"github.com/gander-go/gander/profiler/trace"
)

// Severity orders advice.
type Severity uint8

const (
	Info Severity = iota
	Warning
	Severe
)

// String returns "info", "warning" or "severe".
func (s Severity) String() string { return [...]string{"info", "warning", "severe"}[s] }

// MarshalText makes JSON hold the name.
func (s Severity) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// Evidence is one thing that advice rests on.
type Evidence struct {
	Text  string `json:"text"`
	Slice int32  `json:"slice"` // example in Trace.Slices, NoSlice when there is none
	Time  int64  `json:"time"`  // ns it accounts for, 0 when time is not the measure
	Count int64  `json:"count"`
}

// String says it all in a line: "aten::item: 48.000ms in 12".
func (e Evidence) String() string {
	switch {
	case e.Time > 0 && e.Count > 1:
		return fmt.Sprintf("%s: %s in %d", e.Text, formatTime(float64(e.Time), ""), e.Count)
	case e.Time > 0:
		return e.Text + ": " + formatTime(float64(e.Time), "")
	case e.Count > 1:
		return fmt.Sprintf("%s (%d)", e.Text, e.Count)
	}
	return e.Text
}

// Advice is one finding with what to do about it.
type Advice struct {
	Kind     string     `json:"kind"`  // stable identifier: "low-gpu-utilization"
	Title    string     `json:"title"` // a few words
	Text     string     `json:"text"`  // what was found, with its figures
	Remedy   string     `json:"remedy"`
	Severity Severity   `json:"severity"`
	Share    float64    `json:"share"`  // of the steps' time at stake, 0 when that is not the measure
	Time     int64      `json:"time"`   // ns at stake over the recording
	Plugin   bool       `json:"plugin"` // one of the TensorBoard plugin's seven
	Evidence []Evidence `json:"evidence"`
}

// Advise returns what is worth doing about t, most severe first, larger shares first.
func Advise(t *trace.Trace) []Advice { return Of(t).Advise() }

// Advise returns what is worth doing, most severe first, larger shares first.
func (a *Analysis) Advise() []Advice { return a.AdviseAs(Exact) }

// AdviseAs returns advice under convention c. Plugin is the TensorBoard plugin's seven recommendations by its own rules;
// Exact knows more, and newer tensor cores.
func (a *Analysis) AdviseAs(c Convention) []Advice {
	b := &adviser{a: a, x: a.index(), t: a.Trace, c: c, overview: a.OverviewAs(c)}
	b.steps = b.overview.Steps
	b.window = b.x.stepWindow(b.steps)
	b.plugin()
	if c != Plugin {
		b.host()
		b.device()
		b.goRuntime()
		b.memoryGrowth()
	}
	slices.SortStableFunc(b.out, func(p, q Advice) int {
		switch {
		case p.Severity != q.Severity:
			return int(q.Severity) - int(p.Severity)
		case p.Share > q.Share:
			return -1
		case p.Share < q.Share:
			return 1
		}
		return 0
	})
	return b.out
}

// adviser collects advice about one trace.
type adviser struct {
	a        *Analysis
	x        *index
	t        *trace.Trace
	c        Convention
	overview *OverviewReport
	steps    *StepReport
	window   span // of the steps, or of everything
	out      []Advice

	goroutines map[int64]trace.TrackID // see openAt
}

// stepWindow is the time from the first step to the end of the last.
func (x *index) stepWindow(r *StepReport) span {
	if n := len(r.Steps); n > 0 {
		return span{r.Steps[0].Start, r.Steps[n-1].End}
	}
	start, end := x.window()
	return span{start, end}
}

func (b *adviser) add(ad Advice) {
	if ad.Evidence == nil {
		ad.Evidence = []Evidence{}
	}
	b.out = append(b.out, ad)
}

// whole is the time that shares are of, at least 1.
func (b *adviser) whole() int64 { return max(1, b.window.end-b.window.start) }

// partShare is a part's share of the average step.
func (b *adviser) partShare(p StepPart) float64 {
	if b.steps.Mean <= 0 {
		return 0
	}
	return b.steps.Average[p] / b.steps.Mean
}

// byName sums slices by name into evidence: the count that matter most, each with its longest slice as example.
func (b *adviser) byName(count int, keep func(i int32) bool, name func(i int32) string) []Evidence {
	rows := map[string]int{}
	var list []Evidence
	for i := range b.t.Slices {
		n := int32(i)
		if !keep(n) {
			continue
		}
		s := &b.t.Slices[i]
		label := name(n)
		k, ok := rows[label]
		if !ok {
			k = len(list)
			rows[label] = k
			list = append(list, Evidence{Text: label, Slice: n})
		}
		e := &list[k]
		e.Time += s.Dur
		e.Count++
		if s.Dur > b.t.Slices[e.Slice].Dur {
			e.Slice = n
		}
	}
	slices.SortStableFunc(list, func(p, q Evidence) int { return compareInt(q.Time, p.Time) })
	return list[:min(len(list), count)]
}

func (b *adviser) sliceName(i int32) string { return b.t.Name(&b.t.Slices[i]) }

func (b *adviser) inWindow(i int32) bool {
	s := &b.t.Slices[i]
	return s.Start < b.window.end && s.End() > b.window.start
}

// evidenceLines is how many pieces of evidence an advice shows.
const evidenceLines = 5
