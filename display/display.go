// Package display shows values in a notebook: as HTML, images, tables, charts. Cells have it imported already; programs
// outside a notebook may use it too, and then see the plain text form on standard output.
//
//	display.HTML("<b>done</b>")
//	display.Display(rows, img)            // anything: slices of structs are tables, images are pictures
//	id := display.New("0 %")              // shown, and replaced later
//	id.Update("50 %")
//
// A type chooses its own form by one or more of the methods HTML() string, Markdown() string, LaTeX() string,
// SVG() string, PNG() []byte, JPEG() []byte and MIMEBundle() map[string]any.
//
// The package renders and hands over; it does not know what shows the result. It imports only the standard library.
// Invariant: every bundle has a plain text form.
package display

import (
	"encoding/json"
	"fmt"
	"image"
)

// HTML shows s as HTML. It is not escaped.
func HTML(s string) { show("", Render(RawHTML(s))) }

// Markdown shows s as Markdown, with math between dollar signs.
func Markdown(s string) { show("", Render(RawMarkdown(s))) }

// LaTeX shows s, e.g. `\sum_i x_i`, as a formula.
func LaTeX(s string) { show("", Render(RawLaTeX(s))) }

// SVG shows a drawing. It is shown as an image, so scripts in it do not run.
func SVG(s string) { show("", Render(RawSVG(s))) }

// PNG shows an encoded PNG image.
func PNG(b []byte) {
	show("", Bundle{Data: map[string]any{mimePNG: b, mimeText: encodedImageText("PNG", b)}})
}

// JPEG shows an encoded JPEG image.
func JPEG(b []byte) {
	show("", Bundle{Data: map[string]any{mimeJPEG: b, mimeText: encodedImageText("JPEG", b)}})
}

// Image shows an image.
func Image(m image.Image) { show("", Render(m)) }

// Text shows s as it is.
func Text(s string) { show("", Bundle{Data: map[string]any{mimeText: s}}) }

// JSON shows v, marshalled, as a tree that can be folded. A v that cannot be marshalled is shown as the error.
func JSON(v any) {
	b, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		show("", Render(fmt.Errorf("showing JSON: %w", err)))
		return
	}
	show("", Bundle{Data: map[string]any{mimeJSON: json.RawMessage(b), mimeText: string(b)}})
}

// Table shows rows as a table: a slice or array of structs, pointers to structs, maps, slices or single values, or a
// map, which has a row for each key. Anything else is shown as Display does.
func Table(rows any) { show("", tableBundle(rows)) }

// Display shows each value in its richest form.
func Display(values ...any) {
	for _, v := range values {
		show("", Render(v))
	}
}

// ID names something shown, so that it can be replaced.
type ID string

// New shows v and returns what Update replaces it by.
func New(v any) ID {
	id := newID()
	show(id, Render(v))
	return id
}

// Update replaces what was shown with id, in every place where it is shown.
func (id ID) Update(v any) { Update(id, v) }

// Update replaces what was shown with id by v.
func Update(id ID, v any) {
	if s := current(); s != nil {
		s.Update(id, Render(v))
		return
	}
	printText(Render(v))
}

// Clear removes what the cell has shown so far; with wait not before the next output, which avoids flicker.
func Clear(wait bool) {
	if s := current(); s != nil {
		s.Clear(wait)
	}
}

// RawHTML is text that is shown as HTML, not escaped: id.Update(display.RawHTML("<b>50 %</b>")).
type RawHTML string

// HTML returns the text.
func (s RawHTML) HTML() string { return string(s) }

// RawMarkdown is text that is shown as Markdown.
type RawMarkdown string

// Markdown returns the text.
func (s RawMarkdown) Markdown() string { return string(s) }

// RawLaTeX is text that is shown as a formula.
type RawLaTeX string

// LaTeX returns the text.
func (s RawLaTeX) LaTeX() string { return string(s) }

// RawSVG is text that is shown as a drawing.
type RawSVG string

// SVG returns the text.
func (s RawSVG) SVG() string { return string(s) }
