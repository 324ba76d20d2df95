package render

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/gander-go/gander/profiler/analyze"
	"github.com/gander-go/gander/profiler/trace"
)

// maxNodes bounds the aligned ranges that a diff lists.
const maxNodes = 20_000

// diffContainer compares two traces: the rows by name, the aligned ranges, the steps.
func diffContainer(base, next *trace.Trace, o Options) (*container, *analyze.DiffReport, *chart) {
	b, n := analyze.Of(base), analyze.Of(next)
	d := analyze.DiffOf(b, n, analyze.DiffOptions{Keys: analyze.KeyOptions{ByShape: o.GroupByShape, ByStack: o.GroupByStack}})
	c := newContainer(o)
	ba, na := b.Overview(), n.Overview()
	items := diffFigures(d, ba, na)
	byName := diffGrid(d)
	pic := diffPicture(d)

	if len(byName.Rows) == 0 && len(d.Functions) > 0 { // two sampled profiles
		c.heading("Comparison")
		var parts []any
		for i := range d.Functions {
			g := functionsDiffGrid(&d.Functions[i])
			parts = append(parts, g.part())
			c.still.WriteString(g.html(o.limit(), o.TimeUnit))
		}
		c.view(ViewOverview, "Functions", parts...)
		return c, d, pic
	}
	summary := []any{&tilesPart{partHead{K: "tiles"}, items}}
	if d.BaseSteps != nil && d.NewSteps != nil && d.BaseSteps.Mean > 0 && d.NewSteps.Mean > 0 {
		summary = append(summary, stepsDiff(d), stepsDiffGrid(d).part())
		if len(d.LeftOut) > 0 {
			summary = append(summary, &notePart{partHead{K: "note"}, "Left out of both averages, because not all of its device work was recorded in one of the runs: step " + strings.Join(d.LeftOut, ", ") + "."})
		}
	}
	top := *byName
	top.Title, top.Rows, top.Total = "Largest changes of self time", byName.Rows[:min(len(byName.Rows), 15)], len(byName.Rows)
	summary = append(summary, top.part())
	c.view(ViewOverview, "Overview", summary...)
	c.view(ViewTable, "By name", byName.part())
	if g := nodesGrid(d); len(g.Rows) > 0 {
		c.view(ViewOperators, "In order", nodesCurve(c, d), g.part())
	}
	for i := range d.Functions {
		c.view(ViewFlame, d.Functions[i].Title(), functionsDiffGrid(&d.Functions[i]).part())
	}
	c.heading("Comparison")
	c.still.WriteString(figuresTable(items))
	c.picture(pic)
	c.still.WriteString(byName.html(o.limit(), o.TimeUnit))
	return c, d, pic
}

// Diff draws the comparison of two traces as the output of a notebook cell.
func Diff(base, next *trace.Trace, o Options) (Bundle, error) {
	if o.Title == "" {
		o.Title = "Comparison"
	}
	c, d, pic := diffContainer(base, next, o)
	h, err := c.html(o)
	if err != nil {
		return Bundle{}, err
	}
	b := Bundle{HTML: h, Text: d.Text(o.textRows())}
	if b.PNG, err = pic.png(); err != nil {
		return Bundle{}, err
	}
	rows := d.Rows[:min(len(d.Rows), 50)]
	if rows == nil {
		rows = []analyze.DiffRow{}
	}
	if b.JSON, err = json.Marshal(map[string]any{"version": 1, "base_span": d.BaseSpan, "new_span": d.NewSpan, "rows": rows}); err != nil {
		return Bundle{}, fmt.Errorf("writing comparison as json: %w", err)
	}
	return b, nil
}

// textRows is the limit of text tables in analyze's convention, where 0 is all.
func (o Options) textRows() int {
	if o.Limit < 0 {
		return 0
	}
	return o.limit()
}

// DiffPage writes one self-contained HTML page that compares two traces.
func DiffPage(w io.Writer, base, next *trace.Trace, o Options) error {
	if o.Title == "" {
		o.Title = "Comparison"
	}
	c, _, _ := diffContainer(base, next, o)
	c.hint = pageHint
	fragment, err := c.html(o)
	if err != nil {
		return err
	}
	return writePage(w, o.Title, fragment)
}
