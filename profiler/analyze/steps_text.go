package analyze

import (
	"fmt"
	"strings"
)

// Text returns the steps as a table, parts that never occur left out.
func (r *StepReport) Text() string {
	show := []StepPart{}
	for p := range NumStepParts {
		if r.Average[p] != 0 || p == PartOther {
			show = append(show, p)
		}
	}
	t := textTable{header: []string{"Step", "Total"}}
	for _, p := range show {
		t.header = append(t.header, p.String())
	}
	row := func(name string, sum float64, parts func(StepPart) float64) {
		cells := []string{name, formatTime(sum, "")}
		for _, p := range show {
			share := ""
			if sum > 0 {
				share = fmt.Sprintf(" (%.1f%%)", parts(p)/sum*100)
			}
			cells = append(cells, formatTime(parts(p), "")+share)
		}
		t.add(cells...)
	}
	for i := range r.Steps {
		s := &r.Steps[i]
		row(s.Name, float64(s.Total()), func(p StepPart) float64 { return float64(s.Parts[p]) })
	}
	if len(r.Steps) > 1 {
		row("average", r.Mean, func(p StepPart) float64 { return r.Average[p] })
	}
	out := t.String()
	if len(r.Dropped) > 0 {
		out += "Left out, because not all of their device work was captured: step " + strings.Join(r.Dropped, ", ") + "\n"
	}
	return out
}
