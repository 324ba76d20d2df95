// Package report makes self-contained HTML pages of profiles in plain programs: importing it gives ExportReport of package
// profiler, and format=html of profiler/httpprof, what they need.
//
//	import _ "github.com/gander-go/gander/profiler/report"
//	…
//	err = p.ExportReport("profile.html")
//
// It ties recording, analysis and rendering together and adds nothing of its own. It is apart from package profiler
// because it links the renderer and its assets, which programs that only record need not carry.
//
// Its invariant: the trace that is shown is left as it was.
package report

import (
	"fmt"
	"io"

	"github.com/gander-go/gander/profiler"
	"github.com/gander-go/gander/profiler/gotrace"
	"github.com/gander-go/gander/profiler/trace"
	"github.com/gander-go/gander/render"
)

func init() {
	profiler.RegisterReport(func(w io.Writer, t *trace.Trace) error { return Write(w, render.Options{}, t) })
}

// Write writes one page that shows traces; several are the ranks of one job. Execution traces that were recorded along
// are merged into what is shown.
func Write(w io.Writer, o render.Options, traces ...*trace.Trace) error {
	shown := make([]*trace.Trace, len(traces))
	for i, t := range traces {
		shown[i] = t
		if len(t.Attachments) > 0 {
			shown[i] = t.Clone()
			gotrace.MergeAttachments(shown[i], gotrace.Options{})
		}
	}
	if err := render.Page(w, shown, o); err != nil {
		return fmt.Errorf("writing report: %w", err)
	}
	return nil
}
