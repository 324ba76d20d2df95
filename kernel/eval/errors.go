package eval

import (
	"fmt"
	"html"
	"os"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/gander-go/gander/kernel/cell"
	"github.com/gander-go/gander/kernel/session/link"
)

const (
	red   = "\x1b[31m"
	bold  = "\x1b[1m"
	faint = "\x1b[2m"
	reset = "\x1b[0m"
)

func at(p cell.Pos) string { return fmt.Sprintf("In[%d]:%d:%d", p.Cell, p.Line, p.Col) }

func interrupted() *cell.UserError {
	return &cell.UserError{Name: "Interrupted", Message: "interrupted", Text: []string{red + "Interrupted" + reset}, HTML: page("Interrupted", "", nil)}
}

// plainError is an error without a place.
func (e *Evaluator) plainError(name, msg string) *cell.UserError {
	ue := &cell.UserError{Name: name, Message: msg}
	e.dress(ue)
	return ue
}

// compileError is the error of a cell that does not check.
func (e *Evaluator) compileError(diags []cell.Diagnostic) *cell.UserError {
	if d := &diags[0]; strings.HasPrefix(d.Message, "In[") {
		// An earlier cell is wrong now: only a package that has changed on disk can make it so.
		d.Message += "\nA package has changed so that it no longer fits what that cell defined. Change it back, or use %reset."
	}
	ue := &cell.UserError{Name: "CompileError", Diags: diags, Message: strings.Split(diags[0].Message, "\n")[0]}
	if n := len(diags); n > 1 {
		ue.Message += fmt.Sprintf(" (and %d more errors)", n-1)
	}
	e.dress(ue)
	return ue
}

// runError is the error of a cell that failed while it ran.
func (e *Evaluator) runError(f *link.Failure, frames []cell.Frame) *cell.UserError {
	ue := &cell.UserError{Name: f.Kind, Message: f.Message, Frames: frames, Causes: causes(f)}
	switch f.Kind {
	case "interrupted":
		ue.Name = "Interrupted"
	case "exit":
		ue.Name = "Exit"
	case "died":
		ue.Name = "SessionDied"
	case "load":
		ue.Name = "LoadError"
	case "goexit":
		ue.Name = "Goexit"
	}
	if ue.Message == "" {
		ue.Message = ue.Name
	}
	e.dress(ue)
	return ue
}

// causes are the messages of wrapped errors that say more than the error's own.
func causes(f *link.Failure) (out []string) {
	for _, c := range f.Causes {
		if c != "" && c != f.Message && !slices.Contains(out, c) {
			out = append(out, c)
		}
	}
	return out
}

// part is one place of an error with the lines that stand there.
type part struct {
	head    string // "In[3]:2:5: undefined: x"
	excerpt []string
	isNote  bool
}

// dress fills the text and HTML forms of ue.
func (e *Evaluator) dress(ue *cell.UserError) {
	var parts []part
	for _, d := range ue.Diags {
		p := part{head: at(d.Pos) + ": " + d.Message}
		p.excerpt = excerpt(e.code(d.Cell), d.Line, d.Col, d.EndLine, d.EndCol)
		parts = append(parts, p)
	}
	for _, c := range ue.Causes {
		parts = append(parts, part{head: "caused by: " + c, isNote: true})
	}
	for i, f := range ue.Frames {
		p := part{head: "at " + describe(f)}
		if i == 0 || f.Cell > 0 && ue.Frames[i-1].Cell != f.Cell {
			p.excerpt = excerpt(e.source(f), f.Line, 0, 0, 0)
		}
		parts = append(parts, p)
	}
	title := ue.Name
	msg := ue.Message
	if len(ue.Diags) > 0 {
		msg = ""
	}
	head := red + bold + title + reset
	if msg != "" {
		head += ": " + msg
	}
	ue.Text = strings.Split(head, "\n")
	for _, p := range parts {
		lines := strings.Split(p.head, "\n")
		if p.isNote {
			ue.Text = append(ue.Text, lines...)
			continue
		}
		ue.Text = append(ue.Text, bold+lines[0]+reset)
		ue.Text = append(ue.Text, lines[1:]...)
		for i, l := range p.excerpt {
			if i == 1 { // the caret
				l = red + l + reset
			}
			ue.Text = append(ue.Text, l)
		}
	}
	ue.HTML = page(title, msg, parts)
}

