package render

import (
	"fmt"

	"github.com/gander-go/gander/profiler/analyze"
)

// View is one tab of a report. Its value is what `--views` takes.
type View string

const (
	ViewOverview    View = "overview"    // where the time went, utilisation, advice
	ViewTable       View = "table"       // key averages
	ViewTimeline    View = "timeline"    // every event on its track
	ViewOperators   View = "operators"   // operators as the TensorBoard plugin shows them
	ViewFlame       View = "flame"       // time and samples by call path
	ViewKernels     View = "kernels"     // device kernels, launches, idle time
	ViewMemory      View = "memory"      // curve, events, statistics
	ViewSteps       View = "steps"       // step times by category
	ViewModules     View = "modules"     // nn.Module tree
	ViewDistributed View = "distributed" // several ranks side by side
	ViewProblems    View = "problems"    // what was lost or repaired
)

// Views lists every view in the order of the tabs.
func Views() []View {
	return []View{ViewOverview, ViewTable, ViewTimeline, ViewFlame, ViewOperators, ViewKernels, ViewMemory, ViewSteps, ViewModules, ViewDistributed, ViewProblems}
}

// ParseViews turns names as users write them into views. The error names the first unknown one and all known ones.
func ParseViews(names []string) ([]View, error) {
	var out []View
next:
	for _, n := range names {
		for _, v := range Views() {
			if string(v) == n {
				out = append(out, v)
				continue next
			}
		}
		return nil, fmt.Errorf("choosing views: unknown view %q; known are %v", n, Views())
	}
	return out, nil
}

// Options say what a report shows. The zero value shows every view that has data.
type Options struct {
	Title string // heading; empty for a heading made from the trace
	Note  string // one line below it, such as the file or the cell

	Views []View // nil for all that have data; problems are always shown where there are any

	Sort         string // sort key in torch's spelling, "self_cpu_time_total"; empty for the default
	Limit        int    // rows of text and static tables; 0 is 20, negative is all. Live tables hold all rows
	GroupByShape bool
	GroupByStack int  // frames of the stack to group by; 0 for none
	GroupByTrack bool // a row for each goroutine, thread or stream
	GroupByStep  bool // a row for each step of the schedule
	TopLevel     bool
	TimeUnit     string // "s", "ms" or "us" for all; empty for a unit per value
	// Columns is the form of the text table: analyze.Torch for torch's own, the zero value for the extended one.
	Columns analyze.Convention

	// Budget is the size in bytes of the base64 text that the timeline of one trace may take; 0 is 2 MB in a notebook
	// output and 12 MB on a page. A timeline over it is drawn with coarser times, then with short events merged, and
	// says so.
	Budget int

	// Charts adds the pies, treemaps and stacked bars that are drawn by ECharts (about 310 kB, once per notebook).
	Charts bool
	// Library remembers which notebook already has the chart library. Nil: every output with charts carries it.
	Library *Library

	// ID names the output's element; empty for a random one. Two outputs on one page must not share it.
	ID string
}

// Bundle is one thing to show, in every form.
type Bundle struct {
	HTML string // text/html: a fragment that stands alone
	Text string // text/plain
	PNG  []byte // image/png, nil when there is nothing to draw
	JSON []byte // application/vnd.gander.profile+json, small, for tools; nil when there is none
}

// MIME returns the bundle by MIME type, as kernel/cell.Bundle.Data wants it: strings, []byte and raw JSON.
// No form is a script and none is image/svg+xml: the first would win over the HTML in JupyterLab, the second breaks
// nbconvert's PDF export.
func (b Bundle) MIME() map[string]any {
	m := map[string]any{"text/plain": b.Text}
	if b.HTML != "" {
		m["text/html"] = b.HTML
	}
	if b.PNG != nil {
		m["image/png"] = b.PNG
	}
	if b.JSON != nil {
		m[ProfileMIME] = jsonRaw(b.JSON)
	}
	return m
}

// ProfileMIME is the type of Bundle.JSON.
const ProfileMIME = "application/vnd.gander.profile+json"
