package render

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/gander-go/gander/profiler/analyze"
	"github.com/gander-go/gander/profiler/trace"
)

func jsonRaw(b []byte) json.RawMessage { return json.RawMessage(b) }

// report builds the views of one trace into a container.
type report struct {
	*container
	t    *trace.Trace
	a    *analyze.Analysis
	o    Options
	page bool

	base  int64 // time zero of every picture, on the trace's clock
	end   int64 // ns from there to the last moment
	steps []Mark
	text  strings.Builder
	paper []*chart // what the PNG shows

	// What several views need is computed once; nil until then.
	avg    *analyze.Averages
	front  *analyze.OverviewReport
	advise []analyze.Advice

	functions []analyze.FunctionReport
	pathFound *analyze.PathReport
	pathDone  bool
}

func newReport(t *trace.Trace, o Options, c *container, page bool) *report {
	r := &report{container: c, t: t, a: analyze.Of(t), o: o, page: page, base: t.Meta.Start, end: max(1, t.Meta.End-t.Meta.Start)}
	if s := r.a.Steps(); s != nil && s.Real {
		for _, st := range s.Steps {
			r.steps = append(r.steps, Mark{st.Start, st.End, "step " + st.Name})
		}
	}
	return r
}

// wants reports whether the view id is to be built. Views that repeat others in the plugin's own arrangement are only on
// pages, unless asked for.
func (r *report) wants(id View) bool {
	if r.o.Views == nil {
		return r.page || id != ViewOperators && id != ViewModules
	}
	return slices.Contains(r.o.Views, id) || id == ViewProblems
}

// build adds every wanted view that has data.
func (r *report) build() error {
	for _, v := range []struct {
		id    View
		build func() error
	}{
		{ViewOverview, r.overview},
		{ViewTable, r.table},
		{ViewTimeline, r.timeline},
		{ViewFlame, r.flame},
		{ViewOperators, r.operators},
		{ViewKernels, r.kernels},
		{ViewMemory, r.memory},
		{ViewSteps, r.stepsView},
		{ViewModules, r.modules},
		{ViewProblems, r.problems},
	} {
		if !r.wants(v.id) && v.id != ViewTable { // whose text form is always there
			continue
		}
		if err := v.build(); err != nil {
			return fmt.Errorf("rendering view %s: %w", v.id, err)
		}
	}
	if r.wants(ViewOverview) {
		r.adviceText()
	}
	if len(r.doc.Views) == 0 {
		text := "Nothing was recorded."
		if r.o.Views != nil {
			text = fmt.Sprintf("None of the views %v has data.", r.o.Views)
		}
		r.view("empty", "Report", &notePart{partHead{K: "note"}, text})
		r.paragraph(text)
		r.text.WriteString(text + "\n")
	}
	return nil
}

// notebookOrder puts first what torch's users call for first.
var notebookOrder = []View{ViewTable, ViewOverview, ViewTimeline, ViewMemory, ViewFlame, ViewKernels, ViewSteps}

// sortViews orders views as they were asked for; without that, pages begin with the overview and outputs with the table.
func (r *report) sortViews() {
	order := r.o.Views
	if order == nil && !r.page {
		order = notebookOrder
	}
	if order == nil {
		return
	}
	at := func(id string) int {
		if i := slices.Index(order, View(id)); i >= 0 {
			return i
		}
		return len(order)
	}
	slices.SortStableFunc(r.doc.Views, func(a, b viewPart) int { return at(a.ID) - at(b.ID) })
}

// headline is one line about the trace.
func headline(t *trace.Trace) string {
	parts := []string{plural(int64(len(t.Slices)), "event") + " in a window of " + formatTime(float64(t.Meta.End-t.Meta.Start))}
	if n := len(t.Devices); n > 0 {
		name := t.Devices[0].Name
		if n > 1 {
			name = fmt.Sprintf("%d × %s", n, name)
		}
		parts = append(parts, name)
	}
	if t.Meta.Rank != trace.NoRank && t.Meta.World > 1 {
		parts = append(parts, fmt.Sprintf("rank %d of %d", t.Meta.Rank, t.Meta.World))
	}
	if t.Meta.Tool != "" && t.Meta.Tool != "gander" {
		parts = append(parts, strings.TrimSpace(t.Meta.Tool+" "+t.Meta.Version))
	}
	return strings.Join(parts, " · ")
}

// Profile draws one trace, which must pass Validate, as the output of a notebook cell.
func Profile(t *trace.Trace, o Options) (Bundle, error) {
	if o.Title == "" {
		o.Title = "Profile"
	}
	note := headline(t)
	if o.Note != "" {
		note = o.Note + " · " + note
	}
	o.Note = note
	r := newReport(t, o, newContainer(o), false)
	if err := r.build(); err != nil {
		return Bundle{}, err
	}
	r.sortViews()
	b := Bundle{Text: r.text.String()}
	if b.Text == "" {
		b.Text = note + "\n"
	}
	var err error
	if b.HTML, err = r.html(o); err != nil {
		return Bundle{}, err
	}
	if pic := stackCharts(o.Title, r.paper); pic != nil {
		if b.PNG, err = pic.png(); err != nil {
			return Bundle{}, err
		}
	}
	if b.JSON, err = r.json(); err != nil {
		return Bundle{}, err
	}
	return b, nil
}

// frontPage returns the overview's figures and the advice.
func (r *report) frontPage() (*analyze.OverviewReport, []analyze.Advice) {
	if r.front == nil {
		r.front, r.advise = r.a.Overview(), r.a.Advise()
	}
	return r.front, r.advise
}

// json is the small form for tools: the first rows and the figures of the overview.
func (r *report) json() ([]byte, error) {
	avg, err := r.averages()
	if err != nil {
		return nil, err
	}
	rows := avg.Rows[:min(len(avg.Rows), 50)]
	if rows == nil {
		rows = []analyze.Average{}
	}
	front, advice := r.frontPage()
	if advice == nil {
		advice = []analyze.Advice{}
	}
	ov := *front
	ov.Steps, ov.GPUs = nil, slices.Clone(ov.GPUs)
	for i := range ov.GPUs {
		ov.GPUs[i].UtilCurve, ov.GPUs[i].SMEffTimes, ov.GPUs[i].SMEffValues = nil, nil, nil
	}
	problems := r.t.Problems
	if problems == nil {
		problems = []trace.Problem{}
	}
	b, err := json.Marshal(map[string]any{
		"version": 1, "span": r.t.Meta.End - r.t.Meta.Start, "events": len(r.t.Slices), "tool": r.t.Meta.Tool,
		"key_averages": rows, "rows": len(avg.Rows), "overview": ov, "advice": advice, "problems": problems,
	})
	if err != nil {
		return nil, fmt.Errorf("writing profile as json: %w", err)
	}
	return b, nil
}
