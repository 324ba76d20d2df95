package render

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"html"
	"strings"

	"github.com/klauspost/compress/gzip"
)

func base64Text(b []byte) string { return base64.StdEncoding.EncodeToString(b) }

// container gathers one report: the document and packed data for the script, and the static form that stands in the page
// until the script replaces it, and for good where no script runs.
type container struct {
	doc    document
	packed *packs // shared by the parts of one output
	still  strings.Builder
	hint   string // what to do when no script runs; empty for the notebook's hint
}

// packs are the packed data of one output.
type packs struct {
	list   []string // base64 of gzip, referred to by partHead.Blob
	charts bool     // some part needs the chart library
}

func newContainer(o Options) *container {
	c := &container{packed: &packs{}}
	c.doc.Unit = o.TimeUnit
	c.doc.Title, c.doc.Note = strings.ToValidUTF8(o.Title, ""), strings.ToValidUTF8(o.Note, "")
	return c
}

// addBlob stores packed data and returns its index for a part.
func (c *container) addBlob(text string) *int {
	i := len(c.packed.list)
	c.packed.list = append(c.packed.list, text)
	return &i
}

// view adds a tab. Views without parts are left out.
func (c *container) view(id View, label string, parts ...any) {
	if len(parts) > 0 {
		c.doc.Views = append(c.doc.Views, viewPart{string(id), label, parts})
	}
}

// heading starts a section of the static form.
func (c *container) heading(s string) {
	fmt.Fprintf(&c.still, "<h4>%s</h4>\n", escape(s))
}

func (c *container) paragraph(s string) {
	fmt.Fprintf(&c.still, "<p>%s</p>\n", escape(s))
}

func (c *container) picture(ch *chart) {
	if ch != nil {
		fmt.Fprintf(&c.still, "<p>%s</p>\n", ch.img())
	}
}

// escape makes any text safe between tags and in quoted attributes.
func escape(s string) string { return html.EscapeString(strings.ToValidUTF8(s, "\uFFFD")) }

const trustHint = "The interactive view needs scripts: trust this notebook (in JupyterLab: View, Activate Command Palette, Trust Notebook) or run the cell."

// html returns the fragment. Its class keeps MathJax, which notebooks run over outputs, from taking the dollar signs of
// names for formulas. It is valid on its own, repeats nothing of the page, and may stand in a page several times.
func (c *container) html(o Options) (string, error) {
	doc, err := json.Marshal(&c.doc)
	if err != nil {
		return "", fmt.Errorf("writing report %q: %w", c.doc.Title, err)
	}
	packed, err := squeeze(doc, gzip.BestSpeed+4)
	if err != nil {
		return "", err
	}
	id := cleanID(o.ID)
	if id == "" {
		id = newID()
	}
	hint := c.hint
	if hint == "" {
		hint = trustHint
	}
	var b strings.Builder
	b.Grow(len(packed) + c.still.Len() + len(packedViewer()) + 4096)
	fmt.Fprintf(&b, "<div class=\"gpk tex2jax_ignore\" id=\"gpk-%s\">\n<div class=\"gpk-static\">\n", id)
	if c.doc.Title != "" {
		fmt.Fprintf(&b, "<h3>%s</h3>\n", escape(c.doc.Title))
	}
	if c.doc.Note != "" {
		fmt.Fprintf(&b, "<p>%s</p>\n", escape(c.doc.Note))
	}
	b.WriteString(c.still.String())
	fmt.Fprintf(&b, "<p class=\"gpk-trust\"><small>%s</small></p>\n</div>\n", hint)
	b.WriteString("<script type=\"application/json\">{\"v\":1}</script>\n")
	for _, s := range append([]string{packed}, c.packed.list...) {
		fmt.Fprintf(&b, "<script type=\"text/plain\">%s</script>\n", s)
	}
	if c.packed.charts && o.Library.take() {
		fmt.Fprintf(&b, "<script type=\"text/plain\" data-gpk-lib=\"%s\">%s</script>\n", chartLibrary, packedCharts())
	}
	fmt.Fprintf(&b, "<script type=\"text/plain\" data-gpk-code>%s</script>\n", packedViewer())
	fmt.Fprintf(&b, "<script>%s(\"gpk-%s\")</script>\n</div>\n", loader, id)
	return b.String(), nil
}
