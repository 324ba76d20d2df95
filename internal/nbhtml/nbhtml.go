// Package nbhtml writes a Jupyter notebook as one self-contained HTML page: Markdown, highlighted code and every output,
// with no network.
//
// It knows nothing of kernels or traces. Its one invariant: text that is not an HTML output of a cell can never become
// active content; with Options.Sanitize that holds for HTML outputs too. TeX is shown as its source, because drawing it
// would take a library larger than most notebooks.
package nbhtml

import (
	"bytes"
	"fmt"
	"html"
	"io"
	"strings"
)

// Options say how the page is made. The zero value is right for notebooks that the user ran.
type Options struct {
	Title    string // empty for the notebook's title or first heading
	Sanitize bool   // remove scripts and other active content from HTML outputs: for notebooks of strangers
	HideCode bool
	Dir      string // folder that relative image paths of Markdown start from; empty: they are not embedded
}

// Write reads notebook JSON (nbformat 4) and writes the page.
func Write(w io.Writer, notebook []byte, o Options) error {
	nb, err := parse(notebook)
	if err != nil {
		return err
	}
	p := &page{nb: nb, o: o, language: nb.language()}
	css, err := highlightCSS()
	if err != nil {
		return err
	}
	for i := range nb.Cells {
		if err := p.cell(&nb.Cells[i]); err != nil {
			return fmt.Errorf("writing notebook page: cell %d: %w", i+1, err)
		}
	}
	title := o.Title
	if title == "" {
		title = nb.title()
	}
	_, err = fmt.Fprintf(w, "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<meta name=\"referrer\" content=\"no-referrer\">\n<title>%s</title>\n<style>\n%s%s</style>\n</head>\n<body>\n<main>\n%s</main>\n</body>\n</html>\n",
		html.EscapeString(title), pageCSS, css, p.b.String())
	if err != nil {
		return fmt.Errorf("writing notebook page: %w", err)
	}
	return nil
}

// page gathers the body.
type page struct {
	nb       *notebook
	o        Options
	language string
	b        bytes.Buffer
}

func (p *page) cell(c *cell) error {
	switch c.Type {
	case "markdown":
		text, err := p.markdown(string(c.Source), c.Attachments)
		if err != nil {
			return err
		}
		fmt.Fprintf(&p.b, "<section class=\"md\">\n%s</section>\n", text)
	case "raw":
		if s := string(c.Source); s != "" {
			fmt.Fprintf(&p.b, "<section class=\"raw\"><pre>%s</pre></section>\n", html.EscapeString(s))
		}
	case "code":
		return p.code(c)
	default:
		fmt.Fprintf(&p.b, "<section class=\"raw\"><p>A cell of the unknown type %q.</p><pre>%s</pre></section>\n", html.EscapeString(c.Type), html.EscapeString(string(c.Source)))
	}
	return nil
}

func (p *page) code(c *cell) error {
	source := strings.TrimRight(string(c.Source), "\n")
	if source == "" && len(c.Outputs) == 0 {
		return nil
	}
	p.b.WriteString("<section class=\"code\">\n")
	if !p.o.HideCode && !c.hidden("source") && source != "" {
		n := "\u00a0"
		if c.Count != nil {
			n = fmt.Sprint(*c.Count)
		}
		text, err := highlight(source, cellLanguage(source, p.language))
		if err != nil {
			return err
		}
		fmt.Fprintf(&p.b, "<div class=\"in\"><span class=\"no\" aria-hidden=\"true\">[%s]</span>%s</div>\n", n, text)
	}
	if !c.hidden("outputs") {
		for i := range c.Outputs {
			if err := p.output(&c.Outputs[i]); err != nil {
				return fmt.Errorf("output %d: %w", i+1, err)
			}
		}
	}
	p.b.WriteString("</section>\n")
	return nil
}