func describe(f cell.Frame) string {
	place := fmt.Sprintf("In[%d]:%d", f.Cell, f.Line)
	if f.Cell == 0 {
		place = fmt.Sprintf("%s:%d", f.File, f.Line)
	}
	if f.Func == "" {
		return place
	}
	return fmt.Sprintf("%s (%s)", f.Func, place)
}

func (e *Evaluator) code(n int) string {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.codes[n]
}

// maxSource bounds the files that excerpts are taken from.
const maxSource = 4 << 20

func (e *Evaluator) source(f cell.Frame) string {
	if f.Cell > 0 {
		return e.code(f.Cell)
	}
	if st, err := os.Stat(f.File); err != nil || st.Size() > maxSource {
		return ""
	}
	b, err := os.ReadFile(f.File)
	if err != nil {
		return ""
	}
	return string(b)
}

// maxLine bounds the width of an excerpt, in bytes.
const maxLine = 200

// excerpt is the line of code that line names, and below it a caret at col (none when 0). Columns count bytes from 1; the caret
// is placed in characters, and tabs are kept so that it stays below what it points at.
func excerpt(code string, line, col, endLine, endCol int) []string {
	lines := strings.Split(code, "\n")
	if line < 1 || line > len(lines) {
		return nil
	}
	text := strings.TrimRight(lines[line-1], "\r")
	short := text
	if len(short) > maxLine {
		short = strings.ToValidUTF8(short[:maxLine], "") + "…"
	}
	number := fmt.Sprintf("%5d | ", line)
	out := []string{number + short}
	if col < 1 || col > len(short)+1 {
		return out
	}
	lead := []rune(text[:min(col-1, len(text))])
	for i, r := range lead {
		if r != '\t' {
			lead[i] = ' '
		}
	}
	width := 1
	if endLine == line && endCol > col {
		width = utf8.RuneCountInString(text[min(col-1, len(text)):min(endCol-1, len(text))])
	} else {
		width = wordLen(text[min(col-1, len(text)):])
	}
	return append(out, "      | "+string(lead)+strings.Repeat("^", max(width, 1)))
}

// wordLen is the length in characters of the identifier that s starts with.
func wordLen(s string) int {
	n := 0
	for _, r := range s {
		if r != '_' && !(r >= '0' && r <= '9') && !(r >= 'a' && r <= 'z') && !(r >= 'A' && r <= 'Z') && r < 0x80 {
			break
		}
		n++
	}
	return n
}

// page is an error as HTML.
func page(title, msg string, parts []part) string {
	var b strings.Builder
	b.WriteString(`<div style="font-family:monospace;white-space:pre-wrap;border-left:3px solid #c62828;padding:2px 8px">`)
	fmt.Fprintf(&b, `<b style="color:#c62828">%s</b>`, html.EscapeString(title))
	if msg != "" {
		fmt.Fprintf(&b, ": %s", html.EscapeString(msg))
	}
	for _, p := range parts {
		fmt.Fprintf(&b, "\n%s", html.EscapeString(p.head))
		for i, l := range p.excerpt {
			if i == 1 {
				fmt.Fprintf(&b, "\n<span style=\"color:#c62828\">%s</span>", html.EscapeString(l))
				continue
			}
			fmt.Fprintf(&b, "\n<span style=\"opacity:.75\">%s</span>", html.EscapeString(l))
		}
	}
	b.WriteString("</div>")
	return b.String()
}
