package render

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/klauspost/compress/gzip"

	"github.com/gander-go/gander/profiler/analyze"
	"github.com/gander-go/gander/profiler/trace"
)

const pageStyle = `:root{color-scheme:light dark;--gpk-page:#fff}@media(prefers-color-scheme:dark){:root{--gpk-page:#15181c}}` +
	`body{margin:0 auto;padding:16px 24px 40px;max-width:1600px;background:var(--gpk-page);font:14px/1.5 system-ui,-apple-system,"Segoe UI",sans-serif;color:#1b1f24}` +
	`@media(prefers-color-scheme:dark){body{color:#e6e8ea}}.gpk-static table{border-collapse:collapse;font-size:13px}.gpk-static th,.gpk-static td{padding:2px 10px;border-bottom:1px solid #8884}.gpk-static img{max-width:100%;height:auto}`

// pagePolicy lets a page run what is in it and load nothing, whatever a trace may hold. Connections to its own server are
// left to servers that reload pages.
const pagePolicy = "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data: blob:; connect-src 'self'; form-action 'none'; base-uri 'none'"

const pageHint = "The interactive view needs JavaScript."

// writePage wraps a fragment as a page that needs nothing else.
func writePage(w io.Writer, title, fragment string) error {
	_, err := fmt.Fprintf(w, "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<meta http-equiv=\"Content-Security-Policy\" content=\"%s\">\n<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<meta name=\"referrer\" content=\"no-referrer\">\n<title>%s</title>\n<style>%s</style>\n</head>\n<body>\n%s</body>\n</html>\n", pagePolicy, escape(title), pageStyle, fragment)
	if err != nil {
		return fmt.Errorf("writing page %q: %w", title, err)
	}
	return nil
}

// Page writes one self-contained HTML page for ts; several traces are the ranks of one job.
func Page(w io.Writer, ts []*trace.Trace, o Options) error {
	if len(ts) == 0 {
		return errors.New("rendering a page: no traces")
	}
	if o.Title == "" {
		o.Title = "Profile"
	}
	o.Charts = true
	o.Library = nil // a page stands alone
	if o.Note == "" && len(ts) == 1 {
		o.Note = headline(ts[0])
	}
	c := newContainer(o)
	c.hint = pageHint
	if len(ts) == 1 {
		r := newReport(ts[0], o, c, true)
		if err := r.build(); err != nil {
			return err
		}
		r.sortViews()
	} else {
		if o.Budget == 0 {
			o.Budget = max(1<<20, pageBudget/len(ts))
		}
		if err := ranks(c, ts, o, true); err != nil {
			return err
		}
	}
	fragment, err := c.html(o)
	if err != nil {
		return err
	}
	return writePage(w, o.Title, fragment)
}

// Job draws several traces, the ranks of one job, as the output of a notebook cell. One is drawn as Profile draws it.
func Job(ts []*trace.Trace, o Options) (Bundle, error) {
	if len(ts) == 1 {
		return Profile(ts[0], o)
	}
	if o.Title == "" {
		o.Title = "Profile"
	}
	if o.Budget == 0 {
		o.Budget = max(1<<18, notebookBudget/max(1, len(ts)))
	}
	c := newContainer(o)
	if err := ranks(c, ts, o, false); err != nil {
		return Bundle{}, err
	}
	h, err := c.html(o)
	return Bundle{HTML: h, Text: analyze.Distributed(ts).Text()}, err
}

// ranks makes a document per trace and one for all of them together.
func ranks(c *container, ts []*trace.Trace, o Options, page bool) error {
	if err := c.group("All ranks", o, func(sub *container) error { return distributed(sub, ts, o) }); err != nil {
		return err
	}
	for i, t := range ts {
		label := rankName(t, i)
		fmt.Fprintf(&c.still, "<h3>%s</h3>\n", escape(label))
		if err := c.group(label, o, func(sub *container) error {
			r := newReport(t, o, sub, page)
			defer r.sortViews()
			return r.build()
		}); err != nil {
			return fmt.Errorf("%s: %w", label, err)
		}
	}
	return nil
}

func rankName(t *trace.Trace, i int) string {
	if t.Meta.Rank != trace.NoRank {
		return fmt.Sprintf("Rank %d", t.Meta.Rank)
	}
	return fmt.Sprintf("Trace %d", i+1)
}

// group builds a document of its own whose static form and packed data go to c.
func (c *container) group(label string, o Options, build func(sub *container) error) error {
	sub := &container{packed: c.packed}
	sub.doc.Unit = o.TimeUnit
	if err := build(sub); err != nil {
		return err
	}
	if len(sub.doc.Views) == 0 {
		return nil
	}
	b, err := json.Marshal(&sub.doc)
	if err != nil {
		return fmt.Errorf("writing report %q: %w", label, err)
	}
	text, err := squeeze(b, gzip.BestSpeed+4)
	if err != nil {
		return err
	}
	c.doc.Groups = append(c.doc.Groups, groupPart{label, *c.addBlob(text)})
	c.still.WriteString(sub.still.String())
	return nil
}

