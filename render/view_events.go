package render

import (
	"fmt"
	"strings"

	"github.com/gander-go/gander/profiler/analyze"
)

// timeline shows every event.
func (r *report) timeline() error {
	if len(r.t.Slices) == 0 && len(r.t.Instants) == 0 {
		return nil
	}
	part, rows, blob, err := buildTimeline(r.t, r.budget(), r.steps, r.critical())
	if err != nil {
		return err
	}
	if len(rows) == 0 {
		return nil
	}
	part.Blob = r.addBlob(blob)
	r.view(ViewTimeline, "Timeline", part)
	r.heading("Timeline")
	if part.Note != "" {
		r.paragraph(part.Note)
	}
	pic := timelinePicture(r.t, rows)
	r.picture(pic)
	r.paper = append(r.paper, pic)
	return nil
}

func (r *report) budget() int {
	switch {
	case r.o.Budget > 0:
		return r.o.Budget
	case r.page:
		return pageBudget
	}
	return notebookBudget
}

// flameKinds are the metrics of flame graphs in the order in which they are offered.
var flameKinds = []struct {
	metric  analyze.FlameMetric
	title   string
	samples bool
}{
	{analyze.FlameTime, "Host time by call", false},
	{analyze.FlameDevice, "Device time by call", false},
	{analyze.FlameCPU, "CPU samples", true},
	{analyze.FlameAlloc, "Bytes allocated", true},
	{analyze.FlameInUse, "Bytes in use", true},
	{analyze.FlameBlock, "Blocked", true},
	{analyze.FlameMutex, "Waiting for mutexes", true},
}

// flame offers a flame graph for every metric that has data.
func (r *report) flame() error {
	p := &flamePart{partHead: partHead{K: "flame"}, Label: "Flame graph.", Sets: []flameSet{}}
	for _, k := range flameKinds {
		fg := r.a.Flame(analyze.FlameOptions{Metric: k.metric, MinShare: 0.0001})
		if fg == nil || len(fg.Nodes) < 2 || fg.Nodes[0].Total == 0 {
			continue
		}
		f := Flames{Title: k.title, Unit: flameUnit(fg.Unit), Names: fg.Names}
		for _, n := range fg.Nodes {
			f.Name, f.Parent = append(f.Name, n.Name), append(f.Parent, n.Parent)
			f.Self, f.Count = append(f.Self, n.Self), append(f.Count, n.Count)
		}
		if err := f.check(); err != nil {
			return err
		}
		p.Sets = append(p.Sets, f.set(k.samples))
		if len(p.Sets) == 1 || k.metric == analyze.FlameCPU {
			if len(p.Sets) == 1 {
				r.heading("Flame graph")
			}
			r.picture(f.picture())
		}
	}
	if len(p.Sets) == 0 {
		return nil
	}
	parts := []any{p}
	for _, f := range r.sampledFunctions() {
		parts = append(parts, functionsGrid(&f, maxFunctions).part())
	}
	r.view(ViewFlame, "Flame graph", parts...)
	return nil
}

func flameUnit(s string) Unit {
	switch s {
	case "ns":
		return UnitTime
	case "bytes":
		return UnitBytes
	}
	return UnitCount
}

// problems lists what was lost or repaired. It is shown whenever there is anything.
func (r *report) problems() error {
	if len(r.t.Problems) == 0 {
		return nil
	}
	p := &advicePart{partHead: partHead{K: "advice", Title: "Problems", Note: "What was lost or repaired on the way from the program to this report."}, Items: []adviceItem{}}
	r.heading("Problems")
	r.still.WriteString("<ul>\n")
	told := strings.Contains(r.text.String(), "\nNote: ") // the table has said the same
	if !told {
		r.text.WriteString("\nProblems:\n")
	}
	for _, q := range r.t.Problems {
		title := fmt.Sprintf("%s (%s)", q.Kind, formatCount(float64(q.Count)))
		p.Items = append(p.Items, adviceItem{"warning", title, q.Text, q.Remedy, [][2]string{}})
		fmt.Fprintf(&r.still, "<li><b>%s</b>: %s %s</li>\n", escape(title), escape(q.Text), escape(q.Remedy))
		if !told {
			fmt.Fprintf(&r.text, "- %s: %s %s\n", oneLine(title), oneLine(q.Text), oneLine(q.Remedy))
		}
	}
	r.still.WriteString("</ul>\n")
	r.view(ViewProblems, "Problems", p)
	return nil
}