// distributed compares the ranks, as the TensorBoard plugin's distributed view does.
func distributed(c *container, ts []*trace.Trace, o Options) error {
	d := analyze.Distributed(ts)
	if d == nil || len(d.Workers) == 0 {
		reason := "The ranks cannot be compared."
		if d != nil && d.Reason != "" {
			reason = d.Reason
		}
		c.view(ViewDistributed, "Distributed", &notePart{partHead{K: "note"}, reason})
		c.paragraph(reason)
		return nil
	}
	var parts []any
	if d.Reason != "" {
		parts = append(parts, &notePart{partHead{K: "note"}, d.Reason})
		c.paragraph(d.Reason)
	}
	compute := &stackPart{partHead: partHead{K: "stack", Title: "Computation and communication, average step", Half: true}, Unit: UnitTime, Label: "Computation and communication by worker", Cats: []string{"Computation", "Overlapping", "Communication", "Other"}, Colors: []int{1, 2, 4, 7}, Data: make([][]float64, 4)}
	comm := &stackPart{partHead: partHead{K: "stack", Title: "Synchronizing and data transfer, average step", Half: true}, Unit: UnitTime, Label: "Synchronizing and data transfer by worker", Cats: []string{"Data transfer time", "Synchronizing time"}, Colors: []int{0, 3}, Data: make([][]float64, 2)}
	steps := &Grid{Title: "Workers", Sort: -1, Note: "Backend: " + orDash(d.Backend) + ".", Cols: []Column{{Name: "Worker"}, {Name: "Devices"}, {Name: "Computation", Unit: UnitTime, Heat: true}, {Name: "Overlapping", Unit: UnitTime}, {Name: "Communication", Unit: UnitTime, Heat: true}, {Name: "Other", Unit: UnitTime}, {Name: "Synchronizing", Unit: UnitTime, Heat: true, Help: "Waiting for the slowest worker"}, {Name: "Data transfer", Unit: UnitTime}}}
	ops := &Grid{Title: "Communication operators", Sort: -1, Cols: []Column{{Name: "Worker"}, {Name: "Name"}, {Name: "Calls", Unit: UnitCount}, {Name: "Total size", Unit: UnitBytes, Heat: true}, {Name: "Avg size", Unit: UnitBytes}, {Name: "Total latency", Unit: UnitTime, Heat: true}, {Name: "Avg latency", Unit: UnitTime}, {Name: "Data transfer time", Unit: UnitTime}, {Name: "Avg data transfer time", Unit: UnitTime}}}
	for i := range d.Workers {
		w := &d.Workers[i]
		compute.Labels, comm.Labels = append(compute.Labels, w.Name), append(comm.Labels, w.Name)
		for k, v := range []float64{w.Computation, w.Overlap, w.Communication, w.Other} {
			compute.Data[k] = append(compute.Data[k], max(0, v))
		}
		for k, v := range []float64{w.DataTransfer, w.Synchronizing} {
			comm.Data[k] = append(comm.Data[k], max(0, v))
		}
		devices := strings.Join(counted(w.Devices), ", ")
		steps.Rows = append(steps.Rows, []any{w.Name, devices, w.Computation, w.Overlap, w.Communication, w.Other, w.Synchronizing, w.DataTransfer})
		for k := range w.Ops {
			x := &w.Ops[k]
			n := float64(max(1, x.Calls))
			ops.Rows = append(ops.Rows, []any{w.Name, x.Name, x.Calls, x.Bytes, float64(x.Bytes) / n, x.Latency, float64(x.Latency) / n, x.DataTransfer, float64(x.DataTransfer) / n})
		}
	}
	parts = append(parts, compute)
	if slices.Max(comm.Data[0])+slices.Max(comm.Data[1]) > 0 {
		parts = append(parts, comm)
	}
	parts = append(parts, steps.part())
	if len(ops.Rows) > 0 {
		parts = append(parts, ops.part())
	}
	c.view(ViewDistributed, "Distributed", parts...)
	c.heading("Distributed")
	c.still.WriteString(steps.html(64, o.TimeUnit))
	c.still.WriteString(ops.html(o.limit(), o.TimeUnit))
	return nil
}

// counted writes names that follow each other as one: "8 × V100".
func counted(names []string) []string {
	var out []string
	for i := 0; i < len(names); {
		n := 1
		for i+n < len(names) && names[i+n] == names[i] {
			n++
		}
		name := names[i]
		if n > 1 {
			name = fmt.Sprintf("%d × %s", n, name)
		}
		out = append(out, name)
		i += n
	}
	return out
}

func orDash(s string) string {
	if s == "" {
		return "unknown"
	}
	return s
}
